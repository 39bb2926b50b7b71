/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Has the thread been scheduled out between two points? Told by reading one
 * word, for a system call would end a granted extension, and a clock cannot
 * tell a scheduler from an interrupt.
 *
 * The word belongs to a perf event of the thread that counts nothing. The kernel
 * updates the event's page whenever it schedules the thread in.
 */
#ifndef LOCKBENCH_SWITCHES_H
#define LOCKBENCH_SWITCHES_H

#include <stdint.h>

/*
 * A word that changes with each context switch of the calling thread, or NULL
 * with errno set where perf events are not to be had.
 */
volatile uint32_t *switches_open(void);

/* @word may be NULL. */
void switches_close(volatile uint32_t *word);

#endif
