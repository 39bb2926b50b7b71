// SPDX-License-Identifier: GPL-2.0-only
#include "list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static bool number(const char **p, long min, long max, long *value)
{
	char *end;

	if (**p < '0' || **p > '9')
		return false;
	errno = 0;
	*value = strtol(*p, &end, 10);
	*p = end;
	return !errno && *value >= min && *value <= max;
}

int list_parse(const char *text, long min, long max, int *out, int size)
{
	const char *p = text;
	int count = 0;

	for (;;) {
		long first, last;

		if (!number(&p, min, max, &first))
			return -1;
		last = first;
		if (*p == '-') {
			p++;
			if (!number(&p, first, max, &last))
				return -1;
		}
		if (last - first >= size - count)
			return -1;
		while (first <= last)
			out[count++] = first++;
		if (!*p)
			return count;
		if (*p++ != ',')
			return -1;
	}
}
