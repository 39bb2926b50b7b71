#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/base: the upstream release, from a server on loopback.

bats_require_minimum_version 1.5.0
load sandbox.bash
load base.bash

setup_file() { base_setup_file; }
setup() { base_setup; }

teardown() {
	[[ -z ${SERVER:-} ]] || kill "$SERVER"
}

# release: a server with the release, its checksum list signed by the pinned key
release() {
	local port='' i

	for i in gpg gpgv python3; do
		command -v $i >/dev/null || skip "no $i"
	done
	export GNUPGHOME="$BATS_FILE_TMPDIR/gnupg"
	if [[ ! -d $GNUPGHOME ]]; then
		mkdir -m 700 "$GNUPGHOME"
		for i in signer other; do
			gpg --batch -q --passphrase '' --quick-gen-key \
				"$i <$i@example.org>" ed25519 sign never 3>&-
		done
		gpgconf --kill all
	fi
	cp "$MADE/$RELEASE" "$WWW/"
	(cd "$WWW" && sha256sum "$RELEASE") >"$BATS_TEST_TMPDIR/sums"
	sign signer
	gpg --batch -q --export signer@example.org >"$WWW/key"
	python3 "$BATS_TEST_DIRNAME/server.py" "$WWW" "$LOG" 3>&- &
	SERVER=$!
	for ((i = 0; i < 100; i++)); do
		[[ ! -s $LOG.port ]] || break
		sleep 0.1
	done
	port=$(<"$LOG.port")
	export UPSTREAM_URL="http://127.0.0.1:$port"
	sed -i -e "s|^UPSTREAM_KEY=.*|UPSTREAM_KEY=$(gpg --batch --with-colons \
		-k signer@example.org | awk -F: '/^fpr/ { print $10; exit }')|" \
	    -e "s|^UPSTREAM_KEY_URL=.*|UPSTREAM_KEY_URL=$UPSTREAM_URL/key|" \
		"$SB/kernel/base.conf"
}

# sign KEY: $BATS_TEST_TMPDIR/sums becomes the signed list on the server
sign() {
	gpg --batch -q --yes -u "$1@example.org" -o "$WWW/sha256sums.asc" \
		--clearsign "$BATS_TEST_TMPDIR/sums" 3>&-
	gpgconf --kill all
}

requests() { grep -c "^$RELEASE" "$LOG" || true; }

@test "verified by signature and checksum, fetched once" {
	release
	run base
	succeeds
	[[ $output != *warning* ]]
	rm -rf "$SB/build/base"
	run base
	succeeds
	[ "$(requests)" -eq 1 ]
}

@test "an interrupted transfer goes on where it stopped" {
	release
	touch "$WWW/$RELEASE.cut"
	run base
	succeeds
	grep -q "^$RELEASE bytes=[1-9]" "$LOG"
}

@test "a killed run leaves no base, the next one goes on" {
	local pid i

	release
	touch "$WWW/$RELEASE.slow"
	# a group of its own, since Ctrl-C is for a whole group, too
	setsid "$SB/scripts/base" >"$BATS_TEST_TMPDIR/out" 2>&1 </dev/null 3>&- &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		[[ ! -s $SB/build/cache/$RELEASE.part ]] || break
		sleep 0.1
	done
	kill -TERM -- "-$pid"
	wait "$pid" || status=$?
	fails 143
	rm "$WWW/$RELEASE.slow"
	run base
	succeeds
	grep -q "^$RELEASE bytes=[1-9]" "$LOG"
}

@test "a damaged beginning is got once more" {
	release
	mkdir -p "$SB/build/cache"
	head -c 100 /dev/zero >"$SB/build/cache/$RELEASE.part"
	run base
	succeeds
	[ "$(requests)" -eq 2 ]
}

@test "a file that stays wrong is given up, nothing is kept" {
	release
	echo junk >>"$WWW/$RELEASE"
	run base
	fails 69
	[[ $output == *"incomplete or damaged"* ]]
	[ -z "$(find "$SB/build/cache" -name "$RELEASE*")" ]
}

@test "a list changed after signing is refused" {
	release
	echo junk >>"$WWW/$RELEASE"
	sed -i "s/^[0-9a-f]\{64\}/$(sha256sum <"$WWW/$RELEASE" | cut -c1-64)/" \
		"$WWW/sha256sums.asc"
	run base
	fails 69
	[[ $output == *"not signed by key"* ]]
	[ "$(requests)" -eq 0 ]
}

@test "a list signed by another key is refused" {
	release
	sign other
	gpg --batch -q --export signer@example.org other@example.org >"$WWW/key"
	run base
	fails 69
	[[ $output == *"not signed by key"* ]]
}

@test "what stands outside the signed text does not count" {
	release
	echo "$(printf %064d 0)  other.tar.xz" >"$BATS_TEST_TMPDIR/sums"
	sign signer
	sed -i "1i $(cd "$WWW" && sha256sum "$RELEASE")" "$WWW/sha256sums.asc"
	run base
	fails 69
	[[ $output == *"does not list $RELEASE"* ]]
}

@test "without the key only https would do" {
	release
	rm "$WWW/key"
	run base
	fails 69
	[[ $output == *"not https"* ]]
}

@test "a release whose touched files differ is refused" {
	release
	cp "$MADE/linux-6.12.119.tar.xz" "$WWW/$RELEASE"
	(cd "$WWW" && sha256sum "$RELEASE") >"$BATS_TEST_TMPDIR/sums"
	sign signer
	run base
	fails 69
	[[ $output == *$'\n  kernel/a.c\n'* ]]
}

@test "upstream is what remains when Debian's package does not match" {
	archive 6.12.119-1
	release
	run base
	succeeds
}

@test "an unpacking that was killed is not taken for a base" {
	release
	mkdir -p "$SB/build/base.new/base/kernel"
	run base
	succeeds
}
