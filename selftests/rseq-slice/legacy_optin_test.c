// SPDX-License-Identifier: GPL-2.0-only
/*
 * The 32-byte registration of glibc 2.35 to 2.40: nothing in it is written
 * that 6.12 did not write, until the thread opts in by prctl.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

#define USER_CTRL	0xa5a5a5a5
#define USER_FLAGS	0x80000000

FIXTURE(legacy)
{
	struct slice_env env;
};

FIXTURE_SETUP(legacy)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_LEGACY_LEN, NOISE_SPIN));
	ASSERT_EQ(0, rseq_unregister(self->env.rs, RSEQ_LEGACY_LEN));
	memset(self->env.rs, 0, RSEQ_AREA_SIZE);
	self->env.rs->flags = USER_FLAGS;
	self->env.rs->slice_ctrl.all = USER_CTRL;
	ASSERT_EQ(0, rseq_register(self->env.rs, RSEQ_LEGACY_LEN, 0));
}

FIXTURE_TEARDOWN(legacy)
{
	slice_env_close(&self->env);
}

/* The low byte of USER_CTRL reads as a request; nobody asked the kernel. */
TEST_F_TIMEOUT(legacy, untouched_before, SLICE_TIMEOUT)
{
	struct slice_stats s;

	EXPECT_EQ(0, slice_get());
	ASSERT_TRUE(noise_outlast(self->env.noise, 20));
	EXPECT_EQ(USER_CTRL, slice_ctrl(self->env.rs));
	EXPECT_EQ(USER_FLAGS, self->env.rs->flags);
	s = slice_env_stats(&self->env);
	EXPECT_EQ(0, s.granted);
}

/* Failing or empty calls are no opt-in. */
TEST_F(legacy, no_opt_in)
{
	EXPECT_EQ(0, slice_disable());
	EXPECT_EQ(-EINVAL, slice_prctl(PR_RSEQ_SLICE_EXTENSION_SET, 2, 0, 0));
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(USER_CTRL, slice_ctrl(self->env.rs));
	EXPECT_EQ(USER_FLAGS, self->env.rs->flags);
}

TEST_F(legacy, opt_in)
{
	ASSERT_EQ(0, slice_enable());
	EXPECT_EQ(1, slice_get());
	EXPECT_EQ(0, slice_ctrl(self->env.rs));
	EXPECT_EQ(USER_FLAGS | RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED,
		  self->env.rs->flags);
}

/* As if it had never been: such a user knows no "available but off". */
TEST_F_TIMEOUT(legacy, opt_out, SLICE_TIMEOUT)
{
	ASSERT_EQ(0, slice_enable());
	ASSERT_EQ(0, slice_disable());
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(USER_FLAGS, self->env.rs->flags);

	WRITE_ONCE(self->env.rs->slice_ctrl.all, USER_CTRL);
	ASSERT_TRUE(noise_outlast(self->env.noise, 20));
	EXPECT_EQ(USER_CTRL, slice_ctrl(self->env.rs));
}

/* Who registers the area next may know nothing of flags. */
TEST_F(legacy, unregistered_while_enabled)
{
	ASSERT_EQ(0, slice_enable());
	ASSERT_EQ(0, rseq_unregister(self->env.rs, RSEQ_LEGACY_LEN));
	self->env.len = 0;
	EXPECT_EQ(USER_FLAGS, self->env.rs->flags);

	ASSERT_EQ(0, rseq_register(self->env.rs, RSEQ_LEGACY_LEN, 0));
	self->env.len = RSEQ_LEGACY_LEN;
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(USER_FLAGS, self->env.rs->flags);
}

TEST_F(legacy, again)
{
	int i;

	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, slice_enable());
		EXPECT_EQ(1, slice_get());
		ASSERT_EQ(0, slice_disable());
		EXPECT_EQ(USER_FLAGS, self->env.rs->flags);
	}
}

TEST_F_TIMEOUT(legacy, grants, SLICE_TIMEOUT)
{
	int i, ended = 0;

	ASSERT_EQ(0, slice_enable());
	for (i = 0; slice_go_on(i, 20, 1, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		ended += slice_yield();
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
	}
	EXPECT_LT(0, ended);
}

SLICE_TEST_MAIN(NEED_GRANTS)
