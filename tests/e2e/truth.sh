#!/bin/sh
# SPDX-License-Identifier: MIT
# Records every workload of known truth from its birth to its end and compares each thread's times
# with what it measured itself.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'every workload is recorded as it was'

TRUTH=$work/truth
export TRUTH
for workload in ${TRUTH_WORKLOADS:-sleep mutex condvar pipe epoll io faults compute spinners short \
	forks reuse exitblocked threadexec pidns}; do
	rm -f "$TRUTH"
	if [ "$workload" = reuse ] && ! [ -w /proc/sys/kernel/ns_last_pid ]; then
		skip "$workload" 'this kernel has no ns_last_pid'
		continue
	fi
	dwell record -q -o "$work/data" -- "$WORKLOADS/$workload"
	if [ "$status" != 0 ]; then
		not_ok "$workload: recorded (exit status $status)"
		continue
	fi
	verified "$workload" "$work/data" "$TRUTH"
done
