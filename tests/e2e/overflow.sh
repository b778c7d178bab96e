#!/bin/sh
# SPDX-License-Identifier: MIT
# Rings too small for the load lose records: the loss shows, the books balance, and a thread that
# slept through it keeps its wait.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'lost records become unknown time'

TRUTH=$work/truth
export TRUTH
start longwait 30
waiter=$pid
sleep 0.2
grep longwaiter "$TRUTH" >"$work/waiter"
TRUTH=$work/other
# The recorder shares its CPUs with three busy pairs.
start pipe 200000
start pipe 200000
start pipe 200000
dwell record -q --ring-size 8k -o "$work/data" -a -d 2
claim "exit status 0 or 4 (got $status)" [ "$status" = 0 -o "$status" = 4 ]
verified overflow "$work/data" "$work/waiter"
lost=$(json lost)
claim "the loss shows in the report (lost $lost)" [ "${lost:-0}" -gt 0 ]
claim 'and in the wall-clock file' grep -q '\[unknown' "$work/wall.folded"
dwell report "$work/data"
claim 'and in the summary' grep -qiE 'lost [0-9,]*[1-9]' "$work/out"
kill "$waiter"

# Mappings that the side ring had no room for cost no time, but are a loss to both who ask for it.
TRUTH=$work/truth
start longwait 30
waiter=$pid
sleep 0.2
record_begin -p "$waiter"
kill -STOP "$recorder"
(cd "$work" && "$WORKLOADS/maps" 4000)
kill -CONT "$recorder"
sleep 0.5
record_end
verified 'side overflow' "$work/data"
lost=$(json side_lost)
claim "lost mappings show in the report (lost $lost)" [ "${lost:-0}" -gt 0 ]
dwell dump --strict "$work/data"
claim "dump --strict minds them: exit 4 (got $status)" [ "$status" = 4 ]
kill "$waiter"
