// SPDX-License-Identifier: GPL-2.0-only
#include "histogram.h"

void hist_merge(struct histogram *to, const struct histogram *from)
{
	for (int i = 0; i < HIST_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
	to->count += from->count;
	to->sum += from->sum;
	if (from->max > to->max)
		to->max = from->max;
}

/* Largest value that falls into bucket @i. */
static uint64_t bucket_top(unsigned int i)
{
	unsigned int octave;

	if (i < HIST_SUB)
		return i;
	octave = i / HIST_SUB - 1;
	return ((uint64_t)(i % HIST_SUB + HIST_SUB + 1) << octave) - 1;
}

uint64_t hist_percentile(const struct histogram *h, double percent)
{
	uint64_t seen = 0;

	for (unsigned int i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen && (double)seen * 100 >= (double)h->count * percent) {
			uint64_t top = bucket_top(i);

			return top < h->max ? top : h->max;
		}
	}
	return h->max;
}
