#!/bin/sh
# SPDX-License-Identifier: MIT
# A CPU that goes offline while a recording goes on: the kernel's events there end without a word,
# and what follows is said to be unknown. Disturbs every other recording on the machine, so it runs
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
cd "$work" || exit 3

# Off 1.2 s after the start and on again half a second later, too short to be seen by looking once a
# second whether it is there.
{
	sleep 1.2
	echo 0 >"$switch"
	sleep 0.5
	echo 1 >"$switch"
} &
dwell record -o gone -a -d 5
claim "a CPU goes offline: the recording goes on (got $status)" [ "$status" = 0 ]
claim 'and says so' grep -q 'CPU 1 went offline' err
wait
VERIFY_WHOLE=0 # a thread met elsewhere after it ran there unseen is a contradiction
export VERIFY_WHOLE
verified gone gone
# Every two seconds or so rcu's threads, kworkers and others run there, and nobody saw that.
claim 'what may have run there is unknown' grep -q '\[unknown\];\[lost\]' wall.folded
