# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Runs selftests in guests for scripts/check and turns what the runner in the
# guest prints into results.

# A guest that says nothing for longer than the longest test may take is dead.
SILENCE_LIMIT=${SILENCE_LIMIT:-330}

# shellcheck source=selftests/lib/run-tests
. "$ROOT/selftests/lib/run-tests"

bzimage() { printf '%s\n' "$BUILD/kernel/$1-$2/arch/x86/boot/bzImage"; }

# boot_append MODEL APPEND: the kernel command line's share
boot_append() { printf '%s\n' "${1:+preempt=$1 }$2"; }

# repeat_command TREE BOOT TEST: what a person types
repeat_command() {
	local config model smp append

	IFS='|' read -r config model smp append <<<"$2"
	append=$(boot_append "$model" "$append")
	append=${append% }
	printf 'make test-one TEST=%s' "$3"
	[[ $1 == series ]] || printf ' TREE=%s' "$1"
	[[ $config == guest ]] || printf ' CONFIG=%s' "$config"
	[[ $smp == 2 ]] || printf ' SMP=%s' "$smp"
	[[ -z $append ]] || printf " APPEND='%s'" "$append"
	printf '\n'
}

# verdict TREE OUTCOME REASON: sets OUTCOME and REASON. On the base a test has
# to skip: what passes there shows nothing about the series.
verdict() {
	OUTCOME=$2 REASON=$3
	[[ $1 == base ]] || return 0
	case $2 in
	skip) OUTCOME=pass REASON="skips: $3" ;;
	pass) OUTCOME=fail REASON='passes on the unpatched base' ;;
	esac
}

# vm_tests TREE BOOT LOG TEST...: the runner's output and then "VM STATUS"
vm_tests() {
	local tree=$1 boot=$2 log=$3 config model smp append status=0

	shift 3
	IFS='|' read -r config model smp append <<<"$boot"
	APPEND=$(boot_append "$model" "$append") SMP=$smp \
	REQUIRE=$([[ $tree == base ]] || echo 1) \
		"$ROOT/scripts/vm" --kernel "$(bzimage "$tree" "$config")" \
		--timeout 7200 --silence "$SILENCE_LIMIT" --log "$log" \
		-- selftests/lib/run-tests "$@" 2>"$log.err" </dev/null || status=$?
	printf 'VM %s\n' "$status"
}

# read_results TREE BOOT NAME: from vm_tests; takes what has a result out of
# PENDING, leaves the test that was running in CURRENT and sets VM_STATUS
read_results() {
	local tree=$1 boot=$2 name=$3 word test outcome seconds reason

	CURRENT='' VM_STATUS=''
	while read -r word test outcome seconds reason; do
		case $word in
		START) CURRENT=$test ;;
		RESULT)
			verdict "$tree" "$outcome" "$reason"
			result "$name/$test" "$OUTCOME" "$seconds" "$REASON" \
				"$(repeat_command "$tree" "$boot" "$test")"
			unset "PENDING[$test]"
			CURRENT='' ;;
		'#') printf '# %s\n' "$test $outcome $seconds $reason" ;;
		VM) VM_STATUS=$test ;;
		esac
	done
}

# boot_splats CONSOLE: of the boot itself, before the first test
boot_splats() {
	[[ ! -f $1 ]] || sed '/holdfast-test:/,$d' "$1" | tr -d '\r' | splats
}

# guest_died TREE BOOT NAME LOG START: a result for the test that it took along,
# for all the rest if there was none, or for its end if it was through with all
guest_died() {
	local tree=$1 boot=$2 name=$3 log=$4 start=$5 why test

	why=$(sed -n 's/^vm: error: //p' "$log.err" | tail -n 1)
	why="guest died: ${why:-status $VM_STATUS}"
	if [[ -n $CURRENT ]]; then
		result "$name/$CURRENT" fail "$((SECONDS - start))" "$why" \
			"$(repeat_command "$tree" "$boot" "$CURRENT")"
		unset "PENDING[$CURRENT]"
	elif [[ ${#PENDING[@]} -eq 0 ]]; then
		result "$name/end" fail "$((SECONDS - start))" \
			"after the last test; $why"
	else
		for test in "${!PENDING[@]}"; do
			result "$name/$test" fail 0 "not run; $why" \
				"$(repeat_command "$tree" "$boot" "$test")"
		done
		PENDING=()
	fi
	tail -n 60 "$log.err" | sed 's/^/# /'
}

# run_boot TREE BOOT TEST...: all of them, in more than one guest if one dies
run_boot() {
	local tree=$1 boot=$2 name log start splat attempt=0
	declare -A PENDING=()

	shift 2
	name=$tree-$(boot_name "$boot")
	for test; do
		PENDING[$test]=1
	done
	while [[ ${#PENDING[@]} -gt 0 ]]; do
		attempt=$((attempt + 1))
		start=$SECONDS
		log=$BUILD/log/check/${name//[^a-zA-Z0-9.=_-]/_}.$attempt
		mapfile -t sorted < <(printf '%s\n' "${!PENDING[@]}" | sort)
		read_results "$tree" "$boot" "$name" < <(
			vm_tests "$tree" "$boot" "$log" "${sorted[@]}")
		if [[ ${VM_STATUS:-2} -gt 1 || ${#PENDING[@]} -gt 0 ]]; then
			guest_died "$tree" "$boot" "$name" "$log" "$start"
		fi
		[[ $attempt -eq 1 ]] || continue
		splat=$(boot_splats "$log.console" | head -n 1)
		result "$name/boot" "$([[ -z $splat ]] && echo pass || echo fail)" \
			"$((SECONDS - start))" "$splat"
	done
}
