# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# kernel/base.manifest: the files that the series touches, as the base has them.
# Lines as sha256sum prints them; a file that the series creates is a comment
# "# absent  PATH", which sha256sum -c skips.

MANIFEST=$ROOT/kernel/base.manifest

# manifest_differs DIR [FILE...]: prints the files of DIR that are not as in the
# manifest, those named or all. A file that the manifest does not know differs.
manifest_differs() {
	local dir=$1 sum path file all
	local -A want=()

	shift
	[[ -f $MANIFEST ]] || return 0
	while read -r sum path; do
		case $sum in
		'#') [[ $path == 'absent  '* ]] && want[${path#absent  }]=absent ;;
		?*) want[$path]=$sum ;;
		esac
	done <"$MANIFEST"
	if [[ $# -eq 0 ]]; then
		mapfile -t all < <(printf '%s\n' "${!want[@]}" | sort)
		set -- "${all[@]}"
	fi
	for file; do
		[[ $(manifest_state "$dir/$file") == "${want[$file]-unknown}" ]] ||
			printf '%s\n' "$file"
	done
}

# manifest_state PATH: its sha256, "absent", or "special" for anything else
manifest_state() {
	if [[ -f $1 ]]; then
		sha256 "$1"
	elif [[ -e $1 || -L $1 ]]; then
		echo special
	else
		echo absent
	fi
}
