# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# shellcheck disable=SC2034 # "tarball" is what debian_ and upstream_ set
#
# Downloads of the base. A file in $CACHE under its final name was verified when
# it came; FILE.sha256 beside it lets damage since then show.

# cached FILE: 0 if $CACHE/FILE is there and as it was verified
cached() {
	local file=$CACHE/$1

	[[ -f $file && -f $file.sha256 ]] || return 1
	[[ $(sha256 "$file") == "$(<"$file.sha256")" ]] && return 0
	say "$1 in the cache is damaged; getting it again"
	rm -f -- "$file" "$file.sha256"
	return 1
}

# keep PATH FILE: PATH, verified, becomes $CACHE/FILE
keep() {
	sha256 "$1" | write_file "$CACHE/$2.sha256"
	mv -f -- "$1" "$CACHE/$2"
}

# ---- Debian ---------------------------------------------------------------

# apt as the user who runs this, root or not. Without an index of the system's
# (a fresh image has none, and only root may get it) an own one is kept in the
# cache, made from the system's sources.
APT=(-qq -o APT::Sandbox::User=root)
apt_own_index() {
	mkdir -p "$CACHE/apt/lists/partial" "$CACHE/apt/archives/partial"
	APT+=(-o "Dir::State::lists=$CACHE/apt/lists" -o "Dir::Cache=$CACHE/apt")
	say "getting a package index"
	apt-get "${APT[@]}" update </dev/null >&2
}

# deb_versions: what the index has of the package, oldest first
deb_versions() {
	apt-cache "${APT[@]}" madison "$DEB_PACKAGE" 2>/dev/null |
		awk -F'|' '{ gsub(/ /, "", $2); print $2 }' | sort -Vu
}

# deb_choose: sets version to the pinned one, or else to the next newer of the
# same stable series: the nearer, the likelier that all touched files match
deb_choose() {
	local v

	version=
	while read -r v; do
		if [[ $v == "$DEB_VERSION" ]]; then
			version=$v
			return
		fi
		[[ -z $version && $v == "${KERNEL_VERSION%.*}".* ]] &&
			dpkg --compare-versions "$v" gt "$DEB_VERSION" && version=$v
	done < <(deb_versions)
	[[ -n $version ]]
}

# debian_tarball WORK: sets tarball to the source tarball in Debian's package
debian_tarball() {
	local work=$1 version=$DEB_VERSION deb sum

	command -v apt-get dpkg-deb >/dev/null || return 1
	deb=${DEB_PACKAGE}_${version}_all.deb
	if ! cached "$deb"; then
		deb_choose || apt_own_index || true
		[[ -n $version ]] || deb_choose || {
			say "no package $DEB_PACKAGE of ${KERNEL_VERSION%.*} here"
			return 1
		}
		[[ $version == "$DEB_VERSION" ]] ||
			say "$DEB_PACKAGE $DEB_VERSION is gone; trying $version"
		deb=${DEB_PACKAGE}_${version}_all.deb
		cached "$deb" || deb_download "$work" || return 1
	fi
	dpkg-deb --fsys-tarfile "$CACHE/$deb" |
		tar -xO -f - "./$DEB_TARBALL" >"$work/source.tar.xz" || {
		say "$deb: no $DEB_TARBALL in it"
		return 1
	}
	sum=$(sha256 "$work/source.tar.xz")
	if [[ $version == "$DEB_VERSION" && $sum != "$DEB_TARBALL_SHA256" ]]; then
		say "$deb: its tarball has sha256 $sum, not $DEB_TARBALL_SHA256"
		rm -f -- "$CACHE/$deb" "$CACHE/$deb.sha256"
		return 1
	fi
	tarball=$work/source.tar.xz
}

# deb_download WORK: apt checks the package against the signed index as it comes;
# an interrupted download is left behind only in WORK
deb_download() {
	local try

	for try in 1 2; do
		say "downloading $DEB_PACKAGE $version"
		if (cd "$1" && apt-get "${APT[@]}" download \
		    "$DEB_PACKAGE=$version" </dev/null >&2) &&
		   dpkg-deb --fsys-tarfile "$1/"*.deb >/dev/null 2>&1; then
			keep "$(echo "$1/"*.deb)" "$deb"
			return 0
		fi
		rm -f "$1/"*.deb
		# the system's index may be older than the archive
		[[ $try == 1 ]] && { apt_own_index || true; }
	done
	say "download of $DEB_PACKAGE $version failed"
	return 1
}

# ---- upstream -------------------------------------------------------------

# http_get URL FILE: goes on where an interrupted download stopped
http_get() {
	curl -fsSL --retry 3 --connect-timeout 20 --speed-limit 1000 \
		--speed-time 60 -C - -o "$2" "$1" </dev/null
}

# signed_sums WORK: sets sums to the checksum list of the release directory,
# only what the signature covers
signed_sums() {
	local key=$CACHE/upstream-key-$UPSTREAM_KEY.gpg status

	sums=$1/sha256sums
	http_get "$UPSTREAM_URL/sha256sums.asc" "$sums.asc" || {
		say "cannot get $UPSTREAM_URL/sha256sums.asc"
		return 1
	}
	if command -v gpgv >/dev/null &&
	   { [[ -s $key ]] || { http_get "$UPSTREAM_KEY_URL" "$1/key" &&
				mv "$1/key" "$key"; }; }; then
		status=$(gpgv --status-fd 1 --keyring "$key" --output "$sums" \
			"$sums.asc" 2>/dev/null) || true
		# last field: fingerprint of the primary key
		grep -q "^\[GNUPG:\] VALIDSIG .*\b$UPSTREAM_KEY\$" <<<"$status" &&
			return 0
		say "sha256sums.asc is not signed by key $UPSTREAM_KEY"
		rm -f "$key"
		return 1
	fi
	# Without the key only the transport vouches for the list.
	[[ $UPSTREAM_URL == https://* ]] || {
		say "no key $UPSTREAM_KEY to check sha256sums.asc with, and" \
		    "$UPSTREAM_URL is not https"
		return 1
	}
	warn "signature of sha256sums.asc NOT checked: no gpgv or no key;" \
	     "put key $UPSTREAM_KEY into $key to have it checked"
	mv "$sums.asc" "$sums"
}

# upstream_tarball WORK: sets tarball to the verified release tarball
upstream_tarball() {
	local sums want part=$CACHE/$UPSTREAM_TARBALL.part try rc

	command -v curl >/dev/null || {
		say "curl is missing; 'make deps' installs or names it"
		return 1
	}
	tarball=$CACHE/$UPSTREAM_TARBALL
	cached "$UPSTREAM_TARBALL" && return 0
	mkdir -p "$CACHE"
	signed_sums "$1" || return 1
	want=$(awk -v f="$UPSTREAM_TARBALL" '$2 == f { print $1 }' "$sums")
	[[ $want =~ ^[0-9a-f]{64}$ ]] || {
		say "sha256sums.asc does not list $UPSTREAM_TARBALL"
		return 1
	}
	# An interrupted transfer goes on; a file that came whole and is wrong (the
	# first part of a resumed one, say) is got once more from scratch.
	for try in 1 2 3; do
		say "downloading $UPSTREAM_TARBALL"
		rc=0
		http_get "$UPSTREAM_URL/$UPSTREAM_TARBALL" "$part" || rc=$?
		if [[ -f $part && $(sha256 "$part") == "$want" ]]; then
			keep "$part" "$UPSTREAM_TARBALL"
			return 0
		fi
		say "$UPSTREAM_TARBALL came incomplete or damaged (try $try)"
		# partial file, time-out, receive error: the rest may still come
		[[ $rc == 18 || $rc == 28 || $rc == 56 ]] || rm -f -- "$part"
	done
	return 1
}
