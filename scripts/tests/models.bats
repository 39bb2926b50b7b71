#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
# The SPIN models: what is claimed holds, and breaks once the argument is broken.

setup() {
	MODELS=$(cd "$BATS_TEST_DIRNAME/../../tools/models" && pwd)
	cd "$BATS_TEST_TMPDIR" || return
}

# errors FILE [-D...]: how many the verifier finds in the whole state space
errors() {
	local file=$MODELS/$1

	shift
	spin "$@" -run "$file" >log 2>&1
	! grep -E 'unreached.*assert|search.*incomplete|rror: max' log || return 1
	sed -n 's/.*errors: //p' log
}

@test "defer-resched: under the runqueue lock no real-time wakeup is lost" {
	run errors defer-resched.pml
	[[ $status -eq 0 && $output == 0 ]]
}

@test "defer-resched: without the lock one is, whatever the order" {
	run errors defer-resched.pml -DNO_LOCK
	[[ $output == 1 ]]
	run errors defer-resched.pml -DNO_LOCK -DCLEAR_FIRST
	[[ $output == 1 ]]
}
