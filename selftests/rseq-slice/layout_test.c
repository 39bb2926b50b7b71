// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of struct rseq, the numbers that tell user space about it, and
 * that the header the kernel exports says the same.
 */
#include <kselftest_harness.h>

#include "rseq_abi.h"
#include "slice_require.h"

#ifdef UAPI_HAS_SLICE
/* struct rseq as this kernel exports it, under the name struct rseq. */
#include UAPI_RSEQ_H
#endif

TEST(offsets)
{
	EXPECT_EQ(0, offsetof(struct rseq_abi, cpu_id_start));
	EXPECT_EQ(4, offsetof(struct rseq_abi, cpu_id));
	EXPECT_EQ(8, offsetof(struct rseq_abi, rseq_cs));
	EXPECT_EQ(16, offsetof(struct rseq_abi, flags));
	EXPECT_EQ(20, offsetof(struct rseq_abi, node_id));
	EXPECT_EQ(24, offsetof(struct rseq_abi, mm_cid));
	EXPECT_EQ(28, offsetof(struct rseq_abi, slice_ctrl));
	EXPECT_EQ(28, offsetof(struct rseq_abi, slice_ctrl.request));
	EXPECT_EQ(29, offsetof(struct rseq_abi, slice_ctrl.granted));
	EXPECT_EQ(33, offsetof(struct rseq_abi, end));
	EXPECT_EQ(64, sizeof(struct rseq_abi));
}

TEST(auxiliary_vector)
{
	EXPECT_EQ(33, getauxval(AT_RSEQ_FEATURE_SIZE));
	EXPECT_EQ(64, getauxval(AT_RSEQ_ALIGN));
}

/* Who allocates by the auxiliary vector alone gets it right. */
TEST(auxiliary_vector_is_enough)
{
	size_t align = getauxval(AT_RSEQ_ALIGN);
	size_t len = getauxval(AT_RSEQ_FEATURE_SIZE);
	void *area;

	ASSERT_EQ(0, posix_memalign(&area, align, align));
	memset(area, 0, align);
	ASSERT_EQ(0, rseq_register(area, len, 0));
	EXPECT_EQ(0, rseq_unregister(area, len));
}

#ifdef UAPI_HAS_SLICE
TEST(exported_header)
{
	EXPECT_EQ(16, offsetof(struct rseq, flags));
	EXPECT_EQ(28, offsetof(struct rseq, slice_ctrl));
	EXPECT_EQ(28, offsetof(struct rseq, slice_ctrl.request));
	EXPECT_EQ(29, offsetof(struct rseq, slice_ctrl.granted));
	EXPECT_EQ(33, offsetof(struct rseq, end));
	EXPECT_EQ(64, sizeof(struct rseq));
	EXPECT_EQ(RSEQ_SLICE_DEFAULT_ON, RSEQ_FLAG_SLICE_EXT_DEFAULT_ON);
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE, RSEQ_CS_FLAG_SLICE_EXT_AVAILABLE);
	EXPECT_EQ(RSEQ_SLICE_ENABLED, RSEQ_CS_FLAG_SLICE_EXT_ENABLED);
}

/*
 * The attribute of the exported type is 32 as it ever was; what a long
 * registration needs comes from AT_RSEQ_ALIGN, and less gets EINVAL.
 */
TEST(exported_type_alignment)
{
	static union rseq_area area[2];
	void *aligned_as_type = area[0].bytes + __alignof__(struct rseq);

	EXPECT_GE(getauxval(AT_RSEQ_ALIGN), __alignof__(struct rseq));
	if (__alignof__(struct rseq) < RSEQ_AREA_SIZE)
		EXPECT_EQ(-EINVAL, rseq_register(aligned_as_type,
						 sizeof(struct rseq), 0));
	ASSERT_EQ(0, rseq_register(area, sizeof(struct rseq), 0));
	EXPECT_EQ(0, rseq_unregister(area, sizeof(struct rseq)));
}
#else
TEST(exported_header)
{
	SKIP(return, "built against a tree without the extension");
}
#endif

SLICE_TEST_MAIN(NEED_BUILT_IN)
