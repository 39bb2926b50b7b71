#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/series apply and unapply, on git trees.

bats_require_minimum_version 1.5.0
load sandbox.bash

setup_file() {
	sandbox "$BATS_FILE_TMPDIR"
	sandbox_series
}

setup() {
	with_kernel
	git_tree
}

# git_tree: K becomes a git tree in use: a change and a new file of the user's,
# one staged, one not
git_tree() {
	git init -q -b work "$K"
	git -C "$K" add -A -f
	git -C "$K" commit -q -m 'Linux 6.12.117'
	echo mine >>"$K/include/linux/x.h"
	echo mine >"$K/notes"
	git -C "$K" add include/linux/x.h
	echo 'mine, too' >>"$K/include/linux/x.h"
	# as in a tree that was copied: the index knows other time stamps
	touch -d 2001-01-01 "$K/kernel/a.c"
	remember
	FIRST=$(git -C "$K" rev-parse HEAD)
}

@test "a commit for each patch, with author, date and message" {
	apply
	ended 0
	carries "${ALL[@]}"
	[ "$(git -C "$K" rev-list --count "$FIRST..")" -eq 5 ]
	[ "$(git -C "$K" symbolic-ref --short HEAD)" = work ]
	diff <(git -C "$K" log --format='%an|%ae|%aD|%B' "$FIRST..") \
	     <(git -C "$SB/build/tree" log --format='%an|%ae|%aD|%B' holdfast-base..)
	[ "$(git -C "$K" log -1 --format=%cn)" = 'Some User' ]
	# what the user was at is still there, and nothing else
	[ "$(git -C "$K" status --porcelain)" = $'MM include/linux/x.h\n?? notes' ]
	[ "$(git -C "$K" rev-parse HEAD:new)" = \
	  "$(git -C "$SB/build/tree" rev-parse HEAD:new)" ]
}

@test "unapply goes back to the commit before" {
	apply
	unapply
	ended 0
	[ "$(git -C "$K" rev-parse HEAD)" = "$FIRST" ]
	[ "$(git -C "$K" status --porcelain)" = $'MM include/linux/x.h\n?? notes' ]
	carries
	[ -e "$K/kernel/old.c" ]
	[ ! -e "$K/new" ]
}

@test "a failure in the last patch leaves all as it was, .git included" {
	break_last
	apply
	ended 65
	untouched
}

@test "a second apply changes nothing" {
	apply
	remember
	apply
	ended 0
	[[ $output == *"already carries"* ]]
	untouched
}

@test "uncommitted work in a touched file is refused by name" {
	mkdir "$K/new"
	echo mine >"$K/new/run"
	remember
	apply
	ended 65
	[[ $output == *new/run* ]]
	untouched
	FORCE_BASE=1 apply
	ended 65
	untouched
}

@test "a touched file that git does not track is refused, with what to do" {
	git -C "$K" reset -q --hard
	git -C "$K" rm -q --cached kernel/a.c
	git -C "$K" commit -q -m untracked
	remember
	apply
	ended 65
	[[ $output == *"git does not track kernel/a.c"*"git add -A -f"* ]]
	untouched
}

@test "a file of the user's where a directory is to be is refused" {
	echo mine >"$K/new"
	remember
	apply
	ended 65
	untouched
	git -C "$K" add new
	remember
	apply
	ended 65
	untouched
}

@test "a hook that forbids the change is obeyed" {
	printf '#!/bin/sh\nexit 1\n' >"$K/.git/hooks/reference-transaction"
	chmod +x "$K/.git/hooks/reference-transaction"
	apply
	ended 1
	[[ $output == *"nothing was changed"* ]]
	[ "$(git -C "$K" rev-parse HEAD)" = "$FIRST" ]
	[ "$(git -C "$K" status --porcelain)" = $'MM include/linux/x.h\n?? notes' ]
	carries
}

@test "an index locked by another git is refused" {
	touch "$K/.git/index.lock"
	remember
	apply
	ended 65
	untouched
}

@test "the series applied but not committed is not taken out" {
	(cd "$K" && cat "$SB"/patches/{holdfast,one,two,three}/*.patch | patch -s -p1)
	remember
	apply
	ended 0
	[[ $output == *"already carries"* ]]
	unapply
	ended 65
	[[ $output == *"commit or undo"* ]]
	untouched
}

@test "an unfinished merge or rebase is refused" {
	touch "$K/.git/MERGE_HEAD"
	remember
	apply
	ended 65
	untouched
}

@test "commits on top of the series are not lost" {
	apply
	git -C "$K" commit -q -m 'my own' -- include/linux/x.h
	remember
	unapply
	ended 65
	[[ $output == *"my own"* ]]
	untouched
}

@test "a squashed series is not taken out together with other work" {
	apply
	git -C "$K" reset -q --soft "$FIRST"
	git -C "$K" commit -q -m 'all in one'
	remember
	unapply
	ended 65
	untouched
}

@test "topics come and go as commits" {
	apply --topics three
	ended 0
	apply --topics one
	ended 0
	[ "$(git -C "$K" log --format=%s "$FIRST..")" = \
	  $'b: change, old: remove\na: second change\na: first change\nname the patched kernel' ]
	unapply --topics three
	ended 0
	[ "$(git -C "$K" rev-list --count "$FIRST..")" -eq 3 ]
	carries -holdfast one1 one2
}

@test "works without an identity, on a detached head, in a worktree" {
	rm "$GIT_CONFIG_GLOBAL"
	git -C "$K" worktree add -q --detach "$BATS_TEST_TMPDIR/wt" "$FIRST"
	K="$BATS_TEST_TMPDIR/wt" EMAIL='' HOME=/nonexistent apply
	ended 0
	[ "$(git -C "$BATS_TEST_TMPDIR/wt" rev-list --count "$FIRST..")" -eq 5 ]
	[ "$(git -C "$K" rev-parse HEAD)" = "$FIRST" ]
}

@test "settings of the user make no difference" {
	git config --global apply.whitespace error
	git config --global apply.ignoreWhitespace change
	git config --global core.whitespace tab-in-indent
	git config --global commit.gpgSign true
	git config --global i18n.commitEncoding ISO-8859-1
	git config --global core.hooksPath "$BATS_TEST_TMPDIR/hooks"
	mkdir "$BATS_TEST_TMPDIR/hooks"
	for hook in pre-commit commit-msg applypatch-msg pre-applypatch post-checkout; do
		printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/hooks/$hook"
		chmod +x "$BATS_TEST_TMPDIR/hooks/$hook"
	done
	apply
	ended 0
	[ "$(git -C "$K" log -1 --format=%an --encoding=UTF-8)" = 'Zoë Author' ]
}
