# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The stages of scripts/check that need no guest.

# shell_files: every shell script of the repository
shell_files() {
	local f

	git -C "$ROOT" ls-files -co --exclude-standard | while read -r f; do
		case $f in
		*.patch) ;;
		*.sh | *.bash | *.bats) printf '%s\n' "$f" ;;
		*) ! head -n 1 "$ROOT/$f" 2>/dev/null |
			grep -qE '^#!.*(bash|busybox sh|/sh)$' || printf '%s\n' "$f" ;;
		esac
	done
}

lint_shell() (
	cd "$ROOT" && shell_files | xargs shellcheck -x
)

# lint_spdx: the licence of each file in its first lines; a man page or a table
# has it in a comment like all others
lint_spdx() {
	local f bad=0

	while read -r f; do
		case $f in
		*.patch | patches/series | kernel/base.manifest | *.md | *.svg | \
		.gitignore | .editorconfig | LICENSES/* | COPYING) continue ;;
		esac
		head -n 5 "$ROOT/$f" | grep -q SPDX-License-Identifier && continue
		printf '%s: no SPDX line\n' "$f"
		bad=1
	done < <(git -C "$ROOT" ls-files -c)
	return $bad
}

# lint_exceptions: each splat exception has its reason right above
lint_exceptions() {
	awk '!/^(#|$)/ && last !~ /^#/ { print FILENAME ":" FNR ": no reason"
		bad = 1 }
	     { last = $0 }
	     END { exit bad }' "$ROOT/selftests/lib/splat-exceptions"
}

stage_lint() {
	run_test lint/shellcheck lint_shell
	run_test lint/spdx lint_spdx
	run_test lint/splat-exceptions lint_exceptions
	run_test lint/series "$ROOT/scripts/series" check
}

# bats_results FILE: a result for each of its tests; the repeat command is bats'
bats_results() {
	local file=$1 name line output status=0 start=$SECONDS

	name=unit/$(basename "$file" .bats)
	output=$BUILD/log/check/${name//\//-}.tap
	bats --tap --timing "$file" >"$output" 2>&1 </dev/null || status=$?
	while IFS= read -r line; do
		bats_result "$name" "$line" "$file"
	done <"$output"
	# Such as a file that bats cannot read, or a test that it did not get to.
	if ! grep -qE '^1\.\.[1-9]' "$output" ||
	   { [[ $status -ne 0 ]] && ! grep -q '^not ok' "$output"; }; then
		result "$name" fail "$((SECONDS - start))" \
			"bats ended with $status; see ${output#"$ROOT"/}" "bats $file"
	fi
}

# bats_result NAME LINE FILE: one TAP line, "ok 1 title in 12ms # skip reason"
bats_result() {
	local name=$1 line=$2 title ms reason=''

	if [[ $line =~ ^(not\ )?ok\ [0-9]+\ (.*) ]]; then
		title=${BASH_REMATCH[2]}
		if [[ $title == *' # skip'* ]]; then
			reason=${title#*' # skip'}
			title=${title%%' # skip'*}
		fi
		ms=$(sed -n 's/.* in \([0-9]*\)ms$/\1/p' <<<"$title")
		title=${title% in *ms}
		if [[ $line == not* ]]; then
			result "$name: $title" fail "$((${ms:-0} / 1000))" '' \
				"bats -f '$title' ${3#"$ROOT"/}"
		elif [[ -n $reason ]]; then
			result "$name: $title" skip 0 "$reason"
		else
			result "$name: $title" pass "$((${ms:-0} / 1000))"
		fi
	elif [[ $line == '#'* ]]; then
		printf '%s\n' "$line"
	fi
}

stage_unit() {
	local f

	run_test unit/tools make -C "$ROOT/tools" check
	for f in "$ROOT"/scripts/tests/*.bats; do
		# It boots that kernel, and comes last.
		[[ $f != */vm.bats ]] || await base guest || true
		bats_results "$f"
	done
}

# touched_objects TREE OUT: objects of all C files that the series touches, as
# far as this configuration builds them
touched_objects() {
	local f

	"$ROOT/scripts/series" list --files | while read -r f; do
		case $f in
		tools/* | Documentation/* | samples/*) ;;
		*.c) [[ ! -f $1/$f || ! -f $2/${f%.c}.o ]] ||
			printf '%s\n' "${f%.c}.o" ;;
		esac
	done
}

# compile_prefix COMMIT OBJECT...: the tree as it is after that patch
compile_prefix() {
	local tree=$BUILD/prefix out=$BUILD/kernel/prefix-guest object objects=()

	# Merging takes its time, and few patches touch a Kconfig file.
	if ! git -C "$tree" diff --quiet HEAD "$1" -- '*Kconfig*'; then
		rm -f "$out/.config"
	fi
	git -C "$tree" checkout -q --detach "$1" || return 1
	shift
	mkdir -p "$out"
	config_request guest "$tree" series >"$out/request.new"
	if [[ ! -f $out/.config ]] ||
	   ! cmp -s "$out/request.new" "$out/request.config"; then
		mv "$out/request.new" "$out/request.config"
		config_merge "$tree" "$out" "$out/request.config" || return 1
		config_verify "$out/request.config" "$out/.config" || return 1
	fi
	for object; do
		[[ ! -f $tree/${object%.o}.c ]] || objects+=("$object")
	done
	kmake "$tree" "$out" -j"$(nproc)" "${objects[@]}"
}

# stage_prefix: every prefix of the series compiles what the series touches
stage_prefix() {
	local tree=$BUILD/tree commit subject objects n=0

	await series guest || return 0
	if [[ ! -e $BUILD/prefix/.git ]]; then
		git -C "$tree" worktree prune
		git -C "$tree" worktree add -q --detach "$BUILD/prefix" holdfast-base
	fi
	mapfile -t objects < <(touched_objects "$tree" "$BUILD/kernel/series-guest")
	while read -r commit subject; do
		n=$((n + 1))
		run_test "prefix/$n: $subject" \
			compile_prefix "$commit" "${objects[@]}"
	done < <(git -C "$tree" log --reverse --format='%h %s' holdfast-base..holdfast)
}
