#!/bin/sh
# SPDX-License-Identifier: MIT
# A recording as text: every event once, in time order, and what is wrong with a file is told by one
# line and the exit status.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'a recording as text'
cd "$work" || exit 3

dwell record -q --label purpose=dump -o data -- "$WORKLOADS/mutex"
claim "a workload is recorded (got $status)" [ "$status" = 0 ]

dwell dump data
claim "dump exits 0 (got $status)" [ "$status" = 0 ]
claim 'nothing is said of a good file' [ ! -s err ]
claim 'the label is among the facts' grep -qx '# label.purpose: dump' out
claim 'the command was executed' grep -q ' comm exec comm=mutex' out
grep -v '^#' out >events
claim 'times ascend' sort -nc events
dwell dump --headers data
claim 'headers: facts of both ends' [ "$(grep -c '^# window\.[a-z]*_ns: [0-9]' out)" = 2 ]
claim 'headers: no event' [ "$(grep -vc '^#' out)" = 0 ]
dwell report data
claim 'the label is in the report' grep -qx 'labels: purpose=dump' out
dwell report threads --json data
claim 'the label is in JSON' grep -q '"purpose":"dump"' out

# Each event is of one kind: the parts make the whole.
sum=0
for kind in switch switch-in switch-out waking wakeup-new sample fork comm exit cpu gap count state \
	stopped throttle cgroup; do
	dwell dump --events $kind data
	sum=$((sum + $(grep -vc '^#' out)))
done
claim "kinds: $sum of $(grep -c '' events)" [ "$sum" = "$(grep -c '' events)" ]
dwell dump -g --events switch data
claim 'stacks: frames of the kernel have names' grep -q '^        \[kernel\]+0x[0-9a-f]*  [a-z_]' out
dwell dump --symbols --events switch,sample data
claim 'symbols: the workload is found' grep -q '/mutex+0x[0-9a-f]*  [a-z_]' out

head -c $(($(stat -c %s data) - 10)) data >short
dwell dump short
claim "a cut file: exit 0 (got $status)" [ "$status" = 0 ]
claim 'a cut file: one line says so' one_line
claim 'a cut file: its events are printed' [ "$(grep -vc '^#' out)" -gt 0 ]
dwell dump --strict short
claim "a cut file, --strict: exit 4 (got $status)" [ "$status" = 4 ]
{ head -c $(($(stat -c %s data) - 30)) data && head -c 30 /dev/zero; } >damaged
dwell dump damaged
claim "a damaged file: exit 3 (got $status)" [ "$status" = 3 ]
claim 'a damaged file: one line says so' one_line
claim 'a damaged file: its events are printed' [ "$(grep -vc '^#' out)" -gt 0 ]
dwell dump -o /dev/full data
claim "a full disk: exit 3 (got $status)" [ "$status" = 3 ]
claim 'a full disk: one line says so' one_line
dwell dump --events nonsense data
claim "a kind that is none: exit 2 (got $status)" [ "$status" = 2 ]
"$DWELL" dump - <data >piped
"$DWELL" dump data >named
claim 'standard input reads the same' cmp piped named
