#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/base: trees and tarballs of the user, and Debian's package (from a made-up
# archive).

bats_require_minimum_version 1.5.0
load sandbox.bash
load base.bash

setup_file() { base_setup_file; }
setup() { base_setup; }

# ---- trees and tarballs of the user ----------------------------------------

@test "BASE=TREE is taken where it is" {
	cp -r "$MADE/linux-6.12.117" "$BATS_TEST_TMPDIR/my tree"
	BASE="$BATS_TEST_TMPDIR/my tree" run --separate-stderr base
	[ "$status" -eq 0 ]
	[ "$output" = "$BATS_TEST_TMPDIR/my tree" ]
	[ ! -e "$SB/build/base" ]
}

@test "BASE=TREE of a newer version is as good if the touched files match" {
	BASE="$MADE/linux-6.12.118" run base
	[ "$status" -eq 0 ]
	[[ $output == *"Linux 6.12.118 instead of 6.12.117"* ]]
}

@test "BASE=TREE that differs is refused with each file, unless forced" {
	cp -r "$MADE/linux-6.12.117" "$BATS_TEST_TMPDIR/t"
	echo x >>"$BATS_TEST_TMPDIR/t/kernel/a.c"
	rm "$BATS_TEST_TMPDIR/t/kernel/b.c"
	mkdir "$BATS_TEST_TMPDIR/t/new"
	touch "$BATS_TEST_TMPDIR/t/new/file.c" # of no interest: scripts/tool
	rm "$BATS_TEST_TMPDIR/t/scripts/tool"
	BASE="$BATS_TEST_TMPDIR/t" run base
	fails 65
	[[ $output == *$'\n  kernel/a.c\n  kernel/b.c\n  new/file.c\n'* ]]
	[[ $output != *scripts/tool* ]]
	BASE="$BATS_TEST_TMPDIR/t" FORCE_BASE=1 run base
	[ "$status" -eq 0 ]
	[ "${lines[-1]}" = "$BATS_TEST_TMPDIR/t" ]
}

@test "BASE= that is no kernel tree, or nothing, is refused" {
	BASE="$BATS_TEST_TMPDIR" run base
	fails 65
	[[ $output == *"no kernel source tree"* ]]
	BASE="$BATS_TEST_TMPDIR/none" run base
	fails 64
}

@test "BASE=TARBALL is unpacked, once" {
	BASE="$MADE/$RELEASE" run base
	[ "$status" -eq 0 ]
	diff -r "${lines[-1]}" "$MADE/linux-6.12.117"
	BASE="$MADE/$RELEASE" run base
	[ "$status" -eq 0 ]
	[[ $output != *unpacking* ]]
}

@test "BASE=TARBALL that is cut short or no tarball leaves nothing behind" {
	head -c 900 "$MADE/$RELEASE" >"$BATS_TEST_TMPDIR/cut.tar.xz"
	BASE="$BATS_TEST_TMPDIR/cut.tar.xz" run base
	fails 65
	echo junk >"$BATS_TEST_TMPDIR/junk.tar.xz"
	BASE="$BATS_TEST_TMPDIR/junk.tar.xz" run base
	fails 65
	[ -z "$(find "$SB/build" -maxdepth 1 -name 'base-*')" ]
}

@test "a changed build/base is refused, not removed" {
	cp -r "$MADE/linux-6.12.117" "$SB/build/base"
	run base
	succeeds
	echo x >>"$SB/build/base/kernel/b.c"
	run base
	[ "$status" -eq 65 ]
	[[ $output == *kernel/b.c*"move it away"* ]]
	[ -e "$SB/build/base/kernel/b.c" ]
}

# ---- Debian ---------------------------------------------------------------

downloads() { grep -c ^download "$LOG"; }

@test "Debian: the pinned version is downloaded once" {
	archive 6.12.117-1 6.12.118-1
	run base
	succeeds
	run base
	succeeds
	rm -rf "$SB/build/base"
	run base
	succeeds
	[ "$(<"$LOG")" = 'download 6.12.117-1' ]
}

@test "Debian: an empty index is filled first" {
	archive 6.12.117-1
	rm "$POOL/index"
	run base
	succeeds
	[ "$(head -n 1 "$LOG")" = update ]
}

@test "Debian: the next newer 6.12.y when the pinned version is gone" {
	archive 6.12.115-1 6.12.118-1 6.12.119-1 6.13.1-1
	run base
	succeeds 6.12.118
	[[ $output == *"6.12.117-1 is gone; trying 6.12.118-1"* ]]
	[ "$(downloads)" -eq 1 ]
}

@test "Debian: a newer 6.12.y whose touched files differ is not taken" {
	archive 6.12.115-1 6.12.119-1
	run base
	fails 69
	[[ $output == *$'\n  kernel/a.c\n'* ]]
}

@test "Debian: older and foreign versions alone are not taken" {
	archive 6.12.115-1 6.13.1-1 6.1.170-1
	run base
	fails 69
	[ ! -e "$LOG" ] || [ "$(grep -c download "$LOG")" -eq 0 ]
}

@test "Debian: a download cut short is repeated" {
	archive 6.12.117-1
	touch "$POOL/cut"
	run base
	succeeds
	[ "$(downloads)" -eq 2 ]
}

@test "Debian: damage in the cache is noticed" {
	archive 6.12.117-1
	run base
	succeeds
	rm -rf "$SB/build/base"
	printf X | dd of="$SB/build/cache/holdfast-made-up-source_6.12.117-1_all.deb" \
		bs=1 seek=300 conv=notrunc status=none
	run base
	succeeds
	[[ $output == *"is damaged"* ]]
	[ "$(downloads)" -eq 2 ]
}

@test "Debian: a tarball with another checksum is not taken" {
	archive 6.12.117-1
	sed -i 's/^\(DEB_TARBALL_SHA256=\).*/\1abcd/' "$SB/kernel/base.conf"
	run base
	fails 69
	[[ $output == *"not abcd"* ]]
	[ -z "$(find "$SB/build/cache" -name '*.deb*')" ]
}

@test "Debian: two runs at once download once" {
	archive 6.12.117-1
	base >"$BATS_TEST_TMPDIR/out1" 2>&1 3>&- &
	run base
	wait $!
	succeeds
	[ "$(tail -n 1 "$BATS_TEST_TMPDIR/out1")" = "$SB/build/base" ]
	[ "$(downloads)" -eq 1 ]
}
