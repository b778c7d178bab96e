#!/bin/sh
# SPDX-License-Identifier: MIT
# Records every workload of known truth from its birth to its end and compares each thread's times
# with what it measured itself. By frame pointers: a copy of the stack takes 1 to 2 us of each switch,
# between our stamp and the scheduler's.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'every workload is recorded as it was'

TRUTH=$work/truth
export TRUTH
for command in sleep mutex condvar pipe 'pipe 20000 0' 'pipe 20000 1' epoll io faults compute spinners \
	short forks reuse exitblocked threadexec pidns; do
	workload=${command%% *}
	rm -f "$TRUTH"
	if [ "$workload" = reuse ] && ! [ -w /proc/sys/kernel/ns_last_pid ]; then
		skip "$workload" 'this kernel has no ns_last_pid'
		continue
	fi
	# shellcheck disable=SC2086 # several words
	dwell record -q --call-graph fp -o "$work/data" -- "$WORKLOADS"/$command
	if [ "$status" != 0 ]; then
		not_ok "$command: recorded (exit status $status)"
		continue
	fi
	verified "$command" "$work/data" "$TRUTH"
done

# Execs by other threads again, of all threads: none of a hundred is short of its time.
rm -f "$TRUTH"
dwell record -q -a --call-graph fp -o "$work/data" -- "$WORKLOADS"/threadexec
verified 'threadexec, of all threads' "$work/data" "$TRUTH"
told=$(grep -c after-exec "$TRUTH")
claim "a hundred execs told of themselves ($told did)" [ "$told" = 100 ]
