// SPDX-License-Identifier: GPL-2.0-only
#include "preempt.h"

extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/*
 * Never entered. The kernel checks the signature in front of the abort handler
 * whenever it looks at the descriptor; it is the one libc registers with.
 */
__asm__(".pushsection .text\n"
	"\t.long 0x53053053\n"
	"preempt_never_abort:\n"
	"\tud2\n"
	"preempt_never:\n"
	"\tud2\n"
	"\t.popsection\n");
extern const char preempt_never_abort[], preempt_never[];

const struct preempt_sequence preempt_sequence = {
	.start_ip = (uintptr_t)preempt_never,
	.post_commit_offset = 2,
	.abort_ip = (uintptr_t)preempt_never_abort,
};

volatile uint64_t *preempt_word(void)
{
	char *thread_pointer;

	if (!&__rseq_size || !__rseq_size)
		return NULL;
	__asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
	return (void *)(thread_pointer + __rseq_offset + PREEMPT_RSEQ_CS);
}
