// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <holdfast/slice.h>

#include "lockbench.h"
#include "switches.h"

void fail(int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("lockbench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(status);
}

/* Variants alternate, so that what changes with time hits both alike. */
static int run_group(const struct options *o, enum lock_kind lock, int threads,
		     struct result *results)
{
	int count = 0;

	for (int run = 0; run < o->runs; run++) {
		for (int v = 0; v < VARIANTS; v++) {
			struct result *r = &results[count];

			if (!o->variants[v])
				continue;
			r->lock = lock;
			r->variant = v;
			r->threads = threads;
			r->run = run + 1;
			if (!run_once(o, r))
				exit(EXIT_FAULT);
			count++;
		}
	}
	return count;
}

static void check_switches(void)
{
	volatile uint32_t *word = switches_open();

	if (!word)
		fprintf(stderr, "lockbench: preempted holders are not counted: "
			"perf_event_open: %s\n", strerror(errno));
	switches_close(word);
}

int main(int argc, char **argv)
{
	enum holdfast_slice_status status = holdfast_slice_query();
	struct options o;
	struct report rep = {
		.options = &o,
		.extension = holdfast_slice_strstatus(status),
		.available = status == HOLDFAST_SLICE_OK,
	};
	struct result *results;

	options_parse(&o, argc, argv);
	place_setup(&o);
	if (o.variants[VARIANT_EXT] && !rep.available)
		fprintf(stderr, "lockbench: ext runs go without extension: %s\n",
			rep.extension);
	if (o.measure)
		check_switches();

	results = calloc((size_t)LOCK_KINDS * o.thread_counts * o.runs *
			 VARIANTS, sizeof(*results));
	if (!results)
		fail(EXIT_FAULT, "out of memory");
	rep.results = results;
	for (int lock = 0; lock < LOCK_KINDS; lock++)
		for (int i = 0; o.locks[lock] && i < o.thread_counts; i++)
			rep.count += run_group(&o, lock, o.threads[i],
					       results + rep.count);
	if (!report_files(&rep))
		return EXIT_CREATE;
	report_table(&rep);
	free(results);
	return 0;
}
