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
claim 'a reader that goes away is no error' sh -c '! grep -vE "warning:|^  " err'

# A command line longer than a block of the file: the command is recorded nevertheless.
words=$(seq 100000 112000)
# shellcheck disable=SC2086 # many words
dwell record -q -o long -- true $words
claim "a command line of 84 kB (got $status)" [ "$status" = 0 ]
verified long long

# What a caller set up stays so: ignored signals, limits, closed streams.
(trap '' HUP && exec "$DWELL" record -q -o nohup -- sleep 1) >out 2>err &
pid=$!
sleep 0.5
kill -HUP "$pid"
wait "$pid"
status=$?
claim "an ignored SIGHUP stops nothing (got $status)" [ "$status" = 0 ]
verified nohup nohup

prlimit --nofile=100: "$DWELL" record -q -o files -- sh -c 'exit "$(ulimit -n)"' >out 2>err
status=$?
claim "the command has the caller's limit of files, 100 (got $status)" [ "$status" = 100 ]

(ulimit -f 2 && exec "$DWELL" record -q -o limited -a -d 1) >out 2>err
status=$?
claim "a file size limit: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and one line says so' one_line

"$DWELL" record -o closed -- sleep 0.1 <&- >&- 2>&-
status=$?
claim "all standard streams closed (got $status)" [ "$status" = 0 ]
verified closed closed
for arguments in --help --version 'record --help'; do
	# shellcheck disable=SC2086 # several words
	"$DWELL" $arguments >/dev/full 2>err
	status=$?
	claim "$arguments that cannot be printed: exit 3 (got $status)" [ "$status" = 3 ]
done

# A pipe is written to, and not read again for a summary.
mkfifo pipe
cat pipe >through &
dwell record -o pipe -- sleep 0.1
claim "a recording through a pipe (got $status)" [ "$status" = 0 ]
wait $!
verified pipe through
chown 65534 pipe
dwell record -o pipe -- true
claim "another user's pipe: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and one line says so' one_line

# The recorder dies while it waits for a reader of its output, with the command forked already.
mkfifo waiting
"$DWELL" record -q -o waiting -- touch ran >/dev/null 2>&1 &
pid=$!
sleep 1
kill -9 "$pid"
wait "$pid" 2>/dev/null
sleep 0.2
claim 'the command of a killed recorder does not run' [ ! -e ran ]

# A script's background job starts with SIGINT ignored: the recorder is ended by it, the command not.
"$DWELL" record -q -o interrupted -d 20 -- sh -c 'kill -INT $$; echo went on >went; sleep 9' &
pid=$!
sleep 1
kill -INT "$pid"
wait "$pid"
claim 'a background job ends by SIGINT' [ "$(stat -c %Y interrupted)" -le "$(($(date +%s) + 1))" ]
claim 'its command ignores SIGINT as the job did' [ -s went ]

# The trace is standard output: what the command prints goes elsewhere.
"$DWELL" record -q -o - -- echo hi >piped 2>err
claim 'a command that prints, recorded to standard output' grep -qx hi err
verified piped piped

# Killed while its target sleeps: the time until then is in the trace.
sleep 30 &
target=$!
"$DWELL" record -q -p "$target" -o killed &
pid=$!
sleep 4
kill -9 "$pid"
wait "$pid" 2>/dev/null
kill "$target"
wait "$target" 2>/dev/null
dwell report threads --json killed
blocked=$(sed -n 's/.*"blocked_ns": *\([0-9]*\).*/\1/p' out | head -n 1)
claim "a killed recorder leaves its target's sleep (${blocked:-no} ns)" [ "${blocked:-0}" -gt 1000000000 ]

# A zombie has no threads to record.
sh -c 'sleep 0.1 & exec sleep 3' &
pid=$!
sleep 0.5
zombie=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$pid" '$3 == "Z" && $4 == parent { print $1 }')
dwell record -p "$zombie" -d 1
claim "a zombie: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and one line says so' one_line
kill "$pid"
wait "$pid" 2>/dev/null || :
