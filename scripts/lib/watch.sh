# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2153 # shares globals with scripts/vm
#
# Watches a guest from its boot to its end and turns what happens into an exit
# status. The guest writes "ready" and "exit STATUS" to the file STATUS.

# A guest that shows one of these is not worth waiting for.
STALLED='rcu.*(detected.* stalls|self-detected stall)'
STALLED+='|watchdog: BUG: soft lockup|INFO: task .* blocked for more than'

# give_up STATUS MESSAGE...: with the end of the console
give_up() {
	local status=$1

	shift
	stop_qemu
	{
		printf -- '--- last lines of the console (%s)\n' "$LOG.console"
		tail -n 50 "$LOG.console" | tr -d '\r'
		qemu_complaints | tail -n 5
		printf -- '---\n'
	} >&2
	fail "$status" "$*"
}

# guest_ended: QEMU is gone; takes the guest's status, or finds out what happened
guest_ended() {
	local status

	wait "$QEMU_PID" 2>/dev/null || true
	QEMU_PID=
	status=$(tr -d '\r' <"$STATUS" | sed -n 's/^exit \([0-9]*\)$/\1/p')
	[[ -z $status ]] || grep -q 'Kernel panic' "$LOG.console" || exit "$status"
	if grep -q 'Attempted to kill init' "$LOG.console"; then
		give_up 92 "the guest's init ended"
	elif grep -q 'Kernel panic' "$LOG.console"; then
		give_up 90 "the kernel panicked"
	elif [[ -s $STATUS ]]; then
		give_up 92 "the guest ended before its command did"
	fi
	give_up 91 "QEMU ended before the guest was up"
}

# grown FILE: it has since the last call, which is kept in SIZE[FILE]
declare -A SIZE=()
grown() {
	local size

	size=$(stat -c %s "$1")
	[[ $size != "${SIZE[$1]:-0}" ]] || return 1
	SIZE[$1]=$size
}

check_stall() {
	local line

	line=$(grep -oE -m 1 "$STALLED" "$LOG.console") || return 0
	# The lines that follow say where.
	sleep 2
	give_up 96 "stall or lockup: $line"
}

# starved: seconds that QEMU's threads have waited for a CPU of the host so far
starved() {
	cat "/proc/$QEMU_PID/task/"*/schedstat 2>/dev/null |
		awk '$2 > max { max = $2 } END { printf "%d\n", max / 1e9 }'
}

init_started() { grep -q 'Run .* as init process' "$LOG.console"; }

# watch_boot: returns when the guest is ready or gone; 1 if it stands still. A
# guest that gets no time on a busy host does not: that time does not count. Once
# init has been started, what it prints is no progress.
watch_boot() {
	local start=$SECONDS last=$SECONDS waited=0 idle init=''

	while [[ ! -s $STATUS ]] && kill -0 "$QEMU_PID" 2>/dev/null; do
		sleep 0.1
		if [[ -z $init ]] && grown "$LOG.console"; then
			last=$SECONDS
			waited=$(starved)
			check_stall
			! init_started || init=1
		fi
		idle=$((SECONDS - last))
		if [[ $idle -ge $BOOT_SILENCE ]]; then
			idle=$((idle - $(starved) + waited))
		fi
		[[ $idle -lt $BOOT_SILENCE &&
		   $((SECONDS - start)) -lt $((12 * BOOT_SILENCE)) ]] || return 1
	done
}

# watch_command: returns when the guest is gone
watch_command() {
	local end=$((SECONDS + LIMIT)) last=$SECONDS

	while kill -0 "$QEMU_PID" 2>/dev/null; do
		sleep 0.1
		! grown "$LOG.console" || check_stall
		! grown "$LOG.output" || last=$SECONDS
		[[ ${#COMMAND[@]} -gt 0 ]] || continue
		[[ $SECONDS -lt $end ]] ||
			give_up 93 "time limit: not done after $LIMIT s"
		[[ -z $QUIET || $((SECONDS - last)) -lt $QUIET ]] ||
			give_up 93 "time limit: no output for $QUIET s"
	done
}

# lost_int3: the kernel patched its code while another CPU ran it, and QEMU's
# parallel TCG showed that CPU the breakpoint after it was gone (seen with 7.2 and
# unpatched kernels, more CPUs than the host has)
lost_int3() {
	[[ ! -s $STATUS ]] &&
		grep -qE 'Oops: int3: 0000 \[#1\]' "$LOG.console"
}

# boot_and_watch: a boot that stands still gets a second chance, for on a busy
# host timer calibration can fail; not so once init has been started. So does one
# that QEMU has spoilt.
boot_and_watch() {
	local attempt why

	for attempt in 1 2; do
		start_qemu
		why="no progress for $BOOT_SILENCE s"
		if watch_boot; then
			if [[ $attempt -eq 2 ]] || ! lost_int3; then
				watch_command
				guest_ended
			fi
			why="QEMU lost a breakpoint of the kernel's"
		elif init_started; then
			give_up 91 "init was started but the guest never got ready"
		fi
		[[ $attempt -eq 1 ]] || give_up 91 "no boot: twice $why"
		stop_qemu
		warn "$why; booting once more"
		mv "$LOG.console" "$LOG.console.1"
		SIZE=()
	done
}
