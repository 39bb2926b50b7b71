// SPDX-License-Identifier: GPL-2.0-only
/*
 * Booted with rseq_slice_ext=0: the layout and the calls stay, nothing can be
 * enabled, and the area says so.
 */
#include <kselftest_harness.h>

#include "boot.h"
#include "noise.h"
#include "slice_require.h"

#define SET	PR_RSEQ_SLICE_EXTENSION_SET

FIXTURE(off)
{
	union rseq_area area;
};

FIXTURE_VARIANT(off)
{
	unsigned int len;
};

FIXTURE_VARIANT_ADD(off, slice)
{
	.len = RSEQ_SLICE_LEN,
};

FIXTURE_VARIANT_ADD(off, legacy)
{
	.len = RSEQ_LEGACY_LEN,
};

FIXTURE_SETUP(off)
{
}

FIXTURE_TEARDOWN(off)
{
}

TEST_F(off, set_is_refused)
{
	ASSERT_EQ(0, rseq_register(&self->area, variant->len, 0));
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_enable());
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_disable());
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(0, self->area.abi.flags);
	EXPECT_EQ(0, slice_ctrl(&self->area.abi));
}

/* Bad arguments come first, a missing registration last. */
TEST_F(off, order)
{
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_enable());
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(-EINVAL, slice_prctl(SET, 2, 0, 0));
	EXPECT_EQ(-EINVAL, slice_prctl(SET, 1, 1, 0));
	EXPECT_EQ(-EINVAL, slice_prctl(SET, 1, 0, 1));
	EXPECT_EQ(-EINVAL, slice_prctl(3, 0, 0, 0));
}

TEST_F(off, default_on_is_ignored)
{
	ASSERT_EQ(0, rseq_register(&self->area, variant->len,
				   RSEQ_SLICE_DEFAULT_ON));
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(0, self->area.abi.flags);
}

TEST_F_TIMEOUT(off, no_grant, 120)
{
	struct noise *noise = noise_start(0, NOISE_SPIN);

	ASSERT_NE(NULL, noise);
	ASSERT_EQ(0, pin_to(0, 0));
	ASSERT_EQ(0, rseq_register(&self->area, variant->len, 0));
	WRITE_ONCE(self->area.abi.slice_ctrl.all, SLICE_REQUEST);
	EXPECT_TRUE(noise_outlast(noise, 20));
	EXPECT_EQ(SLICE_REQUEST, slice_ctrl(&self->area.abi));
	noise_stop(noise);
}

TEST(yield)
{
	EXPECT_EQ(0, slice_yield());
}

TEST(auxiliary_vector)
{
	EXPECT_EQ(33, getauxval(AT_RSEQ_FEATURE_SIZE));
	EXPECT_EQ(64, getauxval(AT_RSEQ_ALIGN));
}

/* A good value is taken: neither the log nor init has to hear of it. */
TEST(option_is_known)
{
	char *log = boot_log();

	if (!log)
		SKIP(return, "needs root to read the kernel log");
	EXPECT_FALSE(boot_option_unknown(log, "rseq_slice_ext"));
	EXPECT_FALSE(boot_init_got("rseq_slice_ext"));
	free(log);
}

SLICE_TEST_MAIN(NEED_OFF)
