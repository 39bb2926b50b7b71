/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rseq and time-slice extension ABI as user space sees it.
 *
 * Spelled out here rather than taken from the system headers: the tests must
 * compile on distributions whose headers know none of it, and a test that
 * takes the numbers from the kernel under test cannot notice that they moved.
 * Calls return a value >= 0 or -errno; libc's wrappers are never used because
 * some of them register or hide things on their own.
 */
#ifndef HOLDFAST_RSEQ_ABI_H
#define HOLDFAST_RSEQ_ABI_H

#include <errno.h>
#include <linux/types.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef __NR_rseq_slice_yield
#define __NR_rseq_slice_yield		471
#endif

#ifndef PR_RSEQ_SLICE_EXTENSION
#define PR_RSEQ_SLICE_EXTENSION		79
#define PR_RSEQ_SLICE_EXTENSION_GET	1
#define PR_RSEQ_SLICE_EXTENSION_SET	2
#define PR_RSEQ_SLICE_EXT_ENABLE	0x01
#endif

#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE		27
#define AT_RSEQ_ALIGN			28
#endif

/* The kernel-internal "not supported"; no libc has a name for it. */
#define ENOTSUPP_KERNEL			524

/* Register flags. */
#define RSEQ_UNREGISTER			1
#define RSEQ_SLICE_DEFAULT_ON		2

/* rseq::flags, kernel to user. */
#define RSEQ_SLICE_AVAILABLE		0x10
#define RSEQ_SLICE_ENABLED		0x20

#define RSEQ_LEGACY_LEN			32
#define RSEQ_SLICE_LEN			33
#define RSEQ_AREA_SIZE			64
#define RSEQ_CPU_ID_NONE		((__u32)-1)

/* Has to precede each abort handler as the operand of a ud1. */
#define RSEQ_SIGNATURE			0x53053053

#define X32_SYSCALL_BIT			0x40000000

#ifndef __aligned
#define __aligned(x)			__attribute__((__aligned__(x)))
#endif

union rseq_abi_slice_ctrl {
	__u32 all;
	struct {
		__u8 request;
		__u8 granted;
		__u16 reserved;
	};
};

/* slice_ctrl.all when only one of the two bytes is set, little endian. */
#define SLICE_REQUEST			0x0001
#define SLICE_GRANTED			0x0100

struct rseq_abi {
	__u32 cpu_id_start;
	__u32 cpu_id;
	__u64 rseq_cs;
	__u32 flags;
	__u32 node_id;
	__u32 mm_cid;
	union rseq_abi_slice_ctrl slice_ctrl;
	__u8 reserved;
	char end[];
} __aligned(32);

/* Room for one registration of any length the kernel knows. */
union rseq_area {
	struct rseq_abi abi;
	unsigned char bytes[RSEQ_AREA_SIZE];
} __aligned(RSEQ_AREA_SIZE);

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), v, __ATOMIC_RELAXED)

static inline long sys_result(long ret)
{
	return ret == -1 ? -errno : ret;
}

static inline long sys_rseq(void *area, __u32 len, int flags, __u32 sig)
{
	return sys_result(syscall(__NR_rseq, area, len, flags, sig));
}

static inline long rseq_register(void *area, __u32 len, int flags)
{
	return sys_rseq(area, len, flags, RSEQ_SIGNATURE);
}

static inline long rseq_unregister(void *area, __u32 len)
{
	return sys_rseq(area, len, RSEQ_UNREGISTER, RSEQ_SIGNATURE);
}

/* The kernel wants no argument; filters and tracers of the tests look at it. */
static inline long slice_yield(void)
{
	return sys_result(syscall(__NR_rseq_slice_yield, 0));
}

static inline long slice_prctl(unsigned long op, unsigned long arg3,
			       unsigned long arg4, unsigned long arg5)
{
	return sys_result(syscall(__NR_prctl, PR_RSEQ_SLICE_EXTENSION, op,
				  arg3, arg4, arg5));
}

static inline long slice_get(void)
{
	return slice_prctl(PR_RSEQ_SLICE_EXTENSION_GET, 0, 0, 0);
}

static inline long slice_enable(void)
{
	return slice_prctl(PR_RSEQ_SLICE_EXTENSION_SET,
			   PR_RSEQ_SLICE_EXT_ENABLE, 0, 0);
}

static inline long slice_disable(void)
{
	return slice_prctl(PR_RSEQ_SLICE_EXTENSION_SET, 0, 0, 0);
}

static inline __u32 slice_ctrl(const struct rseq_abi *rs)
{
	return READ_ONCE(rs->slice_ctrl.all);
}

static inline int slice_granted(const struct rseq_abi *rs)
{
	return READ_ONCE(rs->slice_ctrl.granted);
}

/*
 * Asks for an extension unless something is in the control word already: a
 * plain store could hit a grant that came between look and store.
 */
static inline void slice_request(struct rseq_abi *rs)
{
	__u32 none = 0;

	__atomic_compare_exchange_n(&rs->slice_ctrl.all, &none, SLICE_REQUEST,
				    0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

#endif /* HOLDFAST_RSEQ_ABI_H */
