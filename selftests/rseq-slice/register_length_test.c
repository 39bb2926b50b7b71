// SPDX-License-Identifier: GPL-2.0-only
/* Which lengths and alignments of an area can be registered. */
#include <kselftest_harness.h>

#include "child.h"
#include "slice_require.h"

static const unsigned int lengths[] = { 0, 20, 28, 31, 32, 33, 40, 64, 4096 };

struct length_case {
	unsigned int len;
	size_t align;
};

static unsigned char space[8192] __aligned(4096);

/* An area aligned to exactly @align, not to more. */
static void *place(size_t align)
{
	return space + align;
}

static long expected(const struct length_case *c)
{
	if (c->len < RSEQ_LEGACY_LEN)
		return -EINVAL;
	if (c->len == RSEQ_LEGACY_LEN)
		return c->align >= 32 ? 0 : -EINVAL;
	return c->align >= RSEQ_AREA_SIZE ? 0 : -EINVAL;
}

/* Reports -errno as exit code. */
static int try_register(void *arg)
{
	const struct length_case *c = arg;

	return -rseq_register(place(c->align), c->len, 0);
}

/* 0 if what follows agrees with whether the registration was taken. */
static int try_enable(void *arg)
{
	const struct length_case *c = arg;
	long ret = rseq_register(place(c->align), c->len, 0);

	if (ret)
		return slice_enable() == -ENXIO ? 0 : 1;
	if (slice_enable() || slice_get() != 1)
		return 2;
	if (rseq_unregister(place(c->align), c->len))
		return 3;
	return slice_get() ? 4 : 0;
}

FIXTURE(lengths)
{
};

FIXTURE_VARIANT(lengths)
{
	size_t align;
};

FIXTURE_VARIANT_ADD(lengths, align16)
{
	.align = 16,
};

FIXTURE_VARIANT_ADD(lengths, align32)
{
	.align = 32,
};

FIXTURE_VARIANT_ADD(lengths, align64)
{
	.align = 64,
};

FIXTURE_SETUP(lengths)
{
}

FIXTURE_TEARDOWN(lengths)
{
}

TEST_F(lengths, result)
{
	struct length_case c = { .align = variant->align };
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		c.len = lengths[i];
		ret = child_run(try_register, &c);
		EXPECT_TRUE(child_exited(ret, -expected(&c)))
		{
			TH_LOG("length %u: wait status 0x%x, expected %ld",
			       c.len, ret, expected(&c));
		}
	}
}

/* Never a registration by halves: enabling tells which it was. */
TEST_F(lengths, enable)
{
	struct length_case c = { .align = variant->align };
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		c.len = lengths[i];
		ret = child_run(try_enable, &c);
		EXPECT_TRUE(child_exited(ret, 0))
		{
			TH_LOG("length %u: wait status 0x%x", c.len, ret);
		}
	}
}

SLICE_TEST_MAIN(NEED_ON)
