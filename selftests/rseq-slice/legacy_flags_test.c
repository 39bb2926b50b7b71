// SPDX-License-Identifier: GPL-2.0-only
/*
 * The old bits of rseq::flags keep what 6.12 does with them: the thread that
 * sets one dies when its sequence aborts. No other bit does any harm.
 */
#include <kselftest_harness.h>
#include <signal.h>

#include "child.h"
#include "rseq_cs.h"
#include "slice_require.h"

struct flags_case {
	unsigned int len;
	__u32 flags;
	bool enable;
};

static void on_trap(int sig)
{
	(void)sig;
}

static int abort_with_flags(void *arg)
{
	static union rseq_area area;
	struct flags_case *c = arg;

	signal(SIGTRAP, on_trap);
	if (rseq_register(&area, c->len, 0))
		return 1;
	if (c->enable && slice_enable())
		return 2;
	area.abi.flags |= c->flags;
	return rseq_cs_trap(&area.abi) == -1 ? 0 : 3;
}

FIXTURE(flags)
{
	struct flags_case c;
};

FIXTURE_VARIANT(flags)
{
	__u32 flags;
	bool deadly;
};

FIXTURE_VARIANT_ADD(flags, none)
{
	.flags = 0,
	.deadly = false,
};

FIXTURE_VARIANT_ADD(flags, no_restart_on_preempt)
{
	.flags = 1 << 0,
	.deadly = true,
};

FIXTURE_VARIANT_ADD(flags, no_restart_on_signal)
{
	.flags = 1 << 1,
	.deadly = true,
};

FIXTURE_VARIANT_ADD(flags, no_restart_on_migrate)
{
	.flags = 1 << 2,
	.deadly = true,
};

/* What the kernel says there itself must not harm anybody. */
FIXTURE_VARIANT_ADD(flags, informational)
{
	.flags = RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED,
	.deadly = false,
};

/* Nor may what a later kernel may say there. */
FIXTURE_VARIANT_ADD(flags, undefined)
{
	.flags = 1 << 3 | 1 << 6 | 1U << 31,
	.deadly = false,
};

FIXTURE_SETUP(flags)
{
	self->c.flags = variant->flags;
}

FIXTURE_TEARDOWN(flags)
{
}

static bool as_expected(int status, bool deadly)
{
	return deadly ? child_killed(status, SIGSEGV) : child_exited(status, 0);
}

TEST_F(flags, legacy)
{
	self->c.len = RSEQ_LEGACY_LEN;
	EXPECT_TRUE(as_expected(child_run(abort_with_flags, &self->c),
				variant->deadly));
}

TEST_F(flags, legacy_opted_in)
{
	self->c.len = RSEQ_LEGACY_LEN;
	self->c.enable = true;
	EXPECT_TRUE(as_expected(child_run(abort_with_flags, &self->c),
				variant->deadly));
}

TEST_F(flags, slice)
{
	self->c.len = RSEQ_SLICE_LEN;
	EXPECT_TRUE(as_expected(child_run(abort_with_flags, &self->c),
				variant->deadly));
}

SLICE_TEST_MAIN(NEED_ON)
