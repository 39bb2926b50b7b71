#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# tools/: the user header, lockbench, pathbench, their manual pages. On any
# kernel; whether extensions are granted is for the selftests to see.

# shellcheck disable=SC2030,SC2031 # each test is a subshell, as it should be
bats_require_minimum_version 1.5.0

ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
TOOLS=$ROOT/tools

setup_file() {
	make -s -C "$TOOLS" O="$BATS_FILE_TMPDIR/tools" >&2
}

setup() {
	BIN=$BATS_FILE_TMPDIR/tools
	cd "$BATS_TEST_TMPDIR" || return 1
	unset GLIBC_TUNABLES
}

# compile COMPILER ARGS...: every warning is an error
compile() {
	"$1" -Wall -Wextra -pedantic -Werror -pthread -I"$TOOLS/include" "${@:2}"
}

compilers() {
	local c

	for c in "$@"; do
		! command -v "$c" >/dev/null || echo "$c"
	done
}

# status_of WANTED-LINE ARGS...
status_of() {
	local wanted=$1

	shift
	run ./slice-status "$@"
	echo "slice-status $*: got '$output', wanted '$wanted'"
	[ "$status" -eq 0 ]
	[ "$output" = "$wanted" ]
}

@test "header compiles in C99 to C23 without a warning" {
	for cc in $(compilers gcc clang); do
		for std in gnu99 c11 c17 c2x gnu17; do
			for opt in -O0 -O2 '-O2 -fPIC'; do
				# shellcheck disable=SC2086
				compile "$cc" -std=$std $opt -c -o x.o \
					"$TOOLS/examples/slice-example.c"
			done
		done
	done
}

@test "header compiles in C++11 to C++20 without a warning" {
	printf '%s\n' '#include <holdfast/slice.h>' 'int main()' '{' \
		'	holdfast_slice_enable();' '	holdfast_slice_begin();' \
		'	return holdfast_slice_end() + holdfast_slice_disable();' \
		'}' >x.cc
	for cc in $(compilers g++ clang++); do
		for std in c++11 c++17 c++20; do
			compile "$cc" -std=$std -O2 -o x x.cc
			run --separate-stderr ./x
			[ "$status" -eq 0 ]
			[ -z "$output$stderr" ]
		done
	done
}

@test "begin and end without a grant are at most 6 instructions" {
	printf '%s\n' '#include <holdfast/slice.h>' 'void pair(void);' \
		'void pair(void)' '{' '	holdfast_slice_begin();' \
		'	holdfast_slice_end();' '}' >x.c
	for cc in $(compilers gcc clang); do
		for opt in -fno-pic -fPIE -fPIC; do
			compile "$cc" -O2 "$opt" -c -o x.o x.c
			# The way without grant ends at the first ret.
			count=$(objdump -d --no-show-raw-insn x.o | awk '
				/<pair>:$/ { on = 1; next }
				on && /\tret/ { exit }
				on && /^ +[0-9a-f]+:\t/ && !/endbr64/ { n++ }
				END { print n + 0 }')
			echo "$cc $opt: $count"
			[ "$count" -gt 3 ]
			[ "$count" -le 6 ]
		done
	done
}

# area_is LIBC|OWN TUNABLES
area_is() {
	run env GLIBC_TUNABLES="$2" ./x
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "$1" ]
}

@test "objects of a program and shared ones use the same area" {
	local rseq

	rseq=$(getconf GNU_LIBC_VERSION | awk '{ print ($2 >= 2.35) ? "libc" : "own" }')
	for cc in $(compilers gcc clang); do
		for opt in -O0 -O2 '-O2 -static' '-O2 -static-pie -fPIE' '-O2 -flto' shared; do
			if [ "$opt" = shared ]; then
				compile "$cc" -O2 -fPIC -shared -DPART -o ./part.so \
					"$TOOLS/tests/two-files.c"
				set -- ./part.so
			else
				# clang objects to options of the linker here
				flags=${opt/-static-pie/}
				# shellcheck disable=SC2086
				compile "$cc" ${flags/-static/} -DPART -c -o part.o \
					"$TOOLS/tests/two-files.c"
				# shellcheck disable=SC2086
				set -- $opt part.o
			fi
			compile "$cc" "$TOOLS/tests/two-files.c" "$@" -o x
			area_is "$rseq" ''
			area_is own glibc.pthread.rseq=0
		done
	done
}

@test "enable and query say why not" {
	compile gcc -O2 -o slice-status "$TOOLS/tests/slice-status.c"
	# status enable disable own-area, for: GET DISABLE ENABLE RSEQ
	status_of '0 0 0 0' 0 0 0 -
	status_of '2 -38 0 0' 22 22 22 38
	status_of '3 -38 0 0' 22 22 22 22
	status_of '4 -95 0 0' 524 524 524 -
	status_of '4 -95 0 0' 0 524 524 -
	status_of '7 -1 0 0' 1 1 1 -
	status_of '0 -1 0 0' 0 0 1 -
}

@test "enable and query: libc's short area is given up and registered again" {
	compile gcc -O2 -DFEATURE_SIZE=33 -o slice-status \
		"$TOOLS/tests/slice-status.c"
	status_of '4 -95 0 0' 0 524 524 -
}

@test "own area: registered by enable, unregistered when that fails" {
	compile gcc -O2 -o slice-status "$TOOLS/tests/slice-status.c"
	export GLIBC_TUNABLES=glibc.pthread.rseq=0
	status_of '0 0 0 1' 0 6 0 -
	status_of '0 -1 0 0' 0 6 1 -
	status_of '3 -38 0 0' 22 22 22 22
	status_of '4 -95 0 0' 524 524 524 -
	# another library's area: found by the kernel's answer, or by rseq()
	status_of '6 -16 0 0' 0 0 0 - foreign
	status_of '0 -16 0 0' 0 6 0 - foreign
}

@test "own area: a kernel that wants a larger one is refused" {
	local wants

	for wants in '-DFEATURE_SIZE=65' '-DFEATURE_SIZE=33 -DFEATURE_ALIGN=128'; do
		# shellcheck disable=SC2086
		compile gcc -O2 $wants -o slice-status "$TOOLS/tests/slice-status.c"
		GLIBC_TUNABLES=glibc.pthread.rseq=0 \
			status_of '8 -38 0 0' 0 6 0 -
	done
	compile gcc -O2 -DFEATURE_SIZE=64 -o slice-status \
		"$TOOLS/tests/slice-status.c"
	GLIBC_TUNABLES=glibc.pthread.rseq=0 status_of '0 0 0 1' 0 6 0 -
}

@test "example works on this kernel, and is silent but for the reason" {
	run --separate-stderr "$BIN/slice-example"
	[ "$status" -eq 0 ]
	[[ $output == '200000 sections, '*' of them extended' ]]
	[ "$(wc -l <<<"$stderr")" -le 1 ]
}

@test "install puts everything below DESTDIR and PREFIX" {
	make -s -C "$TOOLS" O="$BIN" install DESTDIR="$PWD/dest" PREFIX=/opt/h
	for f in include/holdfast/slice.h bin/lockbench bin/pathbench \
		share/man/man3/holdfast_slice.3 share/man/man3/holdfast_slice_end.3 \
		share/man/man1/lockbench.1 share/pkgconfig/holdfast.pc; do
		[ -s "dest/opt/h/$f" ]
	done
	command -v pkg-config >/dev/null || skip "no pkg-config"
	export PKG_CONFIG_PATH=$PWD/dest/opt/h/share/pkgconfig
	[[ $(pkg-config --cflags holdfast) == *"-I/opt/h/include"* ]]
}

@test "manual pages have no formatting errors" {
	cd "$TOOLS"
	for page in include/holdfast/holdfast_slice.3 lockbench/lockbench.1 \
		pathbench/pathbench.1; do
		run groff -t -man -Tutf8 -ww -z "$page"
		[ -z "$output" ]
		! command -v mandoc >/dev/null || mandoc -T lint -W error "$page"
	done
}

@test "every option of lockbench is in its help and its manual page" {
	options=$(grep -o '^	{ "[a-z]*",' "$TOOLS/lockbench/options.c" | tr -dc 'a-z\n')
	[ "$(wc -l <<<"$options")" -ge 14 ]
	for option in $options; do
		"$BIN/lockbench" --help | grep -q -e "--$option"
		grep -q -F -e "\\-\\-$option" "$TOOLS/lockbench/lockbench.1"
	done
}

@test "lockbench: results add up for each lock, JSON and TSV agree" {
	run --separate-stderr "$BIN/lockbench" -t 1,3 -l all -s 2001 -i 7 -n 2 \
		--spin 50 --measure --json x.json --tsv x.tsv
	[ "$status" -eq 0 ]
	heading='| Threads | base (s) | base /s | ext (s) | ext /s | %diff (s) |'
	[ "$(grep -cxF "$heading" <<<"$output")" -eq 3 ]
	jq -e '.results | length == 24' x.json
	jq -e '[.results[] | .hold_ns.count == 2001 and .wait_ns.count == 2001 and
		.seconds > 0 and .hold_ns.p50 <= .hold_ns.p99 and
		.hold_ns.p99 <= .hold_ns.max] | all' x.json
	jq -e '.extension.available | type == "boolean"' x.json
	[ "$(wc -l <x.tsv)" -eq 25 ]
	[ "$(awk -F'\t' '{ print NF }' x.tsv | sort -u)" = 22 ]
	[ "$(cut -f1-5 x.tsv | sed 1d)" = "$(jq -r '.results[] |
		"\(.lock)\t\(.threads)\t\(.variant)\t\(.run)\t" +
		(.seconds | tostring)' x.json | awk -F'\t' -v OFS='\t' '
		{ $5 = sprintf("%.9f", $5); print }')" ]
	[ ! -e x.json.tmp ]
}

@test "lockbench: one variant, output to stdout" {
	run --separate-stderr "$BIN/lockbench" -t 2 -s 100 -n 1 --ext off --tsv -
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ "${#lines[@]}" -eq 2 ]
	[[ ${lines[1]} == tas$'\t'2$'\t'base$'\t'1$'\t'* ]]
	run --separate-stderr "$BIN/lockbench" -t 2 -s 100 -n 1 --ext on --json -
	jq -e '.results[0].variant == "ext"' <<<"$output"
}

@test "lockbench: preempted holders are counted" {
	# Sections longer than a time slice, more threads than CPUs.
	run --separate-stderr "$BIN/lockbench" -t 4 -s 200 -i 1000000 -n 1 \
		--ext off --measure --cpus "$(taskset -pc $$ | sed 's/.*: //; s/[,-].*//')" --tsv -
	[ "$status" -eq 0 ]
	preempted=$(sed 1d <<<"$output" | cut -f8)
	[ "$preempted" != - ] || skip "$stderr"
	[ "$preempted" -gt 0 ]
}

@test "lockbench: bad input is refused with its name and status 64" {
	for bad in --threads=0 --threads=-1 --threads= --threads=1,,2 \
		--threads=4-2 --threads=20000 --threads=1-65 --threads=2x \
		--locks=foo --locks= '--locks=tas,,' --ext=maybe --sections=0 \
		--sections=1e6 --increments=0 --increments=-5 --runs=0 \
		--runs=1001 --spin=x --outside=' 1' --cpus=a --cpus=99999 \
		--cpus=1023 --sections=99999999999999999999 --nonsense surplus; do
		run --separate-stderr "$BIN/lockbench" "$bad"
		echo "$bad: $status $stderr"
		[ "$status" -eq 64 ]
		[ -z "$output" ]
		[ -n "$stderr" ]
	done
	run "$BIN/lockbench" --tsv - --json -
	[ "$status" -eq 64 ]
	run "$BIN/lockbench" --json /nonexistent/x.json
	[ "$status" -eq 73 ]
}

@test "lockbench: NUMA options work or are ignored with a message" {
	run --separate-stderr "$BIN/lockbench" -t 2 -s 1000 -n 1 --nodes 0 \
		--interleave --tsv -
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 3 ]
	run --separate-stderr "$BIN/lockbench" -t 1 -s 10 -n 1 --nodes 63
	[ "$status" -eq 64 ] || [[ $stderr == *'no NUMA support'* ]]
}

@test "pathbench: cases, variants and bad input" {
	run --separate-stderr "$BIN/pathbench" plain getppid fault signal pingpong begin-end
	[ "$status" -eq 0 ]
	[ "${#lines[@]}" -eq 5 ]
	for line in "${lines[@]}"; do
		[[ $line =~ ^[a-z-]+\.plain\ insn\ [0-9]+\.[0-9]{2}\ [0-9]+\.[0-9]{2}$ ]]
	done
	for bad in sideways ''; do
		run "$BIN/pathbench" "$bad"
		[ "$status" -eq 64 ]
	done
	run "$BIN/pathbench" plain nonsense
	[ "$status" -eq 64 ]
	run "$BIN/pathbench"
	[ "$status" -eq 64 ]
	run "$BIN/pathbench" enabled getppid
	[ "$status" -eq 0 ] || { [ "$status" -eq 69 ] && [[ $output == *'no time-slice extension: '* ]]; }
}
