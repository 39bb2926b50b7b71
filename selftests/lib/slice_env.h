/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The usual surroundings of a grant: the calling process pinned to one CPU and
 * registered, a competitor on the same CPU, and the widest extension.
 */
#ifndef HOLDFAST_SLICE_ENV_H
#define HOLDFAST_SLICE_ENV_H

#include <stdlib.h>

#include "noise.h"
#include "rseq_abi.h"
#include "slice_require.h"
#include "slice_stats.h"

/* For TEST_F_TIMEOUT: a stuck test fails by NOISE_LIMIT_MS before this. */
#define SLICE_TIMEOUT	120

struct slice_env {
	int cpu;			/* where grants happen */
	int other_cpu;			/* another one, or -1 */
	unsigned int len;		/* registered length */
	long old_nsec;
	struct noise *noise;
	struct rseq_abi *rs;
	struct slice_stats at_start;
};

/* The last allowed CPU: CPU 0 has more to do than the others. */
static inline void slice_pick_cpus(struct slice_env *env)
{
	cpu_set_t set;
	int cpu;

	cpus_allowed(&set);
	env->cpu = -1;
	env->other_cpu = -1;
	for (cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--) {
		if (!CPU_ISSET(cpu, &set))
			continue;
		if (env->cpu < 0) {
			env->cpu = cpu;
		} else {
			env->other_cpu = cpu;
			break;
		}
	}
}

static inline struct rseq_abi *slice_area_alloc(void)
{
	void *area = NULL;

	if (posix_memalign(&area, RSEQ_AREA_SIZE, RSEQ_AREA_SIZE))
		return NULL;
	memset(area, 0, RSEQ_AREA_SIZE);
	return area;
}

static inline int slice_register(struct slice_env *env, unsigned int len)
{
	long ret;

	env->rs = slice_area_alloc();
	if (!env->rs)
		return -ENOMEM;
	ret = rseq_register(env->rs, len, 0);
	if (ret)
		return ret;
	env->len = len;
	return slice_enable();
}

/* With a length of 0 the caller registers, or uses what libc has. */
static inline int slice_env_open(struct slice_env *env, unsigned int len,
				 enum noise_kind kind)
{
	int ret;

	slice_pick_cpus(env);
	env->old_nsec = file_number(SLICE_NSEC_FILE);
	if (env->old_nsec < 0)
		return env->old_nsec;
	ret = slice_set_nsec(SLICE_NSEC_MAX);
	if (!ret)
		ret = pin_to(0, env->cpu);
	if (!ret)
		ret = slice_stats_read(&env->at_start);
	if (ret)
		return ret;
	env->noise = noise_start(env->cpu, kind);
	if (!env->noise)
		return -ENOMEM;
	return len ? slice_register(env, len) : 0;
}

static inline void slice_env_close(struct slice_env *env)
{
	if (env->len)
		rseq_unregister(env->rs, env->len);
	noise_stop(env->noise);
	if (env->old_nsec > 0)
		slice_set_nsec(env->old_nsec);
}

/* What happened since the environment was set up. */
static inline struct slice_stats slice_env_stats(const struct slice_env *env)
{
	return slice_stats_since(&env->at_start);
}

/* Asks until a grant is seen; false if none came in NOISE_LIMIT_MS. */
static inline bool slice_wait_grant(struct slice_env *env)
{
	noise_rearm(env->noise);
	while (!READ_ONCE(env->noise->expired)) {
		if (slice_granted(env->rs))
			return true;
		slice_request(env->rs);
	}
	return false;
}

/* Spins until the kernel has taken back what it granted. */
static inline bool slice_wait_end(struct slice_env *env)
{
	while (slice_granted(env->rs))
		if (READ_ONCE(env->noise->expired))
			return false;
	return true;
}

/* Asks all the time and never gives back, until *@stop. */
static inline void slice_hog(struct rseq_abi *rs, const int *stop)
{
	while (!READ_ONCE(*stop))
		slice_request(rs);
}

/* The same until the noise had the CPU @times times. */
static inline bool slice_hog_outlast(struct slice_env *env, int times)
{
	unsigned long loops, seen = READ_ONCE(env->noise->loops);

	noise_rearm(env->noise);
	while (times > 0 && !READ_ONCE(env->noise->expired)) {
		slice_request(env->rs);
		loops = READ_ONCE(env->noise->loops);
		times -= loops != seen;
		seen = loops;
	}
	return times <= 0;
}

/*
 * Whether a grant was ended by a system call since this was last asked: if not,
 * the one that was seen ran out before the call was made.
 */
static inline bool slice_call_ended(const struct slice_env *env,
				    unsigned long *calls)
{
	struct slice_stats s = slice_env_stats(env);
	bool ended = s.yielded + s.aborted > *calls;

	*calls = s.yielded + s.aborted;
	return ended;
}

/*
 * For loops: @rounds, and more until something was seen @times. On a loaded
 * host most grants run out before the holder gets to do anything with them.
 */
static inline bool slice_go_on(int done, int rounds, unsigned long times,
			       unsigned long seen)
{
	return done < rounds || (seen < times && done < 50 * rounds);
}

/* How long a stress runs: short by default, DURATION seconds in a soak. */
static inline long long stress_ns(void)
{
	const char *seconds = getenv("DURATION");
	long value = seconds ? strtol(seconds, NULL, 10) : 0;

	return (value > 0 ? value : 3) * 1000000000LL;
}

#endif /* HOLDFAST_SLICE_ENV_H */
