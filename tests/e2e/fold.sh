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
dwell report data
claim 'the summary fits 100 columns' [ "$(wc -L <out)" -le 100 ]
dwell report threads data
claim 'the threads fit 100 columns' [ "$(wc -L <out)" -le 100 ]
dwell dump data
claim "dump exits 0 (got $status)" [ "$status" = 0 ]
