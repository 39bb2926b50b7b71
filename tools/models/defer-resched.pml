/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sched_defer_resched() against the wakeup of a real-time task on another CPU.
 *
 * The holder of an rseq time slice extension drops the reschedule request of
 * its CPU while only fair tasks are queued there. The waker queues a real-time
 * task on that CPU and calls resched_curr(), which does nothing if a request is
 * pending. The real-time task must get the CPU without any further event.
 *
 * Memory is x86-TSO: a plain store may sit in the store buffer while the same
 * CPU goes on, bit operations and the lock do not let it. Only the counter of
 * the waker is stored plainly and read by the other CPU, so that one has a
 * buffer here.
 *
 *	spin -run defer-resched.pml				0 errors
 *	spin -DNO_LOCK -run defer-resched.pml			lost wakeup
 *	spin -DNO_LOCK -DCLEAR_FIRST -run defer-resched.pml	lost wakeup
 *
 * The last two are what the runqueue lock in sched_defer_resched() is for:
 * clearing the request before looking does not replace it.
 */
bool locked;			/* the runqueue lock */
bool need_resched = true;	/* TIF_NEED_RESCHED, set for a fair task */
bool rt_queued;			/* as the other CPU sees it */
bool rt_buffered;		/* still in the waker's store buffer */
bool rt_runs;
bool granted;
bool waker_done;
bool holder_idle;		/* in user mode, with an extension or without */

inline take() { atomic { !locked -> locked = true } }
inline release() { locked = false }

#ifdef NO_LOCK
#define DEFER_TAKE() skip
#define DEFER_RELEASE() skip
#else
#define DEFER_TAKE() take()
#define DEFER_RELEASE() release()
#endif

/* The store reaches memory some time, at the latest before a locked operation. */
inline drain() {
	d_step {
		rt_queued = rt_queued || rt_buffered;
		rt_buffered = false
	}
}

active proctype store_buffer()
{
end:
	do
	:: rt_buffered -> drain()
	od
}

active proctype waker()
{
	take();
	rt_buffered = true;		/* nr_running++ */
	if
	:: need_resched			/* resched_curr(): pending anyway */
	:: else -> drain(); need_resched = true
	fi;
	drain();
	release();
	waker_done = true
}

/* What __schedule() does with the request, and whom it picks. */
inline schedule() {
	granted = false;
	take();
	need_resched = false;
	if
	:: rt_queued -> rt_runs = true
	:: else
	fi;
	release()
}

inline defer() {
	bool fair_only;

	DEFER_TAKE();
#ifdef CLEAR_FIRST
	need_resched = false;
	fair_only = !rt_queued;
	if
	:: fair_only -> granted = true
	:: else -> need_resched = true
	fi;
#else
	fair_only = !rt_queued;
	if
	:: fair_only -> need_resched = false; granted = true
	:: else
	fi;
#endif
	DEFER_RELEASE()
}

/* The exit loop; without a request the holder is in user mode. */
active proctype holder()
{
end:
	do
	:: rt_runs -> break
	:: !rt_runs && need_resched ->
		holder_idle = false;
		if
		:: granted -> schedule()
		:: else ->
			defer();
			if
			:: granted
			:: else -> schedule()
			fi
		fi;
		holder_idle = true
	od
}

/* Nothing is left to happen, so the real-time task has to be running. */
active proctype check()
{
	atomic {
		waker_done && holder_idle && !need_resched && !rt_buffered;
		assert(rt_runs)
	}
}
