// SPDX-License-Identifier: GPL-2.0-only
/*
 * A grant that is not given back runs out by the timer: soon, once, and with
 * one start of the timer and at most one cancellation per grant.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

#define ROUNDS	30
#define GRANT	"rseq_slice_grant"
#define END	"rseq_slice_end"

static const char *const events[] = {
	"rseq/" GRANT, "rseq/" END, "timer/hrtimer_start",
	"timer/hrtimer_cancel", NULL
};

FIXTURE(expiry)
{
	struct slice_env env;
	struct trace trace;
};

FIXTURE_VARIANT(expiry)
{
	unsigned long nsec;
};

FIXTURE_VARIANT_ADD(expiry, shortest)
{
	.nsec = SLICE_NSEC_MIN,
};

FIXTURE_VARIANT_ADD(expiry, longest)
{
	.nsec = SLICE_NSEC_MAX,
};

FIXTURE_SETUP(expiry)
{
	self->trace.file = NULL;
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	ASSERT_EQ(0, slice_set_nsec(variant->nsec));
	ASSERT_EQ(0, trace_open(&self->trace, events));
}

FIXTURE_TEARDOWN(expiry)
{
	trace_close(&self->trace);
	slice_env_close(&self->env);
}

/* Asks and never gives back, until @grants ran out or time is up. */
static bool let_run_out(struct slice_env *env, unsigned long grants)
{
	struct slice_stats s;

	do {
		slice_request(env->rs);
		if (!noise_outlast(env->noise, 1))
			return false;
		s = slice_env_stats(env);
	} while (s.expired < grants);
	return true;
}

TEST_F_TIMEOUT(expiry, counts_once, SLICE_TIMEOUT)
{
	struct slice_stats s;

	ASSERT_TRUE(let_run_out(&self->env, ROUNDS));
	s = slice_env_stats(&self->env);
	EXPECT_LE(ROUNDS, s.expired);
	EXPECT_EQ(0, s.yielded);
	/* An expired grant that counted as revoked too would break this. */
	EXPECT_TRUE(slice_stats_balanced(&s));
}

TEST_F_TIMEOUT(expiry, clears_the_word, SLICE_TIMEOUT)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		slice_request(self->env.rs);
		ASSERT_TRUE(noise_outlast(self->env.noise, 2));
		EXPECT_EQ(0, slice_granted(self->env.rs));
		EXPECT_EQ(0, slice_yield());
	}
}

/*
 * By wall clock on a host that may stall the guest any time: the median is
 * what a timer gives, a grant ended by the next tick would take milliseconds.
 */
TEST_F_TIMEOUT(expiry, is_bounded, SLICE_TIMEOUT)
{
	double granted_at = 0, limit = variant->nsec * 1e-9 + 1e-3;
	int expired = 0, in_time = 0;
	struct trace_event e;

	ASSERT_EQ(0, trace_start(&self->trace));
	ASSERT_TRUE(let_run_out(&self->env, ROUNDS));
	ASSERT_EQ(0, trace_stop(&self->trace));
	while (trace_next(&self->trace, &e)) {
		if (trace_is(&e, GRANT))
			granted_at = e.seconds;
		if (!trace_is(&e, END) || !trace_says(&e, "expire"))
			continue;
		expired++;
		in_time += e.seconds - granted_at < limit;
	}
	ASSERT_LE(ROUNDS, expired);
	EXPECT_LT(expired / 2, in_time);
}

/* The slice timer is told by its handler; cancellations by its address. */
TEST_F_TIMEOUT(expiry, costs_one_timer, SLICE_TIMEOUT)
{
	unsigned long grants = 0, starts = 0, cancels = 0;
	char timer[64] = "";
	struct trace_event e;

	ASSERT_EQ(0, trace_start(&self->trace));
	ASSERT_TRUE(let_run_out(&self->env, ROUNDS));
	ASSERT_EQ(0, trace_stop(&self->trace));
	while (trace_next(&self->trace, &e)) {
		grants += trace_is(&e, GRANT);
		if (trace_is(&e, "hrtimer_start") && trace_says(&e, "slice_timer")) {
			starts++;
			ASSERT_EQ(1, sscanf(e.args, "%63s", timer));
		}
		if (trace_is(&e, "hrtimer_cancel") && timer[0] &&
		    trace_says(&e, timer))
			cancels++;
	}
	EXPECT_LT(0, starts);
	EXPECT_LE(starts, grants);
	EXPECT_LE(cancels, starts);
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_TRACE)
