// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU counters kept by restartable sequences, with the extension on, under
 * a storm of membarrier(RSEQ) and preemptions: nothing gets lost.
 */
#include <kselftest_harness.h>
#include <linux/membarrier.h>
#include <pthread.h>

#include "rseq_cs.h"
#include "slice_env.h"

#define WORKERS		2
#define MAX_CPUS	1024

static unsigned long counts[MAX_CPUS] __aligned(64);
static int stop;

struct worker {
	pthread_t thread;
	struct slice_env env;
	unsigned long done;
	unsigned long aborts;
	unsigned long barriers;
	long error;
};

static long membarrier(int cmd)
{
	return sys_result(syscall(__NR_membarrier, cmd, 0, 0));
}

static void count_up(struct worker *w)
{
	struct rseq_abi *rs = w->env.rs;
	__u32 cpu;

	while (!READ_ONCE(stop)) {
		slice_request(rs);
		cpu = READ_ONCE(rs->cpu_id_start);
		if (rseq_cs_inc(rs, cpu, &counts[cpu]))
			w->aborts++;
		else
			w->done++;
		if (slice_granted(rs))
			slice_yield();
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->error = slice_register(&w->env, RSEQ_SLICE_LEN);
	if (w->error)
		return NULL;
	count_up(w);
	w->error = rseq_unregister(w->env.rs, w->env.len);
	return NULL;
}

static void *barrier_main(void *arg)
{
	struct worker *w = arg;

	while (!READ_ONCE(stop) && !w->error) {
		w->error = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ);
		w->barriers++;
		sleep_ns(100000);
	}
	return NULL;
}

FIXTURE(membarrier)
{
	struct slice_env env;
};

FIXTURE_SETUP(membarrier)
{
	cpu_set_t all;

	ASSERT_LT(0, cpus_allowed(&all));
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_WAKE));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	ASSERT_EQ(0, membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ));
}

FIXTURE_TEARDOWN(membarrier)
{
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(membarrier, counters_add_up, 86400)
{
	struct worker w[2 * WORKERS] = { 0 };
	unsigned long done = 0, total = 0, barriers = 0;
	struct slice_stats s;
	int i;

	for (i = 0; i < 2 * WORKERS; i++)
		ASSERT_EQ(0, pthread_create(&w[i].thread, NULL, i < WORKERS ?
					    worker_main : barrier_main, &w[i]));
	sleep_ns(stress_ns());
	WRITE_ONCE(stop, 1);
	for (i = 0; i < 2 * WORKERS; i++) {
		ASSERT_EQ(0, pthread_join(w[i].thread, NULL));
		EXPECT_EQ(0, w[i].error);
		done += w[i].done;
		barriers += w[i].barriers;
	}
	for (i = 0; i < MAX_CPUS; i++)
		total += counts[i];
	EXPECT_LT(0, done);
	EXPECT_LT(0, barriers);
	EXPECT_EQ(done, total);
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS)
