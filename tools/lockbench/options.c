// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list.h"
#include "lockbench.h"

const char *const lock_names[LOCK_KINDS] = { "tas", "ticket", "pthread" };
const char *const variant_names[VARIANTS] = { "base", "ext" };

static const char help[] =
"usage: lockbench [options]\n"
"Times a fixed number of critical sections under one global lock, shared by\n"
"the threads, without (base) and with (ext) the rseq time-slice extension.\n"
"\n"
"  -t, --threads=LIST     thread counts, e.g. 1,2,4 or 1-8 (default: powers of\n"
"                         two up to 4 times the CPUs)\n"
"  -l, --locks=LIST       tas, ticket, pthread or all (default tas)\n"
"  -e, --ext=WHICH        off, on or both (default both)\n"
"  -s, --sections=N       critical sections per run (default 10000000)\n"
"  -i, --increments=N     increments per section (default 1)\n"
"  -o, --outside=N        increments between two sections (default 0)\n"
"  -y, --spin=N           looks at a taken tas or ticket lock before a\n"
"                         sched_yield() (default 0: never yield)\n"
"  -n, --runs=N           runs of each kind, interleaved (default 3)\n"
"  -m, --measure          hold and wait times, preempted holders (slows down)\n"
"  -c, --cpus=LIST        CPUs to run on (default: those allowed)\n"
"  -N, --nodes=LIST       spread threads over these NUMA nodes, memory on the\n"
"                         first\n"
"  -I, --interleave       interleave memory over the nodes\n"
"  -T, --tsv=FILE         one line per run; - is standard output, no table\n"
"  -J, --json=FILE        everything; - is standard output, no table\n"
"  -h, --help             this text\n";

static const struct option long_options[] = {
	{ "threads", required_argument, NULL, 't' },
	{ "locks", required_argument, NULL, 'l' },
	{ "ext", required_argument, NULL, 'e' },
	{ "sections", required_argument, NULL, 's' },
	{ "increments", required_argument, NULL, 'i' },
	{ "outside", required_argument, NULL, 'o' },
	{ "spin", required_argument, NULL, 'y' },
	{ "runs", required_argument, NULL, 'n' },
	{ "measure", no_argument, NULL, 'm' },
	{ "cpus", required_argument, NULL, 'c' },
	{ "nodes", required_argument, NULL, 'N' },
	{ "interleave", no_argument, NULL, 'I' },
	{ "tsv", required_argument, NULL, 'T' },
	{ "json", required_argument, NULL, 'J' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 }
};

static uint64_t parse_number(const char *name, const char *text, uint64_t min,
			     uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text < '0' || *text > '9' ||
	    value < min || value > max)
		fail(EXIT_USAGE, "--%s: '%s' is not a number from %llu to %llu",
		     name, text, (unsigned long long)min,
		     (unsigned long long)max);
	return value;
}

static void parse_threads(struct options *o, const char *text)
{
	o->thread_counts = list_parse(text, 1, MAX_THREADS, o->threads,
				      MAX_COUNTS);
	if (o->thread_counts <= 0)
		fail(EXIT_USAGE,
		     "--threads: '%s' is not a list of at most %d numbers from 1 to %d",
		     text, MAX_COUNTS, MAX_THREADS);
}

static bool parse_lock(struct options *o, const char *name, size_t len)
{
	for (int k = 0; k < LOCK_KINDS; k++) {
		if (strlen(lock_names[k]) == len &&
		    !strncmp(name, lock_names[k], len)) {
			o->locks[k] = true;
			return true;
		}
	}
	return false;
}

static void parse_locks(struct options *o, const char *text)
{
	const char *p = text;

	memset(o->locks, 0, sizeof(o->locks));
	if (!strcmp(text, "all"))
		p = "tas,ticket,pthread";
	for (;;) {
		size_t len = strcspn(p, ",");

		if (!parse_lock(o, p, len))
			fail(EXIT_USAGE,
			     "--locks: '%s' is not all or a list of tas, ticket, pthread",
			     text);
		if (!p[len])
			break;
		p += len + 1;
	}
}

static void parse_variants(struct options *o, const char *text)
{
	bool both = !strcmp(text, "both");

	o->variants[VARIANT_BASE] = both || !strcmp(text, "off");
	o->variants[VARIANT_EXT] = both || !strcmp(text, "on");
	if (!o->variants[VARIANT_BASE] && !o->variants[VARIANT_EXT])
		fail(EXIT_USAGE, "--ext: '%s' is not off, on or both", text);
}

/* Before the runs, not after minutes of them. */
static const char *parse_file(const char *name, const char *text)
{
	char copy[PATH_MAX];

	if (!*text || strlen(text) >= sizeof(copy) - 8)
		fail(EXIT_USAGE, "--%s: no usable file name", name);
	snprintf(copy, sizeof(copy), "%s", text);
	if (strcmp(text, "-") && access(dirname(copy), W_OK))
		fail(EXIT_CREATE, "--%s: cannot write to the directory of %s: %s",
		     name, text, strerror(errno));
	return text;
}

static void parse_one(struct options *o, int option, const char *arg)
{
	switch (option) {
	case 't':
		parse_threads(o, arg);
		break;
	case 'l':
		parse_locks(o, arg);
		break;
	case 'e':
		parse_variants(o, arg);
		break;
	case 's':
		o->sections = parse_number("sections", arg, 1, 1000000000000);
		break;
	case 'i':
		o->increments = parse_number("increments", arg, 1, 1000000);
		break;
	case 'o':
		o->outside = parse_number("outside", arg, 0, 1000000000);
		break;
	case 'y':
		o->spin = parse_number("spin", arg, 0, 1000000000);
		break;
	case 'n':
		o->runs = parse_number("runs", arg, 1, MAX_RUNS);
		break;
	case 'm':
		o->measure = true;
		break;
	case 'c':
		o->cpu_list = arg;
		break;
	case 'N':
		o->node_list = arg;
		break;
	case 'I':
		o->interleave = true;
		break;
	case 'T':
		o->tsv = parse_file("tsv", arg);
		break;
	case 'J':
		o->json = parse_file("json", arg);
		break;
	case 'h':
		fputs(help, stdout);
		exit(0);
	default:
		/* getopt_long() has named the option */
		fprintf(stderr, "lockbench: see lockbench --help\n");
		exit(EXIT_USAGE);
	}
}

void options_parse(struct options *o, int argc, char **argv)
{
	int option;

	*o = (struct options){
		.locks = { [LOCK_TAS] = true },
		.variants = { true, true },
		.sections = 10000000,
		.increments = 1,
		.runs = 3,
	};
	while ((option = getopt_long(argc, argv, "t:l:e:s:i:o:y:n:mc:N:IT:J:h",
				     long_options, NULL)) != -1)
		parse_one(o, option, optarg);
	if (optind < argc)
		fail(EXIT_USAGE, "unexpected argument '%s'; see lockbench --help",
		     argv[optind]);
	if (o->tsv && o->json && !strcmp(o->tsv, "-") && !strcmp(o->json, "-"))
		fail(EXIT_USAGE, "only one of --tsv and --json can be -");
}
