// SPDX-License-Identifier: GPL-2.0-only
/* What a second registration and a bad address get. */
#include <kselftest_harness.h>
#include <sys/mman.h>

#include "slice_require.h"

FIXTURE(twice)
{
	union rseq_area area;
	union rseq_area other;
};

FIXTURE_SETUP(twice)
{
	ASSERT_EQ(0, rseq_register(&self->area, RSEQ_SLICE_LEN, 0));
}

FIXTURE_TEARDOWN(twice)
{
	EXPECT_EQ(0, rseq_unregister(&self->area, RSEQ_SLICE_LEN));
}

TEST_F(twice, same)
{
	EXPECT_EQ(-EBUSY, rseq_register(&self->area, RSEQ_SLICE_LEN, 0));
}

TEST_F(twice, same_default_on)
{
	EXPECT_EQ(-EBUSY, rseq_register(&self->area, RSEQ_SLICE_LEN,
					RSEQ_SLICE_DEFAULT_ON));
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE, self->area.abi.flags);
}

TEST_F(twice, other_area)
{
	EXPECT_EQ(-EINVAL, rseq_register(&self->other, RSEQ_SLICE_LEN, 0));
}

TEST_F(twice, other_length)
{
	EXPECT_EQ(-EINVAL, rseq_register(&self->area, RSEQ_LEGACY_LEN, 0));
	EXPECT_EQ(-EINVAL, rseq_register(&self->area, RSEQ_AREA_SIZE, 0));
}

TEST_F(twice, other_signature)
{
	EXPECT_EQ(-EPERM, sys_rseq(&self->area, RSEQ_SLICE_LEN, 0, 1));
}

/* Length and address are looked at before the signature. */
TEST_F(twice, order)
{
	EXPECT_EQ(-EINVAL, sys_rseq(&self->other, RSEQ_SLICE_LEN, 0, 1));
	EXPECT_EQ(-EINVAL, sys_rseq(&self->area, RSEQ_AREA_SIZE, 0, 1));
	EXPECT_EQ(-EINVAL, sys_rseq(&self->area, RSEQ_SLICE_LEN, 4, 1));
}

FIXTURE(address)
{
	void *page;
};

FIXTURE_VARIANT(address)
{
	unsigned int len;
};

FIXTURE_VARIANT_ADD(address, legacy)
{
	.len = RSEQ_LEGACY_LEN,
};

FIXTURE_VARIANT_ADD(address, slice)
{
	.len = RSEQ_SLICE_LEN,
};

FIXTURE_SETUP(address)
{
	self->page = mmap(NULL, getpagesize(), PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->page);
}

FIXTURE_TEARDOWN(address)
{
	munmap(self->page, getpagesize());
}

TEST_F(address, kernel)
{
	EXPECT_EQ(-EFAULT, rseq_register((void *)-4096L, variant->len, 0));
	EXPECT_EQ(-ENXIO, slice_enable());
}

TEST_F(address, not_mapped)
{
	EXPECT_EQ(-EFAULT, rseq_register(self->page, variant->len, 0));
	EXPECT_EQ(-ENXIO, slice_enable());
}

/* Errors of the call itself win over a bad address. */
TEST_F(address, after_length_and_flags)
{
	EXPECT_EQ(-EINVAL, rseq_register(self->page, 31, 0));
	EXPECT_EQ(-EINVAL, rseq_register(self->page, variant->len, 4));
}

/* A refused address leaves the thread free to register a good one. */
TEST_F(address, then_good)
{
	union rseq_area area = { 0 };

	EXPECT_EQ(-EFAULT, rseq_register(self->page, variant->len, 0));
	EXPECT_EQ(0, rseq_register(&area, variant->len, 0));
	EXPECT_EQ(0, rseq_unregister(&area, variant->len));
}

TEST(null_is_no_area)
{
	EXPECT_EQ(-EFAULT, rseq_register(NULL, RSEQ_SLICE_LEN, 0));
	EXPECT_EQ(-EINVAL, rseq_unregister(NULL, RSEQ_SLICE_LEN));
}

/* A long area is written on registration: it has to be writable there. */
TEST(read_only_area)
{
	void *page = mmap(NULL, getpagesize(), PROT_READ,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, page);
	EXPECT_EQ(-EFAULT, rseq_register(page, RSEQ_SLICE_LEN, 0));
	EXPECT_EQ(-ENXIO, slice_enable());
}

SLICE_TEST_MAIN(NEED_ON)
