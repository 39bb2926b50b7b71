// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that asks for ever and never gives anything back gains nothing: over
 * some seconds it gets half of the CPU beside one plain competitor.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

#define MAX_ROUNDS	6

FIXTURE(fair)
{
	struct slice_env env;
};

FIXTURE_VARIANT(fair)
{
	unsigned int len;
	unsigned long nsec;
};

FIXTURE_VARIANT_ADD(fair, longest)
{
	.len = RSEQ_SLICE_LEN,
	.nsec = SLICE_NSEC_MAX,
};

FIXTURE_VARIANT_ADD(fair, shortest)
{
	.len = RSEQ_SLICE_LEN,
	.nsec = SLICE_NSEC_MIN,
};

FIXTURE_VARIANT_ADD(fair, legacy)
{
	.len = RSEQ_LEGACY_LEN,
	.nsec = SLICE_NSEC_MAX,
};

FIXTURE_SETUP(fair)
{
	ASSERT_EQ(0, slice_env_open(&self->env, variant->len, NOISE_SPIN));
	ASSERT_EQ(0, slice_set_nsec(variant->nsec));
}

FIXTURE_TEARDOWN(fair)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

static long long noise_cpu_ns(const struct noise *n)
{
	clockid_t clock;

	return clock_getcpuclockid(n->pid, &clock) ? 0 : now_ns(clock);
}

/* Percent of the CPU that the abuser had since @own and @other. */
static double abuse(struct slice_env *env, long long own, long long other)
{
	struct noise *noise = env->noise;

	noise_rearm(noise);
	WRITE_ONCE(noise->deadline, now_ms() + stress_ns() / 1000000);
	slice_hog(env->rs, &noise->expired);
	own = now_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
	other = noise_cpu_ns(noise) - other;
	return 100.0 * own / (own + other);
}

/*
 * A host that stops the guest for some 100 ms charges them all to one of the
 * two. That evens out, what the abuser gains for being one does not.
 */
TEST_F_TIMEOUT(fair, half_for_the_abuser, 86400)
{
	long long own, other;
	struct slice_stats s;
	double share;
	int rounds = 0;

	/* Both have to be under way before the clock starts. */
	ASSERT_TRUE(slice_hog_outlast(&self->env, 4));
	own = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	other = noise_cpu_ns(self->env.noise);
	do {
		share = abuse(&self->env, own, other);
	} while ((share < 48.0 || share > 52.0) && ++rounds < MAX_ROUNDS);

	s = slice_env_stats(&self->env);
	TH_LOG("%.2f %% of the CPU with %lu grants, %lu ran out", share,
	       s.granted, s.expired);
	EXPECT_LT(0, s.expired);
	EXPECT_EQ(0, s.yielded);
	EXPECT_LE(48.0, share);
	EXPECT_GE(52.0, share);
}

SLICE_TEST_MAIN(NEED_GRANTS)
