/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lockbench: what a global lock costs, with and without time-slice extension.
 *
 * options.c reads the command line into struct options, place.c turns CPU and
 * node lists into affinity and memory policy, run.c does one run (one lock, one
 * thread count, one variant) into struct result, report.c writes them.
 */
#ifndef LOCKBENCH_H
#define LOCKBENCH_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_COUNTS	64	/* entries of a thread list */
#define MAX_THREADS	16384
#define MAX_RUNS	1000
#define MAX_NODES	64

/* sysexits(3), as the manual page lists them */
#define EXIT_FAULT	1
#define EXIT_USAGE	64
#define EXIT_CREATE	73

enum lock_kind { LOCK_TAS, LOCK_TICKET, LOCK_PTHREAD, LOCK_KINDS };
enum variant { VARIANT_BASE, VARIANT_EXT, VARIANTS };

extern const char *const lock_names[LOCK_KINDS];
extern const char *const variant_names[VARIANTS];

struct options {
	int threads[MAX_COUNTS];
	int thread_counts;
	bool locks[LOCK_KINDS];
	bool variants[VARIANTS];
	uint64_t sections;	/* per run, shared by the threads */
	uint64_t increments;	/* per section */
	uint64_t outside;	/* increments between two sections */
	uint64_t spin;		/* looks at the lock before sched_yield() */
	int runs;
	bool measure;
	bool interleave;
	const char *cpu_list;	/* NULL: not given */
	const char *node_list;
	const char *tsv;
	const char *json;
	/* made from the lists by place_setup() */
	cpu_set_t cpus;
	int nodes[MAX_NODES];
	int node_count;		/* 0: no placement by node */
};

/* Of one kind of interval, in ns; see histogram.h for the precision. */
struct summary {
	uint64_t count;
	double mean;
	uint64_t p50, p90, p99, p999, max;
};

struct result {
	enum lock_kind lock;
	enum variant variant;
	int threads;
	int run;
	double seconds;
	uint64_t yields;	/* sections that ended a granted extension */
	/* with --measure */
	bool preempted_known;
	uint64_t preempted;
	struct summary hold, wait;
};

/* options.c; ends the program after --help or bad usage */
void options_parse(struct options *o, int argc, char **argv);

/* place.c */
void place_setup(struct options *o);
void place_thread(const struct options *o, int index);
void *place_alloc(const struct options *o, size_t size);
void place_free(void *mem, size_t size);
int place_cpu_count(const struct options *o);

/* run.c; false with a message on stderr when the run was not valid */
bool run_once(const struct options *o, struct result *r);

/* report.c */
struct report {
	const struct options *options;
	const struct result *results;
	int count;
	const char *extension;	/* why there is none, or "available" */
	bool available;
};

void report_table(const struct report *rep);
bool report_files(const struct report *rep);

/* main.c */
__attribute__((format(printf, 2, 3), noreturn))
void fail(int status, const char *format, ...);

#endif
