#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/series apply and unapply, on plain trees, and with bad arguments.

bats_require_minimum_version 1.5.0
load sandbox.bash

setup_file() {
	sandbox "$BATS_FILE_TMPDIR"
	sandbox_series
}

setup() {
	with_kernel
}

@test "apply and unapply, byte for byte" {
	apply
	ended 0
	carries "${ALL[@]}"
	[ -x "$K/new/run" ]
	[ ! -e "$K/kernel/old.c" ]
	unapply
	ended 0
	untouched
}

@test "owner and mode of a file survive" {
	chmod 640 "$K/kernel/a.c"
	remember
	apply
	ended 0
	[ "$(stat -c %a "$K/kernel/a.c")" = 640 ]
	unapply
	untouched
}

@test "a second apply says so and changes nothing" {
	apply
	remember
	apply
	ended 0
	[[ $output == *"already carries"* ]]
	untouched
	apply --topics two
	ended 0
	untouched
}

@test "unapply on a tree without the series says so" {
	unapply
	ended 0
	[[ $output == *"no patch of the series; nothing to do"* ]]
	untouched
}

@test "a failure in the last patch leaves the tree as it was" {
	break_last
	apply
	ended 65
	[[ $output == *three/0001-*"kernel/b.c: hunk #1 FAILED"* ]]
	untouched
}

@test "fuzz is an error that names file and hunk" {
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

@test "a changed file is refused by name; what applies may be forced" {
	echo 'a line at the end' >>"$K/kernel/a.c"
	remember
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
	unapply
	ended 65
	[[ $output == *"it carries "*" three; FORCE_BASE=1 goes on"* ]]
	FORCE_BASE=1 unapply
	ended 0
	untouched
}

@test "a changed context line names the patch that fails, even forced" {
	sed -i 's/^kernel.a.c line 12$/other/' "$K/kernel/a.c"
	remember
	apply
	ended 65
	[[ $output == *6.12.117*"kernel/a.c"*one/0001-*"hunk #1 FAILED"* ]]
	[[ $output != *FORCE_BASE* ]]
	FORCE_BASE=1 apply
	ended 65
	untouched
}

@test "a topic asks only for the files it touches" {
	echo changed >>"$K/kernel/b.c"
	apply --topics one
	ended 0
	carries -holdfast one1 one2
}

@test "a half-patched tree is refused with the first file" {
	(cd "$K" && for p in holdfast/0001 one/0001; do
		patch -s -p1 <"$(echo "$SB/patches/$p"-*)"; done)
	remember
	apply
	ended 65
	[[ $output == *"half-patched"*"kernel/a.c"*one/0001* ]]
	untouched
	unapply
	ended 65
	untouched
}

@test "a patched tree changed since is refused" {
	apply
	sed -i 's/^mark-two$/mark-2/' "$K/kernel/a.c"
	remember
	unapply
	ended 65
	[[ $output == *"first file that differs: kernel/a.c"* ]]
	untouched
	apply
	ended 65
	untouched
}

@test "every subset of topics comes and goes" {
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

@test "a topic may be added to others, and taken out" {
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

@test "TOPICS= is --topics; holdfast alone just names the kernel" {
	TOPICS='two,one' apply
	ended 0
	carries -holdfast one1 one2 two
	unapply
	apply --topics holdfast
	ended 0
	carries -holdfast
}

@test "unapply of a topic that is not carried takes nothing else out" {
	local topics

	apply --topics holdfast
	remember
	for topics in one 'two three'; do
		unapply --topics "$topics"
		ended 0
		[[ $output == *"carries holdfast; nothing to do"* ]]
		untouched
	done
	unapply --topics 'holdfast one'
	ended 0
	carries
	apply --topics one
	remember
	for topics in two holdfast; do
		unapply --topics "$topics"
		ended 0
		[[ $output == *"carries holdfast one; nothing to do"* ]]
		untouched
	done
	unapply
	carries
}

@test "a file that cannot be replaced leaves the tree as it was" {
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

@test "no special file is written through" {
	mv "$K/kernel/a.c" "$BATS_TEST_TMPDIR/a.c"
	ln -s "$BATS_TEST_TMPDIR/a.c" "$K/kernel/a.c"
	remember
	apply
	ended 65
	[[ $output == *"not a regular file"* ]]
	untouched
}

@test "no directory outside is written through a symlink" {
	local outside=$BATS_TEST_TMPDIR/outside

	mv "$K/kernel" "$outside"
	ln -s "$outside" "$K/kernel"
	remember
	for verb in apply unapply; do
		run series "$verb" --kdir "$K"
		ended 65
		[[ $output == *"kernel is not a directory but a symlink"* ]]
		untouched
	done
	rm "$K/kernel"
	mv "$outside" "$K/kernel"
	# one where a patch would make a directory
	mkdir "$outside"
	ln -s "$outside" "$K/new"
	apply
	ended 65
	[ -z "$(ls "$outside")" ]
}

@test "CRLF line endings are named as the cause" {
	sed -i 's/$/\r/' "$K/kernel/a.c"
	remember
	apply
	ended 65
	[[ $output == *"kernel/a.c has CRLF line endings"* ]]
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

@test "topics are no file name patterns" {
	cd "$BATS_TEST_TMPDIR"
	mkdir x
	cd x
	touch one
	TOPICS='*' apply
	ended 64
	[[ $output == *"no topic '*'"* ]]
	TOPICS='on[e]' run series list
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
