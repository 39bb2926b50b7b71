// SPDX-License-Identifier: GPL-2.0-only
/* Every error of prctl(PR_RSEQ_SLICE_EXTENSION), in order, and the results. */
#include <kselftest_harness.h>

#include "slice_require.h"

#define GET	PR_RSEQ_SLICE_EXTENSION_GET
#define SET	PR_RSEQ_SLICE_EXTENSION_SET
#define ENABLE	PR_RSEQ_SLICE_EXT_ENABLE

struct prctl_case {
	unsigned long op;
	unsigned long arg3;
	unsigned long arg4;
	unsigned long arg5;
	long unregistered;
	long registered;
};

static const struct prctl_case cases[] = {
	{ GET, 0, 0, 0, 0, 0 },
	{ GET, 1, 0, 0, -EINVAL, -EINVAL },
	{ GET, 1UL << 31, 0, 0, -EINVAL, -EINVAL },
	{ GET, 0, 1, 0, -EINVAL, -EINVAL },
	{ GET, 0, 0, 1, -EINVAL, -EINVAL },
	{ SET, ENABLE, 0, 0, -ENXIO, 0 },
	{ SET, 0, 0, 0, -ENXIO, 0 },
	{ SET, 2, 0, 0, -EINVAL, -EINVAL },
	{ SET, ENABLE | 2, 0, 0, -EINVAL, -EINVAL },
	{ SET, ~0UL, 0, 0, -EINVAL, -EINVAL },
	{ SET, ENABLE, 1, 0, -EINVAL, -EINVAL },
	{ SET, ENABLE, 0, 1, -EINVAL, -EINVAL },
	{ 0, 0, 0, 0, -EINVAL, -EINVAL },
	{ 3, 0, 0, 0, -EINVAL, -EINVAL },
	{ 3, ENABLE, 0, 0, -EINVAL, -EINVAL },
	{ ~0UL, 0, 0, 0, -EINVAL, -EINVAL },
	{ GET, 1UL << 32, 0, 0, -EINVAL, -EINVAL },
	{ SET, ENABLE | 1UL << 32, 0, 0, -EINVAL, -EINVAL },
	{ GET, 0, 1UL << 32, 0, -EINVAL, -EINVAL },
};

FIXTURE(errors)
{
	union rseq_area area;
};

FIXTURE_VARIANT(errors)
{
	bool registered;
	bool enabled;
};

FIXTURE_VARIANT_ADD(errors, unregistered)
{
	.registered = false,
	.enabled = false,
};

FIXTURE_VARIANT_ADD(errors, registered)
{
	.registered = true,
	.enabled = false,
};

FIXTURE_VARIANT_ADD(errors, enabled)
{
	.registered = true,
	.enabled = true,
};

FIXTURE_SETUP(errors)
{
	if (!variant->registered)
		return;
	ASSERT_EQ(0, rseq_register(&self->area, RSEQ_SLICE_LEN, variant->enabled
				   ? RSEQ_SLICE_DEFAULT_ON : 0));
}

FIXTURE_TEARDOWN(errors)
{
}

static long expected(const struct prctl_case *c, bool registered, bool enabled)
{
	if (!registered)
		return c->unregistered;
	/* What GET returns is the one result that depends on the state. */
	if (c->op == GET && !c->registered)
		return enabled;
	return c->registered;
}

/* An error changes nothing, a success is undone for the next case. */
TEST_F(errors, table)
{
	const struct prctl_case *c;
	long ret, result;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		ret = slice_prctl(c->op, c->arg3, c->arg4, c->arg5);
		result = expected(c, variant->registered, variant->enabled);
		EXPECT_EQ(result, ret)
		{
			TH_LOG("prctl(79, %lu, 0x%lx, 0x%lx, 0x%lx)", c->op,
			       c->arg3, c->arg4, c->arg5);
		}
		EXPECT_TRUE(ret >= 0 || slice_get() == variant->enabled);
		ret = variant->enabled ? slice_enable() : slice_disable();
		ASSERT_EQ(variant->registered ? 0 : -ENXIO, ret);
	}
}

FIXTURE(state)
{
	union rseq_area area;
};

FIXTURE_SETUP(state)
{
	ASSERT_EQ(0, rseq_register(&self->area, RSEQ_SLICE_LEN, 0));
}

FIXTURE_TEARDOWN(state)
{
}

TEST_F(state, on_and_off)
{
	struct rseq_abi *rs = &self->area.abi;
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, slice_get());
		EXPECT_EQ(RSEQ_SLICE_AVAILABLE, rs->flags);
		EXPECT_EQ(0, slice_enable());
		EXPECT_EQ(1, slice_get());
		EXPECT_EQ(RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED, rs->flags);
		EXPECT_EQ(0, slice_disable());
	}
}

TEST_F(state, twice_is_no_error)
{
	EXPECT_EQ(0, slice_disable());
	EXPECT_EQ(0, slice_enable());
	EXPECT_EQ(0, slice_enable());
	EXPECT_EQ(1, slice_get());
	EXPECT_EQ(0, slice_disable());
	EXPECT_EQ(0, slice_disable());
	EXPECT_EQ(0, slice_get());
}

SLICE_TEST_MAIN(NEED_ON)
