#!/bin/sh
# SPDX-License-Identifier: MIT
# Records processes that were there before: a thread that hangs, a wait longer than the recording,
# a single thread, the whole system, a cgroup, and threads born meanwhile.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'running processes are recorded'

TRUTH=$work/truth
export TRUTH
# begun: waits until the recorder runs.
begun='while ! [ -e "$GO" ]; do sleep 0.05; done'
GO=$work/go
export GO

# A process that hangs makes no event at all.
start hung
sleep 0.3
dwell record -q -o "$work/data" -p "$pid" -d 1
claim "hung: exit status 0 (got $status)" [ "$status" = 0 ]
verified hung "$work/data" "$TRUTH"
dwell fold --off "$work/data"
claim 'hung: its kernel stack is found' grep -q '^hung;.*pipe_write' "$work/out"
# What others are woken by is not the target's, though the filter lets those born later through.
record_begin -p "$pid"
TRUTH=/dev/null "$WORKLOADS/sleep"
record_end
verified 'hung, others wake' "$work/data"
claim 'hung: no waking of others is missed' [ "$(json wakings_dropped)" = 0 ]
kill "$pid"

rm -f "$TRUTH"
start longwait 60
sleep 0.3
dwell record -q -o "$work/data" -p "$pid" -d 3
verified longwait "$work/data" "$TRUTH"
window=$(json window_ns)
claim "longwait: the window is 3 s (got $window ns)" \
	[ "${window:-0}" -ge 2950000000 -a "${window:-0}" -le $((3000000000 + 200000000 * ${VERIFY_SLOW:-1})) ]

# Thousands of threads take longer to look at than a recording may be late.
crowd=$((5000 / ${VERIFY_SLOW:-1}))
"$WORKLOADS/crowd" "$crowd" >"$work/crowd" 2>&1 </dev/null &
crowd_pid=$!
children="$children $crowd_pid"
for _ in $(seq 300); do
	[ -s "$work/crowd" ] && break
	sleep 0.1
done
dwell record -q -o "$work/data" -p "$crowd_pid" -d 1
verified crowd "$work/data"
window=$(json window_ns)
claim "crowd: the window with $crowd threads is 1 s (got $window ns)" \
	[ "${window:-0}" -ge 950000000 -a "${window:-0}" -le $((1000000000 + 100000000 * ${VERIFY_SLOW:-1})) ]
kill "$crowd_pid"

# One thread of two.
dwell record -q -o "$work/data" -t "$pid" -d 0.5
verified one-thread "$work/data"
claim '-t: one thread is observed' [ "$(grep -o '"tid"' "$work/threads.json" | wc -l)" = 1 ]
claim '-t: it is the one asked for' grep -qE "\"tid\": *$pid\b" "$work/threads.json"
kill "$pid"

# Everything, threads born during the recording included.
rm -f "$TRUTH"
record_begin -a
"$WORKLOADS/sleep"
record_end
claim "-a: exit status 0 (got $status)" [ "$status" = 0 ]
verified whole-system "$work/data" "$TRUTH"

# A target that makes threads and processes while it is recorded.
rm -f "$TRUTH"
sh -c "$begun; '$WORKLOADS/mutex'; exec '$WORKLOADS/forks'" &
pid=$!
record_begin -p "$pid"
touch "$GO"
wait "$pid"
record_end
claim "-p: exit status 0 (got $status)" [ "$status" = 0 ]
verified followed "$work/data" "$TRUTH"

group=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/mounts)/dwell-test-$$
if [ "$group" != "/dwell-test-$$" ] && mkdir "$group" 2>/dev/null; then
	rm -f "$TRUTH" "$GO"
	sh -c "echo \$\$ >'$group/cgroup.procs'; $begun; exec '$WORKLOADS/sleep'" &
	pid=$!
	while ! grep -q . "$group/cgroup.procs"; do sleep 0.05; done
	record_begin -G "dwell-test-$$"
	touch "$GO"
	wait "$pid"
	record_end
	claim "-G: exit status 0 (got $status)" [ "$status" = 0 ]
	verified cgroup "$work/data" "$TRUTH"
	# A container that ends takes its cgroup along, once the recording has begun.
	sh -c "echo \$\$ >'$group/cgroup.procs'; exec sleep 60" &
	pid=$!
	children="$children $pid"
	rm -f "$work/data"
	{
		for _ in $(seq 100); do
			[ "$(stat -c %s "$work/data" 2>/dev/null || echo 0)" -gt 1024 ] && break
			sleep 0.1
		done
		kill -9 "$pid"
		for _ in $(seq 50); do
			rmdir "$group" && break
			sleep 0.1
		done
	} 2>/dev/null &
	sleep 0.1
	dwell record -q -o "$work/data" -G "dwell-test-$$" -d $((5 * ${VERIFY_SLOW:-1}))
	claim "a cgroup that goes away: exit status 0 (got $status)" [ "$status" = 0 ]
	verified cgroup-gone "$work/data"
	wait
else
	skip '-G records a cgroup' 'no writable cgroup2 mount'
fi
