// SPDX-License-Identifier: GPL-2.0-only
/* A CPU goes offline under a holder that asks all the time, and comes back. */
#include <kselftest_harness.h>
#include <signal.h>

#include "slice_env.h"

#define CYCLES	3

FIXTURE(hotplug)
{
	struct slice_env env;
	char online[64];
	pid_t holder;
};

static __noreturn void holder_run(struct slice_env *env)
{
	static const int never;

	if (slice_register(env, RSEQ_SLICE_LEN))
		_exit(1);
	slice_hog(env->rs, &never);
	_exit(0);
}

FIXTURE_SETUP(hotplug)
{
	ASSERT_EQ(0, slice_env_open(&self->env, 0, NOISE_SPIN));
	snprintf(self->online, sizeof(self->online),
		 "/sys/devices/system/cpu/cpu%d/online", self->env.cpu);
	self->holder = fork_bound();
	ASSERT_LE(0, self->holder);
	if (!self->holder)
		holder_run(&self->env);
	ASSERT_EQ(0, pin_to(0, self->env.other_cpu));
}

FIXTURE_TEARDOWN(hotplug)
{
	struct slice_stats s;

	child_end(self->holder);
	s = slice_env_stats(&self->env);
	EXPECT_TRUE(slice_stats_balanced(&s));
	file_write(self->online, "1");
	slice_env_close(&self->env);
}

/* Waits for grants of the holder beyond what was counted before. */
static bool grants_happen(void)
{
	const long until = now_ms() + NOISE_LIMIT_MS;
	struct slice_stats before, s;

	if (slice_stats_read(&before))
		return false;
	do {
		sleep_ns(10000000);
		s = slice_stats_since(&before);
	} while (s.granted < 3 && now_ms() < until);
	return s.granted >= 3;
}

TEST_F_TIMEOUT(hotplug, cpu_under_a_holder, 300)
{
	int i;

	if (access(self->online, W_OK))
		SKIP(return, "needs CPU hotplug (CONFIG_HOTPLUG_CPU)");
	for (i = 0; i < CYCLES; i++) {
		ASSERT_TRUE(grants_happen());
		ASSERT_EQ(0, file_write(self->online, "0"));
		/* Both moved away; the holder still runs. */
		ASSERT_EQ(0, kill(self->holder, 0));
		ASSERT_EQ(0, waitpid(self->holder, NULL, WNOHANG));
		ASSERT_EQ(0, file_write(self->online, "1"));
		ASSERT_EQ(0, pin_to(self->holder, self->env.cpu));
		ASSERT_EQ(0, pin_to(self->env.noise->pid, self->env.cpu));
	}
	EXPECT_TRUE(grants_happen());
}

int main(int argc, char **argv)
{
	slice_require(NEED_GRANTS | NEED_2_CPUS);
	if (access("/sys/devices/system/cpu/cpu1/online", F_OK))
		slice_end(KSFT_SKIP, "needs CPU hotplug (CONFIG_HOTPLUG_CPU)");
	return test_harness_run(argc, argv);
}
