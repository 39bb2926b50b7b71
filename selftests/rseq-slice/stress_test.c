// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once on all CPUs: holders that yield, abort or let grants run
 * out, that toggle the extension and re-register, under competitors that wake,
 * while the slice length changes. Nobody dies and the counters add up.
 */
#include <kselftest_harness.h>
#include <signal.h>

#include "slice_env.h"

#define MAX_CPUS	8
#define PER_CPU		3
#define BURST		2000

struct shared {
	int stop;
	/* Yields that ended a grant, by holder. */
	unsigned long ones[MAX_CPUS * PER_CPU];
};

struct crowd {
	struct shared *shared;
	struct noise *noise[MAX_CPUS];
	pid_t holders[MAX_CPUS * PER_CPU];
	int cpus;
};

FIXTURE(stress)
{
	struct slice_stats before;
	struct crowd crowd;
	long old_nsec;
};

/* What a holder does once it was granted, one thing after the other. */
static int act(unsigned long *ones, struct rseq_abi *rs, unsigned int what)
{
	long ret;

	switch (what % 6) {
	case 0:
	case 1:
		ret = slice_yield();
		*ones += ret == 1;
		return ret != 0 && ret != 1;
	case 2:
		return syscall(__NR_getpid) <= 0;
	case 3:
		while (slice_granted(rs))
			;
		return 0;
	case 4:
		return slice_disable() || slice_enable();
	default:
		return rseq_unregister(rs, RSEQ_SLICE_LEN) ||
		       rseq_register(rs, RSEQ_SLICE_LEN, RSEQ_SLICE_DEFAULT_ON);
	}
}

static __noreturn void holder_run(unsigned long *ones, const int *stop, int cpu)
{
	struct slice_env env = { 0 };
	unsigned int turn = 0;
	int i;

	if (pin_to(0, cpu) || slice_register(&env, RSEQ_SLICE_LEN))
		_exit(1);
	while (!READ_ONCE(*stop)) {
		slice_request(env.rs);
		for (i = 0; i < BURST && !slice_granted(env.rs); i++)
			;
		if (slice_granted(env.rs) && act(ones, env.rs, turn++))
			_exit(2);
	}
	_exit(slice_get() == 1 ? 0 : 3);
}

/* Processes of its own for one CPU; false if one cannot be started. */
static bool fill_cpu(struct crowd *c, int cpu)
{
	int i, nr = c->cpus * PER_CPU;

	c->noise[c->cpus] = noise_start(cpu, NOISE_WAKE);
	if (!c->noise[c->cpus++])
		return false;
	for (i = nr; i < nr + PER_CPU; i++) {
		c->holders[i] = fork_bound();
		if (!c->holders[i])
			holder_run(&c->shared->ones[i], &c->shared->stop,
				   cpu);
		if (c->holders[i] < 0)
			return false;
	}
	return true;
}

FIXTURE_SETUP(stress)
{
	struct crowd *c = &self->crowd;
	cpu_set_t set;
	int cpu;

	self->old_nsec = file_number(SLICE_NSEC_FILE);
	ASSERT_EQ(0, slice_stats_read(&self->before));
	c->shared = shared_page();
	ASSERT_NE(NULL, c->shared);
	ASSERT_LT(0, cpus_allowed(&set));
	for (cpu = 0; cpu < CPU_SETSIZE && c->cpus < MAX_CPUS; cpu++)
		ASSERT_TRUE(!CPU_ISSET(cpu, &set) || fill_cpu(c, cpu));
}

FIXTURE_TEARDOWN(stress)
{
	struct crowd *c = &self->crowd;
	int i;

	for (i = 0; i < c->cpus; i++)
		noise_stop(c->noise[i]);
	slice_set_nsec(self->old_nsec);
}

TEST_F_TIMEOUT(stress, adds_up, 86400)
{
	const long until = now_ms() + 2 * stress_ns() / 1000000;
	struct crowd *c = &self->crowd;
	unsigned long ones = 0;
	struct slice_stats s;
	int i, status;

	while (now_ms() < until) {
		ASSERT_EQ(0, slice_set_nsec(SLICE_NSEC_MIN));
		sleep_ns(20000000);
		ASSERT_EQ(0, slice_set_nsec(SLICE_NSEC_MAX));
		sleep_ns(20000000);
	}
	WRITE_ONCE(c->shared->stop, 1);
	for (i = 0; i < c->cpus * PER_CPU; i++) {
		ASSERT_EQ(c->holders[i],
			  waitpid(c->holders[i], &status, 0));
		EXPECT_EQ(0, status);
		ones += c->shared->ones[i];
	}
	s = slice_stats_since(&self->before);
	TH_LOG("%lu grants: %lu yielded, %lu aborted, %lu ran out, %lu revoked",
	       s.granted, s.yielded, s.aborted, s.expired, s.revoked);
	EXPECT_LT(0, s.granted);
	EXPECT_EQ(ones, s.yielded);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS)
