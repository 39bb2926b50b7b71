#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/series tree, refresh and check: the queue and the tree it is kept in.

bats_require_minimum_version 1.5.0
load sandbox.bash

setup_file() {
	sandbox "$BATS_FILE_TMPDIR"
	sandbox_series
}

setup() {
	unset BASE FORCE_BASE TOPICS
	export GIT_CONFIG_GLOBAL="$BATS_TEST_TMPDIR/gitconfig"
	git config --global user.name x
	git config --global user.email x@example.org
	cp -a "$BATS_FILE_TMPDIR/hold fast" "$BATS_TEST_TMPDIR/"
	SB="$BATS_TEST_TMPDIR/hold fast"
	T="$SB/build/tree"
	P="$SB/patches"
	export DAY=5
	QUEUE_SUM=$(tree_sum "$P")
}

same_queue() { [[ $(tree_sum "$P") == "$QUEUE_SUM" ]]; }

# finds CHECK TEXT: "series check" fails in CHECK alone, and says TEXT
finds() {
	run series check
	ended 1
	[[ $(grep -c '^RESULT .* fail ' <<<"$output") -eq 1 &&
	   $output == *"RESULT series/$1 fail "* && $output == *"$2"* ]] ||
		{ echo "$output"; return 1; }
}

# ---- tree ------------------------------------------------------------------

@test "tree: made anew from patches/ it has the same commits and files" {
	local head

	head=$(git -C "$T" rev-parse holdfast)
	mv "$T" "$BATS_TEST_TMPDIR/old"
	run --separate-stderr series tree
	ended 0
	[ "$output" = "$T" ]
	# author's date for committer's: who else makes it gets the same commits
	mv "$T" "$BATS_TEST_TMPDIR/first"
	series tree
	[ "$(git -C "$T" rev-parse holdfast)" = \
	  "$(git -C "$BATS_TEST_TMPDIR/first" rev-parse holdfast)" ]
	diff <(git -C "$T" log --format='%T %an %ae %ad %B') \
	     <(git -C "$BATS_TEST_TMPDIR/old" log --format='%T %an %ae %ad %B')
	[ -z "$(git -C "$T" status --porcelain --ignored)" ]
	diff -r -x .git "$T" "$BATS_TEST_TMPDIR/old"
	run series refresh
	ended 0
	same_queue
}

@test "tree: the tag holds the base, files ignored by git included" {
	git -C "$T" worktree add -q "$BATS_TEST_TMPDIR/wt" holdfast-base
	diff -r -x .git "$BATS_TEST_TMPDIR/wt" "$SB/build/base"
}

@test "tree: what is there is taken, no commit is lost" {
	echo x >>"$T/kernel/b.c"
	commit_in_tree three 'b: not exported yet'
	head=$(git -C "$T" rev-parse holdfast)
	echo y >>"$T/kernel/b.c"
	run series tree
	ended 0
	[[ $output == *"refresh"* ]]
	[ "$(git -C "$T" rev-parse holdfast)" = "$head" ]
	[ "$(git -C "$T" status --porcelain)" = ' M kernel/b.c' ]
	# neither when nothing is known about it
	git -C "$T" config --unset holdfast.queue
	git -C "$T" config --unset holdfast.head
	run series tree
	ended 0
	[[ $output == *warning*differ* ]]
	[ "$(git -C "$T" rev-parse holdfast)" = "$head" ]
}

@test "tree: follows patches/ that moved on, the old commits keep a name" {
	local old

	old=$(git -C "$T" rev-parse holdfast)
	sed -i 's/^+mark-three$/+mark-three-and-more/' "$P"/three/0001-*
	touch "$T/untracked"
	run series tree
	ended 0
	grep -q mark-three-and-more "$T/kernel/b.c"
	[ -e "$T/untracked" ]
	[ -z "$(git -C "$T" status --porcelain --untracked-files=no)" ]
	git -C "$T" branch --contains "$old" | grep -q "holdfast-until-${old:0:12}"
}

@test "tree: uncommitted work stops the update" {
	sed -i 's/^+mark-three$/+mark-three-and-more/' "$P"/three/0001-*
	echo mine >>"$T/kernel/a.c"
	run series tree
	ended 65
	[[ $output == *uncommitted* ]]
	[ "$(git -C "$T" status --porcelain)" = ' M kernel/a.c' ]
}

@test "tree: a directory that is not ours is left alone" {
	rm -rf "$T"
	mkdir "$T"
	touch "$T/mine"
	run series tree
	ended 65
	[ -e "$T/mine" ]
}

@test "tree: an unfinished one is not taken for whole" {
	rm -rf "$T"
	mkdir -p "$SB/build/tree.new/kernel"
	touch "$SB/build/tree.new/kernel/half"
	run series tree
	ended 0
	[ ! -e "$SB/build/tree.new" ]
	[ -z "$(git -C "$T" status --porcelain)" ]
}

@test "tree: a patch that does not apply leaves no tree, whatever git would ignore" {
	git config --global apply.ignoreWhitespace change
	sed -i 's/^ kernel.b.c line 39$/ kernel\/b.c  line  39/' "$P"/three/0001-*
	rm -rf "$T"
	run series tree
	ended 65
	[ ! -e "$T" ]
	[ ! -e "$T.new" ]
}

@test "tree: BASE= other than what it was made from is an error" {
	cp -r "$SB/build/base" "$BATS_TEST_TMPDIR/other"
	BASE="$BATS_TEST_TMPDIR/other" run series tree
	ended 65
	[[ $output == *"another base"* ]]
}

@test "tree: BASE= may be a git tree" {
	rm -rf "$T"
	cp -r "$SB/build/base" "$BATS_TEST_TMPDIR/other"
	git init -q "$BATS_TEST_TMPDIR/other"
	git -C "$BATS_TEST_TMPDIR/other" add -A -f
	git -C "$BATS_TEST_TMPDIR/other" commit -q -m x
	touch "$BATS_TEST_TMPDIR/other/built.o"
	BASE="$BATS_TEST_TMPDIR/other" run series tree
	ended 0
	[ ! -e "$T/built.o" ]
	grep -q mark-three "$T/kernel/b.c"
	run series refresh
	same_queue
}

# ---- refresh ---------------------------------------------------------------

@test "refresh: nothing changed, no difference, whatever git's settings are" {
	git config --global format.signature 'my signature'
	git config --global format.headers 'X-Mine: yes'
	git config --global format.signOff true
	git config --global diff.noprefix true
	git config --global diff.context 9
	git config --global diff.algorithm patience
	git config --global core.abbrev 7
	git config --global color.ui always
	git -C "$T" config diff.noprefix true
	git -C "$T" config format.signature 'my signature'
	run series refresh
	ended 0
	same_queue
	run series refresh
	same_queue
	# nor does it show which git it was
	run grep -rF "$(git --version | cut -d' ' -f3)" "$P"
	ended 1
	# not even the time stamps change
	touch -d '2001-01-01' "$P"/one/* "$P/series"
	series refresh
	[ -z "$(find "$P/one" "$P/series" -newermt 2002-01-01 -type f)" ]
}

@test "refresh: a new commit in a topic renumbers that topic alone" {
	sed -i 's/^# topic: one$/# topic: one\n# what the topic is about/' "$P/series"
	sed -i 's|^one/0002|#: drop when 7.0 is the base\none/0002|' "$P/series"
	git -C "$T" checkout -q -b tmp holdfast~4
	echo more >>"$T/include/linux/x.h"
	commit_in_tree one 'x: inserted' 'never (as we go)'
	git -C "$T" rebase -q --onto tmp holdfast~4 holdfast
	run series refresh
	ended 0
	diff - "$P/series" <<-'EOF'
		# SPDX-License-Identifier: GPL-2.0-only

		# topic: holdfast
		#: upstream: ours
		holdfast/0001-name-the-patched-kernel.patch

		# topic: one
		# what the topic is about
		#: upstream: never (as we go)
		one/0001-x-inserted.patch
		#: upstream: mainline v7.0 (made up)
		one/0002-a-first-change.patch
		#: upstream: ours
		#: drop when 7.0 is the base
		one/0003-a-second-change.patch

		# topic: two
		#: upstream: ours
		two/0001-a-change-by-another-topic.patch

		# topic: three
		#: upstream: never (a test)
		three/0001-b-change-old-remove.patch
	EOF
	[ "$(find "$P/one" -type f | wc -l)" -eq 3 ]
	grep -q '  include/linux/x.h$' "$SB/kernel/base.manifest"
	(cd "$SB/build/base" && sha256sum --status -c "$SB/kernel/base.manifest")
	run series check
	ended 0
}

@test "refresh: a dropped commit takes its patch along" {
	git -C "$T" reset -q --hard holdfast~1
	run series refresh
	ended 0
	[ ! -e "$P"/three/0001-b-change-old-remove.patch ]
	run grep 'three\|old.c' "$P/series" "$SB/kernel/base.manifest"
	ended 1
}

@test "refresh: a newer patches/ is not overwritten by an older tree" {
	sed -i 's/^+mark-three$/+mark-three-and-more/' "$P"/three/0001-*
	QUEUE_SUM=$(tree_sum "$P")
	run series refresh
	ended 65
	[[ $output == *"make tree"* ]]
	same_queue
}

@test "refresh: commits without a topic, out of order or merged are refused" {
	local head

	head=$(git -C "$T" rev-parse holdfast)
	echo x >>"$T/kernel/b.c"
	commit_in_tree one 'a: comes too late'
	run series refresh
	ended 65
	[[ $output == *"a: comes too late"*apart* ]]
	git -C "$T" reset -q --hard "$head"
	echo x >>"$T/kernel/b.c"
	commit_in_tree '' 'a: no topic'
	run series refresh
	ended 65
	[[ $output == *"a: no topic"* ]]
	git -C "$T" reset -q --hard "$head"
	git -C "$T" merge -q --no-ff -m merge "$(git -C "$T" commit-tree -p holdfast~1 -m side \
		"holdfast^{tree}")"
	run series refresh
	ended 65
	[[ $output == *merges* ]]
	git -C "$T" reset -q --hard holdfast-base
	run series refresh
	ended 65
	same_queue
}

@test "refresh: without a tree says how to make it" {
	rm -rf "$T"
	run series refresh
	ended 1
	[[ $output == *"make tree"* ]]
}

# ---- check -----------------------------------------------------------------

@test "check: passes, on the base alone" {
	rm -rf "$T"
	run series check
	ended 0
	[ "$(grep -c '^RESULT series/[a-z]* pass [0-9.]*$' <<<"$output")" -eq 7 ]
	[ "$(grep -c RESULT <<<"$output")" -eq 7 ]
	same_queue
}

@test "check: an entry without a file, twice, of bad form, a split topic" {
	cp "$P/series" "$BATS_TEST_TMPDIR/series"
	line=$(($(wc -l <"$P/series") + 1))
	while IFS='|' read -r entry why; do
		cp "$BATS_TEST_TMPDIR/series" "$P/series"
		echo "$entry" >>"$P/series"
		run series check
		ended 65
		[[ $output =~ "patches/series:$line: ".*"$why".*"RESULT series/queue fail" ]] ||
			{ echo "$output"; return 1; }
	done <<-'EOF'
		three/0002-none.patch|does not exist
		three/0001-b-change-old-remove.patch|duplicate
		one/0003-late.patch|not in one piece
		../etc/passwd|is not TOPIC
		three/0001-x.patch -p0|is not TOPIC
	EOF
}

@test "check: a file that the series does not name" {
	touch "$P/two/0002-orphan.patch"
	finds files two/0002-orphan.patch
}

@test "check: no Signed-off-by of the author" {
	sed -i 's/^Signed-off-by: .*/Signed-off-by: Zoë Else <else@example.org>/' "$P"/two/*
	finds headers 'two/0001-a-change-by-another-topic.patch: no Signed-off-by: Zoë'
}

@test "check: no date, no subject, no author" {
	sed -i '/^Date: /d' "$P"/one/0001-*
	sed -i 's/^Subject: .*/Subject: [PATCH]/' "$P"/one/0002-*
	sed -i 's/^From: .*/From: nobody/' "$P"/two/0001-*
	run series check
	ended 1
	[[ $output == *"one/0001-a-first-change.patch: no valid Date"* ]]
	[[ $output == *"one/0002-a-second-change.patch: no Subject"* ]]
	[[ $output == *"two/0001-a-change-by-another-topic.patch: no From"* ]]
}

@test "check: upstream status missing, odd, or other than in the ledger" {
	sed -i '/^Upstream: /d' "$P"/two/*
	finds headers "two/0001-a-change-by-another-topic.patch: Upstream: ''"
	cp "$BATS_FILE_TMPDIR/hold fast/patches"/two/* "$P/two/"
	sed -i 's/^Upstream: .*/Upstream: maybe/' "$P"/two/*
	finds headers "Upstream: 'maybe'"
	cp "$BATS_FILE_TMPDIR/hold fast/patches"/two/* "$P/two/"
	sed -i 's/^#: upstream: never.*/#: upstream: ours/' "$P/series"
	finds headers "says upstream 'ours' above three/"
}

@test "check: a topic line other than the directory" {
	sed -i 's/^Topic: two$/Topic: one/' "$P"/two/*
	run series check
	ended 1
	[[ $output == *"needs one line Topic: two"* ]]
}

@test "check: whitespace errors" {
	sed -i 's/^+a new file$/+a new file /' "$P"/two/*
	run series check
	ended 1
	[[ $output == *"trailing whitespace"*"whitespace, see above: two/0001"* ]]
}

@test "check: a hand-edited patch that refresh would write otherwise" {
	sed -i 's/^@@ -57,7 .*/@@ -57,7 +57,7 @@ edited/' "$P"/two/*
	finds export "would change it, see above: two/0001"
}

@test "check: checkpatch has its say" {
	sed -i 's/^+mark-two$/+BADSTYLE/' "$P"/two/*
	run series check
	[[ $output == *"RESULT series/checkpatch fail"* ]]
}

@test "check: a topic that needs another one does not pass" {
	git -C "$T" reset -q --hard holdfast~1
	sed -i 's/^mark-one2$/mark-two2/' "$T/kernel/a.c"
	commit_in_tree two 'a: on top of one'
	series refresh
	finds subsets 'git: does not apply: holdfast two'
	[[ $output == *"two/0002-a-on-top-of-one.patch does not apply"* ]]
	[[ $output != *"does not apply: holdfast one two"* ]]
}

@test "check: what one of the tools does otherwise" {
	git -C "$T" reset -q --hard holdfast~1
	touch "$T/new/empty"
	commit_in_tree two 'new: an empty file, which busybox does not create'
	series refresh
	finds subsets 'busybox: another result than git: holdfast two'
}

@test "check: a manifest that is out of date" {
	sed -i '/kernel\/b.c/d' "$SB/kernel/base.manifest"
	finds manifest kernel/b.c
	echo "0000000000000000000000000000000000000000000000000000000000000000  kernel/b.c" \
		>>"$SB/kernel/base.manifest"
	run series check
	[ "$status" -ne 0 ]
	[[ $output == *kernel/b.c* ]]
}
