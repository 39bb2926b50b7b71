/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log-linear histogram of nanoseconds: 16 buckets for each power of two, so a
 * percentile is at most 1/16 too high. Fixed size, whatever is counted.
 */
#ifndef LOCKBENCH_HISTOGRAM_H
#define LOCKBENCH_HISTOGRAM_H

#include <stdint.h>

#define HIST_SUB_BITS	4
#define HIST_SUB	(1 << HIST_SUB_BITS)
#define HIST_OCTAVES	40	/* up to 2^44 ns, about 5 hours */
#define HIST_BUCKETS	((HIST_OCTAVES + 1) * HIST_SUB)

struct histogram {
	uint64_t count;
	uint64_t max;
	uint64_t sum;
	uint64_t bucket[HIST_BUCKETS];
};

static inline unsigned int hist_bucket(uint64_t ns)
{
	unsigned int octave;

	if (ns < HIST_SUB)
		return ns;
	octave = 63 - __builtin_clzll(ns) - HIST_SUB_BITS;
	if (octave >= HIST_OCTAVES)
		return HIST_BUCKETS - 1;
	return (octave + 1) * HIST_SUB + ((ns >> octave) - HIST_SUB);
}

static inline void hist_add(struct histogram *h, uint64_t ns)
{
	h->bucket[hist_bucket(ns)]++;
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
}

void hist_merge(struct histogram *to, const struct histogram *from);

/* The value that @percent of the samples do not exceed; 0 without samples. */
uint64_t hist_percentile(const struct histogram *h, double percent);

#endif
