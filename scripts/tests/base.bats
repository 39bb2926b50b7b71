#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/base: trees and tarballs of the user, Debian's package (from a made-up
# archive), the upstream release (from a server on loopback).

bats_require_minimum_version 1.5.0
load sandbox.bash

setup_file() {
	local made="$BATS_FILE_TMPDIR/made"

	# One release, its package in three versions, and a foreign one.
	made_up_base "$made/linux-6.12.117" 6.12.117
	tar -C "$made" -cJf "$made/linux-6.12.117.tar.xz" linux-6.12.117
	made_up_base "$made/linux-6.12.118" 6.12.118
	tar -C "$made" -cJf "$made/linux-6.12.118.tar.xz" linux-6.12.118
	cp -r "$made/linux-6.12.118" "$made/linux-6.12.119"
	echo changed >>"$made/linux-6.12.119/kernel/a.c"
	tar -C "$made" -cJf "$made/linux-6.12.119.tar.xz" linux-6.12.119
}

setup() {
	MADE="$BATS_FILE_TMPDIR/made"
	RELEASE=linux-6.12.117.tar.xz
	sandbox "$BATS_TEST_TMPDIR"
	(cd "$MADE/linux-6.12.117" && sha256sum kernel/a.c kernel/b.c &&
		echo '# absent  new/file.c') >"$SB/kernel/base.manifest"
	WWW="$BATS_TEST_TMPDIR/www"
	LOG="$BATS_TEST_TMPDIR/log"
	mkdir "$WWW"
	# no apt unless a test brings its own
	STUBS="$BATS_TEST_TMPDIR/stubs"
	mkdir "$STUBS"
	stub apt-get 'exit 100'
	stub apt-cache 'exit 0'
	export PATH="$STUBS:$PATH"
	unset BASE FORCE_BASE UPSTREAM_URL HOLDFAST_CACHE
}

teardown() {
	[[ -z ${SERVER:-} ]] || kill "$SERVER"
}

base() { "$SB/scripts/base" </dev/null; }

# stub NAME BODY: a command of the test's
stub() {
	printf '#!/usr/bin/env bash\n%s\n' "$2" >"$STUBS/$1"
	chmod +x "$STUBS/$1"
}

# fails STATUS: the last run ended so, and no base was left
fails() {
	[[ $status -eq $1 ]] || { echo "status $status: $output"; return 1; }
	[[ ! -e $SB/build/base ]]
	[[ -z $(find "$SB/build" -name 'base.new' -o -name '.holdfast*') ]]
}

# succeeds: the last run printed the path of a whole base
succeeds() {
	[[ $status -eq 0 ]] || { echo "status $status: $output"; return 1; }
	[[ ${lines[-1]} == "$SB/build/base" ]]
	diff -r "$SB/build/base" "$MADE/linux-${1:-6.12.117}"
	[[ -z $(find "$SB/build" -name 'base.new' -o -name '.holdfast*') ]]
}

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

# archive VERSION...: apt offers the package in these versions; index says
# whether "apt-get update" has to come first
archive() {
	local version up deb="$BATS_TEST_TMPDIR/deb"

	command -v dpkg-deb >/dev/null || skip "no dpkg-deb"
	POOL="$BATS_TEST_TMPDIR/pool"
	export POOL LOG
	mkdir -p "$POOL"
	for version; do
		up=${version%-*}
		[[ -f $MADE/linux-$up.tar.xz ]] || { # never to be fetched
			touch "$POOL/$version.deb"
			continue
		}
		rm -rf "$deb"
		mkdir -p "$deb/DEBIAN" "$deb/usr/src"
		cp "$MADE/linux-$up.tar.xz" "$deb/usr/src/source.tar.xz"
		printf '%s\n' 'Package: holdfast-made-up-source' 'Architecture: all' \
			"Version: $version" 'Maintainer: T <t@example.org>' \
			'Description: made up' >"$deb/DEBIAN/control"
		dpkg-deb --root-owner-group -b "$deb" "$POOL/$version.deb" >/dev/null
	done
	touch "$POOL/index"
	sed -i "s/^DEB_TARBALL_SHA256=.*/DEB_TARBALL_SHA256=$(
		sha256sum <"$MADE/$RELEASE" | cut -d' ' -f1)/" "$SB/kernel/base.conf"
	# shellcheck disable=SC2016 # the stubs expand it
	stub apt-cache '[[ -e $POOL/index ]] || exit 0
		for f in "$POOL"/*.deb; do
			echo "holdfast-made-up-source | $(basename "$f" .deb) | here"
		done'
	# shellcheck disable=SC2016
	stub apt-get '[[ " $* " == *" update "* ]] && {
			echo update >>"$LOG"; touch "$POOL/index"; exit; }
		v=${!#} v=${v#*=}; echo "download $v" >>"$LOG"
		f=holdfast-made-up-source_${v}_all.deb
		[[ -e $POOL/cut ]] || exec cp "$POOL/$v.deb" "$f"
		rm "$POOL/cut"; head -c 500 "$POOL/$v.deb" >"$f"'
}

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

# ---- upstream -------------------------------------------------------------

# release: a server with the release, its checksum list signed by the pinned key
release() {
	local port='' i

	for i in gpg gpgv python3; do
		command -v $i >/dev/null || skip "no $i"
	done
	export GNUPGHOME="$BATS_FILE_TMPDIR/gnupg"
	if [[ ! -d $GNUPGHOME ]]; then
		mkdir -m 700 "$GNUPGHOME"
		for i in signer other; do
			gpg --batch -q --passphrase '' --quick-gen-key \
				"$i <$i@example.org>" ed25519 sign never 3>&-
		done
		gpgconf --kill all
	fi
	cp "$MADE/$RELEASE" "$WWW/"
	(cd "$WWW" && sha256sum "$RELEASE") >"$BATS_TEST_TMPDIR/sums"
	sign signer
	gpg --batch -q --export signer@example.org >"$WWW/key"
	python3 "$BATS_TEST_DIRNAME/server.py" "$WWW" "$LOG" 3>&- &
	SERVER=$!
	for ((i = 0; i < 100; i++)); do
		[[ ! -s $LOG.port ]] || break
		sleep 0.1
	done
	port=$(<"$LOG.port")
	export UPSTREAM_URL="http://127.0.0.1:$port"
	sed -i -e "s|^UPSTREAM_KEY=.*|UPSTREAM_KEY=$(gpg --batch --with-colons \
		-k signer@example.org | awk -F: '/^fpr/ { print $10; exit }')|" \
	    -e "s|^UPSTREAM_KEY_URL=.*|UPSTREAM_KEY_URL=$UPSTREAM_URL/key|" \
		"$SB/kernel/base.conf"
}

# sign KEY: $BATS_TEST_TMPDIR/sums becomes the signed list on the server
sign() {
	gpg --batch -q --yes -u "$1@example.org" -o "$WWW/sha256sums.asc" \
		--clearsign "$BATS_TEST_TMPDIR/sums" 3>&-
	gpgconf --kill all
}

requests() { grep -c "^$RELEASE" "$LOG" || true; }

@test "upstream: verified by signature and checksum, fetched once" {
	release
	run base
	succeeds
	[[ $output != *warning* ]]
	rm -rf "$SB/build/base"
	run base
	succeeds
	[ "$(requests)" -eq 1 ]
}

@test "upstream: an interrupted transfer goes on where it stopped" {
	release
	touch "$WWW/$RELEASE.cut"
	run base
	succeeds
	grep -q "^$RELEASE bytes=[1-9]" "$LOG"
}

@test "upstream: a killed run leaves no base, the next one goes on" {
	local pid i

	release
	touch "$WWW/$RELEASE.slow"
	# a group of its own, since Ctrl-C is for a whole group, too
	setsid "$SB/scripts/base" >"$BATS_TEST_TMPDIR/out" 2>&1 </dev/null 3>&- &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		[[ ! -s $SB/build/cache/$RELEASE.part ]] || break
		sleep 0.1
	done
	kill -TERM -- "-$pid"
	wait "$pid" || status=$?
	fails 143
	rm "$WWW/$RELEASE.slow"
	run base
	succeeds
	grep -q "^$RELEASE bytes=[1-9]" "$LOG"
}

@test "upstream: a damaged beginning is got once more" {
	release
	mkdir -p "$SB/build/cache"
	head -c 100 /dev/zero >"$SB/build/cache/$RELEASE.part"
	run base
	succeeds
	[ "$(requests)" -eq 2 ]
}

@test "upstream: a file that stays wrong is given up, nothing is kept" {
	release
	echo junk >>"$WWW/$RELEASE"
	run base
	fails 69
	[[ $output == *"incomplete or damaged"* ]]
	[ -z "$(find "$SB/build/cache" -name "$RELEASE*")" ]
}

@test "upstream: a list changed after signing is refused" {
	release
	echo junk >>"$WWW/$RELEASE"
	sed -i "s/^[0-9a-f]\{64\}/$(sha256sum <"$WWW/$RELEASE" | cut -c1-64)/" \
		"$WWW/sha256sums.asc"
	run base
	fails 69
	[[ $output == *"not signed by key"* ]]
	[ "$(requests)" -eq 0 ]
}

@test "upstream: a list signed by another key is refused" {
	release
	sign other
	gpg --batch -q --export signer@example.org other@example.org >"$WWW/key"
	run base
	fails 69
	[[ $output == *"not signed by key"* ]]
}

@test "upstream: what stands outside the signed text does not count" {
	release
	echo junk >>"$WWW/$RELEASE"
	sed -i "1i $(cd "$WWW" && sha256sum "$RELEASE")" "$WWW/sha256sums.asc"
	run base
	fails 69
}

@test "upstream: without the key only https would do" {
	release
	rm "$WWW/key"
	run base
	fails 69
	[[ $output == *"not https"* ]]
}

@test "upstream: a release whose touched files differ is refused" {
	release
	cp "$MADE/linux-6.12.119.tar.xz" "$WWW/$RELEASE"
	(cd "$WWW" && sha256sum "$RELEASE") >"$BATS_TEST_TMPDIR/sums"
	sign signer
	run base
	fails 69
	[[ $output == *$'\n  kernel/a.c\n'* ]]
}

@test "upstream is what remains when Debian's package does not match" {
	archive 6.12.119-1
	release
	run base
	succeeds
}

@test "an unpacking that was killed is not taken for a base" {
	release
	mkdir -p "$SB/build/base.new/base/kernel"
	run base
	succeeds
}
