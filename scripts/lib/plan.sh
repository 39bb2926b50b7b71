# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Which test runs on which boot, from the settings files of the selftests (see
# selftests/README.md). A boot is a line "CONFIG|MODEL|SMP|APPEND".

SELFTESTS=${SELFTESTS:-$ROOT/selftests}
DEFAULT_CONFIGS=guest,rt,debug,rt-debug
DEFAULT_MODELS=none,voluntary,full

# check_topic [TOPIC]: stops if there are no tests of that topic
check_topic() {
	local topic topics=()

	for topic in "$SELFTESTS"/*/; do
		topic=$(basename "$topic")
		[[ $topic != lib ]] || continue
		[[ ${1:-$topic} != "$topic" ]] || return 0
		topics+=("$topic")
	done
	die -s "$EX_USAGE" \
		"no tests of a topic '$1'; there are those of: ${topics[*]}"
}

# all_tests [TOPIC]: TOPIC/TEST of every one that is built and still has a source
all_tests() {
	local source test

	# shellcheck disable=SC2231 # a topic is one word, * is meant
	for source in "$SELFTESTS"/${1:-*}/*_test.*; do
		test=${source#"$SELFTESTS"/}
		test=${test%.*}
		[[ ! -x $BUILD/selftests/$test ]] || printf '%s\n' "$test"
	done | sort
}

# test_lines TOPIC/TEST: its settings, one line each; an empty line if none
test_lines() {
	local file=$SELFTESTS/${1%%/*}/settings lines=''

	[[ ! -f $file ]] || lines=$(sed -n "s/^#: ${1#*/}\( .*\)\?$/\1/p" "$file")
	printf '%s\n' "$lines"
}

# key LINE NAME [DEFAULT]: one key's value; append= is the rest of the line
key() {
	local line=" $1"

	if [[ $2 != append ]]; then
		line=${line%% append=*}
	fi
	case $line in
	*" $2="*)
		line=${line#*" $2="}
		if [[ $2 == append ]]; then
			printf '%s\n' "$line"
		else
			printf '%s\n' "${line%% *}"
		fi ;;
	*) printf '%s\n' "${3:-}" ;;
	esac
}

# line_boots LINE: the boots of one settings line
line_boots() {
	local append smp config model models configs

	append=$(key "$1" append)
	smp=$(key "$1" smp 2)
	configs=$(key "$1" configs "$DEFAULT_CONFIGS")
	models=$(key "$1" models "$DEFAULT_MODELS")
	for config in ${configs//,/ }; do
		if [[ $config == guest ]]; then
			for model in ${models//,/ }; do
				printf '%s\n' "$config|$model|$smp|$append"
			done
		else
			printf '%s\n' "$config||$smp|$append"
		fi
	done
}

# plan [TOPIC]: "TOPIC/TEST<tab>BOOT" lines, by boots
plan() {
	local test line boot

	all_tests "$@" | while read -r test; do
		test_lines "$test" | while IFS= read -r line; do
			line_boots "$line" | while IFS= read -r boot; do
				printf '%s\t%s\n' "$test" "$boot"
			done
		done
	done | sort -u -t $'\t' -k 2,2 -k 1,1
}

# soak_tests [TOPIC]
soak_tests() {
	local test line

	all_tests "$@" | while read -r test; do
		test_lines "$test" | while IFS= read -r line; do
			[[ " ${line%% append=*} " != *' soak '* ]] ||
				printf '%s\n' "$test"
		done
	done | sort -u
}

# boot_name CONFIG|MODEL|SMP|APPEND: as it stands before its tests' names
boot_name() {
	local config model smp append

	IFS='|' read -r config model smp append <<<"$1"
	[[ $smp == 2 ]] || model+="${model:+.}smp$smp"
	# Long ones are cut and told apart by a sum.
	[[ ${#append} -le 30 ]] ||
		append=${append::20}~$(cksum <<<"$append" | cut -d ' ' -f 1)
	printf '%s\n' "$config${model:+.$model}${append:+[$append]}"
}
