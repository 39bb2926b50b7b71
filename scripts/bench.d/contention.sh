# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034 # GUEST_LIMIT is for guest()
#
# A global lock under more threads than CPUs: the extension off (base) and on
# (series) in one guest, alternating. Parallel emulation, so times are noisy and
# nothing is gated: medians and spread.

# Up to one thread per CPU runs are short, and a difference of 2 % matters.
CONTENTION_RUNS_FEW=15
CONTENTION_RUNS=5
# Per run, all threads together: some dozen time slices. Each holder preempted
# costs a time slice of every waiter, so 128 threads take seconds.
CONTENTION_SECTIONS=100000
CONTENTION_INCREMENTS=200
# A ticket lock hands over to a thread that may not run. Its waiters have to
# yield, and still a section takes milliseconds.
CONTENTION_TICKET_SECTIONS=500
CONTENTION_TICKET="--sections=$CONTENTION_TICKET_SECTIONS --spin=100"

# vCPUs: 2, as more than the host has would preempt each other
contention_cpus() { echo 2; }

# contention_threads FROM TO: doubling
contention_threads() {
	local t list=

	for ((t = $1; t <= $2; t *= 2)); do
		list+=,$t
	done
	printf '%s\n' "${list#,}"
}

# contention_script CPUS: the command in the guest, 1/2 to 64 threads per CPU. It
# prints TSV, and in front of each heading the slice.
contention_script() {
	local few many

	few=$(contention_threads $(($1 / 2)) "$1")
	many=$(contention_threads $(($1 * 2)) $(($1 * 64)))
	cat <<-EOF
	set -e
	bench() {
		echo "# slice \$slice"
		/opt/holdfast/tools/lockbench --sections=$CONTENTION_SECTIONS \
			--increments=$CONTENTION_INCREMENTS --tsv=- "\$@"
	}
	for slice in 50000 5000; do
		echo \$slice >/sys/kernel/debug/rseq/slice_ext_nsec
		for lock in tas pthread "ticket $CONTENTION_TICKET"; do
			bench --runs=$CONTENTION_RUNS_FEW --threads=$few --locks=\$lock
			bench --runs=$CONTENTION_RUNS --threads=$many --locks=\$lock
		done
		echo "# measured"
		bench --runs=1 --measure --threads=$few,$many
	done
	grep ^s /sys/kernel/debug/rseq/stats | sed 's/^/# stats /'
	EOF
}

collect() {
	local config
	local -x SMP ICOUNT='' APPEND=
	local GUEST_LIMIT=1500

	SMP=$(contention_cpus)
	make -s -C "$ROOT/tools" STATIC=1 >&2
	for config in guest rt; do
		guest "$1" "$config" series "$config" bash -c "$(contention_script "$SMP")"
	done
	printf 'smp: %s\n' "$SMP" >>"$1/meta"
}

# contention_digest OUTPUT CPUS: a line for each slice, lock and thread count:
#   slice lock threads base-median base-spread ext-median ext-spread gap-closed
# The gap is between base there and base at one thread per CPU; - where that is
# less than a twentieth. Spread is (max - min) / median in percent.
contention_digest() {
	awk -F'\t' -v cpus="$2" '
	function sort_runs(key, n,    i, j, t) {
		for (i = 1; i <= n; i++)
			for (j = i; j > 1 && s[key, j] < s[key, j - 1]; j--) {
				t = s[key, j]; s[key, j] = s[key, j - 1]
				s[key, j - 1] = t
			}
	}
	function median(key,    n) {
		n = count[key]
		if (!n)
			return "-"
		sort_runs(key, n)
		if (n % 2)
			return s[key, (n + 1) / 2]
		return (s[key, n / 2] + s[key, n / 2 + 1]) / 2
	}
	function spread(key,    m) {
		m = median(key)
		return m == "-" ? m : sprintf("%.0f",
			(s[key, count[key]] - s[key, 1]) / m * 100)
	}
	/^# measured/ { coming = 1 }
	/^# slice / {
		split($0, word, " ")
		slice = word[3]
		measured = coming
		coming = 0
	}
	measured || $2 !~ /^[0-9]+$/ { next }
	{
		group = slice SUBSEP $1 SUBSEP $2
		if (!(group in seen)) {
			seen[group] = 1
			order[++groups] = group
		}
		key = group SUBSEP $3
		s[key, ++count[key]] = $5 + 0
	}
	END {
		for (g = 1; g <= groups; g++) {
			split(order[g], f, SUBSEP)
			base = median(order[g] SUBSEP "base")
			ext = median(order[g] SUBSEP "ext")
			ref = median(f[1] SUBSEP f[2] SUBSEP cpus SUBSEP "base")
			gap = "-"
			if (base != "-" && ext != "-" && ref != "-" &&
			    f[3] > cpus && base > ref * 1.05)
				gap = sprintf("%.1f", (base - ext) / (base - ref) * 100)
			print f[1], f[2], f[3], base, spread(order[g] SUBSEP "base"),
				ext, spread(order[g] SUBSEP "ext"), gap
		}
	}' "$1"
}

# contention_rows PREFIX DIGEST: rows; the default slice has its own suffix
contention_rows() {
	local slice lock threads base ext gap suffix _

	while read -r slice lock threads base _ ext _ gap; do
		suffix=
		[[ $slice == 50000 ]] || suffix=.slice$slice
		row "$1$lock.t$threads$suffix" s "$base" "$ext"
		[[ $gap == - ]] ||
			row "$1$lock.gap-closed.t$threads$suffix" percent - "$gap"
	done <<<"$2"
}

# contention_table TITLE SLICE LOCK SECTIONS DIGEST
contention_table() {
	grep -q "^$2 $3 " <<<"$5" || return 0
	printf '%s, %s lock, slice_ext_nsec %s, medians\n\n' "$1" "$3" "$2"
	printf '%s\n' '| Threads | base (s) | base /s | ext (s) | ext /s | %diff (s) | base spread | ext spread | gap closed |' \
		'|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
	awk -v slice="$2" -v lock="$3" -v n="$4" '
	$1 == slice && $2 == lock && $4 != "-" && $6 != "-" {
		printf "| %d | %.6f | %.2f | %.6f | %.2f | %.0f%% | %s%% | %s%% | %s |\n",
			$3, $4, n / $4, $6, n / $6, ($6 / $4 - 1) * 100, $5, $7,
			$8 == "-" ? "-" : sprintf("%.0f%%", $8)
	}' <<<"$5"
	printf '\n'
}

# contention_holders OUTPUT: what --measure saw at 50000 ns
contention_holders() {
	printf '%s\n' 'Holders of the tas lock preempted inside the section, slice_ext_nsec 50000' '' \
		'| Threads | base preempted | ext preempted | ext yielded | base wait p99.9 (us) | ext wait p99.9 (us) |' \
		'|---:|---:|---:|---:|---:|---:|'
	awk -F'\t' '
	/^# measured/ { coming = 1 }
	/^# slice / {
		split($0, word, " ")
		slice = word[3]
		measured = coming
		coming = 0
	}
	!measured || slice != 50000 || $2 !~ /^[0-9]+$/ { next }
	$3 == "base" { preempted = $8; wait = $21 }
	$3 == "ext" {
		printf "| %d | %s | %s | %s | %.0f | %.0f |\n", $2, preempted, $8,
			$7, wait / 1000, $21 / 1000
	}' "$1"
	printf '\n'
}

# contention_plot NAME TITLE DIGEST: one panel per lock, all on the same scale
contention_plot() {
	local data=$RESULTS/$1.dat locks range

	locks=$(awk '!seen[$2]++ { print $2 }' <<<"$3" | xargs)
	range=$(awk '$4 != "-" { if ($4 > max) max = $4
			if (!min || $6 < min) min = $6 }
		END { print min / 1.5 ":" max * 3 }' <<<"$3")
	printf '%s\n' "$3" >"$data"
	plot "$1" <<-EOF
	set multiplot layout 1,$(wc -w <<<"$locks") \
		title '$2: one global lock, by slice_ext_nsec' noenhanced
	set logscale xy 2
	set yrange [$range]
	set grid
	set xlabel 'threads'
	set ylabel 'seconds'
	set key top left reverse Left samplen 2
	do for [lock in "$locks"] {
		set title lock
		plot '< grep "^50000 '.lock.' " "$data"' using 3:4 \
			with linespoints lw 2 title 'off', \
			'< grep "^5000 '.lock.' " "$data"' using 3:6 \
			with linespoints lw 2 title 'on, 5000', \
			'< grep "^50000 '.lock.' " "$data"' using 3:6 \
			with linespoints lw 2 title 'on, 50000'
	}
	unset multiplot
	EOF
	rm -f "$data"
}

report() {
	local dir=$1 cpus config prefix title digest slice lock sections

	cpus=$(sed -n 's/^smp: //p' "$dir/meta")
	for config in guest rt; do
		[[ -f $dir/$config.out ]] || continue
		prefix='' title=PREEMPT
		[[ $config != rt ]] || prefix=rt. title=PREEMPT_RT
		digest=$(contention_digest "$dir/$config.out" "$cpus")
		contention_rows "$prefix" "$digest"
		for slice in 50000 5000; do
			for lock in tas ticket pthread; do
				sections=$CONTENTION_SECTIONS
				[[ $lock != ticket ]] ||
					sections=$CONTENTION_TICKET_SECTIONS
				contention_table "$title" "$slice" "$lock" \
					"$sections" "$digest"
			done
		done
		contention_holders "$dir/$config.out"
		contention_plot "contention${prefix:+-rt}" "$title" "$digest"
	done
}
