// SPDX-License-Identifier: GPL-2.0-only
/* Table, TSV and JSON. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lockbench.h"

typedef unsigned long long ull;

/* Over the runs of one lock, thread count and variant. */
struct mean {
	int runs;
	double seconds;
	double preempted, yields;
	bool preempted_known;
	struct summary hold, wait;	/* mean over the runs; max is the max */
};

static void add_summary(struct summary *to, const struct summary *from)
{
	to->count += from->count;
	to->mean += from->mean;
	to->p50 += from->p50;
	to->p90 += from->p90;
	to->p99 += from->p99;
	to->p999 += from->p999;
	if (from->max > to->max)
		to->max = from->max;
}

static void divide_summary(struct summary *s, int runs)
{
	s->count /= runs;
	s->mean /= runs;
	s->p50 /= runs;
	s->p90 /= runs;
	s->p99 /= runs;
	s->p999 /= runs;
}

static struct mean mean_of(const struct report *rep, enum lock_kind lock,
			   int threads, enum variant variant)
{
	struct mean m = { 0 };

	for (int i = 0; i < rep->count; i++) {
		const struct result *r = &rep->results[i];

		if (r->lock != lock || r->threads != threads ||
		    r->variant != variant)
			continue;
		m.runs++;
		m.seconds += r->seconds;
		m.preempted += r->preempted;
		m.preempted_known = r->preempted_known;
		m.yields += r->yields;
		add_summary(&m.hold, &r->hold);
		add_summary(&m.wait, &r->wait);
	}
	if (m.runs) {
		m.seconds /= m.runs;
		m.preempted /= m.runs;
		m.yields /= m.runs;
		divide_summary(&m.hold, m.runs);
		divide_summary(&m.wait, m.runs);
	}
	return m;
}

static void times_cell(const struct report *rep, const struct mean *m)
{
	if (m->runs)
		printf(" %.6f | %.2f |", m->seconds,
		       rep->options->sections / m->seconds);
	else
		printf(" - | - |");
}

static void times_row(const struct report *rep, enum lock_kind lock,
		      int threads)
{
	struct mean base = mean_of(rep, lock, threads, VARIANT_BASE);
	struct mean ext = mean_of(rep, lock, threads, VARIANT_EXT);

	printf("| %d |", threads);
	times_cell(rep, &base);
	times_cell(rep, &ext);
	if (base.runs && ext.runs)
		printf(" %.0f%% |\n",
		       (ext.seconds / base.seconds - 1) * 100);
	else
		printf(" - |\n");
}

static void percentile_cells(const struct summary *s)
{
	printf(" %llu | %llu | %llu | %llu |", (ull)s->p50, (ull)s->p99,
	       (ull)s->p999, (ull)s->max);
}

static void measured_row(const struct report *rep, enum lock_kind lock,
			 int threads, enum variant variant)
{
	struct mean m = mean_of(rep, lock, threads, variant);

	if (!m.runs)
		return;
	printf("| %d | %s |", threads, variant_names[variant]);
	if (m.preempted_known)
		printf(" %.1f |", m.preempted);
	else
		printf(" - |");
	printf(" %.1f | %llu |", m.yields, (ull)m.hold.count);
	percentile_cells(&m.hold);
	percentile_cells(&m.wait);
	putchar('\n');
}

static void measured_table(const struct report *rep, enum lock_kind lock)
{
	const struct options *o = rep->options;

	printf("\nHolders preempted inside the section and extensions yielded, "
	       "per run; times in ns\n\n"
	       "| Threads | variant | preempted | yielded | count "
	       "| hold p50 | p99 | p99.9 | max | wait p50 | p99 | p99.9 | max |\n");
	printf("|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
	for (int i = 0; i < o->thread_counts; i++)
		for (int v = 0; v < VARIANTS; v++)
			measured_row(rep, lock, o->threads[i], v);
}

void report_table(const struct report *rep)
{
	const struct options *o = rep->options;
	bool first = true;

	if ((o->tsv && !strcmp(o->tsv, "-")) ||
	    (o->json && !strcmp(o->json, "-")))
		return;
	for (int lock = 0; lock < LOCK_KINDS; lock++) {
		if (!o->locks[lock])
			continue;
		printf("%s%s lock, %llu sections of %llu increments, %d CPUs, "
		       "mean of %d runs\n\n",
		       first ? "" : "\n", lock_names[lock], (ull)o->sections,
		       (ull)o->increments, place_cpu_count(o), o->runs);
		printf("| Threads | base (s) | base /s | ext (s) | ext /s | %%diff (s) |\n");
		printf("|---:|---:|---:|---:|---:|---:|\n");
		for (int i = 0; i < o->thread_counts; i++)
			times_row(rep, lock, o->threads[i]);
		if (o->measure)
			measured_table(rep, lock);
		first = false;
	}
}

static void tsv_summary(FILE *f, const struct summary *s)
{
	fprintf(f, "\t%llu\t%.1f\t%llu\t%llu\t%llu\t%llu\t%llu", (ull)s->count,
		s->mean, (ull)s->p50, (ull)s->p90, (ull)s->p99, (ull)s->p999,
		(ull)s->max);
}

static void write_tsv(const struct report *rep, FILE *f)
{
	bool measure = rep->options->measure;

	fputs("lock\tthreads\tvariant\trun\tseconds\tper_s\tyielded", f);
	if (measure)
		fputs("\tpreempted"
		      "\thold_count\thold_mean\thold_p50\thold_p90"
		      "\thold_p99\thold_p999\thold_max"
		      "\twait_count\twait_mean\twait_p50\twait_p90"
		      "\twait_p99\twait_p999\twait_max", f);
	fputc('\n', f);
	for (int i = 0; i < rep->count; i++) {
		const struct result *r = &rep->results[i];

		fprintf(f, "%s\t%d\t%s\t%d\t%.9f\t%.2f\t%llu",
			lock_names[r->lock], r->threads,
			variant_names[r->variant], r->run, r->seconds,
			rep->options->sections / r->seconds, (ull)r->yields);
		if (measure && r->preempted_known)
			fprintf(f, "\t%llu", (ull)r->preempted);
		else if (measure)
			fputs("\t-", f);
		if (measure) {
			tsv_summary(f, &r->hold);
			tsv_summary(f, &r->wait);
		}
		fputc('\n', f);
	}
}

static void json_summary(FILE *f, const char *name, const struct summary *s)
{
	fprintf(f, ", \"%s_ns\": {\"count\": %llu, \"mean\": %.1f, ", name,
		(ull)s->count, s->mean);
	fprintf(f, "\"p50\": %llu, \"p90\": %llu, \"p99\": %llu, ",
		(ull)s->p50, (ull)s->p90, (ull)s->p99);
	fprintf(f, "\"p99.9\": %llu, \"max\": %llu}", (ull)s->p999,
		(ull)s->max);
}

/* No string here comes from the user, so none needs escaping. */
static void write_json(const struct report *rep, FILE *f)
{
	const struct options *o = rep->options;

	fprintf(f, "{\"sections\": %llu, \"increments\": %llu, \"outside\": %llu, "
		"\"spin\": %llu, \"runs\": %d, \"cpus\": %d,\n",
		(ull)o->sections, (ull)o->increments, (ull)o->outside,
		(ull)o->spin, o->runs, place_cpu_count(o));
	fprintf(f, " \"extension\": {\"available\": %s, \"reason\": \"%s\"},\n",
		rep->available ? "true" : "false", rep->extension);
	fprintf(f, " \"results\": [");
	for (int i = 0; i < rep->count; i++) {
		const struct result *r = &rep->results[i];

		fprintf(f, "%s\n  {\"lock\": \"%s\", \"threads\": %d, "
			"\"variant\": \"%s\", \"run\": %d, \"seconds\": %.9f, "
			"\"per_s\": %.2f, \"yielded\": %llu",
			i ? "," : "", lock_names[r->lock], r->threads,
			variant_names[r->variant], r->run, r->seconds,
			o->sections / r->seconds, (ull)r->yields);
		if (o->measure && r->preempted_known)
			fprintf(f, ", \"preempted\": %llu", (ull)r->preempted);
		else if (o->measure)
			fprintf(f, ", \"preempted\": null");
		if (o->measure) {
			json_summary(f, "hold", &r->hold);
			json_summary(f, "wait", &r->wait);
		}
		fputc('}', f);
	}
	fprintf(f, "\n ]}\n");
}

/* A file appears whole or not at all. */
static bool write_file(const struct report *rep, const char *name,
		       void (*write)(const struct report *rep, FILE *f))
{
	char temporary[PATH_MAX];
	FILE *f;
	bool ok;

	if (!name)
		return true;
	if (!strcmp(name, "-")) {
		write(rep, stdout);
		return true;
	}
	snprintf(temporary, sizeof(temporary), "%s.tmp", name);
	f = fopen(temporary, "w");
	if (f) {
		write(rep, f);
		ok = !ferror(f);
		if (fclose(f) == 0 && ok && rename(temporary, name) == 0)
			return true;
	}
	fprintf(stderr, "lockbench: cannot write %s: %s\n", name,
		strerror(errno));
	if (f)
		unlink(temporary);
	return false;
}

bool report_files(const struct report *rep)
{
	return write_file(rep, rep->options->tsv, write_tsv) &&
	       write_file(rep, rep->options->json, write_json);
}
