#!/bin/sh
# SPDX-License-Identifier: MIT
# A CPU that goes offline, or comes, while a recording goes on: the kernel's events there end without
# a word, new ones are opened, and what was between is said to be unknown. Disturbs every other recording on the machine, so it runs
# in the virtual machine, or where HOTPLUG=1 says that nobody minds.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
switch=/sys/devices/system/cpu/cpu1/online
if [ "${HOTPLUG:-0}" != 1 ]; then
	skip 'a CPU goes offline' 'HOTPLUG=1 is not set'
	exit 0
fi
need_root 'a CPU goes offline'
if [ ! -w "$switch" ]; then
	skip 'a CPU goes offline' 'no CPU here can be taken offline'
	exit 0
fi
TRUTH=$work/truth
VERIFY_WHOLE=0 VERIFY_FITS=0 # a thread met elsewhere after it ran there unseen is a contradiction
quiet=
export TRUTH VERIFY_WHOLE VERIFY_FITS

# recorded_again NAME NOTICE: what runs on the CPU from now on is told as always.
recorded_again()
{
	rm -f "$TRUTH"
	sleep 3
	"$WORKLOADS/pipe" 500 1
	sleep 0.2
	record_end
	claim "$1: the recording goes on (got $status)" [ "$status" = 0 ]
	claim "$1: the recorder says so" grep -q "$2" "$work/err"
	dwell report "$work/data"
	claim "$1: so does the report" grep -q '^! CPUs 1 went or came ' "$work/out"
	verified "$1" "$work/data" "$TRUTH"
}

# Half a second is too short to be seen by looking once a second whether it is there.
record_begin -a
sleep 1.2
echo 0 >"$switch"
sleep 0.5
echo 1 >"$switch"
recorded_again 'a CPU goes offline and is back' 'CPU 1 w[a-z]* offline'
# Every two seconds or so rcu's threads, kworkers and others run there, and nobody saw that.
claim 'what may have run there is unknown' grep -q '\[unknown\];\[lost\]' "$work/wall.folded"

echo 0 >"$switch"
record_begin -a
sleep 1.2
echo 1 >"$switch"
recorded_again 'a CPU comes online' 'CPU 1 came online'
