// SPDX-License-Identifier: GPL-2.0-only
/*
 * A waking real-time task never waits for a grant: none is made while it is
 * queued, and one in progress is revoked at once.
 */
#include <kselftest_harness.h>

#include "rt_view.h"

#define WAKES_PER_ROUND	100
#define ENOUGH_LIVE	3
/* How long to wait for chance to bring wake-ups into grants. */
#define PATIENCE_MS	40000

FIXTURE(rt)
{
	struct slice_env env;
	struct trace trace;
	struct waker *waker;
	struct rt_view view;
};

FIXTURE_VARIANT(rt)
{
	int policy;
	bool remote;
};

FIXTURE_VARIANT_ADD(rt, fifo_timer)
{
	.policy = SCHED_FIFO,
	.remote = false,
};

FIXTURE_VARIANT_ADD(rt, fifo_other_cpu)
{
	.policy = SCHED_FIFO,
	.remote = true,
};

FIXTURE_VARIANT_ADD(rt, rr_timer)
{
	.policy = SCHED_RR,
	.remote = false,
};

FIXTURE_VARIANT_ADD(rt, rr_other_cpu)
{
	.policy = SCHED_RR,
	.remote = true,
};

FIXTURE_SETUP(rt)
{
	self->trace.file = NULL;
	self->view.comm = WAKER_NAME;
	ASSERT_EQ(0, slice_env_open(&self->env, 0, NOISE_SPIN));
	/* The kicker looks at the area from another process. */
	self->env.rs = shared_page();
	ASSERT_NE(NULL, self->env.rs);
	/* Forked first: it must not inherit the registration of that area. */
	self->waker = waker_start(&self->env, variant->policy, variant->remote);
	ASSERT_NE(NULL, self->waker);
	ASSERT_EQ(0, rseq_register(self->env.rs, RSEQ_SLICE_LEN,
				   RSEQ_SLICE_DEFAULT_ON));
	self->env.len = RSEQ_SLICE_LEN;
	ASSERT_EQ(0, trace_open(&self->trace, rt_events));
}

FIXTURE_TEARDOWN(rt)
{
	struct slice_stats s;

	waker_stop(self->waker);
	trace_close(&self->trace);
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
	EXPECT_LE(self->view.revoked_while_queued, s.revoked);
	slice_env_close(&self->env);
}

/* Asks all the time while the task wakes @times times. */
static bool hog_for_wakes(struct slice_env *env, struct waker *w,
			  unsigned long times)
{
	unsigned long last = READ_ONCE(w->wakes) + times;

	noise_rearm(env->noise);
	while (READ_ONCE(w->wakes) < last) {
		if (READ_ONCE(env->noise->expired))
			return false;
		slice_request(env->rs);
	}
	return true;
}

TEST_F_TIMEOUT(rt, never_waits, 300)
{
	const long until = now_ms() + PATIENCE_MS;
	struct rt_view *v = &self->view;

	do {
		ASSERT_EQ(0, trace_start(&self->trace));
		ASSERT_TRUE(hog_for_wakes(&self->env, self->waker,
					  WAKES_PER_ROUND));
		ASSERT_EQ(0, rt_view_add(v, &self->trace));
	} while (now_ms() < until && (v->live_at_wake < ENOUGH_LIVE ||
		 (variant->remote && !v->revoked_while_queued)));

	TH_LOG("%lu wake-ups, %lu in a grant, %lu revoked, %lu waited",
	       v->wakes, v->live_at_wake, v->revoked_while_queued,
	       v->waited);
	EXPECT_LE(WAKES_PER_ROUND / 2, v->wakes);
	EXPECT_LT(0, v->grants);
	/* A timer cannot aim at grants, and may fire with theirs at once. */
	EXPECT_TRUE(!variant->remote || v->revoked_while_queued > 0);
	/*
	 * From another CPU the wake-up is in the trace a little before this
	 * CPU can know of it; a rule that is broken hits nearly all of them.
	 */
	EXPECT_GE(variant->remote ? v->wakes / 10 : 0, v->granted_while_queued);
	EXPECT_GE(variant->remote ? v->wakes / 10 : 0, v->waited);
}

/* The denied request is taken back: the holder has to ask anew. */
TEST_F_TIMEOUT(rt, takes_the_request_back, SLICE_TIMEOUT)
{
	int i, cleared = 0, rounds = 30;
	unsigned long wakes;

	for (i = 0; i < rounds; i++) {
		noise_rearm(self->env.noise);
		slice_request(self->env.rs);
		wakes = READ_ONCE(self->waker->wakes);
		while (READ_ONCE(self->waker->wakes) < wakes + 2)
			ASSERT_EQ(0, READ_ONCE(self->env.noise->expired));
		cleared += slice_ctrl(self->env.rs) == 0;
	}
	/* The wake-ups may have hit just the competitor. */
	EXPECT_LE(rounds / 2, cleared);
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_TRACE | NEED_RT | NEED_2_CPUS)
