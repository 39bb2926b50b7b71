#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only
#
# scripts/vm: every way in which a boot can fail ends in seconds, with its own
# status and the end of the console, and leaves no QEMU behind.
# shellcheck disable=SC2016,SC2154,SC2030,SC2031 # for the guest; bats' own

bats_require_minimum_version 1.5.0

setup_file() {
	HERE=$(cd "$BATS_TEST_DIRNAME/../.." && pwd -P)
	KERNEL=$HERE/build/kernel/base-guest/arch/x86/boot/bzImage
	export HERE KERNEL
	unset CONFIG APPEND SMP ICOUNT ACCEL QEMU REQUIRE
	cd "$BATS_FILE_TMPDIR" || exit
	if [[ -f $KERNEL ]]; then
		head -c 1000000 "$KERNEL" >cut.img
		# A sound header, and then nothing that could be unpacked.
		cp "$KERNEL" broken.img
		tr '\0' 'x' </dev/zero | dd of=broken.img bs=4096 seek=10 \
			count=600 iflag=fullblock conv=notrunc status=none
	fi
	own_init exits 'exit 3'
	# To the kernel the same as if it could not unpack an initrd at all.
	mkdir empty
	(cd empty && echo . | cpio -o -H newc --quiet) >empty.cpio
	own_init loops 'while :; do :; done'
	own_init chats 'while :; do echo here I am; sleep 1; done'
	# Shows what the command was made into.
	own_init shows '/bin/busybox cat /run-command'
	# Of a length that is no multiple of four: the name is stored in it.
	for name in a ab abc abcd; do
		cp shows.cpio "$name"
		gzip -c "$name" >shows.gz
		[[ $(($(stat -c %s shows.gz) % 4)) -eq 0 ]] || break
	done
}

# own_init NAME SCRIPT: an initrd of busybox and that script as its init
own_init() {
	mkdir -p "$1/bin" "$1/dev"
	cp "$(command -v busybox)" "$1/bin/busybox"
	printf '#!/bin/busybox sh\n%s\n' "$2" >"$1/init"
	chmod 755 "$1/init"
	(cd "$1" && find . | cpio -o -H newc --quiet) >"$1.cpio"
}

setup() {
	cd "$BATS_FILE_TMPDIR" || exit
	LOG=$BATS_TEST_TMPDIR/log
}

# vm ARGS...: as from a cron job: no terminal, no standard input
vm() { "$HERE/scripts/vm" --log "$LOG" "$@" </dev/null; }

need_kernel() { [[ -f $KERNEL ]] || skip "no build/kernel/base-guest yet"; }

# qemus: those that this test started
qemus() { pgrep -f -- "path=$LOG.console" || true; }

gone() {
	local i

	for ((i = 0; i < 50; i++)); do
		[[ -n $(qemus) ]] || return 0
		sleep 0.1
	done
	return 1
}

has() { [[ $output == *"$1"* ]] || { echo "no '$1' in: $output"; return 1; }; }

# --- before anything is started

@test "usage: unknown arguments and values" {
	run vm --nope
	[ "$status" -eq 64 ]
	run vm --timeout soon -- true
	[ "$status" -eq 64 ]
	SMP=many run vm -- true
	[ "$status" -eq 64 ]
	SMP=many run vm
	has "SMP= is"
	run vm
	[ "$status" -eq 64 ]
	has "no terminal for a shell"
}

@test "usage: values out of range" {
	local bad

	for bad in MEM=junk MEM=0 MEM=1M MEM=-1G MEM=1E $'MEM=1G\n1G' SMP=0 SMP=65 \
		SMP=300 SMP=99999999999999999999999999 ICOUNT=2 ICOUNT=yes; do
		run env "$bad" QEMU=true "$HERE/scripts/vm" --log "$LOG" \
			--kernel none -- true </dev/null
		[ "$status" -eq 64 ]
		has "${bad%%=*}= is"
	done
	QEMU=true run vm --timeout 12345678 --kernel none -- true
	[ "$status" -eq 64 ]
	QEMU=true run vm --log "$BATS_TEST_TMPDIR/none/log" --kernel none -- true
	[ "$status" -eq 64 ]
	has "--log: no directory $BATS_TEST_TMPDIR/none"
	# The largest and smallest get as far as to the missing kernel.
	for bad in MEM=64M MEM=1.5G SMP=64 ICOUNT=0 ICOUNT= MEM=; do
		run env "$bad" QEMU=true "$HERE/scripts/vm" --timeout 9999999 \
			--log "$LOG" --kernel none -- true </dev/null
		[ "$status" -eq 95 ]
	done
}

@test "a comma in a path is not the end of a QEMU option" {
	local dir=$BATS_TEST_TMPDIR/a,b

	mkdir "$dir" "$dir/tmp"
	# a header is all that is looked at before QEMU starts
	head -c 4096 /dev/zero >header.img
	printf HdrS | dd of=header.img bs=1 seek=514 conv=notrunc status=none
	printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s/args"\n' "$dir" >"$dir/qemu"
	chmod 755 "$dir/qemu"
	TMPDIR=$dir/tmp QEMU=$dir/qemu ACCEL=tcg run vm --kernel header.img \
		--initrd exits.cpio --log "$dir/log" -- true
	[ "$status" -eq 91 ]
	grep -qxF "file,id=console,path=${dir//,/,,}/log.console" "$dir/args"
	grep -qF ",logfile=${dir//,/,,}/log.output" "$dir/args"
	grep -qF "file,id=status,path=${dir//,/,,}/tmp/" "$dir/args"
	[ -f "$dir/log.console" ]
}

@test "QEMU is not installed" {
	QEMU=no-such-qemu run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 94 ]
	has no-such-qemu
}

@test "kernel: missing, no kernel, cut off" {
	run vm --kernel none -- true
	[ "$status" -eq 95 ]
	has "no kernel at 'none'"
	run vm --kernel /bin/bash -- true
	[ "$status" -eq 95 ]
	has "no bzImage"
	need_kernel
	run vm --kernel cut.img -- true
	[ "$status" -eq 95 ]
	has "cut off"
}

@test "initrd: missing, no archive" {
	need_kernel
	run vm --kernel "$KERNEL" --initrd none -- true
	[ "$status" -eq 95 ]
	run vm --kernel "$KERNEL" --initrd /bin/bash -- true
	[ "$status" -eq 95 ]
	has "no cpio archive"
}

@test "busybox: missing, dynamic, 32-bit" {
	need_kernel
	BUSYBOX=$PWD/none run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 95 ]
	BUSYBOX=/bin/bash run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 95 ]
	has "needs shared libraries"
	echo 'int main(void) { return 0; }' |
		gcc -m32 -static -x c - -o busybox32 2>/dev/null ||
		skip "no 32-bit libc for the 32-bit case"
	BUSYBOX=$PWD/busybox32 run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 95 ]
	has "not a 64-bit"
}

@test "accelerator: forced and unusable is an error, the choice is printed" {
	need_kernel
	ACCEL=xen run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 64 ]
	ACCEL=kvm ICOUNT=1 run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 64 ]
	ACCEL=tcg run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 0 ]
	has "accelerator tcg"
	grep -qwE 'svm|vmx' /proc/cpuinfo && skip "this CPU has svm or vmx"
	ACCEL=kvm run vm --kernel "$KERNEL" -- true
	[ "$status" -eq 69 ]
	has "neither svm nor vmx"
}

# --- guests that work

@test "command: output, arguments and status come out as they are" {
	need_kernel
	run --separate-stderr vm --kernel "$KERNEL" -- \
		bash -c 'printf "<%s>\n" "$@"; echo err >&2; exit 42' x 'a  b' "it's" '$HOME' ''
	[ "$status" -eq 42 ]
	[ "$output" = $'<a  b>\n<it\'s>\n<$HOME>\n<>\nerr' ]
	[[ $stderr != *"doesn't support"* ]]
	[ -s "$LOG.console" ]
	gone
}

@test "command: killed by a signal, not found" {
	need_kernel
	run vm --kernel "$KERNEL" -- bash -c 'kill -SEGV $$'
	[ "$status" -eq 139 ]
	run -127 vm --kernel "$KERNEL" -- no-such-command
	[ "$status" -eq 127 ]
}

@test "machine: CPUs on two nodes, mounts, tools" {
	need_kernel
	SMP=3 APPEND='hf.test=1' run vm --kernel "$KERNEL" -- bash -ec '
		test "$(nproc)" = 3
		test -d /sys/devices/system/node/node1/cpu2
		grep -q hf.test=1 /proc/cmdline
		for m in /proc /sys /dev /dev/pts /tmp /run /sys/kernel/debug \
			 /sys/kernel/tracing /sys/fs/cgroup; do
			grep -q " $m " /proc/mounts
		done
		perf --version
		hackbench -l 1 -g 1'
	[ "$status" -eq 0 ] || { echo "$output"; cat "$LOG.output"; return 1; }
}

@test "ICOUNT=1: one CPU, the same count each time" {
	need_kernel
	local first

	ICOUNT=1 run --separate-stderr vm --kernel "$KERNEL" -- \
		bash -c 'nproc; pathbench plain getppid'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 1 ]
	first=$output
	ICOUNT=1 run --separate-stderr vm --kernel "$KERNEL" -- \
		bash -c 'nproc; pathbench plain getppid'
	[ "$output" = "$first" ]
}

# --- guests that do not

@test "init exits: 92" {
	need_kernel
	run vm --kernel "$KERNEL" --initrd exits.cpio -- true
	[ "$status" -eq 92 ]
	has "Attempted to kill init"
	gone
}

@test "init loops: 91, with the end of the console" {
	need_kernel
	run vm --kernel "$KERNEL" --initrd loops.cpio -- true
	[ "$status" -eq 91 ]
	has "never got ready"
	[ "${#lines[@]}" -gt 50 ]
	gone
}

@test "init prints and never gets ready: 91, in seconds" {
	need_kernel
	run vm --kernel "$KERNEL" --initrd chats.cpio -- true
	[ "$status" -eq 91 ]
	has "never got ready"
	has "here I am"
	[ "$SECONDS" -lt 100 ]
	gone
}

@test "a compressed initrd takes the command along" {
	need_kernel
	run vm --kernel "$KERNEL" --initrd shows.gz -- echo a word to find
	[ "$status" -eq 92 ]
	has "a word to find"
	gone
}

@test "kernel takes no initrd: 90" {
	need_kernel
	run vm --kernel "$KERNEL" --initrd empty.cpio -- true
	[ "$status" -eq 90 ]
	has "Kernel panic"
	gone
}

@test "panic: 90" {
	need_kernel
	run vm --kernel "$KERNEL" -- \
		bash -c 'echo c >/proc/sysrq-trigger; sleep 60'
	[ "$status" -eq 90 ]
	has "Kernel panic"
	gone
}

@test "guest reboots on its own: 92" {
	need_kernel
	run vm --kernel "$KERNEL" -- reboot -f
	[ "$status" -eq 92 ]
}

@test "no sign of life: tried twice, then 91" {
	need_kernel
	run vm --kernel broken.img -- true
	[ "$status" -eq 91 ]
	has "booting once more"
	gone
}

@test "a breakpoint that QEMU loses while booting: tried twice" {
	local dir=$BATS_TEST_TMPDIR

	need_kernel
	# Shows that once, then is the real one.
	cat >"$dir/qemu" <<-EOF
	#!/bin/bash
	[[ ! -e $dir/second ]] || exec qemu-system-x86_64 "\$@"
	touch $dir/second
	echo '[    1.2] Oops: int3: 0000 [#1] PREEMPT SMP' >"$LOG.console"
	EOF
	chmod 755 "$dir/qemu"
	QEMU=$dir/qemu ACCEL=tcg run vm --kernel "$KERNEL" -- echo "all is well"
	[ "$status" -eq 0 ]
	has "lost a breakpoint of the kernel's; booting once more"
	has "all is well"
	gone
}

@test "time limits: 93" {
	need_kernel
	ACCEL=tcg run vm --timeout 2 --kernel "$KERNEL" -- sleep 60
	[ "$status" -eq 93 ]
	has "not done after 2 s"
	ACCEL=tcg run vm --silence 2 --kernel "$KERNEL" -- bash -c 'echo x; sleep 60'
	[ "$status" -eq 93 ]
	has "no output for 2 s"
	gone
}

@test "stall or lockup: 96, at once" {
	need_kernel
	run vm --kernel "$KERNEL" -- bash -c 'echo "<0>watchdog: BUG: soft lockup" \
		"- CPU#1 stuck for 22s! [x:1]" >/dev/kmsg; sleep 60'
	[ "$status" -eq 96 ]
	has "soft lockup"
	gone
}

# --- Ctrl-C and the like

@test "signals: the script ends, and QEMU with it" {
	local signal pid got

	need_kernel
	for signal in INT:130 TERM:143 HUP:129 KILL:137; do
		env --default-signal=INT "$HERE/scripts/vm" --log "$LOG" \
			--kernel "$KERNEL" -- sleep 60 </dev/null 3>&- &
		pid=$!
		until [[ -n $(qemus) ]]; do sleep 0.1; done
		sleep 1
		kill -"${signal%:*}" "$pid"
		got=0
		wait "$pid" || got=$?
		[ "$got" -eq "${signal#*:}" ]
		gone
	done
}
