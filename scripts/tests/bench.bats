#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/bench: rows, tables, gates and plots from made-up output of guests.

# shellcheck disable=SC2030,SC2031 # each test is a subshell, as it should be
bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
TAB=$'\t'

setup() {
	export HOLDFAST_RESULTS=$BATS_TEST_TMPDIR/results
	unset BENCH
	RAW=$HOLDFAST_RESULTS
}

bench() {
	run --separate-stderr "$ROOT/scripts/bench" --again "$@"
	echo "status $status"
	echo "$output"
	# shellcheck disable=SC2154 # set by run
	echo "$stderr"
}

# in_results FILE LINE
in_results() {
	grep -qxF -- "$2" "$HOLDFAST_RESULTS/$1" || {
		cat "$HOLDFAST_RESULTS/$1"
		echo "no line: $2"
		return 1
	}
}

# pathbench_output VARIANT GETPPID PINGPONG
pathbench_output() {
	printf "%s.$1 insn %s 1.00\n" getppid "$2" pingpong "$3" \
		fault 1000.00 signal 2000.00 grant-yield 9000.00 begin-end 6.00
}

# path_raw: a run that passes all gates
path_raw() {
	mkdir -p "$RAW/path.raw"
	cd "$RAW/path.raw" || return 1
	echo 'base: 6.12.117' >meta
	pathbench_output plain 256.39 8000.00 >base.out
	pathbench_output plain 256.39 8010.00 >kconfig-off.out
	pathbench_output plain 256.39 8016.00 >boot-off.out
	{
		pathbench_output plain 256.39 8040.00
		pathbench_output enabled 257.00 8079.00
		pathbench_output request 300.00 9000.00
	} >on.out
}

# lockbench_lines LOCK THREADS BASE... -- EXT...
lockbench_lines() {
	local lock=$1 threads=$2 variant=base run=0

	shift 2
	for t; do
		if [ "$t" = -- ]; then
			variant=ext run=0
			continue
		fi
		run=$((run + 1))
		printf "%s\t%s\t%s\t%s\t%s\t1.00\t0\n" "$lock" "$threads" \
			"$variant" "$run" "$t"
	done
}

contention_raw() {
	local heading="lock${TAB}threads${TAB}variant${TAB}run${TAB}seconds${TAB}per_s${TAB}yielded"

	mkdir -p "$RAW/contention.raw"
	cd "$RAW/contention.raw" || return 1
	echo 'smp: 2' >meta
	{
		echo '# slice 50000'
		echo "$heading"
		lockbench_lines tas 1 0.5 0.5 0.5 -- 0.5 0.5 0.5
		lockbench_lines tas 2 0.4 0.39 0.41 -- 0.404 0.404 0.404
		lockbench_lines tas 16 1.4 9.0 1.2 -- 0.5 0.6 0.4
		echo '# slice 5000'
		echo "$heading"
		lockbench_lines tas 2 0.4 0.4 -- 0.4 0.4
		lockbench_lines tas 16 1.4 1.4 -- 0.9 0.9
		echo '# measured'
		echo '# slice 50000'
		echo "$heading"
		lockbench_lines tas 16 77.0 -- 77.0
	} >guest.out
}

@test "path: rows by name, ratio, all gates pass" {
	path_raw
	bench path
	[ "$status" -eq 0 ]
	in_results path.tsv "bench${TAB}case${TAB}unit${TAB}base${TAB}series${TAB}ratio"
	for case in getppid pingpong fault signal; do
		for way in kconfig-off boot-off on enabled request; do
			[ "$(grep -c "^path${TAB}$case.$way${TAB}insn${TAB}" \
				"$HOLDFAST_RESULTS/path.tsv")" -eq 1 ]
		done
	done
	in_results path.tsv "path${TAB}pingpong.on${TAB}insn${TAB}8000.00${TAB}8040.00${TAB}1.0050"
	in_results path.tsv "path${TAB}grant-yield${TAB}insn${TAB}9000.00${TAB}9000.00${TAB}1.0000"
	in_results path.tsv "path${TAB}begin-end${TAB}insn${TAB}6.00${TAB}6.00${TAB}1.0000"
	in_results path.meta 'base: 6.12.117'
	[ "$(grep -c '^gate: .*: ok$' <<<"$output")" -eq 9 ]
	[[ $output == *'| Case | base | kconfig-off | boot-off | on | enabled | request |'* ]]
	[[ $output == *'| getppid | 256.39 | 256.39 [0.000%] | 256.39 [0.000%] |'* ]]
	run ! grep -q "rt\." "$HOLDFAST_RESULTS/path.tsv"
}

@test "path: PREEMPT_RT has rows of its own, and no gates" {
	path_raw
	sed 's/8000/14000/' base.out >rt-base.out
	sed 's/8040/21000/' on.out >rt-on.out
	bench path
	[ "$status" -eq 0 ]
	in_results path.tsv "path${TAB}rt.pingpong.on${TAB}insn${TAB}14000.00${TAB}21000.00${TAB}1.5000"
	in_results path.tsv "path${TAB}rt.grant-yield${TAB}insn${TAB}9000.00${TAB}9000.00${TAB}1.0000"
	[ "$(grep -c '^gate: ' <<<"$output")" -eq 9 ]
}

@test "path: each gate fails on its own, and the status with it" {
	local gates=0 file from to

	while read -r file from to; do
		gates=$((gates + 1))
		rm -rf "$RAW/path.raw"
		path_raw
		sed -i "s/^$from /$to /" "$file.out"
		bench path
		[ "$status" -eq 1 ]
		[ "$(grep -c '^gate: .*: FAILED$' <<<"$output")" -eq 1 ]
	done <<-'EOT'
	kconfig-off getppid.plain\ insn\ 256.39 getppid.plain\ insn\ 256.40
	boot-off getppid.plain\ insn\ 256.39 getppid.plain\ insn\ 257.39
	kconfig-off pingpong.plain\ insn\ 8010.00 pingpong.plain\ insn\ 8017.00
	boot-off pingpong.plain\ insn\ 8016.00 pingpong.plain\ insn\ 8017.00
	on getppid.plain\ insn\ 256.39 getppid.plain\ insn\ 257.70
	on pingpong.plain\ insn\ 8040.00 pingpong.plain\ insn\ 8041.00
	on getppid.enabled\ insn\ 257.00 getppid.enabled\ insn\ 259.00
	on pingpong.enabled\ insn\ 8079.00 pingpong.enabled\ insn\ 8081.00
	on begin-end.request\ insn\ 6.00 begin-end.request\ insn\ 6.01
	EOT
	[ "$gates" -eq 9 ]
}

@test "path: a missing figure fails its gate" {
	path_raw
	sed -i /getppid.enabled/d on.out
	bench path
	[ "$status" -eq 1 ]
	in_results path.tsv "path${TAB}getppid.enabled${TAB}insn${TAB}256.39${TAB}-${TAB}-"
	[[ $output == *'gate: getppid.enabled, percent over base: -, at most 1: FAILED'* ]]
}

@test "contention: medians, gap closed, spread, never a gate" {
	contention_raw
	bench contention
	[ "$status" -eq 0 ]
	in_results contention.tsv "contention${TAB}tas.t2${TAB}s${TAB}0.4${TAB}0.404${TAB}1.0100"
	in_results contention.tsv "contention${TAB}tas.t16${TAB}s${TAB}1.4${TAB}0.5${TAB}0.3571"
	in_results contention.tsv "contention${TAB}tas.gap-closed.t16${TAB}percent${TAB}-${TAB}90.0${TAB}-"
	in_results contention.tsv "contention${TAB}tas.t16.slice5000${TAB}s${TAB}1.4${TAB}0.9${TAB}0.6429"
	in_results contention.tsv "contention${TAB}tas.gap-closed.t16.slice5000${TAB}percent${TAB}-${TAB}50.0${TAB}-"
	# no gap at or below one thread per CPU, nothing from the measured runs
	[ "$(grep -c gap-closed "$HOLDFAST_RESULTS/contention.tsv")" -eq 2 ]
	run ! grep -q 77 "$HOLDFAST_RESULTS/contention.tsv"
	bench contention
	[[ $output == *'| Threads | base (s) | base /s | ext (s) | ext /s | %diff (s) |'* ]]
	[[ $output == *'| 16 | 1.400000 | 71428.57 | 0.500000 | 200000.00 | -64% | 557% | 40% | 90% |'* ]]
	[[ $output != *gate:* ]]
}

@test "plots are drawn, as PNG and SVG" {
	command -v gnuplot || skip "no gnuplot"
	path_raw
	contention_raw
	bench path contention
	[[ $stderr != *gnuplot* ]]
	for f in path contention; do
		[ "$(head -c 4 "$HOLDFAST_RESULTS/$f.png" | tail -c 3)" = PNG ]
		grep -q '</svg>' "$HOLDFAST_RESULTS/$f.svg"
	done
}

@test "BENCH narrows, unknown names and options are refused" {
	path_raw
	export BENCH=path
	bench
	[ "$status" -eq 0 ]
	[ ! -e "$HOLDFAST_RESULTS/contention.tsv" ]
	bench nonsense
	[ "$status" -eq 64 ]
	[[ $stderr == *"no benchmark 'nonsense'; there are: "*contention*path* ]]
	bench --nonsense
	[ "$status" -eq 64 ]
	bench contention
	[ "$status" -eq 1 ]
	[[ $stderr == *"no run of 'contention'"* ]]
}
