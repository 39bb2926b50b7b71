// SPDX-License-Identifier: GPL-2.0-only
/*
 * Without high-resolution timers a grant could not be ended in time: none is
 * made, and everything else works.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

FIXTURE(highres_off)
{
	struct slice_env env;
};

FIXTURE_SETUP(highres_off)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
}

FIXTURE_TEARDOWN(highres_off)
{
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(highres_off, no_grant, SLICE_TIMEOUT)
{
	struct slice_stats s;

	EXPECT_EQ(1, slice_get());
	ASSERT_TRUE(slice_hog_outlast(&self->env, 50));
	s = slice_env_stats(&self->env);
	EXPECT_EQ(0, s.granted);
	EXPECT_EQ(0, slice_yield());
}

int main(int argc, char **argv)
{
	struct timespec res;

	slice_require(NEED_GRANTS);
	if (clock_getres(CLOCK_MONOTONIC, &res) || res.tv_nsec <= 1)
		slice_end(KSFT_SKIP, "needs a boot with highres=off");
	return test_harness_run(argc, argv);
}
