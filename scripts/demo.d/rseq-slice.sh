# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# rseq-slice in the demo: one spinlock under more threads than CPUs without and
# with the extension, the kernel's counters, one extension in the trace, and
# what a real-time task sees of it.

# ---- in the guest ----------------------------------------------------------

guest_lockbench() {
	/opt/holdfast/tools/lockbench --sections=200000 --increments=200 \
		--tsv=- "$@"
}

guest_stats() { grep '^s' /sys/kernel/debug/rseq/stats; }

# guest_trace EVENT...: a trace of these; its directory is TRACE
guest_trace() {
	local event

	TRACE=/sys/kernel/tracing/instances/demo
	[[ ! -d $TRACE ]] || rmdir "$TRACE"
	mkdir "$TRACE"
	echo 4096 >"$TRACE/buffer_size_kb"
	for event; do
		echo 1 >"$TRACE/events/$event/enable"
	done
}

# guest_one_grant: an extension, its end by a yield and the switch that follows,
# as "MICROSECONDS EVENT ARGUMENTS", from one CPU's trace. A busy host stops
# emulated CPUs, so rather one that did not take longer than it may, by the
# guest's clock.
guest_one_grant() {
	awk '
	!match($0, / \[[0-9]+\] [^ ]+ +[0-9.]+: /) { next }
	{
		split(substr($0, RSTART, RLENGTH), word, " ")
		time = word[3] + 0
		what = substr($0, RSTART + RLENGTH)
	}
	what ~ /^rseq_slice_grant/ { start = time; text = "0.0 " what; ended = 0 }
	what ~ /^rseq_slice_end/ && text {
		ended = time
		text = text sprintf("\n%.1f %s", (time - start) * 1e6, what)
		if (what !~ /yield/)
			text = ""
	}
	what ~ /^sched_switch/ && text && ended {
		text = text sprintf("\n%.1f %s", (time - start) * 1e6, what)
		if (!found)
			found = text
		if (ended - start <= 50e-6) {
			found = text
			exit
		}
		text = ""
	}
	END { if (found) print found }' "$1"
}

# guest_rt_view: of a SCHED_FIFO task of priority 80, which the trace calls 19:
# wake-ups, extensions, how many of them were granted while it waited for the
# CPU, how often it woke into one, and how often it was the next to run then.
# (A task that wakes before it is off the CPU does not wait.)
guest_rt_view() {
	awk '
	/sched_wakeup: comm=cyclictest .* prio=19 / {
		wakes++
		if ($1 ~ /^cyclictest/)
			next
		waiting = 1
		met += live
		into = live
	}
	/sched_switch:/ {
		if (/ next_comm=cyclictest .* next_prio=19/) {
			next_run += into
			waiting = 0
		}
		into = 0
	}
	/rseq_slice_grant:/ { grants++; during += waiting; live = 1 }
	/rseq_slice_end:/ { live = 0 }
	END { print wakes + 0, grants + 0, during + 0, met + 0, next_run + 0 }
	' "$TRACE/per_cpu/cpu1/trace"
}

guest_rt() {
	local waker

	command -v cyclictest >/dev/null || return 0
	guest_trace rseq/rseq_slice_{grant,end} sched/sched_{wakeup,switch}
	cyclictest -q -t 1 -a 1 -p 80 -i 1000 >/dev/null 2>&1 &
	waker=$!
	guest_lockbench --threads=2 --cpus=1 --runs=1 --ext=on \
		--sections=100000 --increments=2000 >/dev/null
	kill -INT "$waker"
	wait "$waker" || true
	guest_rt_view
}

guest_main() {
	local cpus cpu

	cpus=$(nproc)
	echo "## note $(uname -r), $cpus CPUs"
	echo 50000 >/sys/kernel/debug/rseq/slice_ext_nsec
	echo "# cpus $cpus"
	echo '## note lock without and with the extension ...'
	echo '# slice 50000'
	guest_lockbench --runs=3 \
		--threads="$cpus,$((cpus * 4)),$((cpus * 8)),$((cpus * 16))"
	echo '# measured'
	echo '## note holders preempted, counters ...'
	guest_lockbench --threads="$((cpus * 16))" --runs=1 --measure
	guest_stats | sed 's/^/# stats /'
	echo '## note trace ...'
	guest_trace rseq/rseq_slice_{grant,end} sched/sched_switch
	guest_lockbench --threads="$((cpus * 8))" --runs=1 --ext=on >/dev/null
	for cpu in "$TRACE"/per_cpu/cpu*; do
		guest_one_grant "$cpu/trace"
	done | head -n 3 | sed 's/^/# trace /'
	echo '## note a real-time task among lock holders ...'
	guest_rt | sed 's/^/# rt /'
}

# ---- on the host -----------------------------------------------------------

# stat_of NAME FILE
stat_of() { awk -v name="$1:" '$2 == "stats" && $3 == name { print $4 }' "$2"; }

show_times() {
	printf '  %7s  %7s  %7s  %7s  %10s\n' threads 'off (s)' 'on (s)' on/off \
		'gap closed'
	contention_digest "$1" "$2" | awk '{
		printf "  %7d  %7.3f  %7.3f  %7.2f  %10s\n", $3, $4, $6, $6 / $4,
			$8 == "-" ? "" : sprintf("%.0f %%", $8) }'
	cat <<-'EOT'
	  off, on     time for all sections, median of 3 runs
	  gap closed  of the time that threads beyond one per CPU cost, the part saved
	EOT
}

show_holders() {
	awk -F'\t' '/^# measured/ { on = 1 }
	on && $3 == "base" { off = $8 }
	on && $3 == "ext" {
		printf "  Holders preempted inside the section, %d threads: " \
			"%s off, %s on\n", $2, off, $8 }' "$1"
}

show_counters() {
	printf '  Extensions so far: %d granted = %d yielded + %d ended by another' \
		"$(stat_of sgrant "$1")" "$(stat_of syield "$1")" \
		"$(stat_of sabort "$1")"
	printf ' system call\n%30s+ %d expired + %d revoked\n' '' \
		"$(stat_of sexpir "$1")" "$(stat_of srevok "$1")"
}

show_trace() {
	grep -q '^# trace ' "$1" || {
		printf '  None of those in the trace was given back in time\n'
		return
	}
	printf '  One of them in the trace, in microseconds:\n'
	sed -n 's/^# trace //p' "$1" | while read -r us event rest; do
		[[ $event != sched_switch: ]] || rest=$(sed -E \
			's/prev_comm=(.*) prev_pid=([0-9]+).*next_comm=(.*) next_pid=([0-9]+).*/\1:\2 -> \3:\4/' \
			<<<"$rest")
		printf '  %8s  %-16s  %s\n' "$us" "${event%:}" "$rest"
	done
}

show_rt() {
	local wakes grants during met next_run

	read -r wakes grants during met next_run < <(sed -n 's/^# rt //p' "$1") || {
		printf '  Real-time task: not shown, no cyclictest in the guest\n'
		return
	}
	cat <<-EOT
	  A SCHED_FIFO task that wakes each ms on the CPU of two such threads:
	    $wakes wake-ups, $grants extensions, $during granted while it waited;
	    it woke into $met extensions and was the next to run $next_run times
	EOT
}

show() {
	local cpus granted

	# shellcheck source=scripts/bench.d/contention.sh
	. "$ROOT/scripts/bench.d/contention.sh"
	cpus=$(sed -n 's/^# cpus //p' "$1")
	granted=$(stat_of sgrant "$1")
	cat <<-EOT
	rseq-slice: a lock holder whose time slice ends gets up to 50 us to leave
	  One spinlock, $cpus CPUs, 200000 sections of 200 increments for all threads.
	  slice_ext_nsec is 50000, the maximum, as emulated CPUs are slow; default 5000.

	EOT
	show_times "$1" "$cpus"
	printf '\n'
	show_holders "$1"
	show_counters "$1"
	show_trace "$1"
	show_rt "$1"
	[[ ${granted:-0} -gt 0 ]] || die "the kernel granted no extension at all"
}
