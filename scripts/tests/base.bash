# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # status, output, lines are set by bats
#
# What the tests of scripts/base share: releases, and a package archive of them.

base_setup_file() {
	local made="$BATS_FILE_TMPDIR/made"

	# One release, its package in three versions, and a foreign one.
	made_up_base "$made/linux-6.12.117" 6.12.117
	# enough that a download can be interrupted
	head -c 200000 /dev/urandom >"$made/linux-6.12.117/noise"
	tar -C "$made" -cJf "$made/linux-6.12.117.tar.xz" linux-6.12.117
	made_up_base "$made/linux-6.12.118" 6.12.118
	tar -C "$made" -cJf "$made/linux-6.12.118.tar.xz" linux-6.12.118
	cp -r "$made/linux-6.12.118" "$made/linux-6.12.119"
	echo changed >>"$made/linux-6.12.119/kernel/a.c"
	tar -C "$made" -cJf "$made/linux-6.12.119.tar.xz" linux-6.12.119
}

base_setup() {
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
