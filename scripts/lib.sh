# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Shared by all scripts: paths, messages, temporary files, locks. Source it
# first; it does nothing that leaves a trace.

# Sorting, messages of tools and number formats must not depend on the user.
export LC_ALL=C
# Set when called from a git hook; every git call here names its own tree.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE CDPATH
# With standard input closed the next file opened would take its place.
[[ -e /dev/fd/0 ]] || exec </dev/null

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
BUILD=$ROOT/build
# shellcheck disable=SC2034
CACHE=${HOLDFAST_CACHE:-$BUILD/cache}
PROG=${0##*/}

# Exit statuses that mean the same in every script (as in sysexits.h).
# shellcheck disable=SC2034 # used by the scripts
EX_USAGE=64 EX_DATA=65 EX_UNAVAILABLE=69

say() { printf '%s: %s\n' "$PROG" "$*" >&2; }
warn() { printf '%s: warning: %s\n' "$PROG" "$*" >&2; }

# die [-s STATUS] MESSAGE...
die() {
	local status=1

	if [[ $1 == -s ]]; then
		status=$2
		shift 2
	fi
	printf '%s: error: %s\n' "$PROG" "$*" >&2
	exit "$status"
}

# need COMMAND...: stops with the line that installs what is missing
need() {
	local cmd missing=()

	for cmd; do
		command -v "$cmd" >/dev/null || missing+=("$cmd")
	done
	[[ ${#missing[@]} -eq 0 ]] || die -s "$EX_UNAVAILABLE" \
		"missing: ${missing[*]}; 'make deps' installs or names the packages"
}

# Functions named here run at exit, the last one first, also after Ctrl-C.
_at_exit=()
at_exit() { _at_exit=("$1" "${_at_exit[@]}"); }

_tmp=()
_run_at_exit() {
	local status=$? fn

	trap '' INT TERM HUP
	for fn in "${_at_exit[@]}"; do
		"$fn" || true
	done
	[[ ${#_tmp[@]} -eq 0 ]] || rm -rf -- "${_tmp[@]}"
	exit "$status"
}
trap _run_at_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# new_tmp VARIABLE [PARENT]: a directory that vanishes at exit. Not printed but
# assigned: in a subshell it would be gone before its first use.
new_tmp() {
	local _dir

	_dir=$(mktemp -d "${2:-${TMPDIR:-/tmp}}/.holdfast.XXXXXX") ||
		die "no temporary directory in ${2:-${TMPDIR:-/tmp}}"
	_dir=$(cd "$_dir" && pwd -P)
	_tmp+=("$_dir")
	printf -v "$1" %s "$_dir"
}

# keep_tmp DIR: it stays after all
keep_tmp() {
	local dir keep=()

	for dir in "${_tmp[@]}"; do
		[[ $dir == "$1" ]] || keep+=("$dir")
	done
	_tmp=("${keep[@]}")
}

# own_tmp DIR: the same under a fixed name, which only the holder of a lock may
# use: what a killed run left there goes
own_tmp() {
	rm -rf -- "$1"
	mkdir -p -- "$1"
	_tmp+=("$1")
}

# write_file PATH: standard input becomes PATH, whole or not at all; an equal
# file is left alone, so that make and git see no change
write_file() {
	local new=$1.new.$$

	mkdir -p -- "$(dirname -- "$1")"
	if ! cat >"$new"; then
		rm -f -- "$new"
		die "cannot write $1"
	fi
	if cmp -s -- "$new" "$1"; then
		rm -f -- "$new"
	else
		mv -f -- "$new" "$1"
	fi
}

# lock NAME: one run at a time; waits for the other one and says so. Held until
# the script ends. A daemon started meanwhile must not inherit LOCK_FD.
LOCK_FD=
lock() {
	need flock
	mkdir -p "$BUILD/lock"
	exec {LOCK_FD}>"$BUILD/lock/$1"
	flock -n "$LOCK_FD" && return
	say "another run works on $1; waiting for it"
	flock "$LOCK_FD"
}

# absolute DIR: its path without symlinks, spaces and all
absolute() { (cd -- "$1" 2>/dev/null && pwd -P); }

sha256() { sha256sum <"$1" | cut -d' ' -f1; }
