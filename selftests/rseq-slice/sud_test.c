// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls that user space dispatches itself, by SIGSYS: a grant in which
 * one is made does not outlive the handler's return, and leaves nothing.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/prctl.h>

#include "slice_env.h"

#define ROUNDS	10

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#define PR_SYS_DISPATCH_OFF		0
#define PR_SYS_DISPATCH_ON		1
#endif

#define LET_PASS	0
#define DISPATCH	1

static unsigned char selector;
static int sigsys_seen;
static int granted_in_handler;
static struct rseq_abi *area;

static void on_sigsys(int sig)
{
	(void)sig;
	/* Also lets sigreturn pass. */
	WRITE_ONCE(selector, LET_PASS);
	sigsys_seen++;
	granted_in_handler += slice_granted(area);
}

FIXTURE(sud)
{
	struct slice_env env;
};

FIXTURE_VARIANT(sud)
{
	long nr;
};

FIXTURE_VARIANT_ADD(sud, getpid)
{
	.nr = __NR_getpid,
};

FIXTURE_VARIANT_ADD(sud, yield)
{
	.nr = __NR_rseq_slice_yield,
};

FIXTURE_SETUP(sud)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	area = self->env.rs;
	ASSERT_NE(SIG_ERR, signal(SIGSYS, on_sigsys));
	ASSERT_EQ(0, prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
			   0, 0, &selector));
}

FIXTURE_TEARDOWN(sud)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(sud, ends_with_the_handler, SLICE_TIMEOUT)
{
	struct slice_stats s;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		WRITE_ONCE(selector, DISPATCH);
		syscall(variant->nr);
		EXPECT_EQ(LET_PASS, READ_ONCE(selector));
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		EXPECT_EQ(0, slice_yield());
	}
	EXPECT_EQ(ROUNDS, sigsys_seen);
	s = slice_env_stats(&self->env);
	EXPECT_LE(ROUNDS, s.granted);
	/* The dispatched call never was a yield for the kernel. */
	EXPECT_EQ(0, s.yielded);
	TH_LOG("%d of %d handlers ran inside the grant", granted_in_handler,
	       sigsys_seen);
}

SLICE_TEST_MAIN(NEED_GRANTS)
