#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/deps, with stand-ins for apt-get, dpkg-query and id.

bats_require_minimum_version 1.5.0
load sandbox.bash

setup() {
	sandbox "$BATS_TEST_TMPDIR"
	STUBS="$BATS_TEST_TMPDIR/stubs"
	export CALLS="$BATS_TEST_TMPDIR/log" INSTALLED="$BATS_TEST_TMPDIR/installed"
	mkdir "$STUBS"
	touch "$CALLS"
	# all of the table is installed unless a test says otherwise
	run --separate-stderr deps --list
	awk 'NR > 1 { print $2 }' <<<"$output" >"$INSTALLED"
	# shellcheck disable=SC2016 # the stubs expand it
	stub dpkg-query 'grep -qx -- "${!#}" "$INSTALLED" && echo -n installed'
	# shellcheck disable=SC2016
	stub apt-get 'echo "$DEBIAN_FRONTEND: $*" >>"$CALLS"'
	# no command counts unless a test puts it here
	ONLY="$STUBS"
	for tool in bash env dirname basename cat grep mkdir tail awk sed readelf \
		id mktemp rm sha256sum; do
		[[ -e $STUBS/$tool ]] || ln -s "$(command -v $tool)" "$STUBS/$tool"
	done
}

stub() {
	printf '#!%s\n%s\n' "$(command -v bash)" "$2" >"$STUBS/$1"
	chmod +x "$STUBS/$1"
}

deps() { PATH="${ONLY:-$PATH}" "$SB/scripts/deps" "$@" </dev/null; }

missing() { sed -i "/^$1\$/d" "$INSTALLED"; }

user() {
	rm -f "$STUBS/id"
	stub id "echo $1"
}

ended() {
	[[ $status -eq $1 ]] || { echo "status $status: $output"; return 1; }
}

@test "the table: five columns, each package and group once" {
	run deps --list
	ended 0
	[ "${#lines[@]}" -gt 30 ]
	awk 'NF < 5 { print; bad = 1 } END { exit bad }' <<<"$output"
	[ -z "$(awk '{ print $2 }' <<<"$output" | sort | uniq -d)" ]
	[ "$(awk 'NR > 1 { print $1 }' <<<"$output" | sort -u | xargs)" = \
	  'base bench build check guest models' ]
}

@test "nothing missing: silent, no package manager" {
	for user in 0 1000; do
		user $user
		for mode in '' --check; do
			# shellcheck disable=SC2086
			run deps $mode
			ended 0
			[ -z "$output" ]
		done
	done
	[ ! -s "$CALLS" ]
}

@test "a user gets the one line to run and status 69" {
	user 1000
	missing bc
	missing quilt
	run deps
	ended 69
	[ "${lines[-1]}" = 'sudo apt-get update && sudo apt-get install -y --no-install-recommends bc quilt' ]
	[ ! -s "$CALLS" ]
	run deps --install
	ended 69
	[ ! -s "$CALLS" ]
}

@test "root gets just what is missing, without questions" {
	user 0
	missing bc
	missing quilt
	run deps
	ended 0
	[ "$(wc -l <"$CALLS")" -eq 1 ]
	grep -q '^noninteractive: .*install -y .* bc quilt$' "$CALLS"
	: >"$CALLS"
	run deps --check
	ended 69
	[ ! -s "$CALLS" ]
}

@test "an empty or old index is updated, then it goes on" {
	user 0
	missing bc
	# shellcheck disable=SC2016
	stub apt-get 'echo "$*" >>"$CALLS"
		[[ $* == *install* ]] && ! grep -q update "$CALLS" && exit 100; exit 0'
	run deps
	ended 0
	[ "$(grep -oE ' (install|update)( |$)' "$CALLS" | xargs)" = \
	  'install update install' ]
}

@test "a failing apt-get is shown" {
	user 0
	missing bc
	stub apt-get 'echo "E: the archive is on fire" >&2; exit 100'
	run deps
	ended 69
	[[ $output == *"archive is on fire"*"build/log/deps.log"* ]]
}

@test "a command that came another way is as good" {
	missing quilt
	stub quilt 'exit 0'
	run deps --check
	ended 0
}

@test "but not a busybox that is not static" {
	missing busybox-static
	ln -s "$(command -v bash)" "$STUBS/busybox"
	run deps --check
	ended 69
	[[ $output == *busybox-static* ]]
}

@test "groups narrow it" {
	missing spin
	missing bc
	run deps --check base build
	ended 69
	[[ $output == *"recommends bc" ]]
	run deps --check base guest
	ended 0
	run deps --check junk
	ended 64
	[[ $output == *"'junk'"* ]]
	run deps --junk
	ended 64
}

@test "without apt: what is missing, and its usual package name" {
	user 0
	rm "$STUBS/apt-get" "$STUBS/dpkg-query"
	run deps guest
	ended 69
	[[ $output == *"qemu-system-x86_64 (qemu-system-x86-core)"* ]]
	[[ $output != *sudo* ]]
}

@test "without dpkg: headers and libraries count wherever the compiler has them" {
	ONLY=
	mkdir "$BATS_TEST_TMPDIR/bin"
	for tool in /usr/bin/* /bin/*; do
		[[ $tool == */dpkg* || $tool == */apt* ]] ||
			ln -sf "$tool" "$BATS_TEST_TMPDIR/bin/"
	done
	ONLY="$BATS_TEST_TMPDIR/bin:/usr/sbin:/sbin"
	run deps --check base build
	ended 0
	[ -z "$output" ]
	ln -sf /bin/false "$BATS_TEST_TMPDIR/bin/gcc"
	run deps --check build
	ended 69
	[[ $output == *urcu.h* ]]
}
