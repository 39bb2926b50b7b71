#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/series apply and unapply, on plain trees and on git trees.

bats_require_minimum_version 1.5.0
load sandbox.bash

ALL=(-holdfast one1 one2 two three)

setup_file() {
	sandbox "$BATS_FILE_TMPDIR"
	sandbox_series
}

setup() {
	unset BASE FORCE_BASE TOPICS KDIR
	export GIT_CONFIG_GLOBAL="$BATS_TEST_TMPDIR/gitconfig"
	git config --global user.name 'Some User'
	git config --global user.email user@example.org
	mkdir "$BATS_TEST_TMPDIR/sb"
	cp -a "$BATS_FILE_TMPDIR/hold fast" "$BATS_TEST_TMPDIR/sb/"
	SB="$BATS_TEST_TMPDIR/sb/hold fast"
	K="$BATS_TEST_TMPDIR/my kernel"
	made_up_base "$K" 6.12.117
	PRISTINE=$(tree_sum "$K")
}

series() { "$SB/scripts/series" "$@" </dev/null; }
apply() { run series apply --kdir "$K" "$@"; }
unapply() { run series unapply --kdir "$K" "$@"; }

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
	PRISTINE=$(tree_sum "$K")
	FIRST=$(git -C "$K" rev-parse HEAD)
}

ended() {
	[[ $status -eq $1 ]] || { echo "status $status: $output"; return 1; }
}

# untouched: K is byte for byte as it was, git's files included
untouched() { [[ $(tree_sum "$K") == "$PRISTINE" ]]; }

# carries MARK...: the lines that just these patches bring are in K
carries() {
	local have

	have=$(grep -rhoE --exclude-dir=.git --exclude-dir=.pc \
		'^(mark-[a-z0-9]+|-holdfast)$' "$K" | sed 's/^mark-//' | sort)
	[[ $have == "$([[ $# -eq 0 ]] || printf '%s\n' "$@" | sort)" ]] ||
		{ echo "has: $have"; return 1; }
}

# break_last: the last patch of the queue no longer applies
break_last() {
	sed -i 's/^ kernel.b.c line 39$/ kernel\/b.c line 39, but other/' \
		"$SB"/patches/three/0001-*.patch
}

# ---- plain trees -----------------------------------------------------------

@test "plain: apply and unapply, byte for byte" {
	apply
	ended 0
	carries "${ALL[@]}"
	[ -x "$K/new/run" ]
	[ ! -e "$K/kernel/old.c" ]
	unapply
	ended 0
	untouched
}

@test "plain: owner and mode of a file survive" {
	chmod 640 "$K/kernel/a.c"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 0
	[ "$(stat -c %a "$K/kernel/a.c")" = 640 ]
	unapply
	untouched
}

@test "plain: a second apply says so and changes nothing" {
	apply
	PRISTINE=$(tree_sum "$K")
	apply
	ended 0
	[[ $output == *"already carries"* ]]
	untouched
	apply --topics two
	ended 0
	untouched
}

@test "plain: unapply on a tree without the series says so" {
	unapply
	ended 0
	[[ $output == *"no patch of the series; nothing to do"* ]]
	untouched
}

@test "plain: a failure in the last patch leaves the tree as it was" {
	break_last
	apply
	ended 65
	[[ $output == *three/0001-*"kernel/b.c: hunk #1 FAILED"* ]]
	untouched
}

@test "plain: fuzz is an error that names file and hunk" {
	# differs in the outermost context line: GNU patch alone would take it
	sed -i 's/^ kernel.b.c line 37$/ kernel\/b.c line 37, but other/' \
		"$SB"/patches/three/0001-*.patch
	(cd "$K" && patch -p1 --dry-run <"$(echo "$SB"/patches/three/0001-*)")
	apply
	ended 65
	[[ $output == *"kernel/b.c: hunk #1 FAILED"* ]]
	[[ $output == *"would apply with fuzz"* ]]
	untouched
}

@test "plain: a changed file is refused by name; what applies may be forced" {
	echo 'a line at the end' >>"$K/kernel/a.c"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	[[ $output == *"first file that differs: kernel/a.c"* ]]
	[[ $output == *"FORCE_BASE=1"* ]]
	untouched
	FORCE_BASE=1 apply
	ended 0
	carries "${ALL[@]}"
	FORCE_BASE=1 apply
	ended 0
	[[ $output == *"already carries"* ]]
	FORCE_BASE=1 unapply
	ended 0
	untouched
}

@test "plain: a changed context line names the patch that fails, even forced" {
	sed -i 's/^kernel.a.c line 12$/other/' "$K/kernel/a.c"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	[[ $output == *6.12.117*"kernel/a.c"*one/0001-*"hunk #1 FAILED"* ]]
	[[ $output != *FORCE_BASE* ]]
	FORCE_BASE=1 apply
	ended 65
	untouched
}

@test "plain: a topic asks only for the files it touches" {
	echo changed >>"$K/kernel/b.c"
	apply --topics one
	ended 0
	carries -holdfast one1 one2
}

@test "plain: a half-patched tree is refused with the first file" {
	(cd "$K" && for p in holdfast/0001 one/0001; do
		patch -s -p1 <"$(echo "$SB/patches/$p"-*)"; done)
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	[[ $output == *"half-patched"*"kernel/a.c"*one/0001* ]]
	untouched
	unapply
	ended 65
	untouched
}

@test "plain: a patched tree changed since is refused" {
	apply
	sed -i 's/^mark-two$/mark-2/' "$K/kernel/a.c"
	PRISTINE=$(tree_sum "$K")
	unapply
	ended 65
	[[ $output == *"first file that differs: kernel/a.c"* ]]
	untouched
	apply
	ended 65
	untouched
}

@test "plain: every subset of topics comes and goes" {
	local set

	for set in one two three 'one two' 'one three' 'three two' 'one two three'; do
		apply --topics "$set"
		ended 0
		# shellcheck disable=SC2086 # words are meant
		carries -holdfast ${set/one/one1 one2}
		unapply
		ended 0
		untouched
	done
}

@test "plain: a topic may be added to others, and taken out" {
	apply --topics three
	apply --topics one
	ended 0
	carries -holdfast one1 one2 three
	unapply --topics three
	ended 0
	carries -holdfast one1 one2
	unapply --topics one
	ended 0
	untouched
}

@test "plain: TOPICS= is --topics; holdfast alone just names the kernel" {
	TOPICS='two,one' apply
	ended 0
	carries -holdfast one1 one2 two
	unapply
	apply --topics holdfast
	ended 0
	carries -holdfast
}

@test "plain: a file that cannot be replaced leaves the tree as it was" {
	# the second rename fails
	mkdir "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/mv" <<-EOF
		#!/bin/sh
		case \$* in
		*stage*|*/new/kernel/b.c*my\ kernel/kernel/b.c) exit 1 ;;
		esac
		exec $(command -v mv) "\$@"
	EOF
	chmod +x "$BATS_TEST_TMPDIR/bin/mv"
	PATH="$BATS_TEST_TMPDIR/bin:$PATH" apply
	ended 1
	[[ $output == *"nothing was changed"* ]]
	untouched
}

@test "plain: no special file is written through" {
	mv "$K/kernel/a.c" "$BATS_TEST_TMPDIR/a.c"
	ln -s "$BATS_TEST_TMPDIR/a.c" "$K/kernel/a.c"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	[[ $output == *"not a regular file"* ]]
	untouched
}

@test "quilt push -a does the same, pop -a takes it back" {
	local sum

	command -v quilt >/dev/null || skip "no quilt"
	apply
	sum=$(tree_sum "$K")
	unapply
	(cd "$K" && QUILT_PATCHES="$SB/patches" quilt push -a --fuzz=0)
	carries "${ALL[@]}"
	apply
	ended 0
	[[ $output == *"already carries"* ]]
	unapply
	ended 65
	[[ $output == *"quilt pop -a"* ]]
	(cd "$K" && QUILT_PATCHES="$SB/patches" quilt pop -q 3)
	apply
	ended 65
	[[ $output == *half-patched*"quilt push or pop"* ]]
	(cd "$K" && QUILT_PATCHES="$SB/patches" quilt pop -q -a)
	rm -r "$K/.pc"
	find "$K" -type d -empty -delete # quilt leaves them
	untouched
	apply
	[ "$(tree_sum "$K")" = "$sum" ]
}

# ---- git trees -------------------------------------------------------------

@test "git: a commit for each patch, with author, date and message" {
	git_tree
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

@test "git: unapply goes back to the commit before" {
	git_tree
	apply
	unapply
	ended 0
	[ "$(git -C "$K" rev-parse HEAD)" = "$FIRST" ]
	[ "$(git -C "$K" status --porcelain)" = $'MM include/linux/x.h\n?? notes' ]
	carries
	[ -e "$K/kernel/old.c" ]
	[ ! -e "$K/new" ]
}

@test "git: a failure in the last patch leaves all as it was, .git included" {
	git_tree
	break_last
	apply
	ended 65
	untouched
}

@test "git: a second apply changes nothing" {
	git_tree
	apply
	PRISTINE=$(tree_sum "$K")
	apply
	ended 0
	[[ $output == *"already carries"* ]]
	untouched
}

@test "git: uncommitted work in a touched file is refused by name" {
	git_tree
	mkdir "$K/new"
	echo mine >"$K/new/run"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	[[ $output == *new/run* ]]
	untouched
	FORCE_BASE=1 apply
	ended 65
	untouched
}

@test "git: a file of the user's where a directory is to be is refused" {
	git_tree
	echo mine >"$K/new"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	untouched
	git -C "$K" add new
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	untouched
}

@test "git: a hook that forbids the change is obeyed" {
	git_tree
	printf '#!/bin/sh\nexit 1\n' >"$K/.git/hooks/reference-transaction"
	chmod +x "$K/.git/hooks/reference-transaction"
	apply
	ended 1
	[[ $output == *"nothing was changed"* ]]
	[ "$(git -C "$K" rev-parse HEAD)" = "$FIRST" ]
	[ "$(git -C "$K" status --porcelain)" = $'MM include/linux/x.h\n?? notes' ]
	carries
}

@test "git: an index locked by another git is refused" {
	git_tree
	touch "$K/.git/index.lock"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	untouched
}

@test "git: the series applied but not committed is not taken out" {
	git_tree
	(cd "$K" && cat "$SB"/patches/{holdfast,one,two,three}/*.patch | patch -s -p1)
	PRISTINE=$(tree_sum "$K")
	apply
	ended 0
	[[ $output == *"already carries"* ]]
	unapply
	ended 65
	[[ $output == *"commit or undo"* ]]
	untouched
}

@test "git: an unfinished merge or rebase is refused" {
	git_tree
	touch "$K/.git/MERGE_HEAD"
	PRISTINE=$(tree_sum "$K")
	apply
	ended 65
	untouched
}

@test "git: commits on top of the series are not lost" {
	git_tree
	apply
	git -C "$K" commit -q -m 'my own' -- include/linux/x.h
	PRISTINE=$(tree_sum "$K")
	unapply
	ended 65
	[[ $output == *"my own"* ]]
	untouched
}

@test "git: a squashed series is not taken out together with other work" {
	git_tree
	apply
	git -C "$K" reset -q --soft "$FIRST"
	git -C "$K" commit -q -m 'all in one'
	PRISTINE=$(tree_sum "$K")
	unapply
	ended 65
	untouched
}

@test "git: topics come and go as commits" {
	git_tree
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

@test "git: works without an identity, on a detached head, in a worktree" {
	git_tree
	rm "$GIT_CONFIG_GLOBAL"
	git -C "$K" worktree add -q --detach "$BATS_TEST_TMPDIR/wt" "$FIRST"
	K="$BATS_TEST_TMPDIR/wt" EMAIL='' HOME=/nonexistent apply
	ended 0
	[ "$(git -C "$BATS_TEST_TMPDIR/wt" rev-list --count "$FIRST..")" -eq 5 ]
	[ "$(git -C "$K" rev-parse HEAD)" = "$FIRST" ]
}

@test "git: settings of the user make no difference" {
	git_tree
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

# ---- bad input -------------------------------------------------------------

@test "junk arguments end with status 64 and change nothing" {
	apply --topics 'one junk'
	ended 64
	[[ $output == *"no topic 'junk'; there are: holdfast one two three"* ]]
	apply --topics '*'
	ended 64
	apply --junk
	ended 64
	run series apply
	ended 64
	[[ $output == *KDIR* ]]
	run series apply --kdir
	ended 64
	run series apply --kdir "$BATS_TEST_TMPDIR/none"
	ended 64
	run series
	ended 64
	run series junk
	ended 64
	run series tree junk
	ended 64
	untouched
}

@test "a directory that is no kernel tree is refused" {
	run series apply --kdir "$BATS_TEST_TMPDIR"
	ended 65
	[[ $output == *"no kernel source tree"* ]]
}

@test "list: patches and files of a choice of topics" {
	run series list --topics two
	ended 0
	[ "$output" = $'holdfast/0001-name-the-patched-kernel.patch\ntwo/0001-a-change-by-another-topic.patch' ]
	run series list --topics two --files
	[ "$output" = $'kernel/a.c\nlocalversion-holdfast\nnew/dir/file.c\nnew/run' ]
}
