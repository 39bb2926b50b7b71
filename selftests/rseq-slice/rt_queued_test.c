// SPDX-License-Identifier: GPL-2.0-only
/*
 * A real-time task that hogs the CPU leaves fair tasks the little that the fair
 * server gives them. While it is queued behind them, nothing is granted.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

FIXTURE(queued)
{
	struct slice_env env;
	struct noise *hog;
};

FIXTURE_SETUP(queued)
{
	const struct sched_param rt = { .sched_priority = 1 };

	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	ASSERT_TRUE(slice_wait_grant(&self->env));
	self->hog = noise_start(self->env.cpu, NOISE_SPIN);
	ASSERT_NE(NULL, self->hog);
	ASSERT_EQ(0, sched_setscheduler(self->hog->pid, SCHED_FIFO, &rt));
}

FIXTURE_TEARDOWN(queued)
{
	struct slice_stats s;

	noise_stop(self->hog);
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(queued, no_grant, SLICE_TIMEOUT)
{
	struct slice_stats before, s;

	ASSERT_TRUE(slice_hog_outlast(&self->env, 2));
	ASSERT_LT(0, READ_ONCE(self->hog->loops));
	ASSERT_EQ(0, slice_stats_read(&before));
	ASSERT_TRUE(slice_hog_outlast(&self->env, 8));
	s = slice_stats_since(&before);
	EXPECT_EQ(0, s.granted);
}

/* With the hog gone everything is as before. */
TEST_F_TIMEOUT(queued, grants_afterwards, SLICE_TIMEOUT)
{
	int i;

	noise_stop(self->hog);
	self->hog = NULL;
	for (i = 0; i < 10; i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		slice_yield();
	}
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_RT)
