# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2153 # shares globals with scripts/vm
#
# The QEMU command line of scripts/vm, and how QEMU is started and stopped.

# fail STATUS MESSAGE...
fail() {
	local status=$1

	shift
	die -s "$status" "$*"
}

find_qemu() {
	QEMU=${QEMU:-qemu-system-x86_64}
	command -v "$QEMU" >/dev/null || fail 94 \
		"no $QEMU; 'make deps' installs or names the package"
}

# kvm_why_not: why KVM cannot be used here; nothing if it can. The device may
# open on a machine whose CPU has no virtualization, and guests then hang.
kvm_why_not() {
	if ! grep -qwE 'svm|vmx' /proc/cpuinfo; then
		echo "the CPU shows neither svm nor vmx"
	elif [[ ! -e /dev/kvm ]]; then
		echo "there is no /dev/kvm"
	elif ! (exec {fd}<>/dev/kvm) 2>/dev/null; then
		echo "/dev/kvm cannot be opened by $(id -un)"
	fi
}

choose_accelerator() {
	local why_not

	why_not=$(kvm_why_not)
	if [[ ${ICOUNT:-0} == 1 ]]; then
		[[ ${ACCEL:-tcg} == tcg ]] || fail "$EX_USAGE" \
			"ICOUNT=1 counts instructions under TCG only"
		ACCEL=tcg WHY="ICOUNT=1 needs it"
	else
		case ${ACCEL:-} in
		tcg) WHY="asked for by ACCEL=" ;;
		kvm) WHY="asked for by ACCEL="
			[[ -z $why_not ]] || fail "$EX_UNAVAILABLE" \
				"ACCEL=kvm, but $why_not" ;;
		'') if [[ -z $why_not ]]; then
				ACCEL=kvm WHY="usable"
			else
				ACCEL=tcg WHY="no KVM: $why_not"
			fi ;;
		*) fail "$EX_USAGE" "ACCEL= is tcg or kvm, not '$ACCEL'" ;;
		esac
	fi
	say "accelerator $ACCEL ($WHY)"
	# Limits are written for TCG. Without a sign of life for SILENCE seconds a
	# boot has failed: it takes two, on a busy machine up to eight.
	BOOT_SILENCE=15
	if [[ $ACCEL == kvm ]]; then
		LIMIT=$(((LIMIT + 3) / 4))
		BOOT_SILENCE=10
	fi
}

choose_machine() {
	if [[ ${ICOUNT:-0} == 1 ]]; then
		SMP=${SMP:-1}
		ACCEL_ARGS=(-accel tcg -icount 'shift=0,sleep=off')
	elif [[ $ACCEL == kvm ]]; then
		SMP=${SMP:-2}
		ACCEL_ARGS=(-accel kvm)
	else
		SMP=${SMP:-2}
		ACCEL_ARGS=(-accel 'tcg,thread=multi')
	fi
	MACHINE=${QEMU_MACHINE:-q35}
	CPU=${QEMU_CPU:-EPYC-v3}
}

# numa_args: two nodes of half the memory and half the CPUs each
numa_args() {
	local half=$(((SMP + 1) / 2)) kib

	kib=$(($(numfmt --from=iec "${MEM:-1G}") / 2048))
	NUMA_ARGS=(-m "$((kib * 2))K"
		-object "memory-backend-ram,id=m0,size=${kib}K"
		-object "memory-backend-ram,id=m1,size=${kib}K"
		-numa "node,nodeid=0,memdev=m0,cpus=0-$((half - 1))")
	if [[ $SMP -gt 1 ]]; then
		NUMA_ARGS+=(-numa "node,nodeid=1,memdev=m1,cpus=$half-$((SMP - 1))")
	else
		NUMA_ARGS+=(-numa "node,nodeid=1,memdev=m1")
	fi
	# One socket per node where the CPUs can be halved.
	if [[ $((SMP % 2)) -eq 0 ]]; then
		NUMA_ARGS+=(-smp "$SMP,sockets=2,cores=$((SMP / 2)),threads=1")
	else
		NUMA_ARGS+=(-smp "$SMP,sockets=$SMP,cores=1,threads=1")
	fi
}

# start_qemu: in the background; sets QEMU_PID
start_qemu() {
	local append command

	append="console=ttyS0 tsc=reliable no_timer_check loglevel=7 panic=-1"
	append+=" reboot=t ${APPEND:-}"
	if [[ ${#COMMAND[@]} -eq 0 ]]; then
		append+=" TERM=${TERM:-vt100} $(stty size |
			awk '{ print "ROWS=" $1, "COLUMNS=" $2 }')"
	fi
	numa_args
	# Within an option QEMU takes a doubled comma for one that is meant.
	command=("$QEMU" -nodefaults -no-user-config -display none -no-reboot
		-M "$MACHINE" -cpu "$CPU" "${ACCEL_ARGS[@]}" "${NUMA_ARGS[@]}"
		-kernel "$KERNEL" -initrd "$WORK/initrd" -append "$append"
		-chardev "file,id=console,path=${LOG//,/,,}.console"
		-chardev "stdio,id=command,signal=off,logfile=${LOG//,/,,}.output"
		-chardev "file,id=status,path=${STATUS//,/,,}"
		-serial chardev:console -serial chardev:command
		-serial chardev:status)
	printf '%q ' "${command[@]}" >"$LOG.qemu"
	printf '\n' >>"$LOG.qemu"
	: >"$LOG.console"
	: >"$LOG.output"
	: >"$STATUS"
	# Should this script be killed outright, QEMU goes with it.
	if [[ ${#COMMAND[@]} -eq 0 ]]; then
		TTY_MODE=$(stty -g)
		setpriv --pdeathsig KILL "${command[@]}" <&0 2>>"$LOG.qemu" &
	else
		setpriv --pdeathsig KILL "${command[@]}" \
			</dev/null 2>>"$LOG.qemu" &
	fi
	QEMU_PID=$!
}

# stop_qemu: by TERM, which lets it write out and restore the terminal
stop_qemu() {
	local i

	[[ -n ${QEMU_PID:-} ]] || return 0
	kill "$QEMU_PID" 2>/dev/null || true
	for ((i = 0; i < 20; i++)); do
		kill -0 "$QEMU_PID" 2>/dev/null || break
		sleep 0.1
	done
	kill -KILL "$QEMU_PID" 2>/dev/null || true
	wait "$QEMU_PID" 2>/dev/null || true
	QEMU_PID=
	[[ -z ${TTY_MODE:-} ]] || stty "$TTY_MODE"
}

# qemu_complaints: what QEMU said, but for the features that TCG has not
qemu_complaints() {
	tail -n +2 "$LOG.qemu" |
		grep -vE "warning: (TCG|host) doesn't support requested feature" || true
}
