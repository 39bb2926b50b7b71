/* SPDX-License-Identifier: GPL-2.0-only */
/* What became of an option on the kernel command line. */
#ifndef HOLDFAST_BOOT_H
#define HOLDFAST_BOOT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>

#include "slice_stats.h"

#define BOOT_TEXT_SIZE	(1 << 18)
#define KLOG_READ_ALL	3

/* The kernel log, to be freed; NULL without permission. */
static inline char *boot_log(void)
{
	char *text = calloc(1, BOOT_TEXT_SIZE);

	if (!text || klogctl(KLOG_READ_ALL, text, BOOT_TEXT_SIZE - 1) > 0)
		return text;
	free(text);
	return NULL;
}

/*
 * Lines of the log with @option and @word, without those that just repeat the
 * command line. Takes @text apart.
 */
static inline int boot_log_count(char *text, const char *option,
				 const char *word)
{
	char *line, *rest = text;
	int found = 0;

	while ((line = strsep(&rest, "\n"))) {
		if (strstr(line, option) && strstr(line, word) &&
		    !strstr(line, "ommand line"))
			found++;
	}
	return found;
}

/* Whether the kernel said that it does not know @option. */
static inline bool boot_option_unknown(char *text, const char *option)
{
	char *line = strstr(text, "Unknown kernel command line parameters");

	if (!line)
		return false;
	line[strcspn(line, "\n")] = '\0';
	return strstr(line, option);
}

static inline bool boot_file_has(const char *path, const char *word)
{
	char text[8192];
	ssize_t i, n = file_read(path, text, sizeof(text));

	for (i = 0; i < n; i++)
		if (!text[i])
			text[i] = '\n';
	return n > 0 && strstr(text, word);
}

/* Options nobody takes end as arguments or environment of init. */
static inline bool boot_init_got(const char *option)
{
	return boot_file_has("/proc/1/environ", option) ||
	       boot_file_has("/proc/1/cmdline", option);
}

#endif /* HOLDFAST_BOOT_H */
