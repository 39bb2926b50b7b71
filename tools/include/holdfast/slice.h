/* SPDX-License-Identifier: MIT */
/*
 * holdfast/slice.h - rseq time-slice extension for lock holders
 *
 * A thread that is about to enter a short critical section asks the kernel for
 * a little more time should its time slice end inside the section:
 *
 *	holdfast_slice_enable();	once per thread
 *
 *	holdfast_slice_begin();		set the request
 *	lock(); work(); unlock();
 *	holdfast_slice_end();		clear it; yield only if it was granted
 *
 * What it is: best effort. When an interrupt wants to reschedule while the
 * request is set, the kernel may let the thread run on for some microseconds
 * (/sys/kernel/debug/rseq/slice_ext_nsec, 5000 to 50000 ns), once. It never
 * restarts the section, it does not keep anybody from running meanwhile on
 * other CPUs, and it is no substitute for a lock.
 *
 * What it is not: nestable. An inner begin/end pair is harmless, but its end
 * clears the request (and gives up a granted extension), so that the rest of
 * the outer section runs without one. The same goes for a signal handler that
 * uses the pair while it interrupts a section.
 *
 * A system call inside a granted section, whichever it is, ends the extension
 * and gives up the CPU before it executes. Keep system calls out of sections.
 *
 * Without support (older kernel, switched off, another architecture, thread
 * not enabled) begin and end store into memory of the calling thread that
 * nobody looks at, and have no other effect. Nothing is ever printed.
 *
 * Ownership: the kernel accepts one rseq registration per thread. If libc owns
 * one (glibc 2.35 and later, unless GLIBC_TUNABLES=glibc.pthread.rseq=0), it is
 * used and stays libc's. If not, holdfast_slice_enable() registers a 64-byte
 * area in thread-local storage and holdfast_slice_disable() unregisters it.
 * The bytes 28 to 31 of the area (slice_ctrl) then belong to this header and
 * the kernel.
 *
 * Such an area must not be unmapped while it is registered: the kernel would
 * kill the thread by SIGSEGV. A detached thread whose libc frees thread-local
 * storage before the exit system call, e.g. musl's, therefore has to call
 * holdfast_slice_disable() before it ends.
 *
 * Threads: everything here acts on the calling thread only, and needs no
 * locking. New threads start without the extension; a child of fork() inherits
 * it. begin and end are async-signal-safe, the rest is not. Executable and shared
 * objects of a process can all use this header; enabling twice does no harm.
 * A constructor of priority 101 sets it up, so not to be used before that.
 *
 * Errors: functions that can fail return 0 or a negative errno value and leave
 * errno alone. holdfast_slice_query() says why.
 *
 * Cost of a begin and end pair that meets no grant: six instructions.
 *
 * Constants: the user ABI of mainline Linux 7.x, include/uapi/linux/rseq.h,
 * prctl.h and the system call table; the same in Holdfast's 6.12 series.
 *
 * C99 to C23 and C++11 on; gcc or clang (inline assembly, weak symbols).
 */
#ifndef HOLDFAST_SLICE_H
#define HOLDFAST_SLICE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why the calling thread can or cannot have extensions. */
enum holdfast_slice_status {
	HOLDFAST_SLICE_OK = 0,		/* enabled, or can be */
	HOLDFAST_SLICE_NO_ARCH,		/* this header knows x86-64 only */
	HOLDFAST_SLICE_NO_RSEQ,		/* kernel without rseq */
	HOLDFAST_SLICE_NO_KERNEL,	/* kernel without slice extension */
	HOLDFAST_SLICE_OFF,		/* switched off at boot or compiled out */
	HOLDFAST_SLICE_LIBC_AREA,	/* libc's area is refused as too short */
	HOLDFAST_SLICE_FOREIGN,		/* another library registered rseq */
	HOLDFAST_SLICE_ERROR,		/* unexpected error, e.g. from seccomp */
	HOLDFAST_SLICE_TOO_NEW		/* kernel wants more than the own area */
};

/* One sentence without full stop for @status; never NULL, not to be freed. */
static inline const char *
holdfast_slice_strstatus(enum holdfast_slice_status status)
{
	switch (status) {
	case HOLDFAST_SLICE_OK:
		return "available";
	case HOLDFAST_SLICE_NO_ARCH:
		return "not supported on this architecture";
	case HOLDFAST_SLICE_NO_RSEQ:
		return "the kernel has no rseq system call";
	case HOLDFAST_SLICE_NO_KERNEL:
		return "the kernel has no rseq time-slice extension";
	case HOLDFAST_SLICE_OFF:
		return "the kernel has it switched off (boot argument "
		       "rseq_slice_ext=) or compiled out";
	case HOLDFAST_SLICE_LIBC_AREA:
		return "the kernel refuses the 32-byte rseq area of this libc; "
		       "try GLIBC_TUNABLES=glibc.pthread.rseq=0";
	case HOLDFAST_SLICE_FOREIGN:
		return "another library has registered rseq for this thread";
	case HOLDFAST_SLICE_TOO_NEW:
		return "the kernel wants a larger rseq area than this program "
		       "has; build it with a newer holdfast/slice.h";
	case HOLDFAST_SLICE_ERROR:
		break;
	}
	return "the kernel answered with an unexpected error";
}

#if defined(__x86_64__) && !defined(__ILP32__)

#include <sys/auxv.h>

#define HOLDFAST_SLICE_NR_SIGPROCMASK_	14
#define HOLDFAST_SLICE_NR_PRCTL_	157
#define HOLDFAST_SLICE_NR_RSEQ_		334
#define HOLDFAST_SLICE_NR_YIELD_	471
#define HOLDFAST_SLICE_PRCTL_		79	/* PR_RSEQ_SLICE_EXTENSION */
#define HOLDFAST_SLICE_PRCTL_GET_	1
#define HOLDFAST_SLICE_PRCTL_SET_	2
#define HOLDFAST_SLICE_ENABLE_		1	/* PR_RSEQ_SLICE_EXT_ENABLE */
#define HOLDFAST_SLICE_UNREGISTER_	1	/* RSEQ_FLAG_UNREGISTER */
#define HOLDFAST_SLICE_SIG_		0x53053053L	/* RSEQ_SIG, as libc */
#define HOLDFAST_SLICE_ENOTSUPP_	524	/* kernel-internal ENOTSUPP */
#define HOLDFAST_SLICE_AT_SIZE_		27	/* AT_RSEQ_FEATURE_SIZE */
#define HOLDFAST_SLICE_AT_ALIGN_	28	/* AT_RSEQ_ALIGN */
#define HOLDFAST_SLICE_LEN_MIN_		33	/* covers slice_ctrl */
#define HOLDFAST_SLICE_LEN_LIBC_	32	/* glibc 2.35 to 2.40 */

/* struct rseq as far as it is needed, in the size and alignment of 7.x. */
struct holdfast_slice_area_ {
	uint32_t cpu_id_start;
	int32_t cpu_id;			/* negative: not registered */
	uint64_t rseq_cs;
	uint32_t flags;
	uint32_t node_id;
	uint32_t mm_cid;
	uint8_t request;		/* offset 28 */
	uint8_t granted;		/* offset 29 */
	uint8_t unused[34];
} __attribute__((aligned(64)));

/* glibc 2.35 and later; absent elsewhere. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

/* The area for threads whose libc has none. One per thread and process. */
extern __thread struct holdfast_slice_area_ holdfast_slice_own_
	__attribute__((weak, tls_model("initial-exec")));
__thread struct holdfast_slice_area_ holdfast_slice_own_
	__attribute__((weak, used, tls_model("initial-exec"))) = {
	0, -1, 0, 0, 0, 0, 0, 0, { 0 }
};

/*
 * Where begin and end store, relative to the thread pointer. The same number in
 * all threads of the process, which is what makes them short.
 */
extern int64_t holdfast_slice_offset_
	__attribute__((weak, visibility("hidden")));
int64_t holdfast_slice_offset_ __attribute__((weak, visibility("hidden")));

/* Returns what the kernel returns, i.e. -errno; keeps errno untouched. */
static inline long holdfast_slice_syscall_(long nr, long a, long b, long c,
					   long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long holdfast_slice_prctl_(long op, long arg)
{
	return holdfast_slice_syscall_(HOLDFAST_SLICE_NR_PRCTL_,
				       HOLDFAST_SLICE_PRCTL_, op, arg, 0, 0);
}

static inline long holdfast_slice_rseq_(void *area, long len, long flags)
{
	return holdfast_slice_syscall_(HOLDFAST_SLICE_NR_RSEQ_, (long)area, len,
				       flags, HOLDFAST_SLICE_SIG_, 0);
}

/* Does libc own the registration of this process' threads? */
static inline int holdfast_slice_libc_owns_(void)
{
	return &__rseq_size && __rseq_size;
}

static inline char *holdfast_slice_thread_pointer_(void)
{
	char *tp;

	__asm__("movq %%fs:0, %0" : "=r"(tp));
	return tp;
}

/* First of all constructors, so that theirs can use begin and end. */
__attribute__((constructor(101), unused))
static void holdfast_slice_init_(void)
{
	holdfast_slice_offset_ = holdfast_slice_libc_owns_() ?
		__rseq_offset : (char *)&holdfast_slice_own_ -
				holdfast_slice_thread_pointer_();
}

/* The length this thread's own area is registered with. */
static inline long holdfast_slice_own_len_(void)
{
	unsigned long len = getauxval(HOLDFAST_SLICE_AT_SIZE_);

	return len > HOLDFAST_SLICE_LEN_MIN_ ? (long)len
					     : HOLDFAST_SLICE_LEN_MIN_;
}

/* Otherwise the kernel would write beyond the area, or refuse it. */
static inline int holdfast_slice_own_fits_(void)
{
	const long size = sizeof(struct holdfast_slice_area_);

	return holdfast_slice_own_len_() <= size &&
	       (long)getauxval(HOLDFAST_SLICE_AT_ALIGN_) <= size;
}

/*
 * "Not supported" on a thread with libc's 32 bytes has two meanings: off, or
 * too short an area (mainline 7.x). A thread without registration tells them
 * apart, so this one gives it up for a moment, with signals blocked. It runs
 * no restartable sequence now, so nothing that relies on rseq can notice.
 */
static inline enum holdfast_slice_status holdfast_slice_ask_bare_(void)
{
	char *area = holdfast_slice_thread_pointer_() + __rseq_offset;
	const long len = HOLDFAST_SLICE_LEN_LIBC_;
	uint64_t all = ~(uint64_t)0, old;
	long ret;

	holdfast_slice_syscall_(HOLDFAST_SLICE_NR_SIGPROCMASK_, 2, (long)&all,
				(long)&old, sizeof(all), 0);
	ret = holdfast_slice_rseq_(area, len, HOLDFAST_SLICE_UNREGISTER_);
	if (!ret) {
		ret = holdfast_slice_prctl_(HOLDFAST_SLICE_PRCTL_SET_, 0);
		holdfast_slice_rseq_(area, len, 0);
	}
	holdfast_slice_syscall_(HOLDFAST_SLICE_NR_SIGPROCMASK_, 2, (long)&old,
				0, sizeof(old), 0);
	return ret == -HOLDFAST_SLICE_ENOTSUPP_ ? HOLDFAST_SLICE_OFF
						: HOLDFAST_SLICE_LIBC_AREA;
}

static inline enum holdfast_slice_status holdfast_slice_unsupported_(void)
{
	if (holdfast_slice_libc_owns_() &&
	    __rseq_size <= HOLDFAST_SLICE_LEN_LIBC_ &&
	    getauxval(HOLDFAST_SLICE_AT_SIZE_) >= HOLDFAST_SLICE_LEN_MIN_)
		return holdfast_slice_ask_bare_();
	return HOLDFAST_SLICE_OFF;
}

/* -errno of the two prctl() calls below, as the reason. */
static inline enum holdfast_slice_status holdfast_slice_reason_(long ret)
{
	switch (ret) {
	case -HOLDFAST_SLICE_ENOTSUPP_:
		return holdfast_slice_unsupported_();
	case -EINVAL:
		if (holdfast_slice_rseq_(NULL, 0, 0) == -ENOSYS)
			return HOLDFAST_SLICE_NO_RSEQ;
		return HOLDFAST_SLICE_NO_KERNEL;
	default:
		return HOLDFAST_SLICE_ERROR;
	}
}

/*
 * holdfast_slice_query - can the calling thread have extensions, and why not?
 *
 * Asks the kernel each time, by at most six system calls, and changes nothing.
 * HOLDFAST_SLICE_FOREIGN is only found by holdfast_slice_enable() (-EBUSY) when
 * the other library's area would be good enough.
 */
static inline enum holdfast_slice_status holdfast_slice_query(void)
{
	long ret = holdfast_slice_prctl_(HOLDFAST_SLICE_PRCTL_GET_, 0);

	if (ret < 0)
		return holdfast_slice_reason_(ret);
	if (ret == 0) {
		/* "Disable" is no change here, but goes through all checks. */
		ret = holdfast_slice_prctl_(HOLDFAST_SLICE_PRCTL_SET_, 0);
		if (ret < 0 && ret != -ENXIO)
			return holdfast_slice_reason_(ret);
	}
	if (holdfast_slice_libc_owns_() || holdfast_slice_own_.cpu_id >= 0)
		return HOLDFAST_SLICE_OK;
	/* ENXIO: not registered, so enable can do that. */
	if (ret != -ENXIO)
		return HOLDFAST_SLICE_FOREIGN;
	return holdfast_slice_own_fits_() ? HOLDFAST_SLICE_OK
					  : HOLDFAST_SLICE_TOO_NEW;
}

/* The -errno that enable and disable return for @status. */
static inline int holdfast_slice_errno_(enum holdfast_slice_status status)
{
	switch (status) {
	case HOLDFAST_SLICE_OK:
		return 0;
	case HOLDFAST_SLICE_OFF:
		return -EOPNOTSUPP;
	case HOLDFAST_SLICE_LIBC_AREA:
	case HOLDFAST_SLICE_FOREIGN:
		return -EBUSY;
	case HOLDFAST_SLICE_ERROR:
		return -EPERM;
	default:
		return -ENOSYS;
	}
}

/* Makes holdfast_slice_own_ the thread's area unless it is already. */
static inline int holdfast_slice_register_(void)
{
	long ret;

	if (holdfast_slice_own_.cpu_id >= 0)
		return 0;
	ret = holdfast_slice_rseq_(&holdfast_slice_own_,
				   holdfast_slice_own_len_(), 0);
	return ret == -EINVAL ? -EBUSY : (int)ret;
}

static inline int holdfast_slice_unregister_(void)
{
	if (holdfast_slice_libc_owns_() || holdfast_slice_own_.cpu_id < 0)
		return 0;
	return (int)holdfast_slice_rseq_(&holdfast_slice_own_,
					 holdfast_slice_own_len_(),
					 HOLDFAST_SLICE_UNREGISTER_);
}

/*
 * holdfast_slice_enable - let begin and end of the calling thread take effect
 *
 * Returns 0, also when it is enabled already, or
 *	-ENOSYS		no support in the kernel or for the architecture, or
 *			the kernel wants a larger area than this header's
 *	-EOPNOTSUPP	switched off at boot or compiled out
 *	-EBUSY		a registration by libc or another library is in the way
 *	-EPERM		refused, e.g. by a seccomp filter
 * or what the kernel gave. Not for use inside a section.
 */
static inline int holdfast_slice_enable(void)
{
	int ret = holdfast_slice_errno_(holdfast_slice_query());

	if (ret)
		return ret;
	if (!holdfast_slice_libc_owns_())
		ret = holdfast_slice_register_();
	if (ret)
		return ret;
	ret = (int)holdfast_slice_prctl_(HOLDFAST_SLICE_PRCTL_SET_,
					 HOLDFAST_SLICE_ENABLE_);
	if (ret)
		holdfast_slice_unregister_();
	return ret;
}

/*
 * holdfast_slice_disable - undo holdfast_slice_enable() of the calling thread
 *
 * Returns 0, also when it was not enabled, or what the kernel gave. Not for use
 * inside a section.
 */
static inline int holdfast_slice_disable(void)
{
	long ret = holdfast_slice_prctl_(HOLDFAST_SLICE_PRCTL_GET_, 0);

	if (ret <= 0)
		return 0;
	ret = holdfast_slice_prctl_(HOLDFAST_SLICE_PRCTL_SET_, 0);
	return ret ? (int)ret : holdfast_slice_unregister_();
}

/* Returns 1 if this call ended a live grant, 0 if the grant was over. */
__attribute__((noinline, cold, unused))
static int holdfast_slice_yield_(void)
{
	return holdfast_slice_syscall_(HOLDFAST_SLICE_NR_YIELD_, 0, 0, 0, 0,
				       0) == 1;
}

/*
 * holdfast_slice_begin - ask for an extension from here on
 *
 * Two instructions. A compiler barrier: nothing moves up across it. The lock
 * operation inside provides the ordering towards other threads.
 */
static inline void holdfast_slice_begin(void)
{
	int64_t offset = __atomic_load_n(&holdfast_slice_offset_,
					 __ATOMIC_RELAXED);

	__asm__ volatile("movb $1, %%fs:28(%0)" : : "r"(offset) : "memory");
}

/*
 * holdfast_slice_end - the section is over; give back what was granted
 *
 * Clears the request and, if an extension has been granted meanwhile, gives up
 * the CPU by rseq_slice_yield(2). Call it after the unlock. Four instructions
 * without a grant, and a compiler barrier.
 *
 * Returns 1 if it ended an extension, else 0. The value is for statistics.
 */
static inline int holdfast_slice_end(void)
{
	int64_t offset = __atomic_load_n(&holdfast_slice_offset_,
					 __ATOMIC_RELAXED);
	int granted;

	/*
	 * In this order: a grant replaces request by granted in one store, so
	 * once the request is gone no new grant can slip in after the test.
	 */
	__asm__ volatile("movb $0, %%fs:28(%1)\n\t"
			 "cmpb $0, %%fs:29(%1)"
			 : "=@ccne"(granted)
			 : "r"(offset)
			 : "memory");
	return __builtin_expect(granted, 0) ? holdfast_slice_yield_() : 0;
}

#else /* other architectures: same interface, no effect */

static inline enum holdfast_slice_status holdfast_slice_query(void)
{
	return HOLDFAST_SLICE_NO_ARCH;
}

static inline int holdfast_slice_enable(void)
{
	return -ENOSYS;
}

static inline int holdfast_slice_disable(void)
{
	return 0;
}

static inline void holdfast_slice_begin(void)
{
	__asm__ volatile("" : : : "memory");
}

static inline int holdfast_slice_end(void)
{
	__asm__ volatile("" : : : "memory");
	return 0;
}

#endif

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SLICE_H */
