#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/check: counting, status, plan and verdicts; the runner in the guest
# with made-up tests and a made-up kernel log.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034 # bats' own; for other shells

bats_require_minimum_version 1.5.0

setup() {
	HERE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
	cd "$BATS_TEST_TMPDIR" || exit
	export TIMES=$PWD/times.tsv SELFTESTS=$PWD/selftests
	mkdir -p selftests/lib selftests/t bin
	cp "$HERE"/selftests/lib/{run-tests,splat-patterns,splat-exceptions} \
		selftests/lib/
	: >log
	printf '#!/bin/sh\ncat %s/log\n' "$PWD" >bin/dmesg
	chmod 755 bin/dmesg
	PATH=$PWD/bin:$PATH
	unset REQUIRE GLIBC_TUNABLES
}

# with_lib COMMAND...: in a shell that has scripts/check's functions
with_lib() {
	bash -uo pipefail -c '. "$0/scripts/lib.sh"
		for p in tally plan guests stages; do . "$0/scripts/lib/$p.sh"; done
		BUILD=$PWD
		"$@"' "$HERE" "$@"
}

# t NAME SCRIPT: a made-up test
t() {
	printf '#!/bin/bash\n%s\n' "$2" >"selftests/t/$1"
	chmod 755 "selftests/t/$1"
}

run_tests() { run selftests/lib/run-tests "${@/#/t/}"; }

has() { [[ $output == *"$1"* ]] || { echo "no '$1' in: $output"; return 1; }; }

# got NAME OUTCOME [REASON]: that line, after however many seconds
got() {
	grep -E "^RESULT t/$1 $2 [0-9]+ " <<<"$output" | grep -qF -- "${3:-}" ||
		{ echo "no $* in: $output"; return 1; }
}

# --- the runner

@test "runner: pass, fail, skip by exit status; one failure fails the run" {
	t good 'exit 0'
	t bad 'echo "not ok 1 first.case"; exit 1'
	t skips 'echo "1..0 # SKIP needs a moon"; exit 4'
	run_tests good bad skips
	[ "$status" -eq 1 ]
	got good pass
	got bad fail 'status 1: first.case'
	has '# not ok 1 first.case'
	got skips skip 'needs a moon'
	run_tests good skips
	[ "$status" -eq 0 ]
}

@test "runner: a skip needs a reason; REQUIRE=1 takes none, nor of a case" {
	t mute 'exit 4'
	t skips 'echo "1..0 # SKIP needs a moon"; exit 4'
	t case_skips 'echo "ok 1 a.b # SKIP no moon"; exit 0'
	run_tests mute
	[ "$status" -eq 1 ]
	has 'skipped without a reason'
	run_tests case_skips
	[ "$status" -eq 0 ]
	export REQUIRE=1
	run_tests skips case_skips
	[ "$status" -eq 1 ]
	got skips fail 'skipped, but required: needs a moon'
	got case_skips fail 'a case was skipped: no moon'
}

@test "runner: a missing test fails, one that hangs ends" {
	printf '#: hangs timeout=1\n' >selftests/t/settings
	t hangs 'sleep 60'
	run_tests absent hangs
	[ "$status" -eq 1 ]
	got absent fail
	got hangs fail 'time limit of 1 s'
}

@test "runner: limits of the topic and of a test" {
	printf 'timeout=5\n#: a timeout=7 soak\n#: b soak\n' >selftests/t/settings
	for case in a:7 b:5 c:5; do
		run bash -c '. selftests/lib/run-tests; limit t "$1"' - "${case%:*}"
		[ "$output" = "${case#*:}" ]
	done
}

@test "runner: adds its tunable to those that are set" {
	t tunables 'echo "$GLIBC_TUNABLES"; exit 1'
	GLIBC_TUNABLES=glibc.malloc.check=1 run_tests tunables
	has '# glibc.malloc.check=1:glibc.pthread.rseq=0'
}

@test "splats: each kind fails a test that passed" {
	local line

	t good 'exit 0'
	while IFS= read -r line; do
		printf '[ 1.0] %s\n' "$line" >log
		run_tests good
		[ "$status" -eq 1 ]
		got good fail 'kernel log:'
	done <<-'END'
		BUG: sleeping function called from invalid context at mm/x.c:1
		WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2
		WARNING: possible circular locking dependency detected
		WARNING: inconsistent lock state
		[ BUG: Invalid wait context ]
		INFO: task x:1 blocked for more than 120 seconds.
		rcu: INFO: rcu_preempt self-detected stall on CPU
		watchdog: BUG: soft lockup - CPU#0 stuck for 22s!
		Oops: 0000 [#1] PREEMPT SMP
		general protection fault, probably for non-canonical address
		BUG: KASAN: slab-out-of-bounds in f
		UBSAN: shift-out-of-bounds in x.c:1
		ODEBUG: free active hint: f
		list_add corruption. prev->next should be next
		refcount_t: underflow; use-after-free.
		BUG kmalloc-64 (Not tainted): Redzone overwritten
	END
}

@test "splats: other messages do not, nor do exceptions" {
	t good 'exit 0'
	printf '%s\n' '[ 1.0] x[1]: segfault at 0 ip 0 sp 0 error 4' \
		'[ 1.0] smpboot: CPU 1 is now offline' \
		'[ 1.0] process x launched y with NULL argv' >log
	run_tests good
	[ "$status" -eq 0 ]
	echo '[ 1.0] WARNING: as expected' >>log
	run_tests good
	[ "$status" -eq 1 ]
	printf '# a test\nWARNING: as expected\n' >>selftests/lib/splat-exceptions
	run_tests good
	[ "$status" -eq 0 ]
}

@test "splats: those before the test's marker are not its own" {
	t good 'exit 0'
	printf 'WARNING: old\nholdfast-test: t/good\nquiet\n' >log
	run_tests good
	[ "$status" -eq 0 ]
	echo 'WARNING: new' >>log
	run_tests good
	[ "$status" -eq 1 ]
}

@test "splat exceptions: each has a reason" {
	run with_lib lint_exceptions
	[ "$status" -eq 0 ]
}

# --- counting

@test "summary: the last line and the status" {
	run with_lib eval 'result a pass 1; result b pass 2; summary'
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = '2 passed, 0 failed' ]
	run with_lib eval 'result a pass 1; result b fail 2 why "make b"; summary'
	[ "$status" -eq 1 ]
	[ "${lines[-1]}" = '1 passed, 1 failed' ]
	has 'repeat it: make b'
	run with_lib eval 'result a pass 1; result b skip 2 why; summary'
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = '1 passed, 0 failed, 1 skipped' ]
}

@test "durations: the previous one stands beside the new one" {
	with_lib eval 'result a pass 7; result b pass 8; tally_save'
	run with_lib eval 'tally_load; result a pass 9; tally_save'
	has '9 s (7 s)'
	run with_lib eval 'tally_load; result a pass 1; result b pass 1'
	has '(9 s)'
	has '(8 s)'
}

@test "unit tests: bats' lines become results" {
	{
		echo '#!/usr/bin/env bats'
		# Not at the start of a line: bats would take it for one of ours.
		printf '%s\n' '@test "one" { true; }' '@test "two # really" { false; }' \
			'@test "three" { skip "no moon"; }'
	} >x.bats
	rm log
	mkdir -p log/check
	run with_lib eval 'bats_results x.bats; summary'
	[ "$status" -eq 1 ]
	has 'ok   unit/x: one'
	has 'FAIL unit/x: two'
	has 'no moon'
	[ "${lines[-1]}" = '1 passed, 1 failed, 1 skipped' ]
	echo 'syntax error (' >y.bats
	run with_lib eval 'bats_results y.bats; summary'
	[ "$status" -eq 1 ]
}

# --- plan and verdicts

@test "TOPIC= without tests: a usage error before anything starts" {
	local topic

	mkdir -p selftests/u
	for topic in junk lib . '*' '../x' '[t]' $'t\nu'; do
		TOPIC=$topic run timeout 10 "$HERE/scripts/check"
		[ "$status" -eq 64 ]
		has "no tests of a topic '$topic'; there are those of: t u"
		TOPIC=$topic DURATION=1s run timeout 10 "$HERE/scripts/soak"
		[ "$status" -eq 64 ]
	done
	with_lib check_topic t
	with_lib check_topic ''
}

@test "soak: DURATION= is a number that makes sense" {
	local duration

	for duration in '' 0 0m m 1x -1 1.5h 9999999999999999999h; do
		DURATION=$duration run timeout 10 "$HERE/scripts/soak"
		[ "$status" -eq 64 ]
		has 'for how long?'
	done
}

@test "plan: boots of a test, by its settings" {
	mkdir -p selftests/t
	cat >selftests/t/settings <<-'END'
		timeout=5
		#: off configs=guest models=full append=x=0 y=a,b
		#: off configs=rt append=x=0
		#: one configs=guest models=none smp=4
		#: noslice configs=guest-noslice soak
	END
	for name in off one noslice plain; do
		t "${name}" true
	done
	boots() { with_lib eval "test_lines t/$1 | while IFS= read -r l; do
		line_boots \"\$l\"; done"; }
	run boots off
	[ "$output" = $'guest|full|2|x=0 y=a,b\nrt||2|x=0' ]
	run boots one
	[ "$output" = 'guest|none|4|' ]
	run boots noslice
	[ "$output" = 'guest-noslice||2|' ]
	run boots plain
	[ "${#lines[@]}" -eq 6 ]
	[ "${lines[0]}" = 'guest|none|2|' ]
}

@test "repeat command: what differs from the defaults" {
	run with_lib repeat_command series 'guest||2|' t/x
	[ "$output" = 'make test-one TEST=t/x' ]
	run with_lib repeat_command base 'rt|none|4|a=1 b' t/x
	[ "$output" = "make test-one TEST=t/x TREE=base CONFIG=rt SMP=4 APPEND='preempt=none a=1 b'" ]
}

# fake_boot TREE BOOT: run_boot and summary, with guests that print what stands
# in the files says.0, says.1, ...
fake_boot() {
	rm -rf log
	mkdir -p log/check
	with_lib eval '
		vm_tests() {
			local n=0
			while [[ ! -f says.$n ]]; do n=$((n + 1)); done
			cat console 2>/dev/null >"$3.console"
			: >"$3.err"
			cat "says.$n"
			rm "says.$n"
		}
		run_boot '"'$1' '$2'"' t/a t/b t/c
		summary'
}

@test "guests: on the base only a skip passes" {
	printf '%s\n' 'START t/a' 'RESULT t/a skip 1 no such feature' 'START t/b' \
		'RESULT t/b pass 1' 'START t/c' 'RESULT t/c fail 1 status 1: x' \
		'VM 1' >says.0
	run fake_boot base 'guest||2|'
	has 'base-guest/t/a'
	has 'skips: no such feature'
	has 'passes on the unpatched base'
	[ "${lines[-1]}" = '2 passed, 2 failed' ]
}

@test "guests: a test that takes the guest along fails alone, the rest go on" {
	printf '%s\n' 'START t/a' 'RESULT t/a pass 1' 'START t/b' 'VM 90' >says.0
	printf '%s\n' 'START t/c' 'RESULT t/c pass 1' 'VM 0' >says.1
	run fake_boot series 'guest|none|2|'
	[ "$status" -eq 1 ]
	has 'FAIL series-guest.none/t/b'
	has 'guest died'
	has 'make test-one TEST=t/b'
	[ "${lines[-1]}" = '3 passed, 1 failed' ]
}

@test "guests: one that dies after its last test fails its end" {
	printf '%s\n' 'RESULT t/a pass 1' 'RESULT t/b pass 1' 'RESULT t/c pass 1' \
		'VM 90' >says.0
	run fake_boot series 'guest||2|'
	[ "$status" -eq 1 ]
	has 'FAIL series-guest/end'
	has 'after the last test; guest died'
	[ "${lines[-1]}" = '4 passed, 1 failed' ]
}

@test "guests: one that does not boot fails all its tests, and ends" {
	printf 'VM 91\n' >says.0
	run fake_boot series 'guest||2|'
	[ "$status" -eq 1 ]
	has 'not run; guest died'
	[ "${lines[-1]}" = '1 passed, 3 failed' ]
}

@test "guests: a splat before the first test fails the boot" {
	printf '%s\n' 'RESULT t/a pass 1' 'RESULT t/b pass 1' 'RESULT t/c pass 1' \
		'VM 0' >says.0
	printf 'WARNING: early\nholdfast-test: t/a\nWARNING: late\n' >console
	run fake_boot series 'guest||2|'
	has 'FAIL series-guest/boot'
	has 'WARNING: early'
	[ "${lines[-1]}" = '3 passed, 1 failed' ]
}
