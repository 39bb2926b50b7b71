// SPDX-License-Identifier: GPL-2.0-only
/*
 * rseq_slice_yield() returns 1 if it ended a live grant and 0 if not, the
 * kernel counts just the former, and the control word is clear afterwards.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

#define ROUNDS	50

TEST(without_registration)
{
	EXPECT_EQ(0, slice_yield());
}

FIXTURE(yield)
{
	struct slice_env env;
};

FIXTURE_VARIANT(yield)
{
	unsigned int len;
};

FIXTURE_VARIANT_ADD(yield, slice)
{
	.len = RSEQ_SLICE_LEN,
};

FIXTURE_VARIANT_ADD(yield, legacy)
{
	.len = RSEQ_LEGACY_LEN,
};

FIXTURE_SETUP(yield)
{
	ASSERT_EQ(0, slice_env_open(&self->env, variant->len, NOISE_SPIN));
}

FIXTURE_TEARDOWN(yield)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F(yield, without_a_grant)
{
	struct slice_stats s;
	int i;

	for (i = 0; i < ROUNDS; i++)
		EXPECT_EQ(0, slice_yield());
	s = slice_env_stats(&self->env);
	EXPECT_EQ(0, s.yielded);
	EXPECT_EQ(0, s.granted);
}

TEST_F(yield, disabled)
{
	ASSERT_EQ(0, slice_disable());
	EXPECT_EQ(0, slice_yield());
}

TEST_F_TIMEOUT(yield, is_what_is_counted, SLICE_TIMEOUT)
{
	unsigned long ended = 0;
	struct slice_stats s;
	long ret;
	int i;

	for (i = 0; slice_go_on(i, ROUNDS, 1, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		ret = slice_yield();
		EXPECT_TRUE(ret == 0 || ret == 1);
		ended += ret;
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		EXPECT_EQ(0, slice_yield());
	}
	s = slice_env_stats(&self->env);
	EXPECT_EQ(ended, s.yielded);
	EXPECT_LT(0, s.yielded);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

/* The competitor, which was held up for the grant, gets the CPU by it. */
TEST_F_TIMEOUT(yield, gives_up_the_cpu, SLICE_TIMEOUT)
{
	unsigned long before;
	int i, ended = 0, gave_up = 0;

	for (i = 0; slice_go_on(i, ROUNDS, 5, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		before = READ_ONCE(self->env.noise->loops);
		if (!slice_yield())
			continue;
		ended++;
		gave_up += READ_ONCE(self->env.noise->loops) != before;
	}
	EXPECT_LT(0, ended);
	/* The scheduler may find that the holder is still the one to run. */
	EXPECT_LT(ended / 4, gave_up);
}

/* A request that met no reschedule survives the call and still works. */
TEST_F_TIMEOUT(yield, request_without_grant, SLICE_TIMEOUT)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		slice_request(self->env.rs);
		if (!slice_granted(self->env.rs))
			slice_yield();
	}
	EXPECT_TRUE(slice_wait_grant(&self->env));
}

SLICE_TEST_MAIN(NEED_GRANTS)
