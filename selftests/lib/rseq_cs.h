/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Restartable sequences for x86-64, as small as they get.
 *
 * Each sequence has a descriptor naming its first instruction, its length and
 * the address to go to when it was interrupted. Four bytes before that address
 * hold the signature, as the operand of a trapping instruction.
 */
#ifndef HOLDFAST_RSEQ_CS_H
#define HOLDFAST_RSEQ_CS_H

#include "rseq_abi.h"

#define RSEQ_CS_STR2(x)	#x
#define RSEQ_CS_STR(x)	RSEQ_CS_STR2(x)

/* Label 1 starts the sequence, 2 ends it, 4 is where an abort goes. */
#define RSEQ_CS_DESCRIPTOR					\
	".pushsection rseq_cs_table, \"aw\"\n\t"		\
	".balign 32\n\t"					\
	"3:\n\t"						\
	".long 0, 0\n\t"					\
	".quad 1f, 2f - 1f, 4f\n\t"				\
	".popsection\n\t"

#define RSEQ_CS_ABORT						\
	".pushsection rseq_cs_abort, \"ax\"\n\t"		\
	".byte 0x0f, 0xb9, 0x3d\n\t"				\
	".long " RSEQ_CS_STR(RSEQ_SIGNATURE) "\n\t"		\
	"4:\n\t"						\
	"jmp %l[aborted]\n\t"					\
	".popsection\n\t"

#define RSEQ_CS_ENTER						\
	"leaq 3b(%%rip), %%rax\n\t"				\
	"movq %%rax, %[rseq_cs]\n\t"

/* Adds 1 to *count if the thread is on @cpu to the end: 0, else -1. */
static inline int rseq_cs_inc(struct rseq_abi *rs, __u32 cpu,
			      unsigned long *count)
{
	asm goto (RSEQ_CS_DESCRIPTOR
		  RSEQ_CS_ENTER
		  "1:\n\t"
		  "cmpl %[cpu], %[cpu_id]\n\t"
		  "jne %l[aborted]\n\t"
		  "incq %[count]\n\t"
		  "2:\n\t"
		  RSEQ_CS_ABORT
		  : /* no outputs */
		  : [rseq_cs] "m" (rs->rseq_cs), [cpu_id] "m" (rs->cpu_id),
		    [cpu] "r" (cpu), [count] "m" (*count)
		  : "memory", "cc", "rax"
		  : aborted);
	return 0;
aborted:
	return -1;
}

/* Raises SIGTRAP inside a sequence: -1 when the abort handler was taken. */
static inline int rseq_cs_trap(struct rseq_abi *rs)
{
	asm goto (RSEQ_CS_DESCRIPTOR
		  RSEQ_CS_ENTER
		  "1:\n\t"
		  "int3\n\t"
		  "nop\n\t"
		  "2:\n\t"
		  RSEQ_CS_ABORT
		  : /* no outputs */
		  : [rseq_cs] "m" (rs->rseq_cs)
		  : "memory", "cc", "rax"
		  : aborted);
	return 0;
aborted:
	return -1;
}

/*
 * Stays inside a sequence, asking for an extension all the time, until it is
 * interrupted (-1) or *stop is set (0).
 */
static inline int rseq_cs_spin(struct rseq_abi *rs, const int *stop)
{
	asm goto (RSEQ_CS_DESCRIPTOR
		  RSEQ_CS_ENTER
		  "1:\n\t"
		  "movb $1, %[request]\n\t"
		  "cmpl $0, %[stop]\n\t"
		  "je 1b\n\t"
		  "2:\n\t"
		  RSEQ_CS_ABORT
		  : /* no outputs */
		  : [rseq_cs] "m" (rs->rseq_cs), [stop] "m" (*stop),
		    [request] "m" (rs->slice_ctrl.request)
		  : "memory", "cc", "rax"
		  : aborted);
	return 0;
aborted:
	return -1;
}

#endif /* HOLDFAST_RSEQ_CS_H */
