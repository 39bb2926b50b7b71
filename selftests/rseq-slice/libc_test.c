// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registration that libc made, with whatever length it knows: a thread
 * that opts in by prctl gets grants in libc's own area.
 */
#include <kselftest_harness.h>
#include <pthread.h>
#include <sys/rseq.h>

#include "slice_env.h"

#define TUNABLES	"GLIBC_TUNABLES"
#define OWN_RSEQ	"glibc.pthread.rseq=1"

static struct rseq_abi *libc_area(void)
{
	return (void *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

FIXTURE(libc)
{
	struct slice_env env;
};

FIXTURE_SETUP(libc)
{
	ASSERT_EQ(0, slice_env_open(&self->env, 0, NOISE_SPIN));
	self->env.rs = libc_area();
}

FIXTURE_TEARDOWN(libc)
{
	struct slice_stats s;

	slice_disable();
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

TEST_F(libc, nothing_before)
{
	EXPECT_EQ(0, slice_get());
	EXPECT_EQ(0, self->env.rs->flags & RSEQ_SLICE_ENABLED);
}

TEST_F_TIMEOUT(libc, grants, SLICE_TIMEOUT)
{
	int i, ended = 0;

	ASSERT_EQ(0, slice_enable());
	EXPECT_EQ(1, slice_get());
	for (i = 0; slice_go_on(i, 20, 1, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		ended += slice_yield();
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
	}
	EXPECT_LT(0, ended);
}

static void *thread_main(void *arg)
{
	struct slice_env env = *(struct slice_env *)arg;

	env.rs = libc_area();
	if (slice_get())
		return "enabled from the start";
	if (slice_enable())
		return "cannot enable";
	if (!slice_wait_grant(&env))
		return "no grant";
	return NULL;
}

TEST_F_TIMEOUT(libc, thread, SLICE_TIMEOUT)
{
	pthread_t thread;
	void *problem;

	ASSERT_EQ(0, slice_enable());
	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_main, &self->env));
	ASSERT_EQ(0, pthread_join(thread, &problem));
	EXPECT_EQ(NULL, problem)
	{
		TH_LOG("%s", (char *)problem);
	}
}

/* Judges the kernel without libc's registration, then starts over with it. */
int main(int argc, char **argv)
{
	const char *tunables = getenv(TUNABLES);

	if (tunables && strstr(tunables, OWN_RSEQ)) {
		if (!__rseq_size)
			slice_end(KSFT_SKIP, "this libc registers no rseq area");
		return test_harness_run(argc, argv);
	}
	slice_require(NEED_GRANTS);
	setenv(TUNABLES, OWN_RSEQ, 1);
	execv("/proc/self/exe", argv);
	slice_end(KSFT_FAIL, "cannot execute /proc/self/exe");
}
