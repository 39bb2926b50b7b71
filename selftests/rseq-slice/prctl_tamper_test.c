// SPDX-License-Identifier: GPL-2.0-only
/*
 * rseq::flags is the kernel's word: who changed it gets EFAULT and SIGSEGV
 * from the next attempt to switch the extension.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/mman.h>

#include "child.h"
#include "slice_require.h"

struct tamper {
	struct rseq_abi *rs;
	bool enable_first;
	__u32 flags;		/* what user space makes of the word */
	bool enable;		/* what it asks for then */
	bool unmap;
	bool expect_signal;
};

static int segv_seen;

static void on_segv(int sig)
{
	(void)sig;
	segv_seen++;
}

/* 0 if the call behaved as @t says. */
static int tamper_child(void *arg)
{
	struct tamper *t = arg;
	long ret;

	signal(SIGSEGV, on_segv);
	if (rseq_register(t->rs, RSEQ_SLICE_LEN, 0))
		return 1;
	if (t->enable_first && slice_enable())
		return 2;
	if (t->unmap)
		munmap(t->rs, getpagesize());
	else
		WRITE_ONCE(t->rs->flags, t->flags);
	ret = t->enable ? slice_enable() : slice_disable();
	if (ret != (t->expect_signal ? -EFAULT : 0))
		return 3;
	return segv_seen == t->expect_signal ? 0 : 4;
}

FIXTURE(tamper)
{
	struct tamper t;
};

FIXTURE_SETUP(tamper)
{
	self->t.rs = shared_page();
	ASSERT_NE(NULL, self->t.rs);
}

FIXTURE_TEARDOWN(tamper)
{
	munmap(self->t.rs, getpagesize());
}

TEST_F(tamper, untouched)
{
	self->t.flags = RSEQ_SLICE_AVAILABLE;
	self->t.enable = true;
	EXPECT_TRUE(child_exited(child_run(tamper_child, &self->t), 0));
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED, self->t.rs->flags);
}

TEST_F(tamper, available_cleared)
{
	self->t.enable = true;
	self->t.expect_signal = true;
	EXPECT_TRUE(child_exited(child_run(tamper_child, &self->t), 0));
}

TEST_F(tamper, enabled_cleared)
{
	self->t.enable_first = true;
	self->t.flags = RSEQ_SLICE_AVAILABLE;
	self->t.expect_signal = true;
	EXPECT_TRUE(child_exited(child_run(tamper_child, &self->t), 0));
}

TEST_F(tamper, available_cleared_while_enabled)
{
	self->t.enable_first = true;
	self->t.flags = RSEQ_SLICE_ENABLED;
	self->t.expect_signal = true;
	EXPECT_TRUE(child_exited(child_run(tamper_child, &self->t), 0));
}

/* No change asked for means no look at the word. */
TEST_F(tamper, no_change)
{
	self->t.enable_first = true;
	self->t.enable = true;
	EXPECT_TRUE(child_exited(child_run(tamper_child, &self->t), 0));
}

/* Without an area not even the handler can run: the kernel ends the task. */
TEST_F(tamper, area_gone)
{
	self->t.unmap = true;
	self->t.enable = true;
	EXPECT_TRUE(child_killed(child_run(tamper_child, &self->t), SIGSEGV));
}

/* GET tells the kernel's state, whatever the word says. */
TEST(get_ignores_the_word)
{
	static union rseq_area area;

	ASSERT_EQ(0, rseq_register(&area, RSEQ_SLICE_LEN, 0));
	WRITE_ONCE(area.abi.flags, RSEQ_SLICE_AVAILABLE | RSEQ_SLICE_ENABLED);
	EXPECT_EQ(0, slice_get());
	WRITE_ONCE(area.abi.flags, RSEQ_SLICE_AVAILABLE);
	ASSERT_EQ(0, slice_enable());
	WRITE_ONCE(area.abi.flags, 0);
	EXPECT_EQ(1, slice_get());
}

SLICE_TEST_MAIN(NEED_ON)
