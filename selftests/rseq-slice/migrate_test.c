// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moving a running holder to another CPU takes the stopper: it does not wait
 * for a grant, and the holder goes on asking at the new place.
 */
#include <kselftest_harness.h>

#include "rt_view.h"

#define MOVES	100
#define PATIENCE_MS	60000

struct mover {
	unsigned long moves;
	int failed;
	int done;
};

FIXTURE(migrate)
{
	struct slice_env env;
	struct trace trace;
	struct mover *mover;
	struct rt_view view;
};

/*
 * Takes the victim to its own CPU, as soon as that is seen to run in a grant,
 * and sends it back, where it is not running and takes no stopper. A grant seen
 * already before may be that of a victim which waits to run again and has not
 * cleared the word yet.
 */
static __noreturn void mover_run(struct mover *m, pid_t victim,
				 const struct slice_env *env)
{
	const long until = now_ms() + PATIENCE_MS;

	pin_to(0, env->other_cpu);
	for (; m->moves < MOVES; m->moves++) {
		while (slice_granted(env->rs) && now_ms() < until)
			;
		while (!slice_granted(env->rs) && now_ms() < until)
			;
		m->failed += !!pin_to(victim, env->other_cpu);
		m->failed += !!pin_to(victim, env->cpu);
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
	ASSERT_EQ(0, trace_open(&self->trace, rt_events));
}

FIXTURE_TEARDOWN(migrate)
{
	struct slice_stats s;

	trace_close(&self->trace);
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(migrate, running_holder, 300)
{
	struct rt_view *v = &self->view;
	struct slice_env *env = &self->env;
	const pid_t victim = getpid();
	pid_t pid = fork_bound();

	ASSERT_LE(0, pid);
	if (!pid)
		mover_run(self->mover, victim, env);
	ASSERT_EQ(0, rseq_register(env->rs, RSEQ_SLICE_LEN,
				   RSEQ_SLICE_DEFAULT_ON));
	env->len = RSEQ_SLICE_LEN;
	ASSERT_EQ(0, trace_start(&self->trace));
	slice_hog(env->rs, &self->mover->done);
	ASSERT_EQ(0, rt_view_add(v, &self->trace));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));

	TH_LOG("%lu stopper wake-ups, %lu in a grant, %lu revoked, %lu waited",
	       v->wakes, v->live_at_wake, v->revoked_while_queued,
	       v->waited);
	EXPECT_EQ(MOVES, self->mover->moves);
	EXPECT_EQ(0, self->mover->failed);
	EXPECT_LT(0, v->grants);
	EXPECT_LT(0, v->wakes);
	/* Woken from another CPU: see rt_wake_test. */
	EXPECT_GE(v->wakes / 10, v->granted_while_queued);
	EXPECT_GE(v->wakes / 10, v->waited);
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_TRACE | NEED_2_CPUS)
