# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2153 # globals of lib/queue.sh
#
# Applying to and removing from any kernel tree. Everything is tried on copies of
# the touched files first; the tree sees only a result that is known to be whole.
# What a tree carries is judged by the content of those files alone.

# no_detour TREE FILE: stops if a symlink would lead from FILE's path elsewhere
no_detour() {
	local part=$2

	while [[ $part == */* ]]; do
		part=${part%/*}
		[[ ! -L $1/$part ]] ||
			die -s "$EX_DATA" "$1/$part is not a directory but a symlink"
	done
}

# scratch_copy TREE DIR FILE...: copies of TREE's files, those that exist
scratch_copy() {
	local tree=$1 dir=$2 file have=()

	shift 2
	for file; do
		no_detour "$tree" "$file"
		if [[ -L $tree/$file || ( -e $tree/$file && ! -f $tree/$file ) ]]; then
			die -s "$EX_DATA" "$tree/$file is not a regular file"
		fi
		[[ -e $tree/$file ]] && have+=("./$file")
	done
	mkdir -p "$dir"
	[[ ${#have[@]} -eq 0 ]] ||
		(cd "$tree" && cp -p --parents -t "$dir" -- "${have[@]}") ||
		die "cannot copy from $tree"
}

# patch_dir DIR PATCH [-R]: one patch, all of it or nothing, no fuzz
patch_dir() {
	(cd "$1" && bare_git apply --whitespace=nowarn "${@:3}" \
		-- "$PATCHES/$2" 2>/dev/null)
}

# explain DIR PATCH: why PATCH does not apply to DIR: the hunks, and whether fuzz
# would hide it
explain() {
	local out

	say "patches/$2 does not apply:"
	out=$(patch -d "$1" -p1 -F0 -N -r - --dry-run <"$PATCHES/$2" 2>&1) || true
	awk '/^(checking|patching) file / { file = $3 }
	     /^Hunk .*FAILED/ { sub(/^Hunk #/, "hunk #"); print "  " file ": " $0 }
	     /No file to patch|already exists|previously applied/ {
		print "  " (file ? file ": " : "") $0 }
	     /^can.t find file/ { print "  " $0 }
	     /^\|\+\+\+ b\// { print "  missing: " substr($2, 3) }' <<<"$out" >&2
	if patch -d "$1" -p1 -F3 -N -r - --dry-run <"$PATCHES/$2" >/dev/null 2>&1
	then
		say "it would apply with fuzz, which is not accepted: the result" \
		    "may be wrong"
	fi
}

# apply_dir DIR PATCH...: all of them; the first that fails is explained
apply_dir() {
	local dir=$1 patch

	shift
	for patch; do
		patch_dir "$dir" "$patch" || {
			explain "$dir" "$patch"
			return 1
		}
	done
}

# carries DIR: sets CARRIED, the topics that DIR carries in full, and takes them
# out of DIR; on a tree of ours the base's files are left
carries() {
	local dir=$1 i k topic patches

	CARRIED=()
	for ((i = ${#TOPIC_LIST[@]} - 1; i >= 0; i--)); do
		topic=${TOPIC_LIST[i]}
		mapfile -t patches < <(patches_of "$topic")
		patch_dir "$dir" "${patches[-1]}" -R --check || continue
		rm -rf "$dir.try"
		cp -a "$dir" "$dir.try"
		for ((k = ${#patches[@]} - 1; k >= 0; k--)); do
			patch_dir "$dir.try" "${patches[k]}" -R || continue 2
		done
		rm -rf "$dir"
		mv "$dir.try" "$dir"
		CARRIED=("$topic" "${CARRIED[@]}")
	done
}

# inspect: looks at KDIR. Sets CARRIED, FILES (touched by the chosen and the
# carried topics), DIFFER (those that differ from the base even without the
# carried topics) and leaves the base's files in $WORK/base.
inspect() {
	local patches

	[[ -f $MANIFEST ]] || die "no kernel/base.manifest; 'make refresh' writes it"
	mapfile -t FILES < <(files_of "${QUEUE[@]}")
	scratch_copy "$KDIR" "$WORK/base" "${FILES[@]}"
	carries "$WORK/base"
	mapfile -t patches < <(patches_of "${CHOSEN[@]}" "${CARRIED[@]}")
	mapfile -t FILES < <(files_of "${patches[@]}")
	mapfile -t DIFFER < <(manifest_differs "$WORK/base" "${FILES[@]}")
}

# halfway: 0 if single patches of topics are in KDIR, and without them it is the
# base; names them
halfway() {
	local k patch in=() rest

	scratch_copy "$KDIR" "$WORK/half" "${FILES[@]}"
	for ((k = ${#QUEUE[@]} - 1; k >= 0; k--)); do
		patch_dir "$WORK/half" "${QUEUE[k]}" -R && in=("${QUEUE[k]}" "${in[@]}")
	done
	rest=$(manifest_differs "$WORK/half" "${FILES[@]}")
	[[ ${#in[@]} -gt 0 && -z $rest ]] || return 1
	say "$KDIR is half-patched, first file that differs: ${DIFFER[0]};" \
	    "only these patches are in it:"
	printf '  %s\n' "${in[@]}" >&2
	[[ ! -s $KDIR/.pc/applied-patches ]] ||
		say "quilt applied patches there; go on with quilt push or pop"
}

# refuse: the tree is not ours; says which files differ and what could be done
refuse() {
	halfway && exit "$EX_DATA"
	say "$KDIR is not Linux $KERNEL_VERSION as far as the series touches it;" \
	    "first file that differs: ${DIFFER[0]}; all of them:"
	printf '  %s\n' "${DIFFER[@]}" >&2
	! grep -qs $'\r$' "$WORK/base/${DIFFER[0]}" ||
		say "${DIFFER[0]} has CRLF line endings, the series needs LF as in" \
			"the release; in git see core.autocrlf"
	if [[ ${#CARRIED[@]} -eq 0 ]]; then
		mapfile -t PATCH_LIST < <(patches_of "${CHOSEN[@]}")
		apply_dir "$WORK/base" "${PATCH_LIST[@]}" &&
			say "each patch applies there without fuzz, though;" \
			    "FORCE_BASE=1 applies them"
	else
		say "it carries ${CARRIED[*]}; FORCE_BASE=1 goes on in spite of the rest"
	fi
	die -s "$EX_DATA" "nothing was changed"
}

# includes "A B" "B": is each word of the second in the first?
includes() {
	local word

	for word in $2; do
		[[ " $1 " == *" $word "* ]] || return 1
	done
}

# mine: 0 if what KDIR has is the base plus CARRIED, or the user insists
mine() { [[ ${#DIFFER[@]} -eq 0 || $FORCE == 1 ]]; }

do_apply() {
	local target

	inspect
	mine || refuse
	if [[ ${#CARRIED[@]} -gt 0 ]] &&
	   includes "${CARRIED[*]}" "${CHOSEN[*]}"; then
		say "$KDIR already carries ${CARRIED[*]}; nothing to do"
		return
	fi
	target="${CARRIED[*]} ${CHOSEN[*]}"
	topics_choose "$target"
	change_to "${CHOSEN[@]}"
	say "$KDIR now carries ${CHOSEN[*]}"
}

do_unapply() {
	local topic out=() rest=() wanted=" ${NAMED[*]:-${CHOSEN[*]}} "

	inspect
	mine || refuse
	if [[ ${#CARRIED[@]} -eq 0 ]]; then
		say "$KDIR carries no patch of the series; nothing to do"
		return
	fi
	for topic in "${CARRIED[@]}"; do
		if includes "$wanted" "$topic"; then
			out+=("$topic")
		elif [[ $topic != "$NAMING" ]]; then
			rest+=("$topic")
		fi
	done
	[[ ${#rest[@]} -eq 0 ]] || rest=("$NAMING" "${rest[@]}")
	if [[ ${#out[@]} -eq 0 || ${rest[*]} == "${CARRIED[*]}" ]]; then
		say "$KDIR carries ${CARRIED[*]}; nothing to do"
		return
	fi
	change_to "${rest[@]}"
	say "$KDIR now carries ${rest[*]:-no patch of the series}"
}

# change_to TOPIC...: from CARRIED to these topics; no topic is the base
change_to() {
	local kind=plain patches

	[[ ${#CARRIED[@]} -eq 0 || ! -s $KDIR/.pc/applied-patches ]] ||
		die -s "$EX_DATA" "quilt applied the patches in $KDIR;" \
			"'quilt pop -a' takes them out"
	[[ ! -e $KDIR/.git ]] || kind=git
	"${kind}_ready"
	mapfile -t patches < <(patches_of "$@")
	cp -a "$WORK/base" "$WORK/new"
	apply_dir "$WORK/new" "${patches[@]}" ||
		die -s "$EX_DATA" "$KDIR: nothing was changed"
	"${kind}_change" "${patches[@]}"
}

# ---- plain trees ----------------------------------------------------------

plain_ready() {
	[[ -w $KDIR ]] || die "$KDIR is not writable"
}

# plain_stage NEW STAGE: puts what changes beside its final place: the new files
# under STAGE/new, the present ones under STAGE/old. Sets CHANGED.
plain_stage() {
	local new=$1 stage=$2 file

	CHANGED=()
	for file in "${FILES[@]}"; do
		cmp -s -- "$new/$file" "$KDIR/$file" && continue
		[[ -e $new/$file || -e $KDIR/$file ]] || continue
		CHANGED+=("$file")
		mkdir -p "$stage/new/$(dirname "$file")" \
			 "$stage/old/$(dirname "$file")" || return 1
		if [[ -e $KDIR/$file ]]; then
			# also as the new one: it keeps owner and mode
			cp -p -- "$KDIR/$file" "$stage/old/$file" &&
				cp -p -- "$KDIR/$file" "$stage/new/$file" ||
				return 1
		fi
		if [[ -e $new/$file ]]; then
			cat -- "$new/$file" >"$stage/new/$file" || return 1
			plain_mode "$new/$file" "$stage/new/$file" || return 1
		else
			rm -f -- "$stage/new/$file" || return 1
		fi
	done
}

# plain_mode FROM TO: the x bit is the patch's, the others are the user's
plain_mode() {
	if [[ -x $1 && ! -x $2 ]]; then
		chmod +x -- "$2"
	elif [[ ! -x $1 && -x $2 ]]; then
		chmod -x -- "$2"
	fi
}

# plain_put DIR FILE...: makes KDIR's files those of DIR, by renaming; a file
# that DIR lacks goes, and so does a directory that becomes empty
plain_put() {
	local dir=$1 file

	shift
	for file; do
		if [[ -e $dir/$file ]]; then
			mkdir -p -- "$KDIR/$(dirname "$file")" &&
				mv -fT -- "$dir/$file" "$KDIR/$file" || return 1
		else
			rm -f -- "$KDIR/$file" || return 1
			(cd "$KDIR" && rmdir -p --ignore-fail-on-non-empty \
				-- "$(dirname "$file")" 2>/dev/null) || true
		fi
	done
}

# plain_change: KDIR's files become those of $WORK/new, all or none
plain_change() {
	local stage

	new_tmp stage "$KDIR"
	plain_stage "$WORK/new" "$stage" || die "$KDIR: no room or no right to write;" \
		"nothing was changed"
	# From here on a signal has to wait: these are but renames.
	trap '' INT TERM HUP
	if ! plain_put "$stage/new" "${CHANGED[@]}"; then
		plain_put "$stage/old" "${CHANGED[@]}" || {
			keep_tmp "$stage"
			die "$KDIR: could not be put back; its files are in $stage"
		}
		die "$KDIR: a file could not be replaced; nothing was changed"
	fi
}
