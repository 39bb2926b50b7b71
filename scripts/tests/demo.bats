#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/demo with stand-ins for all that takes time: what it shows of a given
# guest output, and how it ends when something fails.

# shellcheck disable=SC2154 # stderr is set by run
bats_require_minimum_version 1.5.0

HERE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)

# stand_in NAME LINES: a script that notes its call and then does LINES
stand_in() {
	cat >"$SB/scripts/$1" <<-EOF
		#!/bin/bash
		echo "$1 \$1" >>"$SB/calls"
		$2
	EOF
	chmod 755 "$SB/scripts/$1"
}

setup() {
	SB="$BATS_TEST_TMPDIR/hold fast"
	mkdir -p "$SB/scripts" "$SB/tools"
	cp -r "$HERE"/scripts/{lib.sh,demo,demo.d,bench.d} "$SB/scripts/"
	printf 'all:\n' >"$SB/tools/Makefile"
	stand_in deps ''
	stand_in base 'echo /base'
	stand_in series 'echo /tree'
	stand_in kernel 'echo /bzImage'
	stand_in vm "printf '%s' \"\${!#}\" >'$SB/sent'; cat '$SB/output'"
	unset TOPIC
	cd "$BATS_TEST_TMPDIR" || return 1
	guest_output >"$SB/output"
}

# lockbench_line THREADS VARIANT SECONDS [PREEMPTED]
lockbench_line() {
	printf 'tas\t%s\t%s\t1\t%s\t1\t0%s\n' "$1" "$2" "$3" "${4:+$'\t'$4}"
}

# guest_output [GRANTED [STATUS]]
guest_output() {
	printf '%s\n' '## topic rseq-slice' '## note 6.12.117-holdfast, 2 CPUs' \
		'# cpus 2' '# slice 50000' $'lock\tthreads\tvariant\trun\tseconds'
	lockbench_line 2 base 1.0
	lockbench_line 2 ext 1.0
	lockbench_line 8 base 3.0
	lockbench_line 8 ext 1.5
	echo '# measured'
	lockbench_line 8 base 3.0 70
	lockbench_line 8 ext 1.5 7
	printf '# stats %s %16d\n' sgrant: "${1:-10}" sexpir: 2 srevok: 1 \
		syield: 7 sabort: 0
	printf '# trace %s\n' '0.0 rseq_slice_grant: nsec=50000' \
		'7.5 rseq_slice_end: reason=yield' \
		'9.0 sched_switch: prev_comm=lock b prev_pid=5 prev_prio=120 prev_state=R ==> next_comm=l next_pid=6 next_prio=120'
	printf '# rt %s\n' '1000 50 0 9 9'
	echo "## status ${2:-0}"
}

demo() { run --separate-stderr "$SB/scripts/demo" "$@" </dev/null; }

@test "all steps in order, then the figures" {
	demo
	[ "$status" -eq 0 ]
	[ "$(xargs <"$SB/calls")" = 'deps base base series tree kernel --tree vm --kernel' ]
	[[ $output == *'6.12.117-holdfast, 2 CPUs'* ]]
	grep -qE '^ +8 +3\.000 +1\.500 +0\.50 +75 %$' <<<"$output"
	[[ $output == *'8 threads: 70 off, 7 on'* ]]
	[[ $output == *'10 granted = 7 yielded'* ]]
	grep -qE '^ +7\.5  rseq_slice_end +reason=yield$' <<<"$output"
	[[ $output == *'lock b:5 -> l:6'* ]]
	[[ $output == *'1000 wake-ups, 50 extensions, 0 granted'* ]]
	[[ $output == *'make apply KDIR='* ]]
	awk 'length > 80 { print "too wide: " $0; bad = 1 } END { exit bad }' \
		<<<"$output"
}

@test "what goes to the guest is a script with the functions it calls" {
	demo rseq-slice
	bash -n "$SB/sent"
	grep -oE 'guest_[a-z_]+' "$SB/sent" | sort -u >names
	grep -qx guest_main names
	while read -r name; do
		grep -q "^$name ()" "$SB/sent"
	done <names
	run -1 grep 'guest_script' "$SB/sent"
}

@test "a step that fails ends it with that step's status and name" {
	stand_in kernel 'echo "kernel: error: no gcc" >&2; exit 69'
	demo
	[ "$status" -eq 69 ]
	[[ $stderr == *'kernel: error: no gcc'*"stopped at 'kernel'"* ]]
	run -1 grep vm "$SB/calls"
	stand_in deps 'exit 69'
	rm "$SB/calls"
	demo
	[ "$status" -eq 69 ]
	[ "$(wc -l <"$SB/calls")" -eq 1 ]
}

@test "a guest that fails ends it with the status of scripts/vm" {
	stand_in vm 'echo "vm: error: the kernel panicked" >&2; exit 90'
	demo
	[ "$status" -eq 90 ]
	[[ $stderr == *'the kernel panicked'*"stopped at 'guest'"* ]]
	[[ $output != *'gap closed'* ]]
}

@test "a topic that fails in the guest shows its last lines" {
	guest_output 10 3 | sed 's/^# rt .*/lockbench: no memory/' >"$SB/output"
	demo
	[ "$status" -eq 1 ]
	[[ $stderr == *'lockbench: no memory'*'status 3'* ]]
	sed -i '/^## status/d' "$SB/output"
	demo
	[ "$status" -eq 1 ]
	[[ $stderr == *'guest ended early'* ]]
}

@test "a kernel that grants nothing is a failure, not a table" {
	guest_output 0 >"$SB/output"
	demo
	[ "$status" -eq 1 ]
	[[ $stderr == *'granted no extension at all'* ]]
}

@test "topics are chosen by argument or TOPIC=; others are refused" {
	run -0 "$SB/scripts/demo" --list
	[ "$output" = "$(cd "$SB/scripts/demo.d" && printf '%s\n' *.sh | sed 's/\.sh$//')" ]
	demo nonsense
	[ "$status" -eq 64 ]
	[[ $stderr == *"no topic 'nonsense'; there are: "*rseq-slice* ]]
	TOPIC=nonsense demo
	[ "$status" -eq 64 ]
	demo --nonsense
	[ "$status" -eq 64 ]
	[ ! -e "$SB/calls" ]
}

@test "what the guest gets does not depend on APPEND= and ICOUNT=" {
	stand_in vm "[ -z \"\$APPEND\$ICOUNT\" ] && cat '$SB/output'"
	APPEND=rseq_slice_ext=0 ICOUNT=1 demo
	[ "$status" -eq 0 ]
}

@test "Ctrl-C ends it with 130, without a terminal or standard input" {
	stand_in kernel 'sleep 60'
	run -130 timeout --preserve-status -s INT 2 "$SB/scripts/demo" <&-
	[ "$(tail -n 1 "$SB/calls")" = 'kernel --tree' ]
}
