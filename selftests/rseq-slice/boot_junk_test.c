// SPDX-License-Identifier: GPL-2.0-only
/*
 * Booted with values of rseq_slice_ext= that mean nothing: the extension stays
 * on, the log names each value that was not understood, init gets none.
 */
#include <kselftest_harness.h>

#include "boot.h"
#include "slice_require.h"

#define OPTION	"rseq_slice_ext"
#define JUNK	"junk"

FIXTURE(junk)
{
	char *log;
};

FIXTURE_SETUP(junk)
{
	self->log = boot_log();
	ASSERT_NE(NULL, self->log);
}

FIXTURE_TEARDOWN(junk)
{
	free(self->log);
}

/* How often the command line has the option with a value that is no bool. */
static int bad_values(void)
{
	char text[4096], *word, *rest = text;
	const size_t len = strlen(OPTION "=");
	int bad = 0;

	if (file_read("/proc/cmdline", text, sizeof(text)) <= 0)
		return -1;
	while ((word = strsep(&rest, "\n ")))
		if (!strncmp(word, OPTION "=", len) &&
		    (!word[len] || !strchr("01yYnNoOtTfF", word[len])))
			bad++;
	return bad;
}

TEST(stays_on)
{
	static union rseq_area area;

	ASSERT_EQ(0, rseq_register(&area, RSEQ_SLICE_LEN, 0));
	EXPECT_EQ(RSEQ_SLICE_AVAILABLE, area.abi.flags);
	EXPECT_EQ(0, slice_enable());
}

TEST_F(junk, is_named)
{
	EXPECT_EQ(1, boot_log_count(self->log, OPTION, JUNK));
}

TEST_F(junk, has_one_line_each)
{
	EXPECT_EQ(bad_values(), boot_log_count(self->log, OPTION, ""));
}

TEST_F(junk, is_not_unknown)
{
	EXPECT_FALSE(boot_option_unknown(self->log, OPTION));
}

TEST(is_not_for_init)
{
	EXPECT_FALSE(boot_init_got(OPTION));
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
