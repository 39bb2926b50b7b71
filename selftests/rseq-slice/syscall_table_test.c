// SPDX-License-Identifier: GPL-2.0-only
/*
 * 471 is the yield call in all three tables of x86, as in mainline, and the
 * numbers between the end of 6.12's table and it stay unused.
 */
#include <kselftest_harness.h>

#include "slice_require.h"

#define HOLE_FIRST	463
#define HOLE_LAST	470

static long call_x64(long nr)
{
	return sys_result(syscall(nr));
}

static long call_x32(long nr)
{
	return sys_result(syscall(X32_SYSCALL_BIT | nr));
}

static long call_ia32(long nr)
{
	asm volatile ("int $0x80" : "+a" (nr) : :
		      "memory", "r8", "r9", "r10", "r11");
	return nr;
}

FIXTURE(table)
{
};

FIXTURE_VARIANT(table)
{
	long (*call)(long nr);
};

FIXTURE_VARIANT_ADD(table, x64)
{
	.call = call_x64,
};

FIXTURE_VARIANT_ADD(table, x32)
{
	.call = call_x32,
};

FIXTURE_VARIANT_ADD(table, ia32)
{
	.call = call_ia32,
};

FIXTURE_SETUP(table)
{
}

FIXTURE_TEARDOWN(table)
{
}

TEST_F(table, yield)
{
	EXPECT_EQ(0, variant->call(__NR_rseq_slice_yield));
	EXPECT_EQ(471, __NR_rseq_slice_yield);
}

TEST_F(table, holes)
{
	long nr;

	for (nr = HOLE_FIRST; nr <= HOLE_LAST; nr++)
		EXPECT_EQ(-ENOSYS, variant->call(nr))
		{
			TH_LOG("system call %ld", nr);
		}
}

TEST_F(table, end)
{
	EXPECT_EQ(-ENOSYS, variant->call(__NR_rseq_slice_yield + 1));
}

SLICE_TEST_MAIN(NEED_BUILT_IN | NEED_X32 | NEED_IA32)
