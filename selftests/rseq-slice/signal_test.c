// SPDX-License-Identifier: GPL-2.0-only
/*
 * Signals and grants: a pending signal denies a grant, a live one may reach
 * into the handler, and whoever yields there ends it once.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/time.h>

#include "slice_env.h"

#define SIGNALS		1000
#define MAX_TRAPS	500
#define ENOUGH_LIVE	5

static struct slice_env *handler_env;
static bool yield_in_handler;
static unsigned long handled, handler_yields, bad_values;
static unsigned long seen_live;

static void on_alarm(int sig)
{
	struct rseq_abi *rs = handler_env->rs;
	int granted = slice_granted(rs);

	(void)sig;
	handled++;
	bad_values += granted != 0 && granted != 1;
	if (!yield_in_handler)
		return;
	handler_yields += slice_yield();
}

static int alarm_every(long usec)
{
	const struct itimerval it = {
		.it_interval.tv_usec = usec,
		.it_value.tv_usec = usec,
	};

	return setitimer(ITIMER_REAL, &it, NULL) ? -errno : 0;
}

FIXTURE(sig)
{
	struct slice_env env;
};

FIXTURE_VARIANT(sig)
{
	bool yield;
};

FIXTURE_VARIANT_ADD(sig, looks)
{
	.yield = false,
};

FIXTURE_VARIANT_ADD(sig, yields)
{
	.yield = true,
};

FIXTURE_SETUP(sig)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	handler_env = &self->env;
	yield_in_handler = variant->yield;
	ASSERT_NE(SIG_ERR, signal(SIGALRM, on_alarm));
}

FIXTURE_TEARDOWN(sig)
{
	alarm_every(0);
	slice_env_close(&self->env);
}

/*
 * On a loaded host a timer is nearly always due with the tick, and no grant is
 * made for minutes: the storm goes by signals, the calm has the grants.
 */
TEST_F_TIMEOUT(sig, timer_storm, SLICE_TIMEOUT)
{
	unsigned long yields = 0;
	struct slice_stats s;

	ASSERT_EQ(0, alarm_every(500));
	noise_rearm(self->env.noise);
	while (READ_ONCE(handled) < SIGNALS) {
		ASSERT_EQ(0, READ_ONCE(self->env.noise->expired));
		slice_request(self->env.rs);
		if (slice_granted(self->env.rs))
			yields += slice_yield();
	}
	ASSERT_EQ(0, alarm_every(0));
	ASSERT_TRUE(slice_wait_grant(&self->env));
	yields += slice_yield();

	s = slice_env_stats(&self->env);
	EXPECT_EQ(0, bad_values);
	EXPECT_EQ(yields + handler_yields, s.yielded);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

/* An exception in a grant, so that the handler certainly starts inside it. */
static void on_trap(int sig)
{
	(void)sig;
	handled++;
	if (!slice_granted(handler_env->rs))
		return;
	seen_live++;
	if (yield_in_handler)
		handler_yields += slice_yield();
}

TEST_F_TIMEOUT(sig, handler_inside_a_grant, SLICE_TIMEOUT)
{
	unsigned long i;
	struct slice_stats s;

	ASSERT_NE(SIG_ERR, signal(SIGTRAP, on_trap));
	for (i = 0; i < MAX_TRAPS && seen_live < ENOUGH_LIVE; i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		asm volatile ("int3" : : : "memory");
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		EXPECT_EQ(0, slice_yield());
	}
	s = slice_env_stats(&self->env);
	EXPECT_EQ(i, handled);
	EXPECT_LE(ENOUGH_LIVE, seen_live);
	EXPECT_EQ(handler_yields, s.yielded);
	EXPECT_TRUE(!variant->yield || handler_yields > 0);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS)
