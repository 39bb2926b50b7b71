// SPDX-License-Identifier: GPL-2.0-only
/*
 * What registering and unregistering write, on an area full of 0xff: a long
 * area starts clean, of a 32-byte one only what 6.12 always wrote.
 */
#include <kselftest_harness.h>

#include "slice_require.h"

FIXTURE(writes)
{
	union rseq_area area;
};

FIXTURE_VARIANT(writes)
{
	unsigned int len;
	int flags;
	__u32 bits;
	__u32 ctrl;
};

FIXTURE_VARIANT_ADD(writes, slice)
{
	.len = RSEQ_SLICE_LEN,
	.bits = RSEQ_SLICE_AVAILABLE,
};

FIXTURE_VARIANT_ADD(writes, slice_default_on)
{
	.len = RSEQ_SLICE_LEN,
	.flags = RSEQ_SLICE_DEFAULT_ON,
	.bits = RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED,
};

FIXTURE_VARIANT_ADD(writes, whole_area)
{
	.len = RSEQ_AREA_SIZE,
	.bits = RSEQ_SLICE_AVAILABLE,
};

FIXTURE_VARIANT_ADD(writes, legacy)
{
	.len = RSEQ_LEGACY_LEN,
	.bits = 0xffffffff,
	.ctrl = 0xffffffff,
};

FIXTURE_VARIANT_ADD(writes, legacy_default_on)
{
	.len = RSEQ_LEGACY_LEN,
	.flags = RSEQ_SLICE_DEFAULT_ON,
	.bits = 0xffffffff,
	.ctrl = 0xffffffff,
};

FIXTURE_SETUP(writes)
{
	memset(&self->area, 0xff, sizeof(self->area));
	ASSERT_EQ(0, rseq_register(&self->area, variant->len, variant->flags));
}

FIXTURE_TEARDOWN(writes)
{
}

TEST_F(writes, control)
{
	EXPECT_EQ(0, self->area.abi.rseq_cs);
	EXPECT_EQ(variant->bits, self->area.abi.flags);
	EXPECT_EQ(variant->ctrl, slice_ctrl(&self->area.abi));
}

TEST_F(writes, ids)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct rseq_abi *rs = &self->area.abi;
	cpu_set_t set;

	ASSERT_LT(0, cpus_allowed(&set));
	EXPECT_TRUE(CPU_ISSET(READ_ONCE(rs->cpu_id), &set));
	EXPECT_TRUE(CPU_ISSET(READ_ONCE(rs->cpu_id_start), &set));
	EXPECT_GT(cpus, READ_ONCE(rs->mm_cid));
	EXPECT_GT(1024, READ_ONCE(rs->node_id));
}

/* Nothing behind the registered length is the kernel's. */
TEST_F(writes, nothing_behind)
{
	size_t i;

	for (i = variant->len; i < sizeof(self->area); i++)
		EXPECT_EQ(0xff, self->area.bytes[i]);
}

/* Unregistering resets the ids alone. */
TEST_F(writes, unregister)
{
	struct rseq_abi *rs = &self->area.abi;

	ASSERT_EQ(0, rseq_unregister(rs, variant->len));
	EXPECT_EQ(0, rs->cpu_id_start);
	EXPECT_EQ(RSEQ_CPU_ID_NONE, rs->cpu_id);
	EXPECT_EQ(0, rs->node_id);
	EXPECT_EQ(0, rs->mm_cid);
	EXPECT_EQ(variant->bits, rs->flags);
	EXPECT_EQ(variant->ctrl, slice_ctrl(rs));
}

/* The next owner of the memory does not inherit what the last one set. */
TEST_F(writes, again)
{
	struct rseq_abi *rs = &self->area.abi;

	ASSERT_EQ(0, rseq_unregister(rs, variant->len));
	memset(rs, 0xff, RSEQ_AREA_SIZE);
	ASSERT_EQ(0, rseq_register(rs, RSEQ_SLICE_LEN, 0));
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE, rs->flags);
	EXPECT_EQ(0, slice_ctrl(rs));
}

SLICE_TEST_MAIN(NEED_ON)
