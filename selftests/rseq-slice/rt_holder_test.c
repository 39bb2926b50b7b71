// SPDX-License-Identifier: GPL-2.0-only
/*
 * A holder that is not in the fair class gets no grant, whoever wants its CPU:
 * a task of its own policy, a more urgent one, or the deadline throttle.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

FIXTURE(holder)
{
	struct slice_env env;
	struct slice_stats before;
};

FIXTURE_VARIANT(holder)
{
	int policy;
	enum noise_kind noise;
	int noise_priority;
};

FIXTURE_VARIANT_ADD(holder, round_robin)
{
	.policy = SCHED_RR,
	.noise = NOISE_SPIN,
	.noise_priority = 1,
};

FIXTURE_VARIANT_ADD(holder, fifo_under_fifo)
{
	.policy = SCHED_FIFO,
	.noise = NOISE_WAKE,
	.noise_priority = 2,
};

FIXTURE_SETUP(holder)
{
	const struct sched_param own = { .sched_priority = 1 };
	const struct sched_param noise = {
		.sched_priority = variant->noise_priority,
	};

	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, variant->noise));
	/* The noise has set up itself when it has run. */
	ASSERT_TRUE(noise_outlast(self->env.noise, 2));
	ASSERT_EQ(0, sched_setscheduler(self->env.noise->pid, variant->policy,
					&noise));
	ASSERT_EQ(0, sched_setscheduler(0, variant->policy, &own));
	ASSERT_EQ(0, slice_stats_read(&self->before));
}

FIXTURE_TEARDOWN(holder)
{
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(holder, no_grant, SLICE_TIMEOUT)
{
	struct slice_stats s;

	ASSERT_TRUE(slice_hog_outlast(&self->env, 5));
	s = slice_stats_since(&self->before);
	EXPECT_EQ(0, s.granted);
}

/* The other way round: back in the fair class it is served again. */
TEST_F_TIMEOUT(holder, grant_when_fair_again, SLICE_TIMEOUT)
{
	const struct sched_param fair = { 0 };

	ASSERT_EQ(0, sched_setscheduler(self->env.noise->pid, SCHED_OTHER,
					&fair));
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_OTHER, &fair));
	EXPECT_TRUE(slice_wait_grant(&self->env));
}

FIXTURE(throttled)
{
	struct slice_env env;
};

FIXTURE_SETUP(throttled)
{
	cpu_set_t all;

	ASSERT_LT(0, cpus_allowed(&all));
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	ASSERT_EQ(0, sched_setaffinity(0, sizeof(all), &all));
	ASSERT_EQ(0, set_sched((struct noise_sched){
		.policy = SCHED_DEADLINE,
		.runtime = 3000000,
		.deadline = 10000000,
		.period = 10000000,
	}));
}

FIXTURE_TEARDOWN(throttled)
{
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(throttled, no_grant, SLICE_TIMEOUT)
{
	struct slice_stats before, s;

	ASSERT_EQ(0, slice_stats_read(&before));
	noise_rearm(self->env.noise);
	WRITE_ONCE(self->env.noise->deadline, now_ms() + 500);
	slice_hog(self->env.rs, &self->env.noise->expired);
	s = slice_stats_since(&before);
	EXPECT_EQ(0, s.granted);
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_RT)
