// SPDX-License-Identifier: GPL-2.0-only
/*
 * Only the registered address, length and signature unregister. Tools probe
 * for libc's area by trying lengths: that must not disturb anything.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

FIXTURE(unregister)
{
	struct slice_env env;
};

FIXTURE_VARIANT(unregister)
{
	unsigned int len;
};

FIXTURE_VARIANT_ADD(unregister, legacy)
{
	.len = RSEQ_LEGACY_LEN,
};

FIXTURE_VARIANT_ADD(unregister, slice)
{
	.len = RSEQ_SLICE_LEN,
};

FIXTURE_SETUP(unregister)
{
	ASSERT_EQ(0, slice_env_open(&self->env, variant->len, NOISE_SPIN));
}

FIXTURE_TEARDOWN(unregister)
{
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(unregister, other_length, SLICE_TIMEOUT)
{
	unsigned int len;

	for (len = 0; len <= RSEQ_AREA_SIZE; len++) {
		if (len == variant->len)
			continue;
		EXPECT_EQ(-EINVAL, rseq_unregister(self->env.rs, len));
	}
	EXPECT_EQ(1, slice_get());
	EXPECT_TRUE(slice_wait_grant(&self->env));
}

TEST_F_TIMEOUT(unregister, other_address, SLICE_TIMEOUT)
{
	union rseq_area other;

	EXPECT_EQ(-EINVAL, rseq_unregister(&other, variant->len));
	EXPECT_EQ(-EINVAL, rseq_unregister(NULL, variant->len));
	EXPECT_EQ(1, slice_get());
	EXPECT_TRUE(slice_wait_grant(&self->env));
}

TEST_F_TIMEOUT(unregister, other_signature, SLICE_TIMEOUT)
{
	EXPECT_EQ(-EPERM, sys_rseq(self->env.rs, variant->len, RSEQ_UNREGISTER,
				   ~RSEQ_SIGNATURE));
	/* The length is looked at before the signature. */
	EXPECT_EQ(-EINVAL, sys_rseq(self->env.rs, 48, RSEQ_UNREGISTER,
				    ~RSEQ_SIGNATURE));
	EXPECT_EQ(1, slice_get());
	EXPECT_TRUE(slice_wait_grant(&self->env));
}

TEST_F_TIMEOUT(unregister, ends_the_extension, SLICE_TIMEOUT)
{
	struct slice_stats s;

	ASSERT_EQ(0, rseq_unregister(self->env.rs, variant->len));
	self->env.len = 0;
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(-ENXIO, slice_enable());
	EXPECT_EQ(-EINVAL, rseq_unregister(self->env.rs, variant->len));

	WRITE_ONCE(self->env.rs->slice_ctrl.all, SLICE_REQUEST);
	ASSERT_TRUE(noise_outlast(self->env.noise, 20));
	EXPECT_EQ(SLICE_REQUEST, slice_ctrl(self->env.rs));
	s = slice_env_stats(&self->env);
	EXPECT_EQ(0, s.granted);
}

/* Unregistering is a system call like any other: it ends a live grant. */
TEST_F_TIMEOUT(unregister, inside_a_grant, SLICE_TIMEOUT)
{
	struct slice_stats s;

	ASSERT_TRUE(slice_wait_grant(&self->env));
	ASSERT_EQ(0, rseq_unregister(self->env.rs, variant->len));
	self->env.len = 0;
	EXPECT_EQ(0, slice_ctrl(self->env.rs));
	EXPECT_EQ(0, slice_yield());
	s = slice_env_stats(&self->env);
	EXPECT_LT(0, s.granted);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS)
