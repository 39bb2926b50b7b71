# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# The patch queue: patches/series, its topics, the files that patches touch.

PATCHES=$ROOT/patches
SERIES=$PATCHES/series
# The topic that names the kernel; it goes with every choice of topics.
NAMING=holdfast

# queue_load: sets QUEUE (patches as named in the series file, in order) and
# TOPIC_LIST (topics in that order)
queue_load() {
	local line n=0 topic
	local -A seen=() closed=()

	QUEUE=() TOPIC_LIST=()
	[[ -f $SERIES ]] || die -s "$EX_DATA" "no patches/series"
	while IFS= read -r line || [[ -n $line ]]; do
		n=$((n + 1))
		[[ -z $line || $line == '#'* ]] && continue
		[[ $line =~ ^([a-z0-9-]+)/[0-9]{4}-[A-Za-z0-9._+-]+\.patch$ ]] ||
			die -s "$EX_DATA" "patches/series:$n: '$line' is not" \
				"TOPIC/NNNN-NAME.patch"
		topic=${BASH_REMATCH[1]}
		[[ -z ${seen[$line]:-} ]] ||
			die -s "$EX_DATA" "patches/series:$n: $line is a duplicate"
		seen[$line]=1
		if [[ ${TOPIC_LIST[*]: -1} != "$topic" ]]; then
			[[ -z ${closed[$topic]:-} ]] || die -s "$EX_DATA" \
				"patches/series:$n: topic $topic is not in one piece"
			closed[$topic]=1
			TOPIC_LIST+=("$topic")
		fi
		[[ -f $PATCHES/$line ]] || die -s "$EX_DATA" \
			"patches/series:$n: patches/$line does not exist"
		QUEUE+=("$line")
	done <"$SERIES"
}

# topics_choose "TOPIC...": sets NAMED to these, and CHOSEN in series order: with
# the one that names the kernel; all when none is named
topics_choose() {
	local topic want

	# not by splitting an unquoted word, which would be a glob as well
	read -r -d '' -a NAMED <<<"${1//,/ }" || true
	want=" ${NAMED[*]} "
	for topic in "${NAMED[@]}"; do
		[[ " ${TOPIC_LIST[*]} " == *" $topic "* ]] || die -s "$EX_USAGE" \
			"no topic '$topic'; there are: ${TOPIC_LIST[*]}"
	done
	CHOSEN=()
	for topic in "${TOPIC_LIST[@]}"; do
		[[ -z ${want// /} || $topic == "$NAMING" ||
		   $want == *" $topic "* ]] && CHOSEN+=("$topic")
	done
	return 0
}

# patches_of TOPIC...: their patches in series order
patches_of() {
	local patch

	for patch in "${QUEUE[@]}"; do
		[[ " $* " == *" ${patch%%/*} "* ]] && printf '%s\n' "$patch"
	done
	return 0
}

# files_of PATCH...: the files they touch, sorted
files_of() {
	local patch

	for patch; do
		bare_git apply --numstat -- "$PATCHES/$patch" | cut -f3- ||
			die -s "$EX_DATA" "patches/$patch: not a patch"
	done | sort -u
}

# bare_git ARGS...: git without any repository and without the user's settings,
# so that it treats the files of a scratch directory as just files
bare_git() {
	GIT_CEILING_DIRECTORIES=$(dirname "$(pwd -P)") plain_git "$@"
}

# plain_git ARGS...: git without the user's settings, for what must come out
# the same everywhere
plain_git() {
	GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null git "$@"
}
