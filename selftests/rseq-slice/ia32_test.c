// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program: same layout, same numbers, calls by int 0x80. Built with
 * -m32; where the kernel runs it, grants and yields work as in 64 bits.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

#define ROUNDS	20

static long int80(long nr)
{
	asm volatile ("int $0x80" : "+a" (nr) : : "memory");
	return nr;
}

TEST(numbers)
{
	long nr;

	EXPECT_EQ(4, sizeof(void *));
	EXPECT_EQ(28, offsetof(struct rseq_abi, slice_ctrl));
	EXPECT_EQ(64, sizeof(struct rseq_abi));
	EXPECT_EQ(33, getauxval(AT_RSEQ_FEATURE_SIZE));
	EXPECT_EQ(64, getauxval(AT_RSEQ_ALIGN));
	EXPECT_EQ(0, int80(471));
	for (nr = 463; nr <= 470; nr++)
		EXPECT_EQ(-ENOSYS, int80(nr));
}

TEST(switching)
{
	static union rseq_area area;

	EXPECT_EQ(-ENXIO, slice_enable());
	ASSERT_EQ(0, rseq_register(&area, RSEQ_SLICE_LEN,
				   RSEQ_SLICE_DEFAULT_ON));
	EXPECT_EQ(1, slice_get());
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED, area.abi.flags);
	EXPECT_EQ(0, slice_disable());
	EXPECT_EQ(-EINVAL, slice_prctl(2, 2, 0, 0));
	EXPECT_EQ(0, rseq_unregister(&area, RSEQ_SLICE_LEN));
}

FIXTURE(ia32)
{
	struct slice_env env;
};

FIXTURE_VARIANT(ia32)
{
	unsigned int len;
};

FIXTURE_VARIANT_ADD(ia32, slice)
{
	.len = RSEQ_SLICE_LEN,
};

FIXTURE_VARIANT_ADD(ia32, legacy)
{
	.len = RSEQ_LEGACY_LEN,
};

FIXTURE_SETUP(ia32)
{
	ASSERT_EQ(0, slice_env_open(&self->env, variant->len, NOISE_SPIN));
}

FIXTURE_TEARDOWN(ia32)
{
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(ia32, yield, SLICE_TIMEOUT)
{
	unsigned long ended = 0;
	struct slice_stats s;
	int i;

	for (i = 0; slice_go_on(i, ROUNDS, 1, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		ended += int80(__NR_rseq_slice_yield);
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		EXPECT_EQ(0, int80(__NR_rseq_slice_yield));
	}
	s = slice_env_stats(&self->env);
	EXPECT_LT(0, ended);
	EXPECT_EQ(ended, s.yielded);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

TEST_F_TIMEOUT(ia32, abort, SLICE_TIMEOUT)
{
	struct slice_stats s = { 0 };
	int i;

	for (i = 0; slice_go_on(i, ROUNDS, 1, s.aborted); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		EXPECT_EQ(getpid(), int80(20));
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		s = slice_env_stats(&self->env);
	}
	EXPECT_EQ(0, s.yielded);
	EXPECT_LT(0, s.aborted);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS)
