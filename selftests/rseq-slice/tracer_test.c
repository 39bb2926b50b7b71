// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracer that turns getpid() into rseq_slice_yield(), the other way round,
 * or skips the call: what the kernel noted before it stepped in must not leak
 * into a later call.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "child.h"
#include "slice_env.h"

#define ROUNDS	10
/* In the first argument: the tracer changes just this call. */
#define MARK	0x7e57

struct tracee {
	struct slice_env *env;
	long nr;			/* the call it makes */
	int grants;
	int bad_result;			/* other than normal values */
	int stale;			/* a later yield reported a grant */
	int dirty;			/* control word not clear */
	unsigned long ones;
};

static int tracee_main(struct tracee *t)
{
	const pid_t self = getpid();
	long ret;
	int i;

	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		return 1;
	raise(SIGSTOP);
	for (i = 0; i < ROUNDS; i++) {
		if (!slice_wait_grant(t->env))
			return 2;
		t->grants++;
		ret = sys_result(syscall(t->nr, MARK));
		if (slice_ctrl(t->env->rs))
			t->dirty++;
		t->ones += ret == 1;
		if (ret != 0 && ret != 1 && ret != self && ret != -ENOSYS)
			t->bad_result++;
		if (slice_yield())
			t->stale++;
	}
	return 0;
}

static int renumber(pid_t pid, long to)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return -errno;
	if (regs.rdi != MARK || (long)regs.orig_rax == to)
		return 0;
	regs.orig_rax = to;
	return ptrace(PTRACE_SETREGS, pid, 0, &regs) ? -errno : 0;
}

/* Follows @pid through all its calls; its wait status at the end. */
static int trace_calls(pid_t pid, long to)
{
	bool entry = true;
	int status;

	for (;;) {
		if (waitpid(pid, &status, 0) != pid)
			return -1;
		if (!WIFSTOPPED(status))
			return status;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			if (entry && renumber(pid, to))
				return -1;
			entry = !entry;
		} else {
			ptrace(PTRACE_SETOPTIONS, pid, 0,
			       PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
		}
		ptrace(PTRACE_SYSCALL, pid, 0, 0);
	}
}

FIXTURE(tracer)
{
	struct slice_env env;
	struct tracee *t;
};

FIXTURE_VARIANT(tracer)
{
	long from;
	long to;
};

FIXTURE_VARIANT_ADD(tracer, getpid_to_yield)
{
	.from = __NR_getpid,
	.to = __NR_rseq_slice_yield,
};

FIXTURE_VARIANT_ADD(tracer, yield_to_getpid)
{
	.from = __NR_rseq_slice_yield,
	.to = __NR_getpid,
};

FIXTURE_VARIANT_ADD(tracer, yield_skipped)
{
	.from = __NR_rseq_slice_yield,
	.to = -1,
};

FIXTURE_VARIANT_ADD(tracer, yield_kept)
{
	.from = __NR_rseq_slice_yield,
	.to = __NR_rseq_slice_yield,
};

FIXTURE_SETUP(tracer)
{
	self->t = shared_page();
	ASSERT_NE(NULL, self->t);
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	self->t->env = &self->env;
	self->t->nr = variant->from;
}

FIXTURE_TEARDOWN(tracer)
{
	slice_env_close(&self->env);
	munmap(self->t, getpagesize());
}

TEST_F_TIMEOUT(tracer, changes_the_call, SLICE_TIMEOUT)
{
	struct slice_stats s;
	int status;
	pid_t pid = fork_bound();

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(tracee_main(self->t));
	status = trace_calls(pid, variant->to);
	EXPECT_TRUE(child_exited(status, 0))
	{
		TH_LOG("wait status 0x%x", status);
	}
	EXPECT_EQ(ROUNDS, self->t->grants);
	EXPECT_EQ(0, self->t->bad_result);
	EXPECT_EQ(0, self->t->stale);
	EXPECT_EQ(0, self->t->dirty);
	s = slice_env_stats(&self->env);
	/* A call says 1 exactly where a yield was counted. */
	EXPECT_TRUE(variant->to != __NR_rseq_slice_yield ||
		    self->t->ones == s.yielded)
	{
		TH_LOG("%lu results of 1, %lu counted", self->t->ones,
		       s.yielded);
	}
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS)
