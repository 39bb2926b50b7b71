// SPDX-License-Identifier: GPL-2.0-only
/*
 * Restartable sequences still restart while the extension's bits stand in
 * rseq::flags. On 6.12 any bit there kills the thread at its first abort.
 */
#include <kselftest_harness.h>
#include <signal.h>

#include "rseq_cs.h"
#include "slice_env.h"

#define PREEMPTIONS	50

static unsigned long trapped;

static void on_trap(int sig)
{
	(void)sig;
	trapped++;
}

FIXTURE(abort)
{
	struct slice_env env;
};

FIXTURE_VARIANT(abort)
{
	unsigned int len;
	bool enabled;
	unsigned long traps;
};

FIXTURE_VARIANT_ADD(abort, available)
{
	.len = RSEQ_SLICE_LEN,
	.enabled = false,
	.traps = 10000,
};

FIXTURE_VARIANT_ADD(abort, enabled)
{
	.len = RSEQ_SLICE_LEN,
	.enabled = true,
	.traps = 100000,
};

FIXTURE_VARIANT_ADD(abort, legacy)
{
	.len = RSEQ_LEGACY_LEN,
	.enabled = false,
	.traps = 10000,
};

FIXTURE_VARIANT_ADD(abort, legacy_enabled)
{
	.len = RSEQ_LEGACY_LEN,
	.enabled = true,
	.traps = 10000,
};

FIXTURE_SETUP(abort)
{
	ASSERT_EQ(0, slice_env_open(&self->env, variant->len, NOISE_SPIN));
	ASSERT_TRUE(variant->enabled || !slice_disable());
	ASSERT_NE(SIG_ERR, signal(SIGTRAP, on_trap));
}

FIXTURE_TEARDOWN(abort)
{
	slice_env_close(&self->env);
}

/* A signal aborts; int3 makes one come exactly inside. */
TEST_F_TIMEOUT(abort, by_signal, 600)
{
	unsigned long i, missed = 0;

	for (i = 0; i < variant->traps; i++)
		missed += rseq_cs_trap(self->env.rs) != -1;
	EXPECT_EQ(0, missed);
	EXPECT_EQ(variant->traps, trapped);
	EXPECT_EQ(0, self->env.rs->rseq_cs);
}

/* Preempted at last, if not by the grant then by its end. */
TEST_F_TIMEOUT(abort, by_preemption, SLICE_TIMEOUT)
{
	const int *expired = &self->env.noise->expired;
	struct slice_stats s;
	int i;

	for (i = 0; i < PREEMPTIONS; i++) {
		noise_rearm(self->env.noise);
		ASSERT_EQ(-1, rseq_cs_spin(self->env.rs, expired));
	}
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
	EXPECT_EQ(variant->enabled, s.granted > 0);
}

SLICE_TEST_MAIN(NEED_GRANTS)
