# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Counts and prints the results of scripts/check, each beside the time it took
# and the time it took before.

PASSED=0 FAILED=0 SKIPPED=0
TIMES=${TIMES:-$BUILD/log/check/times.tsv}
declare -A BEFORE=() NOW=()

tally_load() {
	local name seconds

	[[ -f $TIMES ]] || return 0
	while IFS=$'\t' read -r name seconds; do
		[[ -z $name ]] || BEFORE[$name]=$seconds
	done <"$TIMES"
}

# tally_save: of a test that did not run this time the old duration stays
tally_save() {
	local name

	for name in "${!NOW[@]}"; do
		BEFORE[$name]=${NOW[$name]}
	done
	for name in "${!BEFORE[@]}"; do
		printf '%s\t%s\n' "$name" "${BEFORE[$name]}"
	done | sort | write_file "$TIMES"
}

# result NAME pass|fail|skip SECONDS [REASON [COMMAND]]: COMMAND repeats it
result() {
	local name=$1 outcome=$2 seconds=$3 reason=${4:-} command=${5:-} word

	case $outcome in
	pass) PASSED=$((PASSED + 1)) word='ok  ' ;;
	skip) SKIPPED=$((SKIPPED + 1)) word=skip ;;
	*) FAILED=$((FAILED + 1)) word=FAIL ;;
	esac
	printf '%s %-58s %4s s' "$word" "$name" "$seconds"
	[[ -z ${BEFORE[$name]:-} ]] || printf ' (%s s)' "${BEFORE[$name]}"
	[[ -z $reason ]] || printf '  %s' "$reason"
	printf '\n'
	if [[ $word == FAIL && -n $command ]]; then
		printf '     repeat it: %s\n' "$command"
	fi
	NOW[$name]=$seconds
}

# run_test STAGE/NAME COMMAND...: its status decides; its output is kept, and its
# end shown if it fails
run_test() {
	local name=$1 log start=$SECONDS

	shift
	log=$BUILD/log/check/${name//\//-}.log
	mkdir -p "${log%/*}"
	if "$@" >"$log" 2>&1 </dev/null; then
		result "$name" pass "$((SECONDS - start))"
	else
		result "$name" fail "$((SECONDS - start))" \
			"see ${log#"$ROOT"/}" "scripts/check ${name%%/*}"
		tail -n 30 "$log" | sed 's/^/# /'
	fi
}

# summary: the last line; the status agrees with it
summary() {
	local line="$PASSED passed, $FAILED failed"

	[[ $SKIPPED -eq 0 ]] || line+=", $SKIPPED skipped"
	printf '%s\n' "$line"
	[[ $FAILED -eq 0 ]]
}
