// SPDX-License-Identifier: GPL-2.0-only
/* Registration flags, and enabling the extension with one of them. */
#include <kselftest_harness.h>

#include "slice_require.h"

FIXTURE(flags)
{
	union rseq_area area;
};

FIXTURE_VARIANT(flags)
{
	int flags;
	unsigned int len;
	long result;
	long enabled;
	__u32 bits;
};

FIXTURE_VARIANT_ADD(flags, none)
{
	.flags = 0,
	.len = RSEQ_SLICE_LEN,
	.bits = RSEQ_SLICE_AVAILABLE,
};

FIXTURE_VARIANT_ADD(flags, default_on)
{
	.flags = RSEQ_SLICE_DEFAULT_ON,
	.len = RSEQ_SLICE_LEN,
	.enabled = 1,
	.bits = RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED,
};

/* Accepted and ignored: such a user has to opt in by prctl. */
FIXTURE_VARIANT_ADD(flags, default_on_legacy)
{
	.flags = RSEQ_SLICE_DEFAULT_ON,
	.len = RSEQ_LEGACY_LEN,
};

FIXTURE_VARIANT_ADD(flags, unregister_mixed)
{
	.flags = RSEQ_UNREGISTER | RSEQ_SLICE_DEFAULT_ON,
	.len = RSEQ_SLICE_LEN,
	.result = -EINVAL,
};

FIXTURE_VARIANT_ADD(flags, unknown)
{
	.flags = 4,
	.len = RSEQ_SLICE_LEN,
	.result = -EINVAL,
};

FIXTURE_VARIANT_ADD(flags, unknown_mixed)
{
	.flags = 4 | RSEQ_SLICE_DEFAULT_ON,
	.len = RSEQ_SLICE_LEN,
	.result = -EINVAL,
};

FIXTURE_VARIANT_ADD(flags, unknown_high)
{
	.flags = 1 << 30,
	.len = RSEQ_SLICE_LEN,
	.result = -EINVAL,
};

FIXTURE_SETUP(flags)
{
}

FIXTURE_TEARDOWN(flags)
{
}

TEST_F(flags, result)
{
	EXPECT_EQ(variant->result,
		  rseq_register(&self->area, variant->len, variant->flags));
	EXPECT_EQ(variant->enabled, slice_get());
	EXPECT_EQ(variant->bits, self->area.abi.flags);
	EXPECT_EQ(0, slice_ctrl(&self->area.abi));
}

/*
 * The flag and the call are two ways to one state; flags that were refused
 * are not in the way of a good registration.
 */
TEST_F(flags, prctl_agrees)
{
	int flags = variant->result ? 0 : variant->flags;

	ASSERT_EQ(0, rseq_register(&self->area, variant->len, flags));
	EXPECT_EQ(0, slice_enable());
	EXPECT_EQ(1, slice_get());
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED,
		  self->area.abi.flags);
}

SLICE_TEST_MAIN(NEED_ON)
