// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bandwidth limit of a control group holds for a member that asks for ever:
 * extensions do not add up to more CPU time than the group may use.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/stat.h>

#include "slice_env.h"

#define CGROUP_DIR	"/sys/fs/cgroup"
#define QUOTA_PERCENT	20

FIXTURE(bandwidth)
{
	struct slice_env env;
	char dir[64];
};

static int group_write(const char *dir, const char *file, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	return file_write(path, text);
}

FIXTURE_SETUP(bandwidth)
{
	char pid[16];

	snprintf(self->dir, sizeof(self->dir), CGROUP_DIR "/holdfast-%d",
		 getpid());
	snprintf(pid, sizeof(pid), "%d", getpid());
	group_write(CGROUP_DIR, "cgroup.subtree_control", "+cpu");
	ASSERT_EQ(0, mkdir(self->dir, 0700));
	ASSERT_EQ(0, group_write(self->dir, "cpu.max", "10000 50000"));
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	/* The competitor stays outside. */
	ASSERT_EQ(0, group_write(self->dir, "cgroup.procs", pid));
}

FIXTURE_TEARDOWN(bandwidth)
{
	struct slice_stats s = slice_env_stats(&self->env);
	char pid[16];

	EXPECT_TRUE(slice_stats_balanced(&s));
	snprintf(pid, sizeof(pid), "%d", getpid());
	group_write(CGROUP_DIR, "cgroup.procs", pid);
	rmdir(self->dir);
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(bandwidth, is_kept, 86400)
{
	struct noise *noise = self->env.noise;
	long long own, wall;
	struct slice_stats s;
	double share;

	ASSERT_TRUE(slice_hog_outlast(&self->env, 4));
	own = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	wall = now_ns(CLOCK_MONOTONIC);
	noise_rearm(noise);
	WRITE_ONCE(noise->deadline, now_ms() + stress_ns() / 1000000);
	slice_hog(self->env.rs, &noise->expired);
	own = now_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
	wall = now_ns(CLOCK_MONOTONIC) - wall;

	s = slice_env_stats(&self->env);
	share = 100.0 * own / wall;
	TH_LOG("%.2f %% of the CPU with %lu grants", share, s.granted);
	EXPECT_LT(0, s.granted);
	/* The scheduler itself overruns by up to a tick per period. */
	EXPECT_GE(QUOTA_PERCENT * 1.5, share);
}

int main(int argc, char **argv)
{
	slice_require(NEED_GRANTS);
	if (access(CGROUP_DIR "/cgroup.subtree_control", W_OK))
		slice_end(KSFT_SKIP, "needs cgroup v2 in " CGROUP_DIR);
	return test_harness_run(argc, argv);
}
