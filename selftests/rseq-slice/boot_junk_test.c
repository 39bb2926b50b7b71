// SPDX-License-Identifier: GPL-2.0-only
/*
 * Booted with values of rseq_slice_ext= that mean nothing: the extension stays
 * on, the log says which value was not understood, and init gets none of it.
 */
#include <kselftest_harness.h>
#include <sys/klog.h>

#include "slice_require.h"

#define OPTION		"rseq_slice_ext"
#define JUNK		"junk"
#define READ_ALL	3

FIXTURE(junk)
{
	char text[1 << 18];
};

FIXTURE_SETUP(junk)
{
}

FIXTURE_TEARDOWN(junk)
{
}

/* Lines that name the option, without those that repeat the command line. */
static int count_lines(char *text, const char *word)
{
	char *line, *rest = text;
	int found = 0;

	while ((line = strsep(&rest, "\n"))) {
		if (strstr(line, OPTION) && strstr(line, word) &&
		    !strstr(line, "ommand line"))
			found++;
	}
	return found;
}

TEST_F(junk, stays_on)
{
	static union rseq_area area;

	ASSERT_EQ(0, rseq_register(&area, RSEQ_SLICE_LEN, 0));
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE, area.abi.flags);
	EXPECT_EQ(0, slice_enable());
}

TEST_F(junk, is_logged_once)
{
	int n = klogctl(READ_ALL, self->text, sizeof(self->text) - 1);

	ASSERT_LT(0, n);
	EXPECT_EQ(1, count_lines(self->text, JUNK));
}

TEST_F(junk, is_not_unknown)
{
	int n = klogctl(READ_ALL, self->text, sizeof(self->text) - 1);
	char *line;

	ASSERT_LT(0, n);
	line = strstr(self->text, "Unknown kernel command line parameters");
	if (!line)
		return;
	line[strcspn(line, "\n")] = '\0';
	EXPECT_EQ(NULL, strstr(line, OPTION));
}

TEST_F(junk, is_not_for_init)
{
	ssize_t i, n = file_read("/proc/1/environ", self->text,
				 sizeof(self->text));

	ASSERT_LT(0, n);
	for (i = 0; i < n; i++)
		if (!self->text[i])
			self->text[i] = '\n';
	EXPECT_EQ(NULL, strstr(self->text, OPTION));

	n = file_read("/proc/1/cmdline", self->text, sizeof(self->text));
	ASSERT_LT(0, n);
	for (i = 0; i < n; i++)
		if (!self->text[i])
			self->text[i] = ' ';
	EXPECT_EQ(NULL, strstr(self->text, OPTION));
}

int main(int argc, char **argv)
{
	slice_require(NEED_ON);
	if (!booted_with(OPTION "=" JUNK))
		slice_end(KSFT_SKIP, "needs a boot with %s=%s", OPTION, JUNK);
	if (geteuid())
		slice_end(KSFT_SKIP, "needs root to read the kernel log");
	return test_harness_run(argc, argv);
}
