// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moving a running holder to another CPU takes the stopper: it does not wait
 * for a grant, and the holder goes on asking at the new place.
 */
#include <kselftest_harness.h>

#include "rt_view.h"

#define MOVES	60

struct mover {
	unsigned long moves;
	int failed;
	int done;
	pid_t pid;
};

FIXTURE(migrate)
{
	struct slice_env env;
	struct noise *other_noise;
	struct trace trace;
	struct mover *mover;
	struct rt_view view;
};

/* Back and forth, as soon as the victim is seen to run in a grant. */
static __noreturn void mover_run(struct mover *m, pid_t victim,
				 const struct slice_env *env)
{
	long until;

	pin_to(0, env->other_cpu);
	while (m->moves < MOVES) {
		until = now_ms() + 50;
		while (!slice_granted(env->rs) && now_ms() < until)
			;
		if (pin_to(victim, m->moves % 2 ? env->cpu : env->other_cpu))
			m->failed++;
		WRITE_ONCE(m->moves, m->moves + 1);
	}
	WRITE_ONCE(m->done, 1);
	_exit(0);
}

FIXTURE_SETUP(migrate)
{
	self->trace.file = NULL;
	self->view.comm = "migration/";
	self->mover = shared_page();
	ASSERT_NE(NULL, self->mover);
	ASSERT_EQ(0, slice_env_open(&self->env, 0, NOISE_SPIN));
	self->env.rs = shared_page();
	ASSERT_NE(NULL, self->env.rs);
	self->other_noise = noise_start(self->env.other_cpu, NOISE_SPIN);
	ASSERT_NE(NULL, self->other_noise);
	ASSERT_EQ(0, trace_open(&self->trace, rt_events));
}

FIXTURE_TEARDOWN(migrate)
{
	struct slice_stats s;

	trace_close(&self->trace);
	noise_stop(self->other_noise);
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(migrate, running_holder, 300)
{
	struct rt_view *v = &self->view;
	struct slice_env *env = &self->env;
	const pid_t self_pid = getpid();

	self->mover->pid = fork_bound();
	ASSERT_LE(0, self->mover->pid);
	if (!self->mover->pid)
		mover_run(self->mover, self_pid, env);
	ASSERT_EQ(0, rseq_register(env->rs, RSEQ_SLICE_LEN,
				   RSEQ_SLICE_DEFAULT_ON));
	env->len = RSEQ_SLICE_LEN;
	ASSERT_EQ(0, trace_start(&self->trace));
	slice_hog(env->rs, &self->mover->done);
	ASSERT_EQ(0, rt_view_add(v, &self->trace));
	ASSERT_EQ(self->mover->pid, waitpid(self->mover->pid, NULL, 0));

	TH_LOG("%lu stopper wake-ups, %lu with a live grant, of %lu grants",
	       v->wakes, v->live_at_wake, v->grants);
	EXPECT_EQ(MOVES, self->mover->moves);
	EXPECT_EQ(0, self->mover->failed);
	EXPECT_LT(0, v->grants);
	EXPECT_LT(0, v->wakes);
	/* Woken from another CPU: see rt_wake_test. */
	EXPECT_GE(v->wakes / 10, v->granted_while_queued);
	EXPECT_GE(v->wakes / 5, v->ran_out_while_queued);
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_TRACE | NEED_2_CPUS)
