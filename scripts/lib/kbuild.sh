# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# How kernels are compiled: the same commands on every machine and checkout, so
# that the result is the same and ccache hits.

# compiler: what the log and the measurements note
compiler() { gcc --version | head -n 1; }

# kmake SRC OUT ARGS...: make in OUT for the tree SRC. Nothing of the machine,
# the user or the time gets into the kernel; nor does git (LOCALVERSION= keeps a
# "+" off the release). scripts/lib/cc calls the compiler. CCACHE_DEPEND: no file
# is preprocessed just to find out that it must be compiled, which saves a fifth
# of a build with an empty cache.
kmake() {
	local src=$1 out=$2 hostcc=gcc

	shift 2
	! command -v ccache >/dev/null || hostcc='ccache gcc'
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u KDIR \
		HOLDFAST_SRC="$src" HOLDFAST_CC=gcc CCACHE_DEPEND=1 \
		make -C "$src" O="$out" ARCH=x86_64 \
		CC="$ROOT/scripts/lib/cc" HOSTCC="$hostcc" LOCALVERSION= \
		KBUILD_BUILD_TIMESTAMP='Thu Jan 1 00:00:00 UTC 1970' \
		KBUILD_BUILD_USER=holdfast KBUILD_BUILD_HOST=holdfast \
		KBUILD_BUILD_VERSION=1 "$@" </dev/null
}

# first_error LOG: the first error in its surroundings, then the last lines
first_error() {
	local line

	line=$(grep -nE -m 1 '(error|Error [0-9]|undefined reference|\*\*\*)' "$1" |
		cut -d: -f1)
	if [[ -n $line ]]; then
		sed -n "$((line > 5 ? line - 5 : 1)),$((line + 10))p" "$1"
		echo ...
	fi
	tail -n 10 "$1"
}

# source_state SRC: one line that changes whenever the source does; nothing
# where that cannot be told cheaply (a tree of the user's)
source_state() {
	if [[ -e $1/.git ]]; then
		git -C "$1" rev-parse HEAD || return 0
		git -C "$1" diff HEAD | sha256sum
		git -C "$1" ls-files -o --exclude-standard -z |
			(cd "$1" && xargs -0r sha256sum) | sha256sum
	elif [[ $1 == "$BUILD"/base* ]]; then
		# Unpacked by scripts/base and not to be edited.
		printf '%s %s\n' "$1" "$(stat -c %Y "$1/Makefile")"
	fi
}

# build_key CONFIG SRC TREE: equal keys, equal kernels; nothing if unknown
build_key() {
	local state

	state=$(source_state "$2" | xargs)
	[[ -n $state ]] || return 0
	{
		printf '%s\n' "$2" "$state"
		compiler
		config_request "$@"
		cat "$ROOT/scripts/lib/kbuild.sh" "$ROOT/scripts/lib/kconfig.sh"
	} | sha256sum | cut -d' ' -f1
}
