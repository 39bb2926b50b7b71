# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What the benchmarks share: guests, rows of results, gates, plots.

# shellcheck disable=SC2034 # used by scripts/bench
RESULTS=${HOLDFAST_RESULTS:-$BUILD/results}

GUEST_NICE=-15

# guest DIR NAME TREE CONFIG COMMAND...: boots that kernel, built if need be, and
# keeps what COMMAND prints as DIR/NAME.out, beside console and QEMU line. SMP,
# ICOUNT and APPEND as for scripts/vm. DIR/meta gets what describes the guest.
#
# It runs at a higher priority where that is allowed: when the host takes a CPU
# away from a lock holder, nothing in the guest can help.
guest() {
	local dir=$1 name=$2 tree=$3 config=$4 image first=()

	shift 4
	[[ -n $(nice -n "$GUEST_NICE" true 2>&1) ]] || first=(nice -n "$GUEST_NICE")
	image=$("$ROOT/scripts/kernel" --tree "$tree" "$config")
	say "$name: $tree-$config${APPEND:+, $APPEND}"
	"${first[@]}" \
		"$ROOT/scripts/vm" --tree "$tree" --config "$config" --log "$dir/$name" \
		--timeout "${GUEST_LIMIT:-300}" -- "$@" \
		>"$dir/$name.out" 2>"$dir/$name.err" || {
		cat "$dir/$name.err" >&2
		die "the guest of $name failed; its output is in $dir/$name.out"
	}
	printf '%s.nice: %s\n' "$name" "${first[2]:-0}" >>"$dir/meta"
	meta_guest "$dir" "$name" "$image" >>"$dir/meta"
}

# meta_guest DIR NAME IMAGE
meta_guest() {
	local out=${3%/arch/x86/boot/bzImage}

	printf '%s.release: %s\n' "$2" "$(<"$out/include/config/kernel.release")"
	printf '%s.config: sha256 %s\n' "$2" "$(sha256 "$out/.config")"
	printf '%s.compiler: %s\n' "$2" "$(sed -n \
		's/^CONFIG_CC_VERSION_TEXT="\(.*\)"/\1/p' "$out/.config")"
	printf '%s.qemu: %s\n' "$2" "$(head -n 1 "$1/$2.qemu")"
	sed -n "s/^.*: accelerator \([a-z]*\).*/$2.accelerator: \1/p" "$1/$2.err"
}

# meta_common: what holds for all guests of a benchmark
meta_common() {
	printf 'base: %s\n' "$(sed -n 's/^KERNEL_VERSION=//p' "$ROOT/kernel/base.conf")"
	printf 'series: sha256 %s\n' "$(cd "$ROOT/patches" &&
		find . -type f -print0 | sort -z | xargs -0 cat | sha256sum |
		cut -d' ' -f1)"
	printf 'qemu: %s\n' "$(qemu-system-x86_64 --version | head -n 1)"
	printf 'cpu: %s x %s\n' "$(nproc)" \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)"
	printf 'host: %s\n' "$(uname -sr)"
	printf 'date: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
}

# row CASE UNIT BASE SERIES: one line of the results; - for what there is not
row() {
	local ratio

	ratio=$(awk -v b="$3" -v s="$4" 'BEGIN {
		if (b + 0 > 0 && s != "-") printf "%.4f", s / b; else print "-" }')
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$BENCH" "$1" "$2" "$3" "$4" "$ratio" \
		>>"$TSV.new"
}

# gate WHAT VALUE LIMIT: VALUE, with the unit in WHAT, must not exceed LIMIT
GATES_FAILED=0
gate() {
	local verdict=ok

	awk -v v="$2" -v l="$3" 'BEGIN { exit !(v ~ /^-?[0-9]/ && v + 0 <= l + 0) }' || {
		verdict=FAILED
		GATES_FAILED=$((GATES_FAILED + 1))
	}
	printf 'gate: %s: %s, at most %s: %s\n' "$1" "$2" "$3" "$verdict"
}

gates_passed() {
	[[ $GATES_FAILED -eq 0 ]] || {
		say "$BENCH: $GATES_FAILED gates failed"
		return 1
	}
}

# plot NAME: a gnuplot script on standard input makes NAME.png and NAME.svg;
# it plots to the terminal set for it
plot() {
	local script terminal

	command -v gnuplot >/dev/null || {
		warn "no gnuplot, no plots"
		return 0
	}
	script=$(cat)
	for terminal in "png pngcairo" "svg svg"; do
		printf 'set terminal %s size 960,540\nset output "%s"\n%s\n' \
			"${terminal#* }" "$RESULTS/$1.${terminal% *}" "$script" |
			gnuplot 2>&1 | sed 's/^/gnuplot: /' >&2 ||
			warn "gnuplot failed for $1"
	done
}
