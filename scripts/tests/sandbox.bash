# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154 # status and output are set by bats
#
# A made-up Holdfast for the unit tests: the real scripts with a base of a few
# small files and a series of four topics. Its path has a space in it.

HERE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)

# made_up_base DIR VERSION: a kernel tree as far as the scripts look at one
made_up_base() {
	local dir=$1 f

	mkdir -p "$dir"/{kernel,include/linux,scripts}
	cat >"$dir/Makefile" <<-EOF
		# SPDX-License-Identifier: GPL-2.0
		VERSION = ${2%%.*}
		PATCHLEVEL = $(cut -d. -f2 <<<"$2")
		SUBLEVEL = ${2##*.}
		EXTRAVERSION =
		NAME = Made Up
		X = 1
	EOF
	touch "$dir/Kbuild" "$dir/Kconfig"
	for f in kernel/a.c kernel/b.c include/linux/x.h; do
		seq -f "$f line %g" 80 >"$dir/$f"
	done
	echo 'to be removed' >"$dir/kernel/old.c"
	printf '#!/bin/sh\nexit 0\n' >"$dir/scripts/tool"
	chmod 755 "$dir/scripts/tool"
	echo '*.o' >"$dir/.gitignore"
	echo 'ignored by .gitignore, yet part of the release' >"$dir/kernel/blob.o"
	# the stand-in finds fault with one word
	cat >"$dir/scripts/checkpatch.pl" <<-'EOF'
		open(my $f, '<', $ARGV[-1]) or die;
		exit(grep { /^\+.*BADSTYLE/ } <$f>);
	EOF
}

# sandbox: SB, with build/base in place and no series yet
sandbox() {
	SB="$1/hold fast"
	mkdir -p "$SB/kernel" "$SB/patches" "$SB/build"
	mkdir -p "$SB/scripts"
	cp -r "$HERE"/scripts/{lib.sh,lib,base,deps,series} "$SB/scripts/"
	cat >"$SB/kernel/base.conf" <<-'EOF'
		KERNEL_VERSION=6.12.117
		DEB_PACKAGE=holdfast-made-up-source
		DEB_VERSION=6.12.117-1
		DEB_TARBALL=usr/src/source.tar.xz
		DEB_TARBALL_SHA256=0000
		UPSTREAM_URL=${UPSTREAM_URL:-http://127.0.0.1:9}
		UPSTREAM_TARBALL=linux-6.12.117.tar.xz
		UPSTREAM_KEY=0000000000000000000000000000000000000000
		UPSTREAM_KEY_URL=http://127.0.0.1:9/key
	EOF
}

# commit_in_tree TOPIC SUBJECT: what changed in build/tree becomes a commit
commit_in_tree() {
	git -C "$SB/build/tree" add -A
	GIT_AUTHOR_NAME='Zoë Author' GIT_AUTHOR_EMAIL=zoe@example.org \
		GIT_AUTHOR_DATE="2026-03-0$((++DAY)) 12:34:56 +0130" \
		GIT_COMMITTER_NAME=C GIT_COMMITTER_EMAIL=c@example.org \
		git -C "$SB/build/tree" commit -q -F - <<-EOF
		$2

		Why this is needed, in a line or two.

		Upstream: ${3:-ours}
		Topic: $1
		Signed-off-by: Zoë Author <zoe@example.org>
	EOF
}

# sandbox_series: the series, exported; five patches in four topics
sandbox_series() {
	local t="$SB/build/tree"

	DAY=0
	made_up_base "$SB/build/base" 6.12.117
	printf '# SPDX-License-Identifier: GPL-2.0-only\n' >"$SB/patches/series"
	"$SB/scripts/series" tree
	echo -holdfast >"$t/localversion-holdfast"
	commit_in_tree holdfast 'name the patched kernel'
	sed -i 's/^kernel.a.c line 10$/mark-one1/' "$t/kernel/a.c"
	commit_in_tree one 'a: first change' 'mainline v7.0 (made up)'
	sed -i 's/^kernel.a.c line 14$/mark-one2/' "$t/kernel/a.c"
	commit_in_tree one 'a: second change'
	sed -i 's/^kernel.a.c line 60$/mark-two/' "$t/kernel/a.c"
	mkdir -p "$t/new/dir"
	echo 'a new file' >"$t/new/dir/file.c"
	printf '#!/bin/sh\nexit 1\n' >"$t/new/run"
	chmod 755 "$t/new/run"
	commit_in_tree two 'a: change by another topic'
	sed -i 's/^kernel.b.c line 40$/mark-three/' "$t/kernel/b.c"
	rm "$t/kernel/old.c"
	commit_in_tree three 'b: change, old: remove' 'never (a test)'
	"$SB/scripts/series" refresh
}

# tree_sum DIR: of everything in it: names, modes, links, contents, .git as well
tree_sum() {
	(
		cd "$1" || exit
		find . -printf '%P %y %m %l\n' | sort
		find . -type f -print0 | sort -z | xargs -0 sha256sum
	) | sha256sum
}

# ---- for the tests of apply and unapply -------------------------------------

# what the patches of the series bring, see carries
# shellcheck disable=SC2034
ALL=(-holdfast one1 one2 two three)

# with_kernel: a copy of the file's sandbox, and K, a kernel tree to patch
with_kernel() {
	unset BASE FORCE_BASE TOPICS KDIR
	export GIT_CONFIG_GLOBAL="$BATS_TEST_TMPDIR/gitconfig"
	git config --global user.name 'Some User'
	git config --global user.email user@example.org
	mkdir "$BATS_TEST_TMPDIR/sb"
	cp -a "$BATS_FILE_TMPDIR/hold fast" "$BATS_TEST_TMPDIR/sb/"
	SB="$BATS_TEST_TMPDIR/sb/hold fast"
	K="$BATS_TEST_TMPDIR/my kernel"
	made_up_base "$K" 6.12.117
	remember
}

series() { "$SB/scripts/series" "$@" </dev/null; }
apply() { run series apply --kdir "$K" "$@"; }
unapply() { run series unapply --kdir "$K" "$@"; }

ended() {
	[[ $status -eq $1 ]] || { echo "status $status: $output"; return 1; }
}

# untouched: K is byte for byte as it was at the last remember, .git included
remember() { PRISTINE=$(tree_sum "$K"); }
untouched() { [[ $(tree_sum "$K") == "$PRISTINE" ]]; }

# carries MARK...: the lines that just these patches bring are in K
carries() {
	local have

	have=$(grep -rhoE --exclude-dir=.git --exclude-dir=.pc \
		'^(mark-[a-z0-9]+|-holdfast)$' "$K" | sed 's/^mark-//' | sort)
	[[ $have == "$([[ $# -eq 0 ]] || printf '%s\n' "$@" | sort)" ]] ||
		{ echo "has: $have"; return 1; }
}

# break_last: the last patch of the queue no longer applies
break_last() {
	sed -i 's/^ kernel.b.c line 39$/ kernel\/b.c line 39, but other/' \
		"$SB"/patches/three/0001-*.patch
}
