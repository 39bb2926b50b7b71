// SPDX-License-Identifier: GPL-2.0-only
/*
 * pathbench: length of kernel paths in instructions, for a guest that QEMU runs
 * with -icount shift=0: there the TSC advances by one per instruction, so that
 * a difference of two TSC values is a count, the same on every run and host.
 *
 * Elsewhere the figures are TSC ticks and mean little.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <holdfast/slice.h>

#define EXIT_USAGE		64
#define EXIT_UNAVAILABLE	69

#define SAMPLES		101
#define PAGES		64
#define PAGE		4096
#define WAKE_PERIOD	1000003	/* ns; prime, to drift through the ticks */
#define SECTION_LOOPS	100

enum variant { PLAIN, ENABLED, REQUEST };

static const char *const variants[] = { "plain", "enabled", "request" };
static enum variant variant;

static void die(const char *what)
{
	fprintf(stderr, "pathbench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void enable(void)
{
	int err;

	if (variant == PLAIN)
		return;
	err = holdfast_slice_enable();
	if (!err)
		return;
	fprintf(stderr, "pathbench: no time-slice extension: %s\n",
		holdfast_slice_strstatus(holdfast_slice_query()));
	exit(EXIT_UNAVAILABLE);
}

static inline void begin(void)
{
	if (variant == REQUEST)
		holdfast_slice_begin();
}

static inline void end(void)
{
	if (variant == REQUEST)
		holdfast_slice_end();
}

/* What two readings of the TSC in a row differ by. */
static uint64_t overhead(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		uint64_t from = __rdtsc();
		uint64_t took = __rdtsc() - from;

		if (took < least)
			least = took;
	}
	return least;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print(const char *name, uint64_t *samples, int per_sample)
{
	qsort(samples, SAMPLES, sizeof(*samples), compare);
	printf("%s.%s insn %.2f %.2f\n", name, variants[variant],
	       (double)samples[SAMPLES / 2] / per_sample,
	       (double)samples[0] / per_sample);
	fflush(stdout);
}

/* Calls @op @per_sample times for each sample. */
static void measure(const char *name, void (*prepare)(void), void (*op)(int i),
		    int per_sample)
{
	uint64_t samples[SAMPLES], less = overhead();

	op(0);
	for (int s = 0; s < SAMPLES; s++) {
		uint64_t from;

		if (prepare)
			prepare();
		from = __rdtsc();
		for (int i = 0; i < per_sample; i++)
			op(i);
		samples[s] = __rdtsc() - from - less;
	}
	print(name, samples, per_sample);
}

static void op_getppid(int i)
{
	(void)i;
	begin();
	syscall(SYS_getppid);
	end();
}

static void run_getppid(const char *name)
{
	measure(name, NULL, op_getppid, 100);
}

static int to_peer[2], from_peer[2];

static void *peer(void *arg)
{
	char byte;

	enable();
	while (read(to_peer[0], &byte, 1) == 1) {
		begin();
		if (write(from_peer[1], &byte, 1) != 1)
			die("write");
		end();
	}
	return arg;
}

static void op_pingpong(int i)
{
	char byte = i;

	begin();
	if (write(to_peer[1], &byte, 1) != 1 ||
	    read(from_peer[0], &byte, 1) != 1)
		die("pipe");
	end();
}

static void run_pingpong(const char *name)
{
	pthread_t thread;

	if (pipe(to_peer) || pipe(from_peer))
		die("pipe");
	errno = pthread_create(&thread, NULL, peer, NULL);
	if (errno)
		die("pthread_create");
	/*
	 * Round trips differ by a few instructions with the state of the run
	 * queue, so many go into a sample.
	 */
	measure(name, NULL, op_pingpong, 100);
	close(to_peer[1]);
	pthread_join(thread, NULL);
}

static char *pages;

static void drop_pages(void)
{
	if (madvise(pages, PAGES * PAGE, MADV_DONTNEED))
		die("madvise");
}

static void op_fault(int i)
{
	begin();
	*(volatile char *)&pages[(size_t)i * PAGE] = 1;
	end();
}

static void run_fault(const char *name)
{
	pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		die("mmap");
	madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
	measure(name, drop_pages, op_fault, PAGES);
	munmap(pages, PAGES * PAGE);
}

static void handler(int sig)
{
	(void)sig;
}

static void op_signal(int i)
{
	(void)i;
	begin();
	syscall(SYS_tgkill, getpid(), gettid(), SIGUSR1);
	end();
}

static void run_signal(const char *name)
{
	struct sigaction action = { .sa_handler = handler };

	if (sigaction(SIGUSR1, &action, NULL))
		die("sigaction");
	measure(name, NULL, op_signal, 20);
}

/* The pair alone, 16 times: exact, with no loop around it. */
static void run_begin_end(const char *name)
{
	uint64_t samples[SAMPLES], less = overhead();

	for (int s = 0; s < SAMPLES; s++) {
		uint64_t from = __rdtsc();

#define PAIR	holdfast_slice_begin(); holdfast_slice_end();
#define PAIRS	PAIR PAIR PAIR PAIR
		PAIRS PAIRS PAIRS PAIRS
		samples[s] = __rdtsc() - from - less;
	}
	print(name, samples, 16);
}

/*
 * Wakes up often and runs for a moment, on the only CPU. Its own slice is short,
 * so the kernel lets it preempt a busy thread at once.
 */
static volatile uint64_t wakes;
static volatile bool stop;

struct sched_attributes {	/* struct sched_attr, version 0 */
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

static void *waker(void *arg)
{
	struct sched_attributes attr = {
		.size = sizeof(attr),
		.runtime = 100000,
	};
	struct timespec next;

	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		die("sched_setattr");
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!stop) {
		next.tv_nsec += WAKE_PERIOD;
		if (next.tv_nsec >= 1000000000) {
			next.tv_nsec -= 1000000000;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		wakes++;
	}
	return arg;
}

/* One section. Returns whether a granted extension ended with it. */
static bool section(void)
{
	bool granted = false;

	begin();
	for (int i = 0; i < SECTION_LOOPS; i++)
		__asm__ volatile("");
	if (variant == REQUEST)
		granted = holdfast_slice_end();
	return granted;
}

/*
 * What a section loses to one wake-up of another thread: interrupt, switch to
 * it and back. With the request set: interrupt and grant, yield, switch and
 * back; other wake-ups do not count then.
 */
static void run_grant_yield(const char *name)
{
	uint64_t samples[SAMPLES], undisturbed = UINT64_MAX;
	const time_t limit = time(NULL) + 20;
	pthread_t thread;
	int count = 0;

	errno = pthread_create(&thread, NULL, waker, NULL);
	if (errno)
		die("pthread_create");
	while (count < SAMPLES) {
		uint64_t from = __rdtsc(), before = wakes;
		bool granted = section();
		bool woken = wakes != before;
		uint64_t took = __rdtsc() - from;

		if (took < undisturbed)
			undisturbed = took;
		if (woken && (granted || variant != REQUEST))
			samples[count++] = took - undisturbed;
		if (woken && time(NULL) > limit) {
			fprintf(stderr, "pathbench: %s: %d of %d samples in 20 s\n",
				name, count, SAMPLES);
			exit(1);
		}
	}
	stop = true;
	pthread_join(thread, NULL);
	print(name, samples, 1);
}

static const struct {
	const char *name;
	void (*run)(const char *name);
} cases[] = {
	{ "getppid", run_getppid },
	{ "pingpong", run_pingpong },
	{ "fault", run_fault },
	{ "signal", run_signal },
	{ "grant-yield", run_grant_yield },
	{ "begin-end", run_begin_end },
};

#define CASES	(sizeof(cases) / sizeof(cases[0]))

static const char help[] =
"usage: pathbench plain|enabled|request [CASE...]\n"
"Counts the instructions of kernel paths in a guest run with -icount shift=0.\n"
"  plain    the thread does nothing about time-slice extensions\n"
"  enabled  it has them enabled\n"
"  request  and sets and clears the request around each operation\n"
"Cases: getppid pingpong fault signal grant-yield begin-end (default: all)\n"
"Prints lines: CASE.VARIANT insn MEDIAN MINIMUM\n";

static void usage(const char *what)
{
	fprintf(stderr, "pathbench: '%s' is no variant or case; see pathbench --help\n",
		what);
	exit(EXIT_USAGE);
}

static int find_case(const char *name)
{
	for (size_t i = 0; i < CASES; i++)
		if (!strcmp(cases[i].name, name))
			return i;
	usage(name);
	return -1;
}

int main(int argc, char **argv)
{
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		fputs(help, argc < 2 ? stderr : stdout);
		return argc < 2 ? EXIT_USAGE : 0;
	}
	for (variant = PLAIN; strcmp(argv[1], variants[variant]); variant++)
		if (variant == REQUEST)
			usage(argv[1]);
	for (int i = 2; i < argc; i++)
		find_case(argv[i]);
	enable();
	for (int i = 2; i < argc; i++)
		cases[find_case(argv[i])].run(argv[i]);
	for (size_t i = 0; argc == 2 && i < CASES; i++)
		cases[i].run(cases[i].name);
	return 0;
}
