// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any system call ends a grant before it does its own work, which stays what
 * it is: the right result, a clean control word, one count, no late yield.
 */
#include <fcntl.h>
#include <kselftest_harness.h>
#include <linux/futex.h>
#include <sched.h>

#include "slice_env.h"

#define ROUNDS		10
#define NR_INVALID	9999

FIXTURE(call)
{
	struct slice_env env;
};

/* Each returns 0 if the system call gave its normal result. */
static long do_getpid(void)
{
	return syscall(__NR_getpid) <= 0;
}

static long do_write(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/null", O_WRONLY);
	return write(fd, "x", 1) != 1;
}

static long do_futex(void)
{
	static unsigned int word;

	return syscall(__NR_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static long do_sched_yield(void)
{
	return syscall(__NR_sched_yield);
}

static long do_invalid(void)
{
	return sys_result(syscall(NR_INVALID)) != -ENOSYS;
}

static long do_minus_one(void)
{
	return sys_result(syscall(-1)) != -ENOSYS;
}

static long do_vfork(void)
{
	pid_t pid = vfork();
	int status;

	if (!pid)
		_exit(7);
	return waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	       WEXITSTATUS(status) != 7;
}

static long do_io_uring(void)
{
	long ret = sys_result(syscall(__NR_io_uring_enter, -1, 0, 0, 0, NULL, 0));

	return ret != -EBADF && ret != -ENOSYS;
}

static long do_nanosleep(void)
{
	sleep_ns(1000);
	return 0;
}

static long do_slice_get(void)
{
	return slice_get() != 1;
}

FIXTURE_VARIANT(call)
{
	long (*fn)(void);
};

FIXTURE_VARIANT_ADD(call, getpid)
{
	.fn = do_getpid,
};

FIXTURE_VARIANT_ADD(call, write)
{
	.fn = do_write,
};

FIXTURE_VARIANT_ADD(call, futex)
{
	.fn = do_futex,
};

FIXTURE_VARIANT_ADD(call, sched_yield)
{
	.fn = do_sched_yield,
};

FIXTURE_VARIANT_ADD(call, invalid)
{
	.fn = do_invalid,
};

FIXTURE_VARIANT_ADD(call, minus_one)
{
	.fn = do_minus_one,
};

FIXTURE_VARIANT_ADD(call, vfork)
{
	.fn = do_vfork,
};

FIXTURE_VARIANT_ADD(call, io_uring)
{
	.fn = do_io_uring,
};

FIXTURE_VARIANT_ADD(call, nanosleep)
{
	.fn = do_nanosleep,
};

FIXTURE_VARIANT_ADD(call, slice_get)
{
	.fn = do_slice_get,
};

FIXTURE_SETUP(call)
{
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	/* Opens what it needs before a grant depends on it. */
	ASSERT_EQ(0, variant->fn());
}

FIXTURE_TEARDOWN(call)
{
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(call, ends_the_grant, SLICE_TIMEOUT)
{
	struct slice_stats before, s = { 0 };
	int i;

	ASSERT_EQ(0, slice_stats_read(&before));
	for (i = 0; slice_go_on(i, ROUNDS, 3, s.aborted); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		EXPECT_EQ(0, variant->fn());
		EXPECT_EQ(0, slice_ctrl(self->env.rs));
		EXPECT_EQ(0, slice_yield());
		s = slice_stats_since(&before);
	}
	EXPECT_LE(ROUNDS, s.granted);
	EXPECT_LE(3, s.aborted);
	EXPECT_EQ(0, s.yielded);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

/* At times the scheduler finds that the holder is still the one to run. */
TEST_F_TIMEOUT(call, gives_up_the_cpu, SLICE_TIMEOUT)
{
	unsigned long gave_up = 0, ended = 0, calls = 0, loops;
	bool ran;
	int i;

	slice_call_ended(&self->env, &calls);
	for (i = 0; slice_go_on(i, ROUNDS, 5, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		loops = READ_ONCE(self->env.noise->loops);
		EXPECT_EQ(0, variant->fn());
		ran = READ_ONCE(self->env.noise->loops) != loops;
		if (!slice_call_ended(&self->env, &calls))
			continue;
		ended++;
		gave_up += ran;
	}
	EXPECT_LE(5, ended);
	EXPECT_LT(ended / 4, gave_up);
}

FIXTURE(order)
{
	struct slice_env env;
	int pipe[2];
};

FIXTURE_SETUP(order)
{
	ASSERT_EQ(0, pipe(self->pipe));
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
}

FIXTURE_TEARDOWN(order)
{
	slice_env_close(&self->env);
}

/*
 * What is written is how far the competitor has come when the call executes:
 * it has had the CPU by then, not only afterwards.
 */
TEST_F_TIMEOUT(order, others_first, SLICE_TIMEOUT)
{
	unsigned long *loops = &self->env.noise->loops;
	unsigned long before, then, ended = 0, early = 0, calls = 0;
	int i;

	slice_call_ended(&self->env, &calls);
	for (i = 0; slice_go_on(i, ROUNDS, 5, ended); i++) {
		ASSERT_TRUE(slice_wait_grant(&self->env));
		before = READ_ONCE(*loops);
		ASSERT_EQ(sizeof(*loops),
			  write(self->pipe[1], loops, sizeof(*loops)));
		ASSERT_EQ(sizeof(then),
			  read(self->pipe[0], &then, sizeof(then)));
		if (!slice_call_ended(&self->env, &calls))
			continue;
		ended++;
		early += then != before;
	}
	EXPECT_LE(5, ended);
	EXPECT_LT(ended / 4, early);
}

SLICE_TEST_MAIN(NEED_GRANTS)
