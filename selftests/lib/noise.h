/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Competitors: processes that make the kernel want to reschedule a CPU.
 *
 * They are processes of their own, not threads, so that they share nothing
 * with the test but one page, and die with it.
 */
#ifndef HOLDFAST_NOISE_H
#define HOLDFAST_NOISE_H

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kselftest.h>

#include "rseq_abi.h"

/* How long one step may take before the test gives up. */
#define NOISE_LIMIT_MS	30000

#ifndef SCHED_DEADLINE
#define SCHED_DEADLINE	6
#endif

/* The kernel's struct sched_attr up to what the tests set. */
struct noise_sched {
	unsigned int size;
	unsigned int policy;
	unsigned long long flags;
	int nice;
	unsigned int priority;
	unsigned long long runtime;
	unsigned long long deadline;
	unsigned long long period;
};

enum noise_kind {
	NOISE_SPIN,	/* runs all the time: each tick reschedules */
	NOISE_WAKE,	/* wakes every 50 us with a short slice */
};

struct noise {
	unsigned long loops;	/* grows only while the noise runs */
	long deadline;		/* CLOCK_MONOTONIC, ms */
	int expired;		/* deadline passed */
	int stop;
	pid_t pid;
};

static inline long long now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static inline long now_ms(void)
{
	return now_ns(CLOCK_MONOTONIC) / 1000000;
}

static inline void sleep_ns(long long ns)
{
	const struct timespec ts = {
		.tv_sec = ns / 1000000000LL,
		.tv_nsec = ns % 1000000000LL,
	};

	nanosleep(&ts, NULL);
}

static inline int pin_to(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(pid, sizeof(set), &set) ? -errno : 0;
}

static inline int set_sched(struct noise_sched attr)
{
	attr.size = sizeof(attr);
	return syscall(__NR_sched_setattr, 0, &attr, 0) ? -errno : 0;
}

static inline int set_policy(int policy, int priority)
{
	return set_sched((struct noise_sched){
		.policy = policy,
		.priority = priority,
	});
}

/* A short slice lets a waking fair task preempt one with a longer slice. */
static inline int set_short_slice(void)
{
	return set_sched((struct noise_sched){
		.policy = SCHED_OTHER,
		.runtime = 100000,
	});
}

static inline void *shared_page(void)
{
	void *page = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

static inline __noreturn void noise_run(struct noise *n, enum noise_kind kind)
{
	if (kind == NOISE_WAKE)
		set_short_slice();
	for (;;) {
		WRITE_ONCE(n->loops, n->loops + 1);
		if (kind == NOISE_WAKE)
			sleep_ns(50000);
		if (now_ms() > READ_ONCE(n->deadline))
			WRITE_ONCE(n->expired, 1);
	}
}

/* Gives the next step its full time. */
static inline void noise_rearm(struct noise *n)
{
	WRITE_ONCE(n->deadline, now_ms() + NOISE_LIMIT_MS);
	WRITE_ONCE(n->expired, 0);
}

/*
 * Forks a child that dies with its parent. Returns like fork(); the death
 * signal has to be set before a look at whether the parent is still there.
 */
static inline pid_t fork_bound(void)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	return 0;
}

static inline struct noise *noise_start(int cpu, enum noise_kind kind)
{
	struct noise *n = shared_page();
	pid_t pid;

	if (!n)
		return NULL;
	noise_rearm(n);
	/* Not straight into the page: the child would store its 0 there. */
	pid = fork_bound();
	if (!pid) {
		if (pin_to(0, cpu))
			_exit(1);
		noise_run(n, kind);
	}
	n->pid = pid;
	if (pid > 0)
		return n;
	munmap(n, getpagesize());
	return NULL;
}

/* Ends a child of the caller; 0 and -1 would mean whole groups. */
static inline void child_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static inline void noise_stop(struct noise *n)
{
	if (!n)
		return;
	child_end(n->pid);
	munmap(n, getpagesize());
}

/*
 * Runs without system calls until the noise had the CPU @times times. The
 * caller is preempted each time, whatever the kernel thinks of its rseq area.
 */
static inline bool noise_outlast(struct noise *n, int times)
{
	unsigned long loops, seen = READ_ONCE(n->loops);

	noise_rearm(n);
	while (times > 0 && !READ_ONCE(n->expired)) {
		loops = READ_ONCE(n->loops);
		if (loops == seen)
			continue;
		seen = loops;
		times--;
	}
	return !times;
}

#endif /* HOLDFAST_NOISE_H */
