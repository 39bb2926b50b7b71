# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Length of kernel paths in instructions: -icount, so the same on every host and
# run. What the feature costs who does not use it is gated.

PATH_CASES=(getppid pingpong fault signal)
# column of the results, output it comes from, variant of pathbench
PATH_WAYS=("kconfig-off kconfig-off plain" "boot-off boot-off plain"
	"on on plain" "enabled on enabled" "request on request")
PATH_WAYS_RT=("on rt-on plain" "enabled rt-on enabled" "request rt-on request")

collect() {
	local tool=/opt/holdfast/tools/pathbench all
	local -x SMP=1 ICOUNT=1 APPEND=

	all="$tool plain && $tool enabled && $tool request"
	make -s -C "$ROOT/tools" STATIC=1 >&2
	guest "$1" base base guest "$tool" plain
	guest "$1" kconfig-off series guest-noslice "$tool" plain
	APPEND=rseq_slice_ext=0 guest "$1" boot-off series guest "$tool" plain
	guest "$1" on series guest sh -c "$all"
	guest "$1" rt-base base rt "$tool" plain
	guest "$1" rt-on series rt sh -c "$all"
}

# value DIR OUTPUT CASE VARIANT: the median; - if it is missing
value() {
	awk -v want="$3.$4" '$1 == want && $2 == "insn" { v = $3 }
		END { print v == "" ? "-" : v }' "$1/$2.out"
}

# percent_more BASE VALUE
percent_more() {
	awk -v b="$1" -v v="$2" 'BEGIN {
		if (b == "-" || v == "-") print "-"
		else printf "%.3f", (v / b - 1) * 100 }'
}

# path_table DIR PREFIX BASE-OUTPUT WAY...: rows of the results, named PREFIX...,
# and the same as a table
path_table() {
	local dir=$1 prefix=$2 from=$3 case base way name output variant v

	shift 3
	printf '| Case | base |'
	printf ' %s |' "${@%% *}"
	printf '\n|---|---:|'
	printf '%.0s---:|' "$@"
	printf '\n'
	for case in "${PATH_CASES[@]}"; do
		base=$(value "$dir" "$from" "$case" plain)
		printf '| %s | %s |' "$case" "$base"
		for way; do
			read -r name output variant <<<"$way"
			v=$(value "$dir" "$output" "$case" "$variant")
			row "$prefix$case.$name" insn "$base" "$v"
			printf ' %s [%s%%] |' "$v" "$(percent_more "$base" "$v")"
		done
		printf '\n'
	done
}

# path_single DIR PREFIX BASE-OUTPUT OUTPUT CASE TEXT: a row without variants,
# base as it is against series with the request
path_single() {
	local base series

	base=$(value "$1" "$3" "$5" plain)
	series=$(value "$1" "$4" "$5" request)
	row "$2$5" insn "$base" "$series"
	printf '%s: base %s, series %s\n' "$6" "$base" "$series"
}

path_kernel() {
	printf '%s, instructions, median of 101 samples; in brackets against base\n\n' "$2"
	path_table "$1" "${@:3}"
	printf '\n'
	path_single "$1" "$3" "$4" "${3:+rt-}on" grant-yield \
		"A section that meets a wake-up (preempted; granted and yielded)"
}

path_gates() {
	local dir=$1 case way name output variant limit base v

	for case in getppid pingpong; do
		base=$(value "$dir" base "$case" plain)
		for way in "${PATH_WAYS[@]}"; do
			read -r name output variant <<<"$way"
			case $case.$name in
			*.request) continue ;;
			*.enabled) limit=1 ;;
			*.on) limit=0.5 ;;
			getppid.*) limit=0 ;;
			*) limit=0.2 ;;
			esac
			v=$(value "$dir" "$output" "$case" "$variant")
			gate "$case.$name, percent over base" \
				"$(percent_more "$base" "$v")" "$limit"
		done
	done
	gate "begin-end, instructions" "$(value "$dir" on begin-end request)" 6
}

path_plot() {
	plot path <<-EOF
	set title 'Instructions against the unpatched kernel'
	set style data histogram
	set style fill solid 0.8
	set boxwidth 0.9
	set yrange [0.9:*]
	set ylabel 'series / base'
	set grid y
	set xtics rotate by -45
	set rmargin 12
	plot 1 with lines lc rgb 'black' notitle, \
		'< grep -P "\\tinsn\\t" "$TSV.new" | grep -P "\\t(getppid|pingpong|fault|signal)\\."' \
		using 6:xtic(2) lc rgb '#4878a8' notitle
	EOF
}

report() {
	path_kernel "$1" PREEMPT '' base "${PATH_WAYS[@]}"
	path_single "$1" '' base on begin-end \
		"holdfast_slice_begin and _end without a grant"
	printf '\n'
	if [[ -f $1/rt-on.out ]]; then
		path_kernel "$1" PREEMPT_RT rt. rt-base "${PATH_WAYS_RT[@]}"
		printf '\n'
	fi
	path_plot
	path_gates "$1"
}
