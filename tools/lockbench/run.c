// SPDX-License-Identifier: GPL-2.0-only
/* One run: create the threads, let them share the sections, collect. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "histogram.h"
#include "lockbench.h"
#include "locks.h"
#include "switches.h"

#define STACK_SIZE	(64 * 1024)
#define PAGE		4096

/* Lock and data on pages of their own, so that --interleave parts them. */
struct shared {
	_Alignas(PAGE) struct lock lock;
	_Alignas(PAGE) volatile uint64_t counter;	/* under the lock */
	uint64_t left;
	double end;
};

struct thread {
	pthread_t id;
	int index;
	const struct options *options;
	struct shared *shared;
	pthread_barrier_t *start;
	void (*work)(struct thread *t);
	double ns_per_tick;
	double started;
	uint64_t sections;
	uint64_t yields;
	uint64_t preempted;
	volatile uint32_t *switches;	/* see switches.h */
	struct histogram *hold, *wait;	/* NULL without --measure */
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* The TSC needs no system call, whatever the clock source is. */
static double calibrate(void)
{
	static double ns_per_tick;
	double begin = now(), end;
	uint64_t tsc = __rdtsc();

	if (!ns_per_tick) {
		do
			end = now();
		while (end - begin < 0.02);
		ns_per_tick = (end - begin) * 1e9 / (double)(__rdtsc() - tsc);
	}
	return ns_per_tick;
}

/* Counters of two CPUs may differ by a little. */
static always_inline uint64_t elapsed(const struct thread *t, uint64_t from,
				      uint64_t to)
{
	return to > from ? (double)(to - from) * t->ns_per_tick : 0;
}

/* False when all sections have been done. */
static always_inline bool section(struct shared *s, uint64_t increments)
{
	if (!s->left)
		return false;
	for (uint64_t i = 0; i < increments; i++)
		s->counter = s->counter + 1;
	if (!--s->left)
		s->end = now();
	return true;
}

static always_inline void outside(uint64_t increments)
{
	volatile uint64_t private = 0;

	for (uint64_t i = 0; i < increments; i++)
		private = private + 1;
}

/* Each copy of this has its conditions resolved at compile time. */
static always_inline void work(struct thread *t, enum lock_kind kind, bool ext,
			       bool measure)
{
	struct shared *s = t->shared;
	const uint64_t increments = t->options->increments;
	const uint64_t pause = t->options->outside;
	uint64_t asked = 0, got = 0, left = 0;
	uint32_t switches = 0;
	bool more;

	do {
		if (measure)
			asked = __rdtsc();
		lock_acquire(&s->lock, kind, ext);
		if (measure) {
			got = __rdtsc();
			if (t->switches)
				switches = *t->switches;
		}
		more = section(s, increments);
		if (measure) {
			if (t->switches && *t->switches != switches && more)
				t->preempted++;
			left = __rdtsc();
		}
		t->yields += lock_release(&s->lock, kind, ext);
		t->sections += more;
		if (measure && more) {
			hist_add(t->wait, elapsed(t, asked, got));
			hist_add(t->hold, elapsed(t, got, left));
		}
		outside(pause);
	} while (more);
}

#define WORK(name, kind, ext, measure)					\
	static void name(struct thread *t) { work(t, kind, ext, measure); }

WORK(tas_base, LOCK_TAS, false, false)
WORK(tas_ext, LOCK_TAS, true, false)
WORK(tas_base_measure, LOCK_TAS, false, true)
WORK(tas_ext_measure, LOCK_TAS, true, true)
WORK(ticket_base, LOCK_TICKET, false, false)
WORK(ticket_ext, LOCK_TICKET, true, false)
WORK(ticket_base_measure, LOCK_TICKET, false, true)
WORK(ticket_ext_measure, LOCK_TICKET, true, true)
WORK(pthread_base, LOCK_PTHREAD, false, false)
WORK(pthread_ext, LOCK_PTHREAD, true, false)
WORK(pthread_base_measure, LOCK_PTHREAD, false, true)
WORK(pthread_ext_measure, LOCK_PTHREAD, true, true)

static void (*const works[LOCK_KINDS][VARIANTS][2])(struct thread *t) = {
	{ { tas_base, tas_base_measure }, { tas_ext, tas_ext_measure } },
	{ { ticket_base, ticket_base_measure },
	  { ticket_ext, ticket_ext_measure } },
	{ { pthread_base, pthread_base_measure },
	  { pthread_ext, pthread_ext_measure } },
};

static void *thread_main(void *arg)
{
	struct thread *t = arg;

	place_thread(t->options, t->index);
	if (t->options->measure)
		t->switches = switches_open();
	pthread_barrier_wait(t->start);
	t->started = now();
	t->work(t);
	switches_close(t->switches);
	return NULL;
}

static void *thread_main_ext(void *arg)
{
	/* main() has said so if this cannot work; then it runs without. */
	holdfast_slice_enable();
	return thread_main(arg);
}

static void *must_calloc(size_t count, size_t size)
{
	void *mem = calloc(count, size);

	if (!mem)
		fail(EXIT_FAULT, "out of memory");
	return mem;
}

static void create_threads(struct thread *threads, const struct result *r)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (int i = 0; i < r->threads; i++) {
		err = pthread_create(&threads[i].id, &attr,
				     r->variant == VARIANT_EXT ?
				     thread_main_ext : thread_main,
				     &threads[i]);
		if (err)
			fail(EXIT_FAULT, "cannot create thread %d of %d: %s",
			     i + 1, r->threads, strerror(err));
	}
	pthread_attr_destroy(&attr);
}

static void summarise(struct summary *to, const struct histogram *h)
{
	to->count = h->count;
	to->mean = h->count ? (double)h->sum / (double)h->count : 0;
	to->p50 = hist_percentile(h, 50);
	to->p90 = hist_percentile(h, 90);
	to->p99 = hist_percentile(h, 99);
	to->p999 = hist_percentile(h, 99.9);
	to->max = h->max;
}

static void collect_measured(struct result *r, struct thread *threads)
{
	for (int i = 1; i < r->threads; i++) {
		hist_merge(threads[0].hold, threads[i].hold);
		hist_merge(threads[0].wait, threads[i].wait);
	}
	summarise(&r->hold, threads[0].hold);
	summarise(&r->wait, threads[0].wait);
	r->preempted_known = true;
	for (int i = 0; i < r->threads; i++) {
		r->preempted_known &= !!threads[i].switches;
		r->preempted += threads[i].preempted;
		free(threads[i].hold);
		free(threads[i].wait);
	}
}

/* Joins the threads and adds up; true if nothing was lost. */
static bool collect(const struct options *o, struct result *r,
		    struct thread *threads)
{
	struct shared *s = threads[0].shared;
	uint64_t sections = 0;
	double start = 0;

	for (int i = 0; i < r->threads; i++) {
		pthread_join(threads[i].id, NULL);
		sections += threads[i].sections;
		r->yields += threads[i].yields;
		if (!i || threads[i].started < start)
			start = threads[i].started;
	}
	if (o->measure)
		collect_measured(r, threads);
	r->seconds = s->end - start;
	if (sections == o->sections &&
	    s->counter == o->sections * o->increments)
		return true;
	fprintf(stderr, "lockbench: %s lock, %d threads: %llu sections of %llu, "
		"counter %llu: the lock does not exclude\n",
		lock_names[r->lock], r->threads, (unsigned long long)sections,
		(unsigned long long)o->sections,
		(unsigned long long)s->counter);
	return false;
}

bool run_once(const struct options *o, struct result *r)
{
	struct thread *threads = must_calloc(r->threads, sizeof(*threads));
	struct shared *s = place_alloc(o, sizeof(*s));
	pthread_barrier_t start;
	bool ok;

	s->lock.spin = o->spin;
	s->left = o->sections;
	pthread_mutex_init(&s->lock.mutex, NULL);
	pthread_barrier_init(&start, NULL, r->threads);
	for (int i = 0; i < r->threads; i++) {
		struct thread *t = &threads[i];

		t->index = i;
		t->options = o;
		t->shared = s;
		t->start = &start;
		t->work = works[r->lock][r->variant][o->measure];
		if (o->measure) {
			t->ns_per_tick = calibrate();
			t->hold = must_calloc(1, sizeof(*t->hold));
			t->wait = must_calloc(1, sizeof(*t->wait));
		}
	}
	create_threads(threads, r);
	ok = collect(o, r, threads);
	pthread_barrier_destroy(&start);
	place_free(s, sizeof(*s));
	free(threads);
	return ok;
}
