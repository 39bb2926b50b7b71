// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checkpoint tools read the registration by ptrace and give up on any flag
 * they do not know: the record must not mention the extension.
 */
#include <kselftest_harness.h>
#include <signal.h>
#include <sys/ptrace.h>

#include "child.h"
#include "slice_require.h"

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION	0x420f
#endif

struct rseq_record {
	__u64 pointer;
	__u32 size;
	__u32 signature;
	__u32 flags;
	__u32 pad;
};

FIXTURE(record)
{
	union rseq_area area;
	pid_t pid;
};

FIXTURE_VARIANT(record)
{
	unsigned int len;
};

FIXTURE_VARIANT_ADD(record, legacy)
{
	.len = RSEQ_LEGACY_LEN,
};

FIXTURE_VARIANT_ADD(record, slice)
{
	.len = RSEQ_SLICE_LEN,
};

FIXTURE_VARIANT_ADD(record, whole_area)
{
	.len = RSEQ_AREA_SIZE,
};

FIXTURE_SETUP(record)
{
	int status;

	self->pid = fork_bound();
	ASSERT_LE(0, self->pid);
	if (!self->pid) {
		if (rseq_register(&self->area, variant->len, 0) ||
		    slice_enable() || ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(self->pid, waitpid(self->pid, &status, 0));
	ASSERT_TRUE(WIFSTOPPED(status));
}

FIXTURE_TEARDOWN(record)
{
	child_end(self->pid);
}

TEST_F(record, is_as_registered)
{
	struct rseq_record r;

	memset(&r, 0xff, sizeof(r));
	ASSERT_EQ(24, sizeof(r));
	ASSERT_EQ(24, ptrace(PTRACE_GET_RSEQ_CONFIGURATION, self->pid,
			     sizeof(r), &r));
	EXPECT_EQ((__u64)(unsigned long)&self->area, r.pointer);
	EXPECT_EQ(variant->len, r.size);
	EXPECT_EQ(RSEQ_SIGNATURE, r.signature);
	EXPECT_EQ(0, r.flags);
	EXPECT_EQ(0, r.pad);
}

SLICE_TEST_MAIN(NEED_ON)
