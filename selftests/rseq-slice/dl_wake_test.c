// SPDX-License-Identifier: GPL-2.0-only
/*
 * A waking deadline task never waits for a grant. Such tasks cannot be pinned,
 * so there is a holder and a competitor on each CPU.
 */
#include <kselftest_harness.h>

#include "rt_view.h"

#define MAX_CPUS	8
#define ROUND_MS	300
/* How long to wait for chance to bring a wake-up into a grant. */
#define PATIENCE_MS	20000

struct holder {
	pid_t pid;
	struct noise *noise;
};

FIXTURE(dl)
{
	struct slice_env env;
	struct trace trace;
	struct waker *waker;
	struct rt_view view;
	struct holder holders[MAX_CPUS];
	int cpus;
};

static __noreturn void holder_run(int cpu)
{
	static const int never;
	struct slice_env env = { 0 };

	if (pin_to(0, cpu) || slice_register(&env, RSEQ_SLICE_LEN))
		_exit(1);
	slice_hog(env.rs, &never);
	_exit(0);
}

/* On each CPU but the one the test itself holds. */
static int start_holders(struct holder *holders, int own_cpu,
			 const cpu_set_t *set)
{
	int cpu, n = 0;

	for (cpu = 0; cpu < CPU_SETSIZE && n < MAX_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, set) || cpu == own_cpu)
			continue;
		holders[n].noise = noise_start(cpu, NOISE_SPIN);
		if (!holders[n].noise)
			break;
		holders[n].pid = fork_bound();
		if (!holders[n].pid)
			holder_run(cpu);
		n++;
	}
	return n;
}

FIXTURE_SETUP(dl)
{
	cpu_set_t set;

	self->trace.file = NULL;
	self->view.comm = WAKER_NAME;
	self->cpus = cpus_allowed(&set);
	if (self->cpus > MAX_CPUS)
		SKIP(return, "more than %d CPUs to fill", MAX_CPUS);
	slice_pick_cpus(&self->env);
	/* All forked before the test pins and registers itself. */
	self->waker = waker_start(&self->env, SCHED_DEADLINE, false);
	ASSERT_NE(NULL, self->waker);
	ASSERT_EQ(self->cpus - 1,
		  start_holders(self->holders, self->env.cpu, &set));
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	ASSERT_EQ(0, trace_open(&self->trace, rt_events));
}

FIXTURE_TEARDOWN(dl)
{
	static const struct slice_stats boot;
	struct slice_stats s;
	int i;

	waker_stop(self->waker);
	for (i = 0; i < self->cpus - 1; i++) {
		child_end(self->holders[i].pid);
		noise_stop(self->holders[i].noise);
	}
	trace_close(&self->trace);
	/* Since boot: at no other time all holders were known to be at rest. */
	s = slice_stats_since(&boot);
	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(dl, never_waits, 300)
{
	const long until = now_ms() + PATIENCE_MS;
	struct rt_view *v = &self->view;
	struct noise *noise = self->env.noise;

	do {
		ASSERT_EQ(0, trace_start(&self->trace));
		noise_rearm(noise);
		WRITE_ONCE(noise->deadline, now_ms() + ROUND_MS);
		slice_hog(self->env.rs, &noise->expired);
		ASSERT_EQ(0, rt_view_add(v, &self->trace));
	} while (now_ms() < until && !v->live_at_wake);

	TH_LOG("%lu wake-ups, %lu in a grant, %lu revoked, %lu waited",
	       v->wakes, v->live_at_wake, v->revoked_while_queued,
	       v->waited);
	EXPECT_EQ(1, READ_ONCE(self->waker->ready));
	EXPECT_LE(10, v->wakes);
	EXPECT_LT(0, v->grants);
	/* Mostly woken from another CPU: see rt_wake_test. */
	EXPECT_GE(v->wakes / 10, v->granted_while_queued);
	EXPECT_GE(v->wakes / 10, v->waited);
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_TRACE | NEED_RT)
