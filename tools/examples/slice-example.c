// SPDX-License-Identifier: MIT
/*
 * A spinlock whose holder asks for a time-slice extension: set the request,
 * work, clear the request, yield only if an extension was granted (the last
 * two are holdfast_slice_end()). Threads share a counter; the result is right
 * with and without the extension.
 *
 * usage: slice-example
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <holdfast/slice.h>

#define THREADS		4
#define SECTIONS	50000

static atomic_int lock;
static long counter;
static atomic_long extended;

/* A waiter that only spins has no use for an extension: ask per attempt. */
static void lock_extended(void)
{
	for (;;) {
		holdfast_slice_begin();
		if (!atomic_exchange_explicit(&lock, 1, memory_order_acquire))
			return;
		holdfast_slice_end();
		while (atomic_load_explicit(&lock, memory_order_relaxed))
			;
	}
}

/* True if an extension was granted, and thus given back by a yield. */
static int unlock_extended(void)
{
	atomic_store_explicit(&lock, 0, memory_order_release);
	return holdfast_slice_end();
}

static void *worker(void *arg)
{
	int err = holdfast_slice_enable();

	if (err && !arg)
		fprintf(stderr, "running without extensions: %s\n",
			holdfast_slice_strstatus(holdfast_slice_query()));

	for (int i = 0; i < SECTIONS; i++) {
		lock_extended();
		counter++;
		if (unlock_extended())
			atomic_fetch_add(&extended, 1);
	}
	holdfast_slice_disable();
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	int err;

	for (size_t i = 0; i < THREADS; i++) {
		err = pthread_create(&thread[i], NULL, worker, (void *)i);
		if (err) {
			fprintf(stderr, "pthread_create: %s\n", strerror(err));
			return 1;
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("%ld sections, %ld of them extended\n", counter,
	       atomic_load(&extended));
	return counter != (long)THREADS * SECTIONS;
}
