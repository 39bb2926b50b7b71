// SPDX-License-Identifier: GPL-2.0-only
/*
 * A sandbox that does not know rseq_slice_yield(): the call fails, the grant
 * ends all the same, and no later call reports the blocked one as its own.
 */
#include <kselftest_harness.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>

#include "child.h"
#include "slice_env.h"

#define ROUNDS		10
/* The yield call ignores arguments: this one marks the calls to block. */
#define MARK		0x7e57

static int install_filter(unsigned int action)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_rseq_slice_yield, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {
		.len = ARRAY_SIZE(code),
		.filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) ? -errno : 0;
}

static long marked_yield(void)
{
	return sys_result(syscall(__NR_rseq_slice_yield, MARK));
}

FIXTURE(seccomp)
{
	struct slice_env env;
};

FIXTURE_VARIANT(seccomp)
{
	unsigned int action;
	long result;
};

FIXTURE_VARIANT_ADD(seccomp, error)
{
	.action = SECCOMP_RET_ERRNO | EPERM,
	.result = -EPERM,
};

/* Without a tracer this skips the call. */
FIXTURE_VARIANT_ADD(seccomp, trace)
{
	.action = SECCOMP_RET_TRACE,
	.result = -ENOSYS,
};

FIXTURE_SETUP(seccomp)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	ASSERT_EQ(0, install_filter(variant->action));
}

FIXTURE_TEARDOWN(seccomp)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(seccomp, blocked_yield_ends_the_grant, SLICE_TIMEOUT)
{
	unsigned long loops, ended = 0, gave_up = 0, calls = 0;
	bool ran;
	int i;

	slice_call_ended(&self->env, &calls);
	for (i = 0; slice_go_on(i, ROUNDS, 5, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		loops = READ_ONCE(self->env.noise->loops);
		EXPECT_EQ(variant->result, marked_yield());
		ran = READ_ONCE(self->env.noise->loops) != loops;
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		if (!slice_call_ended(&self->env, &calls))
			continue;
		ended++;
		gave_up += ran;
	}
	EXPECT_LE(5, ended);
	EXPECT_LT(ended / 4, gave_up);
}

TEST_F_TIMEOUT(seccomp, no_stale_yield, SLICE_TIMEOUT)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		EXPECT_EQ(variant->result, marked_yield());
		EXPECT_EQ(0, slice_yield());
	}
}

/* The timer of a grant that ended does not count one more. */
TEST_F_TIMEOUT(seccomp, no_late_expiry, SLICE_TIMEOUT)
{
	struct slice_stats s, after;

	ASSERT_TRUE(slice_wait_grant(&self->env));
	EXPECT_EQ(variant->result, marked_yield());
	s = slice_env_stats(&self->env);
	ASSERT_TRUE(noise_outlast(self->env.noise, 5));
	after = slice_env_stats(&self->env);
	EXPECT_EQ(s.expired, after.expired);
	EXPECT_EQ(s.granted, after.granted);
}

static int killed_child(void *arg)
{
	if (install_filter(SECCOMP_RET_KILL_PROCESS))
		return 1;
	if (!slice_wait_grant(arg))
		return 2;
	marked_yield();
	return 3;
}

TEST_F_TIMEOUT(seccomp, killed_in_a_grant, SLICE_TIMEOUT)
{
	struct slice_stats s;
	int status = child_run(killed_child, &self->env);

	EXPECT_TRUE(child_killed(status, SIGSYS));
	s = slice_env_stats(&self->env);
	EXPECT_LT(0, s.granted);
}

SLICE_TEST_MAIN(NEED_GRANTS)
