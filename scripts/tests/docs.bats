#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# README and the guides: they parse, and what they name exists.

bats_require_minimum_version 1.5.0

HERE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)

setup() {
	cd "$HERE" || return 1
	DOCS=(README.md Documentation/*.rst)
}

@test "guides are valid reStructuredText" {
	local tool

	tool=$(command -v rst2html || command -v rst2html.py) ||
		skip "no rst2html (package python3-docutils)"
	for f in Documentation/*.rst; do
		# 1: what docutils only informs of, such as a short line of dots
		run "$tool" --halt=5 --report=2 "$f" /dev/null
		[ -z "$output" ]
	done
}

# words REGEX: what matches it in README and the guides, each once
words() { grep -hoP "$1" "${DOCS[@]}" | sort -u; }

@test "every make target they name exists" {
	words '(?<![a-z] )\bmake [a-z][a-z-]*' | sed 's/.*make //' | sort -u >"$BATS_TEST_TMPDIR/w"
	[ -s "$BATS_TEST_TMPDIR/w" ]
	while read -r target; do
		# a target of the kernel's
		[ "$target" != olddefconfig ] || continue
		echo "no target $target"
		grep -qE "^$target:" Makefile
	done <"$BATS_TEST_TMPDIR/w"
}

@test "every file of the repository they name exists" {
	words '(?<![/a-z])(scripts|tools|selftests|kernel|patches|Documentation)/[A-Za-z0-9_./-]+[a-z]' \
		>"$BATS_TEST_TMPDIR/w"
	[ -s "$BATS_TEST_TMPDIR/w" ]
	while read -r f; do
		case $f in
		# of the kernel's tree; with a place-holder behind it
		Documentation/userspace-api/* | scripts/config | \
		kernel/configs/topic) continue ;;
		esac
		echo "no file $f"
		[ -e "$f" ] || [ -e "$f.c" ]
	done <"$BATS_TEST_TMPDIR/w"
}

@test "the lock in the guide is that of the example" {
	local line

	awk '/static void lock_extended/, /^\t\}/' Documentation/rseq-slice.rst |
		sed 's/^\t//' | while IFS= read -r line; do
		echo "$line"
		grep -qF -- "$line" tools/examples/slice-example.c
	done
}

@test "no placeholder is left" {
	run grep -n TODO- "${DOCS[@]}"
	[ "$status" -eq 1 ]
}
