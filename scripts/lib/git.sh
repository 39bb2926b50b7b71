# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2153 # globals of lib/queue.sh
#
# Git trees: patches become commits, and commits patches.

kgit() { GIT_LITERAL_PATHSPECS=1 git -C "$KDIR" "$@"; }

# git_ready: refuses a tree in which our commits could meet unfinished work
git_ready() {
	local top state dirty index

	top=$(kgit rev-parse --show-toplevel) ||
		die -s "$EX_DATA" "git cannot use $KDIR, see above"
	[[ $top -ef $KDIR ]] || die -s "$EX_DATA" "$KDIR is not the top of $top"
	kgit rev-parse -q --verify HEAD >/dev/null ||
		die -s "$EX_DATA" "$KDIR has no commit yet"
	for state in rebase-merge rebase-apply MERGE_HEAD CHERRY_PICK_HEAD; do
		[[ ! -e $(kgit rev-parse --absolute-git-dir)/$state ]] ||
			die -s "$EX_DATA" "$KDIR: finish the ${state%_HEAD} first"
	done
	index=$(kgit rev-parse --path-format=absolute --git-path index)
	[[ ! -e $index.lock ]] ||
		die -s "$EX_DATA" "$KDIR: another git is at work ($index.lock)"
	dirty=$(kgit --no-optional-locks status --porcelain --ignored \
		--untracked-files=all -- "${FILES[@]}" | head -n 1)
	case $dirty in
	'!!'* | '??'*)
		die -s "$EX_DATA" "$KDIR: git does not track ${dirty:3}." \
			"Debian's source has a .gitignore for all of it:" \
			"'git add -A -f' and commit" ;;
	esac
	[[ -z $dirty ]] || die -s "$EX_DATA" "$KDIR: ${dirty:3} differs from" \
		"its last commit; commit or undo that first"
}

# mail_field NAME INFO: a header from what git mailinfo printed
mail_field() { sed -n "s/^$1: //p" "$2"; }

# commit_patches REPO INDEX PARENT [-r] PATCH...: sets COMMIT to the last of the
# commits that the patches make on top of PARENT; touches nothing but INDEX and
# the object store. With -r a commit hash depends on the patch and parent alone.
commit_patches() {
	local repo=$1 index=$2 patch dir who reproducible='' tree

	COMMIT=$3
	shift 3
	[[ ${1:-} != -r ]] || { reproducible=1; shift; }
	new_tmp dir
	GIT_INDEX_FILE=$index git -C "$repo" read-tree "$COMMIT" || return 1
	for patch; do
		plain_git mailinfo -b --no-scissors --encoding=UTF-8 \
			"$dir/msg" "$dir/diff" <"$PATCHES/$patch" >"$dir/info" &&
		GIT_INDEX_FILE=$index git -C "$repo" -c apply.ignoreWhitespace=no \
			apply --cached --whitespace=nowarn "$dir/diff" &&
		tree=$(GIT_INDEX_FILE=$index git -C "$repo" write-tree) || return 1
		{
			mail_field Subject "$dir/info"
			echo
			cat "$dir/msg"
		} | git stripspace >"$dir/text"
		who=(GIT_AUTHOR_NAME="$(mail_field Author "$dir/info")"
		     GIT_AUTHOR_EMAIL="$(mail_field Email "$dir/info")"
		     GIT_AUTHOR_DATE="$(mail_field Date "$dir/info")")
		# a user without an identity must not be stopped by that
		if [[ -n $reproducible ]] ||
		   ! git -C "$repo" var GIT_COMMITTER_IDENT >/dev/null 2>&1; then
			who+=("${who[@]/#GIT_AUTHOR/GIT_COMMITTER}")
		fi
		COMMIT=$(env "${who[@]}" git -C "$repo" \
			-c i18n.commitEncoding=UTF-8 commit-tree "$tree" \
			-p "$COMMIT" -F "$dir/text") || return 1
	done
}

# refreshed INDEX ARGS...: git with this index, brought up to date with the time
# stamps of the files first
refreshed() {
	local -x GIT_INDEX_FILE=$1

	kgit update-index -q --refresh >/dev/null || true
	# Git takes Ctrl-C even where its caller ignores it, hence setsid.
	setsid -w git -C "$KDIR" "${@:2}"
}

# propose START PATCH...: sets COMMIT to what would be committed, and makes sure
# that KDIR can go there. The objects wait in $WORK/pack, and the index is a copy:
# a tree that in the end refuses has not changed.
propose() {
	local objects start=$1
	local -x GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES

	objects=$(kgit rev-parse --path-format=absolute --git-path objects)
	cp -- "$(kgit rev-parse --path-format=absolute --git-path index)" \
		"$WORK/index.now"
	mkdir -p "$WORK/objects"
	GIT_OBJECT_DIRECTORY=$WORK/objects
	GIT_ALTERNATE_OBJECT_DIRECTORIES="\"$objects\""
	commit_patches "$KDIR" "$WORK/index" "$@" &&
		refreshed "$WORK/index.now" read-tree -n -m -u HEAD "$COMMIT" &&
		kgit pack-objects -q --revs --stdout >"$WORK/pack" \
			<<<"$COMMIT"$'\n'"^$start"
}

# move_head TO MESSAGE: HEAD, index and files go to TO together or not at all;
# what the user has changed elsewhere stays
move_head() {
	local from index

	from=$(kgit rev-parse HEAD)
	index=$(kgit rev-parse --path-format=absolute --git-path index)
	trap '' INT TERM HUP
	kgit update-ref -m "holdfast: $2" HEAD "$1" "$from" ||
		die "$KDIR: cannot move HEAD; nothing was changed"
	refreshed "$index" read-tree -m -u "$from" "$1" || {
		kgit update-ref -m "holdfast: back" HEAD "$from" "$1"
		die "$KDIR: cannot change the files; HEAD is where it was"
	}
}

# series_start: sets START to the commit below those of the carried topics, which
# must be the last ones of the branch
series_start() {
	local patches n i commits log want file

	mapfile -t patches < <(patches_of "${CARRIED[@]}")
	n=${#patches[@]}
	mapfile -t commits < <(kgit rev-list --first-parent -n "$n" HEAD)
	for ((i = 0; i < n; i++)); do
		log=$(kgit log -1 --no-show-signature --format='%an: %s' "${commits[i]:-HEAD}")
		want=$(plain_git mailinfo -b --no-scissors --encoding=UTF-8 \
			/dev/null /dev/null <"$PATCHES/${patches[n - 1 - i]}" |
			awk '/^Author: / { a = substr($0, 9) }
			     /^Subject: / { print a ": " substr($0, 10) }')
		[[ $log == "$want" ]] || die -s "$EX_DATA" "$KDIR: the patches are" \
			"in, but commit ${commits[i]:0:12} ($log) is in the place of" \
			"$want; only as the last commits of a branch can they go"
	done
	START=$(kgit rev-parse -q --verify "${commits[n - 1]}^1") ||
		die -s "$EX_DATA" "$KDIR: no commit below the series"
	for file in "${FILES[@]}"; do
		[[ $(kgit rev-parse -q --verify "$START:$file") == \
		   $(git hash-object --no-filters "$WORK/base/$file" 2>/dev/null) ]] ||
			die -s "$EX_DATA" "$KDIR: the commits of the series hold" \
				"other changes of $file, too"
	done
	file=$(kgit diff --name-only "$START" HEAD |
		grep -vxF -f <(printf '%s\n' "${FILES[@]}") | head -n 1) || true
	[[ -z $file ]] || die -s "$EX_DATA" \
		"$KDIR: the commits of the series change $file, too"
}

# git_change PATCH...: from what is carried to these patches
git_change() {
	START=$(kgit rev-parse HEAD)
	[[ ${#CARRIED[@]} -eq 0 ]] || series_start
	propose "$START" "$@" || die -s "$EX_DATA" \
		"$KDIR: git will not go there, see above; nothing was changed"
	kgit unpack-objects -q <"$WORK/pack"
	move_head "$COMMIT" "${CHOSEN[*]}"
}
