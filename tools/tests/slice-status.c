// SPDX-License-Identifier: GPL-2.0-only
/*
 * What holdfast/slice.h makes of a kernel that answers so and so. A seccomp
 * filter plays the kernel, so any kernel will do.
 *
 * usage: slice-status GET DISABLE ENABLE RSEQ [foreign]
 *
 * The first three are the errno of that prctl(), RSEQ that of rseq() without
 * an area; 0 for success, - to ask the real kernel. With "foreign" another
 * area gets registered first. Prints status, result of enable, result of
 * disable, and whether the header's own area was registered in between.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#ifdef FEATURE_SIZE	/* what the kernel tells in the auxiliary vector */
#ifndef FEATURE_ALIGN
#define FEATURE_ALIGN 64
#endif
#define getauxval(type) ((type) == 27 ? FEATURE_SIZE : FEATURE_ALIGN)
#endif
#include <holdfast/slice.h>

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define UNLESS(value, skip) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip)
#define ANSWER(text) BPF_STMT(BPF_RET | BPF_K, answer(text))

static struct holdfast_slice_area_ other;

static unsigned int answer(const char *text)
{
	return strcmp(text, "-") ? SECCOMP_RET_ERRNO | atoi(text)
				 : SECCOMP_RET_ALLOW;
}

/* Whatever was tried, libc's registration must be in place afterwards. */
static int libc_area_lost(void)
{
	const char *area = holdfast_slice_thread_pointer_();

	if (!holdfast_slice_libc_owns_())
		return 0;
	area += __rseq_offset + offsetof(struct holdfast_slice_area_, cpu_id);
	return *(const volatile int32_t *)area < 0;
}

static int play_kernel(char **errnos)
{
	struct sock_filter filter[] = {
		LOAD(nr),
		UNLESS(HOLDFAST_SLICE_NR_RSEQ_, 3),
		LOAD(args[0]),
		UNLESS(0, 10),
		ANSWER(errnos[3]),
		UNLESS(HOLDFAST_SLICE_NR_PRCTL_, 8),
		LOAD(args[0]),
		UNLESS(HOLDFAST_SLICE_PRCTL_, 6),
		LOAD(args[1]),
		UNLESS(HOLDFAST_SLICE_PRCTL_SET_, 5),
		LOAD(args[2]),
		UNLESS(HOLDFAST_SLICE_ENABLE_, 1),
		ANSWER(errnos[2]),
		ANSWER(errnos[1]),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		ANSWER(errnos[0]),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	int status, enabled, registered, disabled;

	if (argc < 5)
		return 64;
	if (argc > 5 && holdfast_slice_rseq_(&other, sizeof(other), 0)) {
		fprintf(stderr, "cannot register an area\n");
		return 1;
	}
	if (play_kernel(argv + 1)) {
		perror("seccomp");
		return 1;
	}
	errno = 0;
	status = holdfast_slice_query();
	enabled = holdfast_slice_enable();
	registered = holdfast_slice_own_.cpu_id >= 0;
	holdfast_slice_begin();
	holdfast_slice_end();
	disabled = holdfast_slice_disable();
	printf("%d %d %d %d\n", status, enabled, disabled, registered);
	return errno || libc_area_lost();
}
