/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel tells in debugfs about time-slice extensions. */
#ifndef HOLDFAST_SLICE_STATS_H
#define HOLDFAST_SLICE_STATS_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define DEBUGFS_DIR	"/sys/kernel/debug"
#define SLICE_DIR	DEBUGFS_DIR "/rseq"
#define SLICE_NSEC_FILE	SLICE_DIR "/slice_ext_nsec"
#define SLICE_STATS_FILE SLICE_DIR "/stats"

#define SLICE_NSEC_MIN	5000UL
#define SLICE_NSEC_MAX	50000UL

struct slice_stats {
	unsigned long granted;
	unsigned long expired;
	unsigned long revoked;
	unsigned long yielded;
	unsigned long aborted;
};

/* Mounts debugfs where a minimal guest has not done so. */
static inline bool debugfs_ready(void)
{
	if (access(DEBUGFS_DIR "/sched", F_OK) &&
	    access(SLICE_DIR, F_OK) &&
	    mount("debugfs", DEBUGFS_DIR, "debugfs", 0, NULL) &&
	    errno != EBUSY)
		return false;
	return !access(DEBUGFS_DIR, R_OK | X_OK);
}

static inline ssize_t file_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;

	if (fd < 0)
		return -errno;
	while (done < size - 1) {
		n = read(fd, buf + done, size - 1 - done);
		if (n <= 0)
			break;
		done += n;
	}
	n = n < 0 ? -errno : (ssize_t)done;
	buf[done] = '\0';
	close(fd);
	return n;
}

/* Returns 0 or -errno of the first step that failed. */
static inline int file_write(const char *path, const char *text)
{
	/* Truncating is what empties a trace buffer; others do not mind. */
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t n;
	int ret;

	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	ret = n < 0 ? -errno : 0;
	close(fd);
	return ret;
}

static inline long file_number(const char *path)
{
	char buf[64];
	ssize_t n = file_read(path, buf, sizeof(buf));

	return n < 0 ? n : strtol(buf, NULL, 10);
}

static inline int slice_set_nsec(unsigned long nsec)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%lu", nsec);
	return file_write(SLICE_NSEC_FILE, buf);
}

static inline int slice_stats_value(const char *text, const char *key,
				    unsigned long *value)
{
	const char *at = strstr(text, key);

	if (!at || (at != text && at[-1] != '\n'))
		return -ENODATA;
	return sscanf(at + strlen(key), ": %lu", value) == 1 ? 0 : -ENODATA;
}

static inline int slice_stats_read(struct slice_stats *s)
{
	char buf[4096];
	ssize_t n = file_read(SLICE_STATS_FILE, buf, sizeof(buf));

	if (n < 0)
		return n;
	if (slice_stats_value(buf, "sgrant", &s->granted) ||
	    slice_stats_value(buf, "sexpir", &s->expired) ||
	    slice_stats_value(buf, "srevok", &s->revoked) ||
	    slice_stats_value(buf, "syield", &s->yielded) ||
	    slice_stats_value(buf, "sabort", &s->aborted))
		return -ENODATA;
	return 0;
}

/* What was counted since @from; all zero if the file cannot be read. */
static inline struct slice_stats slice_stats_since(const struct slice_stats *from)
{
	struct slice_stats s = { 0 };

	if (slice_stats_read(&s))
		return (struct slice_stats){ 0 };
	s.granted -= from->granted;
	s.expired -= from->expired;
	s.revoked -= from->revoked;
	s.yielded -= from->yielded;
	s.aborted -= from->aborted;
	return s;
}

/* Each grant ends once and is counted once. */
static inline bool slice_stats_balanced(const struct slice_stats *s)
{
	return s->granted ==
	       s->yielded + s->aborted + s->expired + s->revoked;
}

#endif /* HOLDFAST_SLICE_STATS_H */
