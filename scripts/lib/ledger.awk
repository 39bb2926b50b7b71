# SPDX-License-Identifier: GPL-2.0-only
#
# Merges the new list of patches (first file: PATCH<TAB>UPSTREAM) into the old
# patches/series (second file). What stands above the first topic banner stays
# first; a banner keeps the comments below it; a patch keeps its "#:" lines, but
# for the status, which the patch itself carries.

function topic_of(p) { sub(/\/.*/, "", p); return p }
function name_of(p) { sub(/\/[0-9]+-/, "/", p); return p }

NR == FNR {
	patch[++n] = $1
	status[$1] = $2
	next
}

/^# topic: / {
	topic = substr($0, 10)
	banner[topic] = $0 "\n"
	held = ""
	in_banner = 1
	next
}
/^#:/ {
	in_banner = 0
	if ($0 !~ /^#: upstream:/)
		held = held $0 "\n"
	next
}
/^#/ || /^$/ {
	if (topic == "")
		head = head $0 "\n"
	else if (in_banner && $0 != "")
		banner[topic] = banner[topic] $0 "\n"
	else if ($0 != "")
		held = held $0 "\n"
	next
}
{
	in_banner = 0
	note[name_of($1)] = held
	held = ""
}

END {
	sub(/\n+$/, "\n", head)
	print head ? head : "# SPDX-License-Identifier: GPL-2.0-only\n"
	for (i = 1; i <= n; i++) {
		t = topic_of(patch[i])
		if (t != last) {
			if (last != "")
				print ""
			printf "%s", t in banner ? banner[t] : "# topic: " t "\n"
			last = t
		}
		print "#: upstream: " status[patch[i]]
		printf "%s", note[name_of(patch[i])]
		print patch[i]
	}
}
