// SPDX-License-Identifier: GPL-2.0-only
/* The x32 number of the yield call counts and reports like the 64-bit one. */
#include <kselftest_harness.h>

#include "slice_env.h"

#define ROUNDS	20

FIXTURE(x32)
{
	struct slice_env env;
};

FIXTURE_SETUP(x32)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
}

FIXTURE_TEARDOWN(x32)
{
	slice_env_close(&self->env);
}

static long x32_call(long nr)
{
	return sys_result(syscall(X32_SYSCALL_BIT | nr));
}

TEST_F_TIMEOUT(x32, yield, SLICE_TIMEOUT)
{
	unsigned long ended = 0;
	struct slice_stats s;
	int i;

	for (i = 0; slice_go_on(i, ROUNDS, 1, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		ended += x32_call(__NR_rseq_slice_yield);
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		EXPECT_EQ(0, x32_call(__NR_rseq_slice_yield));
		EXPECT_EQ(0, slice_yield());
	}
	s = slice_env_stats(&self->env);
	EXPECT_LT(0, ended);
	EXPECT_EQ(ended, s.yielded);
	EXPECT_EQ(0, s.aborted);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

TEST_F_TIMEOUT(x32, other_calls_abort, SLICE_TIMEOUT)
{
	struct slice_stats s = { 0 };
	int i;

	for (i = 0; slice_go_on(i, ROUNDS, 1, s.aborted); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		EXPECT_EQ(getpid(), x32_call(__NR_getpid));
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		s = slice_env_stats(&self->env);
	}
	EXPECT_EQ(0, s.yielded);
	EXPECT_LT(0, s.aborted);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_X32)
