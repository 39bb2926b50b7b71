// SPDX-License-Identifier: GPL-2.0-only
/*
 * An area that the kernel cannot write any more kills the process that took it
 * away, and nobody else; one that comes back empty does no harm.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/mman.h>

#include "child.h"
#include "slice_env.h"

enum away { AWAY_UNMAP, AWAY_NONE, AWAY_READ, AWAY_DONTNEED };

struct area_case {
	struct noise *noise;
	unsigned int len;
	enum away away;
};

static int take_away(void *page, enum away away)
{
	switch (away) {
	case AWAY_UNMAP:
		return munmap(page, getpagesize());
	case AWAY_NONE:
		return mprotect(page, getpagesize(), PROT_NONE);
	case AWAY_READ:
		return mprotect(page, getpagesize(), PROT_READ);
	case AWAY_DONTNEED:
		return madvise(page, getpagesize(), MADV_DONTNEED);
	}
	return -1;
}

/* Ends by exit(0) only if the kernel let it live on. */
static int area_child(void *arg)
{
	struct area_case *c = arg;
	struct rseq_abi *rs = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (rs == MAP_FAILED || rseq_register(rs, c->len, 0) || slice_enable())
		return 1;
	WRITE_ONCE(rs->slice_ctrl.request, 1);
	if (take_away(rs, c->away))
		return 2;
	if (!noise_outlast(c->noise, 5))
		return 3;
	if (c->away != AWAY_DONTNEED)
		return 4;
	/* Back, empty, and the kernel has its ids in it again. */
	return READ_ONCE(rs->cpu_id) == (__u32)sched_getcpu() ? 0 : 5;
}

FIXTURE(area)
{
	struct slice_env env;
};

FIXTURE_VARIANT(area)
{
	unsigned int len;
	enum away away;
};

FIXTURE_VARIANT_ADD(area, unmapped)
{
	.len = RSEQ_SLICE_LEN,
	.away = AWAY_UNMAP,
};

FIXTURE_VARIANT_ADD(area, no_access)
{
	.len = RSEQ_SLICE_LEN,
	.away = AWAY_NONE,
};

FIXTURE_VARIANT_ADD(area, read_only)
{
	.len = RSEQ_SLICE_LEN,
	.away = AWAY_READ,
};

FIXTURE_VARIANT_ADD(area, emptied)
{
	.len = RSEQ_SLICE_LEN,
	.away = AWAY_DONTNEED,
};

FIXTURE_VARIANT_ADD(area, legacy_unmapped)
{
	.len = RSEQ_LEGACY_LEN,
	.away = AWAY_UNMAP,
};

FIXTURE_VARIANT_ADD(area, legacy_read_only)
{
	.len = RSEQ_LEGACY_LEN,
	.away = AWAY_READ,
};

FIXTURE_SETUP(area)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	/* The children register areas of their own. */
	ASSERT_EQ(0, rseq_unregister(self->env.rs, self->env.len));
	self->env.len = 0;
}

FIXTURE_TEARDOWN(area)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(area, taken_away, SLICE_TIMEOUT)
{
	struct area_case c = {
		.noise = self->env.noise,
		.len = variant->len,
		.away = variant->away,
	};
	int status = child_run(area_child, &c);

	EXPECT_TRUE(variant->away == AWAY_DONTNEED ?
		    child_exited(status, 0) : child_killed(status, SIGSEGV))
	{
		TH_LOG("wait status 0x%x", status);
	}
	EXPECT_EQ(0, kill(self->env.noise->pid, 0));
}

SLICE_TEST_MAIN(NEED_GRANTS)
