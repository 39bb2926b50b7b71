# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2153 # globals of lib/queue.sh, git.sh
#
# build/tree, the git tree in which the series is developed: branch holdfast,
# tag holdfast-base, one commit per patch. It is made from patches/ and patches/
# from it; what both were when they last agreed is kept in its configuration
# (holdfast.head, holdfast.queue), so that the side that moved on is known.

TREE=$BUILD/tree
BASE_TAG=holdfast-base
BRANCH=holdfast

tgit() { git -C "$TREE" "$@"; }

# queue_hash: of the series file's entries and all their patches
queue_hash() {
	queue_load
	{
		printf '%s\n' "${QUEUE[@]}"
		[[ ${#QUEUE[@]} -eq 0 ]] || (cd "$PATCHES" && cat -- "${QUEUE[@]}")
	} | sha256sum | cut -d' ' -f1
}

# in_step: notes that patches/ and the branch say the same
in_step() {
	tgit config holdfast.head "$(tgit rev-parse "$BRANCH")"
	tgit config holdfast.queue "$(queue_hash)"
}

# import_base REPO DIR: DIR's files become the root commit, tagged. One pack
# instead of 90000 loose objects, hence the threshold.
import_base() {
	local repo=$1 dir=$2 tree

	if [[ -e $dir/.git ]]; then
		git -C "$repo" fetch -q --depth 1 --no-tags "$dir" HEAD || return 1
		tree='FETCH_HEAD^{tree}'
	else
		git -C "$repo" --work-tree="$dir" -c core.bigFileThreshold=1 \
			-c core.compression=1 -c core.autocrlf=false \
			-c advice.addEmbeddedRepo=false add -A -f . || return 1
		tree=$(git -C "$repo" write-tree) || return 1
	fi
	git -C "$repo" tag "$BASE_TAG" "$(GIT_AUTHOR_NAME=Holdfast \
		GIT_AUTHOR_EMAIL='' GIT_AUTHOR_DATE='@0 +0000' \
		GIT_COMMITTER_NAME=Holdfast GIT_COMMITTER_EMAIL='' \
		GIT_COMMITTER_DATE='@0 +0000' git -C "$repo" commit-tree \
		-m "Linux $KERNEL_VERSION" "$tree")"
}

# tree_create: build/tree from nothing; appears whole or not at all
tree_create() {
	local base new=$BUILD/tree.new

	base=$("$ROOT/scripts/base")
	own_tmp "$new"
	say "importing the base into git; takes a minute"
	git init -q -b "$BRANCH" "$new"
	import_base "$new" "$base" || die "cannot import $base into git"
	commit_patches "$new" "$new/.git/index.new" \
		"$(git -C "$new" rev-parse "$BASE_TAG")" -r "${QUEUE[@]}" ||
		die -s "$EX_DATA" "a patch does not apply; 'make check' says which"
	rm -f "$new/.git/index" "$new/.git/index.new"
	git -C "$new" update-ref "refs/heads/$BRANCH" "$COMMIT"
	git -C "$new" config holdfast.base "$base"
	say "checking out"
	git -C "$new" reset -q --hard "$BRANCH"
	mv -T "$new" "$TREE"
	in_step
}

# tree_rebuild: patches/ moved on, the branch did not: it is made anew, and the
# old one stays under a name
tree_rebuild() {
	local old

	old=$(tgit rev-parse "$BRANCH")
	# shellcheck disable=SC2034 # for propose, move_head
	KDIR=$TREE
	[[ -z $(tgit status --porcelain --untracked-files=no) ]] ||
		die -s "$EX_DATA" "patches/ has changed, and build/tree has" \
			"uncommitted work; commit or undo that first"
	[[ $(tgit symbolic-ref -q --short HEAD) == "$BRANCH" ]] ||
		die -s "$EX_DATA" "patches/ has changed, and build/tree is not on" \
			"branch $BRANCH; switch to it first"
	new_tmp WORK
	propose "$(tgit rev-parse "$BASE_TAG")" -r "${QUEUE[@]}" ||
		die -s "$EX_DATA" "a patch does not apply, or a file is in its" \
			"way, see above; 'make check' says which patch"
	tgit unpack-objects -q <"$WORK/pack"
	tgit branch -f "$BRANCH-until-${old:0:12}" "$old"
	move_head "$COMMIT" "patches/ changed"
	say "build/tree brought up to date with patches/; its former commits" \
	    "are on branch $BRANCH-until-${old:0:12}"
	in_step
}

# tree_usable: build/tree is ours, or it stays untouched
tree_usable() {
	local name

	for name in "refs/tags/$BASE_TAG" "refs/heads/$BRANCH"; do
		tgit rev-parse -q --verify "$name^{commit}" >/dev/null ||
			die -s "$EX_DATA" "build/tree has no $name;" \
				"move it away and it is made anew"
	done
}

series_tree() {
	local head queue

	lock tree
	queue_load
	if [[ ! -e $TREE ]]; then
		tree_create
		printf '%s\n' "$TREE"
		return
	fi
	tree_usable
	[[ -z ${BASE:-} || $(tgit config holdfast.base) == "$("$ROOT/scripts/base")" ]] ||
		die -s "$EX_DATA" "build/tree was made from another base than" \
			"BASE=$BASE; move it away and it is made anew"
	head=$(tgit rev-parse "$BRANCH") queue=$(queue_hash)
	if [[ $(tgit config holdfast.queue) != "$queue" ]]; then
		if [[ $(tgit config holdfast.head) == "$head" ]]; then
			tree_rebuild
		elif export_equals; then
			in_step
		else
			warn "build/tree and patches/ differ and build/tree has" \
			     "commits of its own; it stays as it is"
		fi
	elif [[ $(tgit config holdfast.head) != "$head" ]]; then
		say "build/tree has commits that 'make refresh' has yet to export"
	fi
	printf '%s\n' "$TREE"
}

# ---- export ---------------------------------------------------------------

# Settings of the user must not show in a patch, nor must the version of git or
# how many objects the repository has. Git's own idea of a C function's name has
# changed over time; this is: any line that starts with a letter but a label.
FUNCTION_NAMES='!^[A-Za-z_][A-Za-z_0-9]*:[[:space:]]*$
^[A-Za-z_].*$'
FORMAT=(--zero-commit --no-signature --full-index --no-renames -N --unified=3
	--diff-algorithm=default --src-prefix=a/ --dst-prefix=b/ --no-ext-diff
	--no-textconv --no-color --subject-prefix=PATCH --inter-hunk-context=0)

# export_commits REPO DIR FROM TO: each commit to DIR/TOPIC/NNNN-NAME.patch;
# sets EXPORTED to their names in order
export_commits() {
	local repo=$1 dir=$2 commit topic last='' n=0 file
	local -A closed=()

	EXPORTED=()
	[[ -z $(git -C "$repo" rev-list --merges "$3..$4") ]] ||
		die -s "$EX_DATA" "there are merges in $3..$4; the series is linear"
	while read -r commit; do
		topic=$(git -C "$repo" show -s --no-show-signature --format=%B \
			"$commit" | sed -n 's/^Topic: *//p')
		[[ $topic =~ ^[a-z0-9-]+$ ]] || die -s "$EX_DATA" "commit" \
			"$(git -C "$repo" show -s --format='%h (%s)' "$commit")" \
			"needs one line 'Topic: NAME'"
		if [[ $topic != "$last" ]]; then
			[[ -z ${closed[$topic]:-} ]] || die -s "$EX_DATA" "commit" \
				"$(git -C "$repo" show -s --format='%h (%s)' "$commit")" \
				"comes apart from the others of topic $topic"
			closed[$topic]=1 last=$topic n=0
		fi
		n=$((n + 1))
		mkdir -p "$dir/$topic"
		file=$(plain_git -C "$repo" -c "diff.cpp.xfuncname=$FUNCTION_NAMES" \
			format-patch -1 "${FORMAT[@]}" --start-number "$n" \
			-o "$dir/$topic" "$commit") || return 1
		EXPORTED+=("${file#"$dir/"}")
	done < <(git -C "$repo" rev-list --reverse "$3..$4")
}

# export_equals: 0 if the commits of build/tree would give patches/ as it is
export_equals() {
	local dir patch

	new_tmp dir
	export_commits "$TREE" "$dir" "$BASE_TAG" "$BRANCH"
	[[ ${EXPORTED[*]} == "${QUEUE[*]}" ]] || return 1
	for patch in "${QUEUE[@]}"; do
		cmp -s "$dir/$patch" "$PATCHES/$patch" || return 1
	done
}

# ledger DIR: the new series file. Comments stay with their patch, found by its
# name without the number; the upstream status comes from the patch itself.
ledger() {
	local dir=$1 patch

	for patch in "${EXPORTED[@]}"; do
		printf '%s\t%s\n' "$patch" "$(sed -n '/^---$/q; s/^Upstream: *//p' \
			"$dir/$patch" | head -n 1)"
	done >"$WORK/entries"
	awk -F'\t' -f "$ROOT/scripts/lib/ledger.awk" "$WORK/entries" \
		"$([[ -f $SERIES ]] && echo "$SERIES" || echo /dev/null)"
}

# base_manifest REPO COMMIT FILE...: kernel/base.manifest for these files
base_manifest() {
	local repo=$1 commit=$2 file

	shift 2
	echo "# SPDX-License-Identifier: GPL-2.0-only"
	echo "# What the series touches, as Linux $KERNEL_VERSION has it. Generated"
	echo "# by 'make refresh'."
	for file; do
		if git -C "$repo" cat-file -e "$commit:$file" 2>/dev/null; then
			printf '%s  %s\n' "$(git -C "$repo" cat-file blob \
				"$commit:$file" | sha256sum | cut -d' ' -f1)" "$file"
		else
			printf '# absent  %s\n' "$file"
		fi
	done
}

# refresh_allowed: exporting must not undo a newer patches/
refresh_allowed() {
	local known

	known=$(tgit config holdfast.queue) || return 0
	[[ $known == "$(queue_hash)" ]] || export_equals || die -s "$EX_DATA" \
		"patches/ has changed since build/tree agreed with it; 'make tree'" \
		"takes that over, or 'git checkout patches' drops it"
}

series_refresh() {
	local patch old files

	lock tree
	[[ -e $TREE ]] || die "no build/tree to export; 'make tree' makes it"
	tree_usable
	new_tmp WORK "$BUILD"
	if [[ -f $SERIES ]]; then
		queue_load
		refresh_allowed
	else
		QUEUE=()
	fi
	old=("${QUEUE[@]}")
	export_commits "$TREE" "$WORK/new" "$BASE_TAG" "$BRANCH"
	[[ ${#EXPORTED[@]} -gt 0 ]] ||
		die -s "$EX_DATA" "no commits in $BASE_TAG..$BRANCH"
	ledger "$WORK/new" >"$WORK/series"
	for patch in "${EXPORTED[@]}"; do
		write_file "$PATCHES/$patch" <"$WORK/new/$patch"
	done
	write_file "$SERIES" <"$WORK/series"
	for patch in "${old[@]}"; do
		[[ -e $WORK/new/$patch ]] || rm -f -- "$PATCHES/$patch"
	done
	queue_load
	mapfile -t files < <(files_of "${QUEUE[@]}")
	base_manifest "$TREE" "$BASE_TAG" "${files[@]}" | write_file "$MANIFEST"
	in_step
	say "${#QUEUE[@]} patches exported"
}
