// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/debug/rseq: files, modes, the range of slice_ext_nsec. */
#include <kselftest_harness.h>
#include <sys/stat.h>

#include "slice_require.h"

static int mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -errno : (int)(st.st_mode & 07777);
}

TEST(modes)
{
	EXPECT_EQ(0644, mode_of(SLICE_NSEC_FILE));
	EXPECT_EQ(0444, mode_of(SLICE_STATS_FILE));
}

struct nsec_case {
	const char *text;
	int result;
	long value;
};

#define UNCHANGED	10000

static const struct nsec_case cases[] = {
	{ "5000", 0, 5000 },
	{ "30000\n", 0, 30000 },
	{ "50000", 0, 50000 },
	{ "4999", -ERANGE, UNCHANGED },
	{ "0", -ERANGE, UNCHANGED },
	{ "50001", -ERANGE, UNCHANGED },
	{ "4294967295", -ERANGE, UNCHANGED },
	{ "junk", -EINVAL, UNCHANGED },
	{ "5000ns", -EINVAL, UNCHANGED },
	{ "-5000", -EINVAL, UNCHANGED },
	{ "5000 6000", -EINVAL, UNCHANGED },
	{ "\n", -EINVAL, UNCHANGED },
};

FIXTURE(nsec)
{
	long old;
};

FIXTURE_SETUP(nsec)
{
	self->old = file_number(SLICE_NSEC_FILE);
	ASSERT_LT(0, self->old);
}

FIXTURE_TEARDOWN(nsec)
{
	slice_set_nsec(self->old);
}

TEST_F(nsec, range)
{
	const struct nsec_case *c;

	for (c = cases; c < cases + ARRAY_SIZE(cases); c++) {
		ASSERT_EQ(0, slice_set_nsec(UNCHANGED));
		EXPECT_EQ(c->result, file_write(SLICE_NSEC_FILE, c->text))
		{
			TH_LOG("writing '%s'", c->text);
		}
		EXPECT_EQ(c->value, file_number(SLICE_NSEC_FILE));
	}
}

/* No value of an earlier test may be left: this is what users get. */
TEST(default_value)
{
	EXPECT_EQ(SLICE_NSEC_MIN, file_number(SLICE_NSEC_FILE));
}

TEST(is_one_decimal_line)
{
	char buf[64];
	char expected[64];

	ASSERT_LT(0, file_read(SLICE_NSEC_FILE, buf, sizeof(buf)));
	snprintf(expected, sizeof(expected), "%ld\n",
		 strtol(buf, NULL, 10));
	EXPECT_STREQ(expected, buf);
}

FIXTURE(stats)
{
};

FIXTURE_VARIANT(stats)
{
	const char *key;
};

FIXTURE_VARIANT_ADD(stats, granted)
{
	.key = "sgrant",
};

FIXTURE_VARIANT_ADD(stats, expired)
{
	.key = "sexpir",
};

FIXTURE_VARIANT_ADD(stats, revoked)
{
	.key = "srevok",
};

FIXTURE_VARIANT_ADD(stats, yielded)
{
	.key = "syield",
};

FIXTURE_VARIANT_ADD(stats, aborted)
{
	.key = "sabort",
};

FIXTURE_SETUP(stats)
{
}

FIXTURE_TEARDOWN(stats)
{
}

TEST_F(stats, line)
{
	char text[4096], line[64];
	unsigned long value;

	ASSERT_LT(0, file_read(SLICE_STATS_FILE, text, sizeof(text)));
	ASSERT_EQ(0, slice_stats_value(text, variant->key, &value));
	snprintf(line, sizeof(line), "%s: %16lu\n", variant->key, value);
	EXPECT_NE(NULL, strstr(text, line));
}

TEST_F(stats, is_read_only)
{
	struct slice_stats before, after;

	ASSERT_EQ(0, slice_stats_read(&before));
	EXPECT_GT(0, file_write(SLICE_STATS_FILE, "0"));
	ASSERT_EQ(0, slice_stats_read(&after));
	EXPECT_EQ(before.granted, after.granted);
}

SLICE_TEST_MAIN(NEED_BUILT_IN | NEED_STATS)
