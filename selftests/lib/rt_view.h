/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks that must not wait for a grant, and what the trace says about them.
 *
 * A "waker" is a real-time process that sleeps and wakes on the holder's CPU.
 * The view follows the trace from each wake-up to the switch to the task: in
 * between nothing may be granted on that CPU, and a grant that was live has to
 * be revoked at once: an interrupt that finds the CPU with no reschedule due
 * shows that it went back to the holder. Time plays no part in it.
 */
#ifndef HOLDFAST_RT_VIEW_H
#define HOLDFAST_RT_VIEW_H

#include <fcntl.h>

#include "noise.h"
#include "slice_env.h"
#include "trace.h"

#define WAKER_NAME	"hf-waker"
#define VIEW_CPUS	64

static const char *const rt_events[] = {
	"rseq/rseq_slice_grant", "rseq/rseq_slice_end", "sched/sched_wakeup",
	"sched/sched_switch", "irq_vectors/local_timer_entry",
	"irq_vectors/reschedule_entry", NULL
};

struct rt_view {
	const char *comm;		/* of the task that must not wait */
	unsigned long wakes;
	unsigned long grants;
	unsigned long live_at_wake;
	unsigned long granted_while_queued;
	unsigned long revoked_while_queued;
	unsigned long waited;
	bool running;
	struct {
		bool live;
		bool queued;
	} cpu[VIEW_CPUS];
};

static inline void rt_view_wakeup(struct rt_view *v,
				  const struct trace_event *e)
{
	const char *at = strstr(e->args, "target_cpu=");
	char comm[32];
	int cpu;

	snprintf(comm, sizeof(comm), "comm=%s", v->comm);
	/* Woken before it had gone to sleep: it never left the CPU. */
	if (v->running || !at || !trace_says(e, comm))
		return;
	cpu = strtol(at + strlen("target_cpu="), NULL, 10);
	v->wakes++;
	v->live_at_wake += v->cpu[cpu].live;
	v->cpu[cpu].queued = true;
}

/* It may have been pushed to another CPU meanwhile. */
static inline void rt_view_switch(struct rt_view *v,
				  const struct trace_event *e)
{
	char comm[32];
	int cpu;

	snprintf(comm, sizeof(comm), "prev_comm=%s", v->comm);
	if (trace_says(e, comm))
		v->running = false;
	snprintf(comm, sizeof(comm), "next_comm=%s", v->comm);
	if (!trace_says(e, comm))
		return;
	v->running = true;
	for (cpu = 0; cpu < VIEW_CPUS; cpu++)
		v->cpu[cpu].queued = false;
}

static inline void rt_view_event(struct rt_view *v,
				 const struct trace_event *e)
{
	if (e->cpu >= VIEW_CPUS)
		return;
	if (trace_is(e, "rseq_slice_grant")) {
		v->grants++;
		v->granted_while_queued += v->cpu[e->cpu].queued;
		v->cpu[e->cpu].live = true;
	} else if (trace_is(e, "rseq_slice_end")) {
		v->revoked_while_queued += v->cpu[e->cpu].queued &&
					   trace_says(e, "revoke");
		v->cpu[e->cpu].live = false;
	} else if (trace_is(e, "sched_wakeup")) {
		rt_view_wakeup(v, e);
	} else if (trace_is(e, "sched_switch")) {
		rt_view_switch(v, e);
	} else if (trace_is(e, "local_timer_entry") ||
		   trace_is(e, "reschedule_entry")) {
		v->waited += v->cpu[e->cpu].queued && !trace_need_resched(e);
	}
}

/* Adds what is in the trace; it starts with no grant and nobody queued. */
static inline int rt_view_add(struct rt_view *v, struct trace *t)
{
	struct trace_event e;
	int ret = trace_stop(t);

	memset(v->cpu, 0, sizeof(v->cpu));
	v->running = false;
	while (!ret && trace_next(t, &e))
		rt_view_event(v, &e);
	return ret;
}

struct waker {
	unsigned long wakes;
	int ready;
	int pipe[2];
	pid_t pid;
	pid_t kicker;
};

static inline int waker_set_policy(int policy)
{
	if (policy != SCHED_DEADLINE)
		return set_policy(policy, 50);
	return set_sched((struct noise_sched){
		.policy = SCHED_DEADLINE,
		.runtime = 10000000,
		.deadline = 20000000,
		.period = 20000000,
	});
}

static inline __noreturn void waker_run(struct waker *w, int policy,
					bool remote)
{
	char byte;

	prctl(PR_SET_NAME, WAKER_NAME);
	if (waker_set_policy(policy))
		_exit(1);
	WRITE_ONCE(w->ready, 1);
	for (;;) {
		if (!remote)
			sleep_ns(1300000);
		else if (read(w->pipe[0], &byte, 1) != 1)
			_exit(1);
		WRITE_ONCE(w->wakes, w->wakes + 1);
	}
}

/* Kicks as soon as it sees a grant, and now and then without one. */
static inline __noreturn void waker_kick(struct waker *w,
					 const struct rseq_abi *rs)
{
	long long until;
	unsigned long wakes;

	for (;;) {
		wakes = READ_ONCE(w->wakes);
		until = now_ns(CLOCK_MONOTONIC) + 20000000;
		while (!slice_granted(rs) && now_ns(CLOCK_MONOTONIC) < until)
			;
		if (write(w->pipe[1], "x", 1) != 1)
			_exit(1);
		while (READ_ONCE(w->wakes) == wakes)
			sleep_ns(100000);
	}
}

/* Deadline tasks may not be pinned: those inherit all CPUs of @cpus. */
static inline struct waker *waker_start(const struct slice_env *env, int policy,
					bool remote)
{
	struct waker *w = shared_page();
	pid_t pid;

	if (!w || pipe2(w->pipe, O_CLOEXEC))
		return NULL;
	pid = fork_bound();
	if (!pid) {
		if (policy != SCHED_DEADLINE && pin_to(0, env->cpu))
			_exit(1);
		waker_run(w, policy, remote);
	}
	w->pid = pid;
	if (!remote)
		return w;
	pid = fork_bound();
	if (!pid) {
		pin_to(0, env->other_cpu);
		waker_kick(w, env->rs);
	}
	w->kicker = pid;
	return w;
}

static inline void waker_stop(struct waker *w)
{
	if (!w)
		return;
	child_end(w->pid);
	child_end(w->kicker);
	close(w->pipe[0]);
	close(w->pipe[1]);
	munmap(w, getpagesize());
}

#endif /* HOLDFAST_RT_VIEW_H */
