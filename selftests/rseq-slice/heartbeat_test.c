// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers of others on the CPU of an abuser: one that beats each millisecond
 * keeps beating, none gets lost when the slice timer comes and goes.
 */
#include <kselftest_harness.h>
#include <sys/timerfd.h>

#include "slice_env.h"

#define PERIOD_NS	1000000

struct heart {
	unsigned long beats;
};

static __noreturn void heart_run(struct heart *h, int cpu)
{
	const struct itimerspec every = {
		.it_interval.tv_nsec = PERIOD_NS,
		.it_value.tv_nsec = PERIOD_NS,
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	unsigned long long n;

	if (fd < 0 || pin_to(0, cpu) || timerfd_settime(fd, 0, &every, NULL))
		_exit(1);
	while (read(fd, &n, sizeof(n)) == sizeof(n))
		WRITE_ONCE(h->beats, h->beats + n);
	_exit(1);
}

FIXTURE(heartbeat)
{
	struct slice_env env;
	struct heart *heart;
	pid_t pid;
};

FIXTURE_SETUP(heartbeat)
{
	self->heart = shared_page();
	ASSERT_NE(NULL, self->heart);
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	self->pid = fork_bound();
	ASSERT_LE(0, self->pid);
	if (!self->pid)
		heart_run(self->heart, self->env.cpu);
}

FIXTURE_TEARDOWN(heartbeat)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_TRUE(slice_stats_balanced(&s));
	child_end(self->pid);
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(heartbeat, goes_on, 86400)
{
	struct noise *noise = self->env.noise;
	long long start = now_ns(CLOCK_MONOTONIC);
	unsigned long beats = READ_ONCE(self->heart->beats);
	unsigned long expected;
	struct slice_stats s;

	noise_rearm(noise);
	WRITE_ONCE(noise->deadline, now_ms() + stress_ns() / 1000000);
	slice_hog(self->env.rs, &noise->expired);
	beats = READ_ONCE(self->heart->beats) - beats;
	expected = (now_ns(CLOCK_MONOTONIC) - start) / PERIOD_NS;

	s = slice_env_stats(&self->env);
	EXPECT_LT(0, s.granted);
	/* The last ones may not have been fetched yet. */
	EXPECT_LE(expected * 9 / 10, beats);
}

SLICE_TEST_MAIN(NEED_GRANTS)
