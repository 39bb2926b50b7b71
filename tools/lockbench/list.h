/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LOCKBENCH_LIST_H
#define LOCKBENCH_LIST_H

/*
 * Reads "1,2,4-8" into @out: numbers from @min to @max, at most @size of them,
 * in the order given. Returns how many, or -1 if @text is not such a list.
 */
int list_parse(const char *text, long min, long max, int *out, int size);

#endif
