/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a test of the time-slice extension needs before it can say anything.
 *
 * slice_require() returns when all needs are met. It exits with 4 (skip) and a
 * sentence naming the first missing prerequisite, and with 1 (fail) where the
 * kernel claims the feature and does not deliver: a dead feature is no skip.
 */
#ifndef HOLDFAST_SLICE_REQUIRE_H
#define HOLDFAST_SLICE_REQUIRE_H

#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kselftest.h>

#include "rseq_abi.h"
#include "slice_stats.h"
#include "trace.h"

enum slice_need {
	NEED_ON		= 1 << 0,	/* built in and not switched off */
	NEED_OFF	= 1 << 1,	/* built in, rseq_slice_ext=0 */
	NEED_BUILT_IN	= 1 << 2,	/* either of the two */
	NEED_LEFT_OUT	= 1 << 3,	/* CONFIG_RSEQ_SLICE_EXTENSION=n */
	NEED_STATS	= 1 << 4,	/* /sys/kernel/debug/rseq */
	NEED_TRACE	= 1 << 5,	/* trace events, see trace.h */
	NEED_RT		= 1 << 6,	/* may use real-time policies */
	NEED_2_CPUS	= 1 << 7,
	NEED_X32	= 1 << 8,
	NEED_IA32	= 1 << 9,
	/* What it takes to watch grants happen. */
	NEED_GRANTS	= NEED_ON | NEED_STATS,
};

enum slice_state {
	SLICE_NO_RSEQ,
	SLICE_RSEQ_TAKEN,
	SLICE_UNKNOWN,
	SLICE_LEFT_OUT,
	SLICE_OFF,
	SLICE_ON,
	SLICE_BROKEN,
};

static inline __printf(2, 3) __noreturn
void slice_end(int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	printf("TAP version 13\n%s", status == KSFT_SKIP ? "1..0 # SKIP " : "Bail out! ");
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	exit(status);
}

static inline bool booted_with(const char *word)
{
	char buf[4096];

	return file_read("/proc/cmdline", buf, sizeof(buf)) > 0 &&
	       strstr(buf, word);
}

/* Switching off needs somebody who asked for it. */
static inline enum slice_state slice_state_off(void)
{
	return booted_with("rseq_slice_ext=") ? SLICE_OFF : SLICE_BROKEN;
}

static inline enum slice_state slice_state_registered(void)
{
	long get = slice_get();

	if (get == -ENOTSUPP_KERNEL)
		return SLICE_LEFT_OUT;
	if (get == -EINVAL)
		return getauxval(AT_RSEQ_FEATURE_SIZE) >= RSEQ_SLICE_LEN ?
		       SLICE_BROKEN : SLICE_UNKNOWN;
	switch (slice_enable()) {
	case 0:
		return SLICE_ON;
	case -ENOTSUPP_KERNEL:
		return slice_state_off();
	default:
		return SLICE_BROKEN;
	}
}

static inline enum slice_state slice_state(void)
{
	static union rseq_area area;
	enum slice_state state;
	long ret;

	ret = rseq_register(&area, sizeof(area), 0);
	if (ret == -ENOSYS)
		return SLICE_NO_RSEQ;
	if (ret)
		return SLICE_RSEQ_TAKEN;
	state = slice_state_registered();
	rseq_unregister(&area, sizeof(area));
	return state;
}

static inline void slice_require_state(unsigned int needs)
{
	enum slice_state state = slice_state();

	switch (state) {
	case SLICE_NO_RSEQ:
		slice_end(KSFT_SKIP, "this kernel has no rseq (CONFIG_RSEQ)");
	case SLICE_RSEQ_TAKEN:
		slice_end(KSFT_SKIP,
			  "libc owns the rseq registration: run with GLIBC_TUNABLES=glibc.pthread.rseq=0");
	case SLICE_UNKNOWN:
		slice_end(KSFT_SKIP, "this kernel has no rseq time-slice extension (prctl 79: EINVAL)");
	case SLICE_BROKEN:
		slice_end(KSFT_FAIL, "the kernel knows the time-slice extension but does not let it be enabled");
	case SLICE_LEFT_OUT:
		if (!(needs & NEED_LEFT_OUT))
			slice_end(KSFT_SKIP, "CONFIG_RSEQ_SLICE_EXTENSION is not set");
		return;
	case SLICE_OFF:
		if (needs & (NEED_ON | NEED_LEFT_OUT))
			slice_end(KSFT_SKIP,
				  "the extension is switched off (rseq_slice_ext= on the kernel command line)");
		return;
	case SLICE_ON:
		if (needs & NEED_OFF)
			slice_end(KSFT_SKIP, "needs a boot with rseq_slice_ext=0");
		if (needs & NEED_LEFT_OUT)
			slice_end(KSFT_SKIP, "needs a kernel with CONFIG_RSEQ_SLICE_EXTENSION not set");
	}
}

static inline bool may_use_rt(void)
{
	const struct sched_param rt = { .sched_priority = 1 };
	const struct sched_param fair = { 0 };

	if (sched_setscheduler(0, SCHED_FIFO, &rt))
		return false;
	return !sched_setscheduler(0, SCHED_OTHER, &fair);
}

static inline int cpus_allowed(cpu_set_t *set)
{
	CPU_ZERO(set);
	return sched_getaffinity(0, sizeof(*set), set) ? 0 : CPU_COUNT(set);
}

/* A kernel without IA32_EMULATION answers int 0x80 with SIGSEGV. */
static inline bool has_ia32(void)
{
#ifdef __x86_64__
	int status;
	pid_t pid = fork();

	if (!pid) {
		long pid_ia32 = 20;	/* getpid */

		asm volatile ("int $0x80" : "+a" (pid_ia32) : :
			      "memory", "r8", "r9", "r10", "r11");
		_exit(pid_ia32 != getpid());
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
#else
	return true;
#endif
}

static inline void slice_require(unsigned int needs)
{
	cpu_set_t set;

	slice_require_state(needs);
	if ((needs & NEED_STATS) && (!debugfs_ready() || geteuid()))
		slice_end(KSFT_SKIP, "needs root and debugfs in " DEBUGFS_DIR);
	if ((needs & NEED_STATS) && access(SLICE_STATS_FILE, R_OK))
		slice_end(KSFT_FAIL, SLICE_STATS_FILE " is missing");
	if ((needs & NEED_TRACE) && (geteuid() || !tracefs_ready()))
		slice_end(KSFT_SKIP, "needs root and trace events in " TRACEFS_DIR);
	if ((needs & NEED_RT) && !may_use_rt())
		slice_end(KSFT_SKIP, "needs permission for SCHED_FIFO (CAP_SYS_NICE)");
	if ((needs & NEED_2_CPUS) && cpus_allowed(&set) < 2)
		slice_end(KSFT_SKIP, "needs two CPUs");
	if ((needs & NEED_X32) &&
	    syscall(X32_SYSCALL_BIT | __NR_getpid) != getpid())
		slice_end(KSFT_SKIP, "needs x32 system calls (CONFIG_X86_X32_ABI)");
	if ((needs & NEED_IA32) && !has_ia32())
		slice_end(KSFT_SKIP, "needs 32-bit system calls (CONFIG_IA32_EMULATION)");
}

/* The harness starts only when the kernel can be judged. */
#define SLICE_TEST_MAIN(needs)				\
	int main(int argc, char **argv)			\
	{						\
		slice_require(needs);			\
		return test_harness_run(argc, argv);	\
	}

#endif /* HOLDFAST_SLICE_REQUIRE_H */
