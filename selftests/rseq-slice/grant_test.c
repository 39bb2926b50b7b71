// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grants happen: a fair task that asks gets one when its CPU is wanted, sees
 * it in its control word, and the kernel counts it.
 */
#include <sched.h>
#include <stdbool.h>

#include <kselftest_harness.h>

#include "slice_env.h"

#define ROUNDS	20

FIXTURE(grant)
{
	struct slice_env env;
};

FIXTURE_VARIANT(grant)
{
	unsigned int len;
	enum noise_kind noise;
	int policy;
};

FIXTURE_VARIANT_ADD(grant, spin)
{
	.len = RSEQ_SLICE_LEN,
	.noise = NOISE_SPIN,
	.policy = SCHED_OTHER,
};

FIXTURE_VARIANT_ADD(grant, wake)
{
	.len = RSEQ_SLICE_LEN,
	.noise = NOISE_WAKE,
	.policy = SCHED_OTHER,
};

FIXTURE_VARIANT_ADD(grant, whole_area)
{
	.len = RSEQ_AREA_SIZE,
	.noise = NOISE_SPIN,
	.policy = SCHED_OTHER,
};

FIXTURE_VARIANT_ADD(grant, legacy)
{
	.len = RSEQ_LEGACY_LEN,
	.noise = NOISE_SPIN,
	.policy = SCHED_OTHER,
};

FIXTURE_VARIANT_ADD(grant, batch)
{
	.len = RSEQ_SLICE_LEN,
	.noise = NOISE_SPIN,
	.policy = SCHED_BATCH,
};

FIXTURE_SETUP(grant)
{
	ASSERT_EQ(0, slice_env_open(&self->env, variant->len, variant->noise));
	ASSERT_EQ(0, set_policy(variant->policy, 0));
}

FIXTURE_TEARDOWN(grant)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(grant, is_seen_and_counted, SLICE_TIMEOUT)
{
	struct slice_stats s;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		slice_yield();
	}
	s = slice_env_stats(&self->env);
	EXPECT_LE(ROUNDS, s.granted);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

TEST_F_TIMEOUT(grant, takes_the_request, SLICE_TIMEOUT)
{
	int i, clean = 0;
	__u32 ctrl;

	for (i = 0; slice_go_on(i, ROUNDS, 1, clean); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		ctrl = slice_ctrl(self->env.rs);
		slice_yield();
		/* It may have run out between the two looks. */
		if (ctrl == SLICE_GRANTED)
			clean++;
		else
			EXPECT_EQ(0, ctrl);
	}
	EXPECT_LT(0, clean);
}

TEST_F_TIMEOUT(grant, not_without_a_request, SLICE_TIMEOUT)
{
	struct slice_stats s;

	ASSERT_TRUE(noise_outlast(self->env.noise, ROUNDS));
	s = slice_env_stats(&self->env);
	EXPECT_EQ(0, s.granted);
	EXPECT_EQ(0, slice_ctrl(self->env.rs));
}

TEST_F_TIMEOUT(grant, not_when_disabled, SLICE_TIMEOUT)
{
	struct slice_stats s;

	ASSERT_EQ(0, slice_disable());
	WRITE_ONCE(self->env.rs->slice_ctrl.request, 1);
	ASSERT_TRUE(noise_outlast(self->env.noise, ROUNDS));
	s = slice_env_stats(&self->env);
	EXPECT_EQ(0, s.granted);
	EXPECT_EQ(0, slice_granted(self->env.rs));
}

SLICE_TEST_MAIN(NEED_GRANTS)
