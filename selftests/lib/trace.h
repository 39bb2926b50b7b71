/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace events of the kernel, read back in order.
 *
 * A trace instance of its own leaves whatever else is traced alone. Events are
 * named "system/event"; what they print is kept as text.
 *
 * Switching an event patches kernel text that other CPUs may be running, and
 * parallel QEMU/TCG gets that wrong now and then: the guest dies of an int3
 * that is not there any more. Booted with trace_event=system:event,... nothing
 * is switched, and the events come from the main trace.
 */
#ifndef HOLDFAST_TRACE_H
#define HOLDFAST_TRACE_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "slice_stats.h"

#define TRACEFS_DIR	"/sys/kernel/tracing"

struct trace {
	char dir[64];
	bool from_boot;
	FILE *file;
};

struct trace_event {
	int cpu;
	char flags[8];
	double seconds;
	char name[48];
	char args[320];
};

static inline bool tracefs_ready(void)
{
	if (access(TRACEFS_DIR "/instances", F_OK))
		mount("tracefs", TRACEFS_DIR, "tracefs", 0, NULL);
	return !access(TRACEFS_DIR "/instances", W_OK);
}

static inline int trace_write(const struct trace *t, const char *name,
			      const char *text)
{
	char path[192];

	snprintf(path, sizeof(path), "%s/%s", t->dir, name);
	return file_write(path, text);
}

static inline bool trace_has_event(const char *event)
{
	char path[192];

	snprintf(path, sizeof(path), TRACEFS_DIR "/events/%s/format", event);
	return !access(path, R_OK);
}

static inline int trace_enable(const struct trace *t, const char *event)
{
	char name[128];

	snprintf(name, sizeof(name), "events/%s/enable", event);
	return trace_write(t, name, "1");
}

static inline bool trace_on_since_boot(const char *const *events)
{
	char text[4096], path[192];

	if (file_read("/proc/cmdline", text, sizeof(text)) <= 0 ||
	    !strstr(text, "trace_event="))
		return false;
	for (; *events; events++) {
		snprintf(path, sizeof(path), TRACEFS_DIR "/events/%s/enable",
			 *events);
		if (file_read(path, text, sizeof(text)) <= 0 || text[0] != '1')
			return false;
	}
	return true;
}

/* @events ends with NULL. Nothing is recorded before trace_start(). */
static inline int trace_open(struct trace *t, const char *const *events)
{
	int ret;

	t->file = NULL;
	t->from_boot = trace_on_since_boot(events);
	if (t->from_boot) {
		snprintf(t->dir, sizeof(t->dir), "%s", TRACEFS_DIR);
		return trace_write(t, "tracing_on", "0");
	}
	snprintf(t->dir, sizeof(t->dir), TRACEFS_DIR "/instances/holdfast-%d",
		 getpid());
	if (mkdir(t->dir, 0700))
		return -errno;
	ret = trace_write(t, "tracing_on", "0");
	if (!ret)
		ret = trace_write(t, "buffer_size_kb", "4096");
	while (!ret && *events)
		ret = trace_enable(t, *events++);
	return ret;
}

static inline int trace_start(const struct trace *t)
{
	int ret = trace_write(t, "trace", "");

	return ret ?: trace_write(t, "tracing_on", "1");
}

/* Stops recording and goes to the first event. */
static inline int trace_stop(struct trace *t)
{
	char path[192];
	int ret = trace_write(t, "tracing_on", "0");

	if (ret)
		return ret;
	if (t->file)
		fclose(t->file);
	snprintf(path, sizeof(path), "%s/trace", t->dir);
	t->file = fopen(path, "re");
	return t->file ? 0 : -errno;
}

static inline void trace_close(struct trace *t)
{
	if (t->file)
		fclose(t->file);
	t->file = NULL;
	trace_write(t, "tracing_on", "0");
	if (t->from_boot)
		return;
	trace_write(t, "events/enable", "0");
	rmdir(t->dir);
}

/* "  comm-pid  [003] d..2.  12.345678: event: arguments" */
static inline bool trace_parse(const char *line, struct trace_event *e)
{
	const char *at = strstr(line, " [");

	if (line[0] == '#' || !at)
		return false;
	e->args[0] = '\0';
	return sscanf(at, " [%d] %7s %lf: %47[^:]: %319[^\n]", &e->cpu,
		      e->flags, &e->seconds, e->name, e->args) >= 4;
}

static inline bool trace_next(struct trace *t, struct trace_event *e)
{
	char line[1024];

	while (fgets(line, sizeof(line), t->file))
		if (trace_parse(line, e))
			return true;
	return false;
}

static inline bool trace_is(const struct trace_event *e, const char *name)
{
	return !strcmp(e->name, name);
}

/* Whether the CPU was about to reschedule: 'N', 'n' or 'p', else '.'. */
static inline bool trace_need_resched(const struct trace_event *e)
{
	return e->flags[0] && strchr("Nnp", e->flags[1]);
}

static inline bool trace_says(const struct trace_event *e, const char *text)
{
	return strstr(e->args, text);
}

#endif /* HOLDFAST_TRACE_H */
