/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Was the thread scheduled out between two points? Without system calls, which
 * would end a granted extension, and without a clock, which cannot tell a
 * scheduler from a slow memory.
 *
 * The kernel clears rseq_cs when it resumes a thread after preemption or
 * migration (or delivers a signal to it) outside the sequence that rseq_cs
 * describes. So: point it at a sequence that never runs, look later whether
 * it is still there. Needs libc's rseq registration (glibc 2.35 and later).
 */
#ifndef LOCKBENCH_PREEMPT_H
#define LOCKBENCH_PREEMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* struct rseq_cs of linux/rseq.h */
struct preempt_sequence {
	uint32_t version;
	uint32_t flags;
	uint64_t start_ip;
	uint64_t post_commit_offset;
	uint64_t abort_ip;
} __attribute__((aligned(32)));

extern const struct preempt_sequence preempt_sequence;

#define PREEMPT_RSEQ_CS	8	/* offset of rseq_cs in struct rseq */

/* NULL where libc has not registered rseq. */
volatile uint64_t *preempt_word(void);

static inline void preempt_mark(volatile uint64_t *word)
{
	*word = (uintptr_t)&preempt_sequence;
}

static inline bool preempt_happened(volatile uint64_t *word)
{
	bool happened = *word == 0;

	*word = 0;
	return happened;
}

#endif
