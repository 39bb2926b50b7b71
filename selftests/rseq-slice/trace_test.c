// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints rseq:rseq_slice_grant and rseq:rseq_slice_end: they come in
 * pairs, and the end tells the right reason.
 */
#include <kselftest_harness.h>
#include <signal.h>

#include "child.h"
#include "slice_env.h"

#define GRANT	"rseq_slice_grant"
#define END	"rseq_slice_end"
#define ROUNDS	10

static const char *const events[] = { "rseq/" GRANT, "rseq/" END, NULL };

TEST(exist)
{
	EXPECT_TRUE(trace_has_event(events[0]));
	EXPECT_TRUE(trace_has_event(events[1]));
}

TEST(end_has_a_reason)
{
	char text[4096];

	ASSERT_LT(0, file_read(TRACEFS_DIR "/events/rseq/" END "/format",
			       text, sizeof(text)));
	EXPECT_NE(NULL, strstr(text, "reason"));
}

FIXTURE(reason)
{
	struct slice_env env;
	struct trace trace;
};

FIXTURE_VARIANT(reason)
{
	const char *word;
	/* What the holder does in a grant to have it end for this reason. */
	void (*end)(struct slice_env *env);
};

static void end_yield(struct slice_env *env)
{
	(void)env;
	slice_yield();
}

static void end_abort(struct slice_env *env)
{
	(void)env;
	syscall(__NR_getpid);
}

static void end_expire(struct slice_env *env)
{
	slice_wait_end(env);
}

static int die_in_grant(void *arg)
{
	if (!slice_wait_grant(arg))
		return 1;
	__builtin_trap();
}

/* An exception kills a child while its grant is live. */
static void end_revoke(struct slice_env *env)
{
	child_run(die_in_grant, env);
}

FIXTURE_VARIANT_ADD(reason, yield)
{
	.word = "yield",
	.end = end_yield,
};

FIXTURE_VARIANT_ADD(reason, abort)
{
	.word = "abort",
	.end = end_abort,
};

FIXTURE_VARIANT_ADD(reason, expire)
{
	.word = "expire",
	.end = end_expire,
};

FIXTURE_VARIANT_ADD(reason, revoke)
{
	.word = "revoke",
	.end = end_revoke,
};

FIXTURE_SETUP(reason)
{
	self->trace.file = NULL;
	ASSERT_EQ(0, slice_env_open(&self->env, RSEQ_SLICE_LEN, NOISE_SPIN));
	ASSERT_EQ(0, trace_open(&self->trace, events));
}

FIXTURE_TEARDOWN(reason)
{
	trace_close(&self->trace);
	slice_env_close(&self->env);
}

TEST_F_TIMEOUT(reason, is_told, SLICE_TIMEOUT)
{
	int i, grants = 0, ends = 0, matching = 0;
	struct trace_event e;

	ASSERT_EQ(0, trace_start(&self->trace));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(variant->end == end_revoke ||
			    slice_wait_grant(&self->env));
		variant->end(&self->env);
	}
	ASSERT_EQ(0, trace_stop(&self->trace));
	while (trace_next(&self->trace, &e)) {
		if (trace_is(&e, GRANT))
			grants++;
		if (trace_is(&e, END)) {
			ends++;
			matching += trace_says(&e, variant->word);
		}
	}
	EXPECT_LE(ROUNDS, grants);
	EXPECT_EQ(grants, ends);
	/* On a loaded host some run out before the holder can act. */
	EXPECT_LE(ROUNDS / 3, matching);
}

/* Events and counters tell one story. */
TEST_F_TIMEOUT(reason, is_counted, SLICE_TIMEOUT)
{
	struct slice_stats s, before;
	struct trace_event e;
	unsigned long grants = 0, matching = 0;
	unsigned long counted;
	int i;

	ASSERT_EQ(0, slice_stats_read(&before));
	ASSERT_EQ(0, trace_start(&self->trace));
	for (i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(variant->end == end_revoke ||
			    slice_wait_grant(&self->env));
		variant->end(&self->env);
	}
	ASSERT_EQ(0, trace_stop(&self->trace));
	s = slice_stats_since(&before);
	while (trace_next(&self->trace, &e)) {
		grants += trace_is(&e, GRANT);
		matching += trace_is(&e, END) && trace_says(&e, variant->word);
	}
	counted = variant->end == end_yield ? s.yielded :
		  variant->end == end_abort ? s.aborted :
		  variant->end == end_expire ? s.expired : s.revoked;
	EXPECT_EQ(s.granted, grants);
	EXPECT_EQ(counted, matching);
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_TRACE)
