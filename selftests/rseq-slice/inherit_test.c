// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who starts with the extension: a forked child with its own memory does, all
 * who share or replace the memory do not and have to register first.
 */
#include <kselftest_harness.h>
#include <pthread.h>

#include "child.h"
#include "slice_env.h"

#define EXEC_MARK	"--report"
#define FRESH		10	/* exit code: nothing inherited */

/* What a task finds: FRESH, or the bits of what it should not have. */
static int look_fresh(void)
{
	return FRESH + (slice_get() != 0) + 2 * (slice_enable() != -ENXIO);
}

FIXTURE(inherit)
{
	struct slice_env env;
};

FIXTURE_VARIANT(inherit)
{
	bool in_grant;
};

FIXTURE_VARIANT_ADD(inherit, outside)
{
	.in_grant = false,
};

/* The clone or exec call itself ends the grant. */
FIXTURE_VARIANT_ADD(inherit, inside_a_grant)
{
	.in_grant = true,
};

FIXTURE_SETUP(inherit)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	ASSERT_TRUE(!variant->in_grant || slice_wait_grant(&self->env));
}

FIXTURE_TEARDOWN(inherit)
{
	struct slice_stats s = slice_env_stats(&self->env);

	EXPECT_EQ(0, slice_ctrl(self->env.rs));
	EXPECT_EQ(1, slice_get());
	EXPECT_TRUE(slice_stats_balanced(&s));
	slice_env_close(&self->env);
}

static int fork_child(struct slice_env *env)
{
	if (slice_ctrl(env->rs) || slice_get() != 1)
		return 1;
	if (READ_ONCE(env->rs->cpu_id) != (__u32)env->cpu)
		return 2;
	if (slice_yield())
		return 3;
	return slice_wait_grant(env) ? 0 : 4;
}

TEST_F_TIMEOUT(inherit, fork, SLICE_TIMEOUT)
{
	int status;
	pid_t pid = syscall(__NR_fork);

	ASSERT_LE(0, pid);
	if (!pid)
		_exit(fork_child(&self->env));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(child_exited(status, 0))
	{
		TH_LOG("wait status 0x%x", status);
	}
}

TEST_F_TIMEOUT(inherit, vfork, SLICE_TIMEOUT)
{
	int status;
	pid_t pid = vfork();

	if (!pid)
		_exit(look_fresh());
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(child_exited(status, FRESH))
	{
		TH_LOG("wait status 0x%x", status);
	}
}

static char *const exec_argv[] = { "/proc/self/exe", EXEC_MARK, NULL };

TEST_F_TIMEOUT(inherit, vfork_exec, SLICE_TIMEOUT)
{
	int status;
	pid_t pid = vfork();

	if (!pid) {
		execv(exec_argv[0], exec_argv);
		_exit(1);
	}
	ASSERT_LT(0, pid);
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_TRUE(child_exited(status, FRESH))
	{
		TH_LOG("wait status 0x%x", status);
	}
}

static int exec_child(void *arg)
{
	struct slice_env *env = arg;

	if (!slice_wait_grant(env))
		return 1;
	execv(exec_argv[0], exec_argv);
	return 2;
}

TEST_F_TIMEOUT(inherit, exec, SLICE_TIMEOUT)
{
	int status = child_run(exec_child, &self->env);

	EXPECT_TRUE(child_exited(status, FRESH))
	{
		TH_LOG("wait status 0x%x", status);
	}
}

TEST_F_TIMEOUT(inherit, failed_exec, SLICE_TIMEOUT)
{
	EXPECT_EQ(-1, execv("/nonexistent", exec_argv));
	EXPECT_EQ(1, slice_get());
	EXPECT_TRUE(slice_wait_grant(&self->env));
}

static void *thread_main(void *arg)
{
	struct slice_env env = *(struct slice_env *)arg;

	if (look_fresh() != FRESH)
		return "inherited";
	if (slice_register(&env, RSEQ_SLICE_LEN))
		return "cannot register";
	if (!slice_wait_grant(&env))
		return "no grant";
	if (rseq_unregister(env.rs, env.len))
		return "cannot unregister";
	return NULL;
}

TEST_F_TIMEOUT(inherit, thread, SLICE_TIMEOUT)
{
	pthread_t thread;
	void *problem;

	ASSERT_EQ(0, pthread_create(&thread, NULL, thread_main, &self->env));
	ASSERT_EQ(0, pthread_join(thread, &problem));
	EXPECT_EQ(NULL, problem)
	{
		TH_LOG("%s", (char *)problem);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], EXEC_MARK))
		return look_fresh();
	slice_require(NEED_GRANTS);
	return test_harness_run(argc, argv);
}
