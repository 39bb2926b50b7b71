#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# Configurations: includes, topics, and that a symbol which does not survive
# stops the build with its name; the compiler wrapper; the error excerpt.

setup() {
	HERE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
	export CONFIGS=$BATS_TEST_TMPDIR/configs
	mkdir "$CONFIGS"
	cd "$BATS_TEST_TMPDIR" || exit
}

fragment() { printf '%s\n' "${@:2}" >"$CONFIGS/$1.config"; }

# with_lib COMMAND...: in a shell that has the functions
with_lib() {
	bash -euo pipefail -c '. "$0/scripts/lib.sh"; . "$0/scripts/lib/kconfig.sh"
		. "$0/scripts/lib/kbuild.sh"; "$@"' "$HERE" "$@"
}

@test "includes come first, all of them" {
	fragment common CONFIG_A=y
	fragment x '# include: common' CONFIG_B=y
	fragment y '# include: x' '# CONFIG_A is not set'
	run with_lib config_expand y
	[ "$output" = $'CONFIG_A=y\nCONFIG_B=y\n# CONFIG_A is not set' ]
}

@test "an unknown include is named" {
	fragment x '# include: nope'
	run with_lib config_expand x
	[ "$status" -ne 0 ]
	[[ $output == *nope.config* ]]
}

@test "the last word counts; what is only included cannot be built" {
	fragment common CONFIG_A=y
	fragment topic-t CONFIG_T=y
	fragment x '# include: common' '# CONFIG_A is not set' 'CONFIG_S="a b"'
	run with_lib config_names
	[ "$output" = x ]
	with_lib config_expand x >request
	run with_lib config_wanted request
	[ "$output" = $'CONFIG_A n\nCONFIG_S "a b"' ]
}

@test "verify: names a lost symbol, a wrong value and one that came back" {
	printf 'CONFIG_A=y\nCONFIG_N=4\n# CONFIG_Z is not set\nCONFIG_K=y\n' >request
	printf 'CONFIG_N=8\nCONFIG_Z=y\nCONFIG_K=y\n' >dotconfig
	run with_lib config_verify request dotconfig
	[ "$status" -eq 1 ]
	[[ $output == *'CONFIG_A: asked for y, got n'* ]]
	[[ $output == *'CONFIG_N: asked for 4, got 8'* ]]
	[[ $output == *'CONFIG_Z: asked for n, got y'* ]]
	[[ $output != *CONFIG_K* ]]
}

@test "topics: symbols of a topic that the tree lacks are not asked for" {
	mkdir -p tree/{init,kernel,lib,mm}
	printf 'config HERE_TOO\n\tbool\n' >tree/init/Kconfig
	fragment topic-here CONFIG_HERE_TOO=y
	fragment topic-absent CONFIG_NOT_HERE=y
	fragment x CONFIG_B=y
	run with_lib config_request x "$PWD/tree" series
	[ "$output" = $'CONFIG_HERE_TOO=y\nCONFIG_B=y' ]
	run with_lib config_request x "$PWD/tree" base
	[ "$output" = CONFIG_B=y ]
}

@test "a real tree: a symbol that cannot be had stops the build" {
	[[ -d $HERE/build/base ]] || skip "no base tree yet"
	fragment bats-bad CONFIG_64BIT=y CONFIG_NO_SUCH_SYMBOL=y
	run "$HERE/scripts/kernel" --tree base --config-only bats-bad
	rm -rf "$HERE/build/kernel/base-bats-bad"
	[ "$status" -eq 65 ]
	[[ $output == *'CONFIG_NO_SUCH_SYMBOL: asked for y, got n'* ]]
	[[ $output != *CONFIG_64BIT* ]]
}

@test "usage: no such configuration or tree" {
	fragment x CONFIG_B=y
	run "$HERE/scripts/kernel" y
	[ "$status" -eq 64 ]
	[[ $output == *'there are: x'* ]]
	run "$HERE/scripts/kernel" --tree other x
	[ "$status" -eq 64 ]
}

@test "compiler: called by paths that do not depend on the checkout" {
	mkdir -p bin src out
	printf '#!/bin/bash\nprintf "<%%s>" "$@"\n' >bin/fake-gcc
	chmod 755 bin/fake-gcc
	ln -s ../src out/source
	ln -s "$(command -v bash)" "$(command -v env)" bin/
	cd out
	run env PATH="$BATS_TEST_TMPDIR/bin" HOLDFAST_CC=fake-gcc \
		HOLDFAST_SRC="$BATS_TEST_TMPDIR/src" "$HERE/scripts/lib/cc" \
		"-I$BATS_TEST_TMPDIR/src/include" -c "$BATS_TEST_TMPDIR/src/a.c" 'x y'
	[ "$output" = '<-Isource/include><-c><source/a.c><x y>' ]
}

@test "error excerpt: the first error, not only the end of the log" {
	{
		seq -f 'CC file%g.o' 100
		echo "a.c:3:1: error: 'x' undeclared"
		seq -f 'CC other%g.o' 100
		echo 'make: *** [Makefile:1: all] Error 2'
	} >log
	run with_lib first_error log
	[[ $output == *"'x' undeclared"* ]]
	[[ $output == *'Error 2'* ]]
	[ "${#lines[@]}" -lt 40 ]
}
