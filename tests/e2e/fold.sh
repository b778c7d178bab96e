#!/bin/sh
# SPDX-License-Identifier: MIT
# The folded outputs of one recording agree: on-CPU, off-CPU and runnable parts add up to the wall
# clock, and known functions are where they belong.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'folded outputs agree'

sum()
{
	awk '{n += $NF} END {printf "%.0f\n", n}' "$work/out"
}

if [ ! -x "$OUT/demo-workload" ]; then
	skip 'folded outputs agree' 'no demo workload here'
	exit 0
fi
cd "$work" || exit 3
case $OUT in /*) ;; *) OUT=$OLDPWD/$OUT ;; esac
dwell record -q -F 999 -o data -- "$OUT/demo-workload"
claim "the demo is recorded (got $status)" [ "$status" = 0 ]
verified demo data
dwell fold --on data
on=$(sum)
claim 'on-CPU: parse_header is found' grep -q '^worker;.*parse_header' out
claim 'on-CPU: lines are sorted by bytes' env LC_ALL=C sort -c out
dwell fold --off data
off=$(sum)
claim 'off-CPU: the lock is found' grep -q '^worker;.*futex' out
claim 'off-CPU: fsync is found' grep -q '^flusher;.*fsync' out
dwell fold --wall --state runnable data
runnable=$(sum)
dwell fold --wall --state unknown data
unknown=$(sum)
dwell fold --wall data
wall=$(sum)
claim "on $on + off $off + runnable $runnable + unknown $unknown = wall $wall" \
	[ $((on + off + runnable + unknown)) = "$wall" ]
for by in process thread; do
	dwell fold --wall --by $by data
	claim "--by $by keeps the sum" [ "$(sum)" = "$wall" ]
done
# Events of the file, against what dump counts.
for event in sched:sched_switch sched:sched_waking sched:sched_wakeup_new cpu-clock; do
	dwell dump --headers data
	read=$(sed -n "s/^# read of event [0-9]*: $event samples=//p" out)
	dwell fold --event "${event#sched:}" --weight samples data
	claim "$event: $(sum) samples folded, $read read" [ "$(sum)" = "$read" ]
done
claim 'cpu-clock: parse_header is found' grep -q '^worker;.*parse_header' out
dwell fold --event nope data
claim "no such event: exit 2 (got $status)" [ "$status" = 2 ]
claim 'the events present are listed' grep -q 'cpu-clock, sched:sched_switch' err
for conflict in --wall --on --off '--state blocked' '--min 1ms' '--max 1ms'; do
	# shellcheck disable=SC2086 # two words
	dwell fold --event cpu-clock $conflict data
	claim "--event and $conflict: exit 2 (got $status)" [ "$status" = 2 ]
done
dwell report data
claim 'the summary lists events' grep -q '^events: cpu-clock [0-9,]*, sched:sched_switch [0-9,]*,' out
claim 'the summary fits 100 columns' [ "$(wc -L <out)" -le 100 ]
dwell report threads data
claim 'the threads fit 100 columns' [ "$(wc -L <out)" -le 100 ]
dwell dump data
claim "dump exits 0 (got $status)" [ "$status" = 0 ]
