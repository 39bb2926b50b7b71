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
	[[ -z $status ]] || exit "$status"
	if grep -q 'Attempted to kill init' "$LOG.console"; then
		give_up 92 "the guest's init ended"
	elif grep -q 'Kernel panic' "$LOG.console"; then
		give_up 90 "the kernel panicked"
	elif [[ -s $STATUS ]]; then
		give_up 92 "the guest ended before its command did"
	fi
	give_up 91 "QEMU ended before the guest was up"
}

# watch: polls until the guest ends. Returns 1 if the boot came to a standstill.
watch() {
	local ready='' size last_size=-1 last_change=$SECONDS deadline
	local boot_deadline=$((SECONDS + 6 * SILENCE))

	deadline=''

	while kill -0 "$QEMU_PID" 2>/dev/null; do
		sleep 0.1
		if [[ -z $ready && -s $STATUS ]]; then
			ready=1
			deadline=$((SECONDS + LIMIT))
		fi
		size=$(stat -c %s "$LOG.console")
		if [[ $size != "$last_size" ]]; then
			last_size=$size
			last_change=$SECONDS
			grep -qE "$STALLED" "$LOG.console" && sleep 2 &&
				give_up 96 "stall or lockup: $(grep -oE -m 1 \
				"$STALLED" "$LOG.console")"
		fi
		if [[ -z $ready && ($((SECONDS - last_change)) -ge $SILENCE ||
		      $SECONDS -ge $boot_deadline) ]]; then
			return 1
		fi
		if [[ -n $deadline && ${#COMMAND[@]} -gt 0 &&
		      $SECONDS -ge $deadline ]]; then
			give_up 93 "time limit: not done after $LIMIT s"
		fi
	done
	guest_ended
}

# boot_and_watch: a boot that stands still gets a second chance, for on a busy
# host timer calibration can fail; not so once init has been started
boot_and_watch() {
	local attempt

	for attempt in 1 2; do
		start_qemu
		watch || true
		if grep -q 'Run .* as init process' "$LOG.console"; then
			give_up 91 "init was started but the guest never got ready"
		fi
		[[ $attempt -eq 1 ]] || give_up 91 \
			"no boot: twice no progress for $SILENCE s"
		stop_qemu
		warn "no progress for $SILENCE s; booting once more"
		mv "$LOG.console" "$LOG.console.1"
	done
}
