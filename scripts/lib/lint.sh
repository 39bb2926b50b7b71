# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2153 # globals of lib/queue.sh, git.sh, tree.sh
#
# scripts/series check: one line "RESULT series/NAME pass|fail SECONDS" for each
# check, what is wrong on stderr. All of it happens on copies of touched files.

# Not asked of a patch, and why:
# FILE_PATH_CHANGES  MAINTAINERS of a stable tree is not ours to change
# ENOTSUPP           what mainline's prctl() returns, so it is part of the ABI
CHECKPATCH_IGNORE=FILE_PATH_CHANGES,ENOTSUPP

UPSTREAM_RE='^(mainline v[0-9]+\.[0-9]+ \(.+\)|never \(.+\)|ours)$'
PERSON_RE='^[^<]+ <[^@ <>]+@[^@ <>]+>$'

complain() {
	printf '  %s\n' "$*" >&2
	BAD=fail
}

# lint_queue: the series file parses and each entry exists, once
lint_queue() { (queue_load) || BAD=fail; }

# lint_files: nothing under patches/ but the series and its patches
lint_files() {
	local file

	while read -r file; do
		[[ $file == series || " ${QUEUE[*]} " == *" $file "* ]] ||
			complain "patches/$file is not in patches/series"
	done < <(cd "$PATCHES" && find . ! -type d -printf '%P\n' | sort)
}

# body_lines NAME PATCH: the values of "NAME:" in the commit message
body_lines() { sed -n "1,/^\$/d; /^---\$/q; s/^$1: *//p" "$PATCHES/$2"; }

lint_headers() {
	local patch from date up ledger info=$WORK/info

	for patch in "${QUEUE[@]}"; do
		plain_git mailinfo -b --no-scissors --encoding=UTF-8 /dev/null \
			/dev/null <"$PATCHES/$patch" >"$info" 2>/dev/null || true
		from="$(mail_field Author "$info") <$(mail_field Email "$info")>"
		[[ $from =~ $PERSON_RE ]] || complain "$patch: no From: NAME <ADDRESS>"
		[[ -n $(mail_field Subject "$info") ]] ||
			complain "$patch: no Subject:"
		date=$(mail_field Date "$info")
		date -d "${date:-none}" >/dev/null 2>&1 ||
			complain "$patch: no valid Date:"
		up=$(body_lines Upstream "$patch")
		[[ $up =~ $UPSTREAM_RE ]] || complain "$patch: Upstream: '$up' is" \
			"not one of: mainline vX.Y (feature), never (reason), ours"
		[[ $(body_lines Topic "$patch") == "${patch%%/*}" ]] ||
			complain "$patch: needs one line Topic: ${patch%%/*}"
		grep -qxF -- "$from" <<<"$(body_lines Signed-off-by "$patch")" ||
			complain "$patch: no Signed-off-by: $from"
		ledger=$(awk -v patch="$patch" '
			/^#: upstream: / { up = substr($0, 14) }
			$0 == patch { print up }
			/^[^#]/ { up = "" }' "$SERIES")
		[[ $ledger == "$up" ]] || complain "patches/series says upstream" \
			"'$ledger' above $patch, the patch says '$up'"
	done
}

# lint_manifest: it lists just the touched files, as the base has them
lint_manifest() {
	local file

	diff <(files_of "${QUEUE[@]}") <(sed -nE \
		's/^(# absent|[0-9a-f]{64})  //p' "$MANIFEST") >&2 ||
		complain "base.manifest (>) does not list what the series" \
			"touches (<); 'make refresh' writes it"
	while read -r file; do
		complain "base.manifest does not say what the base has: $file"
	done < <(manifest_differs "$SRC")
}

# lint_export: as commits the patches have no whitespace errors, and they come
# out of git byte for byte as they are here
lint_export() {
	local repo=$WORK/repo patch commit i=0

	git init -q "$repo"
	# decides how function names in hunk headers are found
	[[ ! -f $SRC/.gitattributes ]] ||
		cp "$SRC/.gitattributes" "$repo/.git/info/attributes"
	import_base "$repo" "$WORK/src"
	commit_patches "$repo" "$WORK/index" "$BASE_TAG" -r "${QUEUE[@]}" || {
		complain "git does not take the patches"
		return
	}
	while read -r commit; do
		plain_git -C "$repo" diff --check "$commit^" "$commit" >&2 ||
			complain "whitespace, see above: ${QUEUE[i]}"
		i=$((i + 1))
	done < <(git -C "$repo" rev-list --reverse "$BASE_TAG..$COMMIT")
	export_commits "$repo" "$WORK/out" "$BASE_TAG" "$COMMIT"
	for ((i = 0; i < ${#QUEUE[@]}; i++)); do
		patch=${QUEUE[i]}
		if [[ ${EXPORTED[i]} != "$patch" ]]; then
			complain "'make refresh' would call it ${EXPORTED[i]}: $patch"
		elif ! diff "$PATCHES/$patch" "$WORK/out/$patch" >&2; then
			complain "'make refresh' would change it, see above: $patch"
		fi
	done
}

# tree_hash DIR: of the names and contents below it
tree_hash() {
	(cd "$1" && find . -type f -print0 | sort -z | xargs -0r sha256sum) |
		sha256sum
}

# apply_TOOL DIR PATCH...: all of them
apply_git() { apply_dir "$@"; }
apply_gnu() {
	local dir=$1 patch

	shift
	for patch; do
		patch -d "$dir" -p1 -F0 -N -s -r - --no-backup-if-mismatch \
			<"$PATCHES/$patch" >&2 || return 1
	done
}
# (busybox with -N takes a hunk whose first added line equals the line below it
# for one that is in already)
apply_busybox() {
	local dir=$1 patch

	shift
	for patch; do
		(cd "$dir" && busybox patch -p1 -E <"$PATCHES/$patch" >/dev/null) ||
			return 1
	done
}

# lint_subsets: every subset of topics applies in series order, without fuzz,
# and three tools make the same of it
lint_subsets() {
	local topics=() topic subset patches n i tool hash

	for topic in "${TOPIC_LIST[@]}"; do
		[[ $topic == "$NAMING" ]] || topics+=("$topic")
	done
	for ((n = 0; n < 1 << ${#topics[@]}; n++)); do
		subset=("$NAMING")
		for ((i = 0; i < ${#topics[@]}; i++)); do
			(((n >> i) & 1)) && subset+=("${topics[i]}")
		done
		mapfile -t patches < <(patches_of "${subset[@]}")
		hash=
		for tool in git gnu busybox; do
			rm -rf "$WORK/subset"
			cp -a "$WORK/src" "$WORK/subset"
			"apply_$tool" "$WORK/subset" "${patches[@]}" || {
				complain "$tool: does not apply: ${subset[*]}"
				continue
			}
			: "${hash:=$(tree_hash "$WORK/subset")}"
			[[ $(tree_hash "$WORK/subset") == "$hash" ]] || complain \
				"$tool: another result than git: ${subset[*]}"
		done
	done
}

lint_checkpatch() {
	local tool=$SRC/scripts/checkpatch.pl

	[[ -f $tool ]] || {
		complain "the base has no scripts/checkpatch.pl"
		return
	}
	# Whether the base happens to be a git tree must make no difference.
	(cd "$SRC" && printf '%s\0' "${QUEUE[@]/#/"$PATCHES/"}" |
		GIT_DIR=/nonexistent xargs -0 -n 1 -P "$(nproc)" perl "$tool" \
		--quiet --no-summary --terse --show-types \
		--ignore "$CHECKPATCH_IGNORE") >&2 || BAD=fail
}

# run_lint NAME: prints its RESULT line
run_lint() {
	local start=${EPOCHREALTIME/./} BAD=pass took

	"lint_$1"
	took=$((${EPOCHREALTIME/./} - start))
	printf 'RESULT series/%s %s %d.%03d\n' "$1" "$BAD" \
		$((took / 1000000)) $((took / 1000 % 1000))
	[[ $BAD == pass ]] || FAILED=1
}

series_check() {
	local lint

	need perl busybox
	FAILED=
	run_lint queue
	[[ -z $FAILED ]] || die -s "$EX_DATA" "patches/series cannot be read"
	queue_load
	[[ ${#QUEUE[@]} -gt 0 ]] || die -s "$EX_DATA" "patches/series lists no patch"
	[[ -f $MANIFEST ]] || die "no kernel/base.manifest; 'make refresh' writes it"
	SRC=$("$ROOT/scripts/base")
	new_tmp WORK
	mapfile -t FILES < <(files_of "${QUEUE[@]}")
	scratch_copy "$SRC" "$WORK/src" "${FILES[@]}"
	for lint in files headers manifest export subsets checkpatch; do
		run_lint "$lint"
	done
	[[ -z $FAILED ]] || die "the series has errors, see above"
}
