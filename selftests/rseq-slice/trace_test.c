// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints rseq:rseq_slice_grant and rseq:rseq_slice_end: they come in
 * pairs, and the end tells the right reason.
 */
#include <kselftest_harness.h>

#include "slice_env.h"

#define GRANT	"rseq_slice_grant"
#define END	"rseq_slice_end"

#define GRANTS_PER_ROUND	10
#define MAX_ROUNDS		50

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

static void end_by_itself(struct slice_env *env)
{
	slice_wait_end(env);
}

struct counts {
	unsigned long grants;
	unsigned long ends;
	unsigned long matching;
};

FIXTURE(reason)
{
	struct slice_env env;
	struct trace trace;
	struct counts counts;
};

FIXTURE_VARIANT(reason)
{
	const char *word;
	size_t counter;
	/* What the holder does in a grant to have it end for this reason. */
	void (*end)(struct slice_env *env);
};

FIXTURE_VARIANT_ADD(reason, yield)
{
	.word = "yield",
	.counter = offsetof(struct slice_stats, yielded),
	.end = end_yield,
};

FIXTURE_VARIANT_ADD(reason, abort)
{
	.word = "abort",
	.counter = offsetof(struct slice_stats, aborted),
	.end = end_abort,
};

FIXTURE_VARIANT_ADD(reason, expire)
{
	.word = "expire",
	.counter = offsetof(struct slice_stats, expired),
	.end = end_by_itself,
};

/* "revoke" takes a task that must not wait: see rt_wake_test. */

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

static void count_events(struct counts *c, struct trace *t, const char *word)
{
	struct trace_event e;

	while (trace_next(t, &e)) {
		c->grants += trace_is(&e, GRANT);
		if (!trace_is(&e, END))
			continue;
		c->ends++;
		c->matching += trace_says(&e, word);
	}
}

/*
 * Events and counters tell one story. How a single grant ends is not in the
 * test's hand: on a loaded host it may run out before the holder can act.
 */
TEST_F_TIMEOUT(reason, is_told_and_counted, SLICE_TIMEOUT)
{
	struct counts *c = &self->counts;
	struct slice_stats s, before;
	int i, round = 0;

	ASSERT_EQ(0, slice_stats_read(&before));
	do {
		ASSERT_EQ(0, trace_start(&self->trace));
		for (i = 0; i < GRANTS_PER_ROUND; i++) {
			ASSERT_TRUE(slice_wait_grant(&self->env));
			variant->end(&self->env);
		}
		ASSERT_EQ(0, trace_stop(&self->trace));
		count_events(c, &self->trace, variant->word);
	} while (!c->matching && ++round < MAX_ROUNDS);

	s = slice_stats_since(&before);
	EXPECT_LT(0, c->matching);
	EXPECT_LE(GRANTS_PER_ROUND, c->grants);
	EXPECT_EQ(c->grants, c->ends);
	EXPECT_EQ(c->grants, s.granted);
	EXPECT_EQ(c->matching,
		  *(unsigned long *)((char *)&s + variant->counter));
	EXPECT_TRUE(slice_stats_balanced(&s));
}

SLICE_TEST_MAIN(NEED_GRANTS | NEED_TRACE)
