# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Length of kernel paths in instructions: -icount, so the same on every host and
# run. What the feature costs who does not use it is gated.

PATH_CASES=(getppid pingpong fault signal)
# column of the results, output it comes from, variant of pathbench
PATH_WAYS=("kconfig-off kconfig-off plain" "boot-off boot-off plain"
	"on on plain" "enabled on enabled" "request on request")

collect() {
	local tool=/opt/holdfast/tools/pathbench
	local -x SMP=1 ICOUNT=1 APPEND=

	make -s -C "$ROOT/tools" STATIC=1 >&2
	guest "$1" base base guest "$tool" plain
	guest "$1" kconfig-off series guest-noslice "$tool" plain
	APPEND=rseq_slice_ext=0 guest "$1" boot-off series guest "$tool" plain
	guest "$1" on series guest sh -c \
		"$tool plain && $tool enabled && $tool request"
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

# path_row CASE: its rows, and its line of the table
path_row() {
	local dir=$1 case=$2 base way name output variant v

	base=$(value "$dir" base "$case" plain)
	printf '| %s | %s |' "$case" "$base"
	for way in "${PATH_WAYS[@]}"; do
		read -r name output variant <<<"$way"
		v=$(value "$dir" "$output" "$case" "$variant")
		row "$case.$name" insn "$base" "$v"
		printf ' %s [%s%%] |' "$v" "$(percent_more "$base" "$v")"
	done
	printf '\n'
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
	set key outside
	set xtics rotate by -30
	plot 1 with lines lc rgb 'black' notitle, \
		'< grep -P "\\t(getppid|pingpong|fault|signal)\\." "$TSV.new"' \
		using 6:xtic(2) lc rgb '#4878a8' title 'ratio'
	EOF
}

report() {
	local dir=$1 case base series

	printf '%s\n' "Instructions, median of 101 samples; in brackets against base" '' \
		'| Case | base | compiled out | boot off | on, unused | enabled | request |' \
		'|---|---:|---:|---:|---:|---:|---:|'
	for case in "${PATH_CASES[@]}"; do
		path_row "$dir" "$case"
	done
	base=$(value "$dir" base grant-yield plain)
	series=$(value "$dir" on grant-yield request)
	row grant-yield insn "$base" "$series"
	printf '\nA section that meets a wake-up: %s preempted (base), %s granted and yielded\n' \
		"$base" "$series"
	base=$(value "$dir" base begin-end plain)
	series=$(value "$dir" on begin-end request)
	row begin-end insn "$base" "$series"
	printf 'holdfast_slice_begin and _end without a grant: %s\n\n' "$series"
	path_plot
	path_gates "$dir"
}
