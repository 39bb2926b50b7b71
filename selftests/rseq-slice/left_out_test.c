// SPDX-License-Identifier: GPL-2.0-only
/*
 * CONFIG_RSEQ_SLICE_EXTENSION=n: the calls say so by the documented numbers,
 * and rseq itself works in both layouts.
 */
#include <kselftest_harness.h>

#include "slice_require.h"

#define GET	PR_RSEQ_SLICE_EXTENSION_GET
#define SET	PR_RSEQ_SLICE_EXTENSION_SET

TEST(switching)
{
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_prctl(GET, 0, 0, 0));
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_prctl(SET, 1, 0, 0));
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_prctl(SET, 0, 0, 0));
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_prctl(SET, 2, 0, 0));
	EXPECT_EQ(-ENOTSUPP_KERNEL, slice_prctl(3, 0, 0, 0));
	EXPECT_EQ(-EINVAL, slice_prctl(GET, 0, 1, 0));
	EXPECT_EQ(-EINVAL, slice_prctl(SET, 1, 0, 1));
}

TEST(yield)
{
	EXPECT_EQ(-ENOSYS, slice_yield());
}

/* Size and alignment fit each other, and an area made by them registers. */
TEST(auxiliary_vector)
{
	size_t align = getauxval(AT_RSEQ_ALIGN);
	size_t len = getauxval(AT_RSEQ_FEATURE_SIZE);
	void *area;

	ASSERT_LE(len, align);
	if (len < RSEQ_LEGACY_LEN)
		len = RSEQ_LEGACY_LEN;
	ASSERT_EQ(0, posix_memalign(&area, align, 64));
	memset(area, 0xff, 64);
	ASSERT_EQ(0, rseq_register(area, len, 0));
	EXPECT_EQ(0, rseq_unregister(area, len));
}

TEST(legacy)
{
	static union rseq_area area;

	ASSERT_EQ(0, rseq_register(&area, RSEQ_LEGACY_LEN, 0));
	EXPECT_EQ(0, area.abi.flags);
	EXPECT_EQ(0, slice_ctrl(&area.abi));
	EXPECT_EQ(0, rseq_unregister(&area, RSEQ_LEGACY_LEN));
}

/* A libc that asks for it at registration must not be refused. */
TEST(default_on_is_ignored)
{
	static union rseq_area area;

	ASSERT_EQ(0, rseq_register(&area, RSEQ_AREA_SIZE,
				   RSEQ_SLICE_DEFAULT_ON));
	EXPECT_EQ(0, area.abi.flags);
	EXPECT_EQ(0, rseq_unregister(&area, RSEQ_AREA_SIZE));
}

SLICE_TEST_MAIN(NEED_LEFT_OUT)
