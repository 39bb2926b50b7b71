// SPDX-License-Identifier: GPL-2.0-only
/* With -DPART: a second object, or a shared one, that uses the header too. */
#include <stdio.h>

#include <holdfast/slice.h>

long part_offset(void);
void *part_area(void);

#ifdef PART
long part_offset(void)
{
	return holdfast_slice_offset_;
}

void *part_area(void)
{
	return &holdfast_slice_own_;
}
#else
/* Before main(), like the constructors of a user. */
static int early = -1;

__attribute__((constructor)) static void constructor(void)
{
	holdfast_slice_begin();
	early = holdfast_slice_end();
}

int main(void)
{
	char *own = (char *)&holdfast_slice_own_;
	char *target = holdfast_slice_thread_pointer_() + holdfast_slice_offset_;

	if (early != 0 || (size_t)own % 64)
		return 1;
	if (part_offset() != holdfast_slice_offset_ || part_area() != own)
		return 2;
	holdfast_slice_begin();
	if (target[28] != 1)
		return 3;
	if (holdfast_slice_end() || target[28] || target[29])
		return 4;
	/* as the kernel would: the request becomes a grant */
	holdfast_slice_begin();
	target[28] = 0;
	target[29] = 1;
	holdfast_slice_end();
	target[29] = 0;
	puts(target == own ? "own" : "libc");
	return 0;
}
#endif
