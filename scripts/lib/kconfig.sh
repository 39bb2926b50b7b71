# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Kernel configurations: fragments of kernel/configs expanded, merged on the
# tree's own tinyconfig, and verified to have survived.

CONFIGS=${CONFIGS:-$ROOT/kernel/configs}

# config_names: those that can be built; common and checks are only included
config_names() {
	local f name

	for f in "$CONFIGS"/*.config; do
		name=${f##*/}
		name=${name%.config}
		case $name in
		common | checks | topic-*) ;;
		*) printf '%s\n' "$name" ;;
		esac
	done
}

# config_expand NAME: the fragment's lines with its includes before them
config_expand() {
	local line file=$CONFIGS/$1.config

	[[ -f $file ]] || die -s "$EX_USAGE" "no kernel/configs/$1.config"
	while IFS= read -r line || [[ -n $line ]]; do
		case $line in
		'# include: '*) config_expand "${line#\# include: }" ;;
		*) printf '%s\n' "$line" ;;
		esac
	done <"$file"
}

# config_topics SRC: the topics whose Kconfig symbols this tree has
config_topics() {
	local f symbol

	for f in "$CONFIGS"/topic-*.config; do
		[[ -f $f ]] || continue
		symbol=$(sed -n 's/^CONFIG_\([A-Z0-9_]*\)=.*/\1/p;T;q' "$f")
		if grep -qrE "^(menu)?config $symbol\$" --include='Kconfig*' \
			"$1/init" "$1/kernel" "$1/lib" "$1/mm"; then
			f=${f##*/}
			printf '%s\n' "${f%.config}"
		fi
	done
}

# config_request NAME SRC TREE: what is asked for, the last word last. A topic's
# symbols come before the configuration, which may switch them off again.
config_request() {
	local topic

	if [[ $3 == series ]]; then
		for topic in $(config_topics "$2"); do
			config_expand "$topic"
		done
	fi
	config_expand "$1"
}

# config_wanted FILE: "SYMBOL VALUE" of each symbol's last mention, n for unset
config_wanted() {
	awk '/^CONFIG_[A-Z0-9_a-z]+=/ {
		i = index($0, "="); want[substr($0, 1, i - 1)] = substr($0, i + 1)
	     }
	     /^# CONFIG_[A-Z0-9_a-z]+ is not set$/ { want[$2] = "n" }
	     END { for (s in want) print s, want[s] }' "$1" | sort
}

# config_verify REQUEST DOTCONFIG: names each symbol that did not survive
config_verify() {
	local symbol value got bad=0

	while read -r symbol value; do
		got=$(sed -n "s/^$symbol=//p" "$2")
		[[ ${got:-n} == "$value" ]] && continue
		say "$symbol: asked for $value, got ${got:-n}"
		bad=1
	done < <(config_wanted "$1")
	return $bad
}

# config_merge SRC OUT REQUEST: OUT/.config = tinyconfig + REQUEST. The merge
# starts from "no" (-n) as tinyconfig does: what a fragment makes visible does
# not slip in by its default.
config_merge() {
	local src=$1 out=$2 request=$3 tmp

	make -s -C "$src" O="$out" outputmakefile || return 1
	new_tmp tmp
	(
		unset CONFIG_ KCONFIG_CONFIG
		cd "$out" &&
		TMPDIR=$tmp "$src/scripts/kconfig/merge_config.sh" -n -Q -O "$out" \
			"$src/kernel/configs/tiny-base.config" \
			"$src/kernel/configs/tiny.config" \
			"$src/arch/x86/configs/tiny.config" "$request"
	)
}
