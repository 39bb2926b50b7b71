/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The locks. @ext is a constant at each call, so that the plain variant carries
 * nothing of the extension.
 *
 * With extension the request is set when the lock may become ours, and never
 * while merely waiting: a waiter that is granted more time wastes it.
 */
#ifndef LOCKBENCH_LOCKS_H
#define LOCKBENCH_LOCKS_H

#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include <holdfast/slice.h>

struct lock {
	pthread_mutex_t mutex;
	_Alignas(64) uint32_t word;	/* tas: held; ticket: next number */
	uint32_t serving;
	_Alignas(64) uint64_t spin;	/* looks before sched_yield(); 0: never */
};

#define always_inline inline __attribute__((always_inline))

static always_inline void lock_relax(const struct lock *l, uint64_t *looks)
{
	if (l->spin && ++*looks >= l->spin) {
		*looks = 0;
		sched_yield();
	} else {
		__builtin_ia32_pause();
	}
}

static always_inline void tas_lock(struct lock *l, bool ext)
{
	uint64_t looks = 0;

	for (;;) {
		if (ext)
			holdfast_slice_begin();
		if (!__atomic_exchange_n(&l->word, 1, __ATOMIC_ACQUIRE))
			return;
		if (ext)
			holdfast_slice_end();
		while (__atomic_load_n(&l->word, __ATOMIC_RELAXED))
			lock_relax(l, &looks);
	}
}

static always_inline void tas_unlock(struct lock *l)
{
	__atomic_store_n(&l->word, 0, __ATOMIC_RELEASE);
}

static always_inline void ticket_lock(struct lock *l, bool ext)
{
	uint64_t looks = 0;
	uint32_t mine;

	if (ext)
		holdfast_slice_begin();
	mine = __atomic_fetch_add(&l->word, 1, __ATOMIC_RELAXED);
	if (__atomic_load_n(&l->serving, __ATOMIC_ACQUIRE) == mine)
		return;
	if (ext)
		holdfast_slice_end();
	while (__atomic_load_n(&l->serving, __ATOMIC_ACQUIRE) != mine)
		lock_relax(l, &looks);
	if (ext)
		holdfast_slice_begin();
}

static always_inline void ticket_unlock(struct lock *l)
{
	uint32_t next = l->serving + 1;

	__atomic_store_n(&l->serving, next, __ATOMIC_RELEASE);
}

/* Who waits here sleeps, and may come back without the request. */
static always_inline void mutex_lock(struct lock *l, bool ext)
{
	if (ext)
		holdfast_slice_begin();
	pthread_mutex_lock(&l->mutex);
	if (ext)
		holdfast_slice_begin();
}

static always_inline void lock_acquire(struct lock *l, enum lock_kind kind,
				       bool ext)
{
	switch (kind) {
	case LOCK_TAS:
		tas_lock(l, ext);
		break;
	case LOCK_TICKET:
		ticket_lock(l, ext);
		break;
	default:
		mutex_lock(l, ext);
		break;
	}
}

/* Returns 1 if this ended a granted extension. */
static always_inline int lock_release(struct lock *l, enum lock_kind kind,
				      bool ext)
{
	switch (kind) {
	case LOCK_TAS:
		tas_unlock(l);
		break;
	case LOCK_TICKET:
		ticket_unlock(l);
		break;
	default:
		pthread_mutex_unlock(&l->mutex);
		break;
	}
	return ext ? holdfast_slice_end() : 0;
}

#endif
