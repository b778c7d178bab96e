#!/bin/sh
# SPDX-License-Identifier: MIT
# How `dwell record` begins and ends: exit statuses, durations, signals, full disks, death at any
# moment, the previous file.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'recordings begin and end as they should'
cd "$work" || exit 3

dwell record -q -o data -- sh -c 'exit 7'
claim "the command's exit status is passed through (got $status)" [ "$status" = 7 ]
dwell record -q -o data -- sh -c 'kill -TERM $$'
claim "a command killed by TERM gives 143 (got $status)" [ "$status" = 143 ]
dwell record -q -o data -- true
claim "a target that exits at once is recorded (got $status)" [ "$status" = 0 ]
verified at-once data
dwell record -q -o none -- /nonexistent/command
claim "a command that is not there: exit 3 or 127 (got $status)" \
	[ "$status" = 3 -o "$status" = 127 ]
claim 'and one line says so' one_line
dwell record -q -o data -p 4194300
claim "an unknown pid: exit 2 or 3 (got $status)" [ "$status" = 2 -o "$status" = 3 ]
claim 'and one line says so' one_line
verified untouched data

begin=$(date +%s)
dwell record -q -o data -d 1 -- sleep 20
claim '-d ends the recording' [ $(($(date +%s) - begin)) -le 5 ]
verified duration data

# timeout(1) sends the signal to dwell alone, as somebody at another terminal would.
timeout --preserve-status -k 10 -s INT 1 "$DWELL" record -q -o data -a >out 2>err
status=$?
claim "^C ends the recording with status 0 (got $status)" [ "$status" = 0 ]
verified interrupted data

rm -f data data.old
dwell record -q -o data -- true
ls -i data >first
dwell record -q -o data -- true
claim 'the previous file is kept as .old' [ "$(ls -i data.old | cut -d' ' -f1)" = \
	"$(cut -d' ' -f1 first)" ]
claim 'the file is for its owner only' [ "$(stat -c %a data)" = 600 ]
ln -s data link
dwell record -q -o link -- true
claim 'a symbolic link is not followed' [ "$status" != 0 -o ! -L link ]

# dwell.data is the default.
dwell record -q -- true
claim 'the default file is dwell.data' [ -s dwell.data ]
dwell report
claim "and report reads it (got $status)" [ "$status" = 0 ]

mkdir full
if mount -t tmpfs -o size=256k tmpfs full; then
	dwell record -q -o full/data -a -- "$WORKLOADS/pipe" 100000
	claim "a full disk: exit 3 (got $status)" [ "$status" = 3 ]
	claim 'and it is named' grep -q 'No space left' err
	dwell report threads --json full/data
	claim "what was written is readable (got $status)" [ "$status" = 0 ]
	umount full
else
	skip 'a full disk' 'no tmpfs can be mounted'
fi

# Killed without a chance to tidy up.
"$DWELL" record -q -o killed -a >/dev/null 2>&1 &
pid=$!
# A busy machine may be slow to start it: until the first block of events is there.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	"$WORKLOADS/pipe" 30000 >/dev/null
	[ "$(stat -c %s killed 2>/dev/null || echo 0)" -gt 4096 ] && break
done
kill -9 "$pid"
wait "$pid" 2>/dev/null
dwell report threads --json killed
claim "a file of a killed recorder is readable (got $status)" [ "$status" = 0 ]
verified killed killed

"$DWELL" fold --wall killed 2>err | head -1 >/dev/null
claim 'a reader that goes away is no error' sh -c '! grep -v "warning:" err'
