/* SPDX-License-Identifier: GPL-2.0-only */
/* Cases that need a process of their own, because they may kill it. */
#ifndef HOLDFAST_CHILD_H
#define HOLDFAST_CHILD_H

#include <signal.h>
#include <sys/resource.h>

#include "noise.h"

/* Runs fn(arg) in a child; its wait status, or -errno. */
static inline int child_run(int (*fn)(void *arg), void *arg)
{
	static const struct rlimit no_core;
	int status;
	pid_t pid = fork_bound();

	if (pid < 0)
		return -errno;
	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		_exit(fn(arg));
	}
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return status;
}

static inline bool child_exited(int status, int code)
{
	return status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == code;
}

static inline bool child_killed(int status, int sig)
{
	return status >= 0 && WIFSIGNALED(status) && WTERMSIG(status) == sig;
}

#endif /* HOLDFAST_CHILD_H */
