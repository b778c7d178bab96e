#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings of perf: workloads of known truth through perf.data in several forms, the same load by
# both recorders at once, and the recordings from which off-CPU time cannot be told.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'perf.data holds the same truth'
# perf ends its events one after the other: of the last switch one witness may be missing.
VERIFY_FITS=0
export VERIFY_FITS
if ! perf --version >/dev/null 2>&1; then
	skip 'perf.data holds the same truth' 'perf is not installed'
	exit 0
fi

TRUTH=$work/truth
export TRUTH
SCHED=sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new

# perf_record ARG...: -N, since perf's cache of binaries is the user's; its rings are small.
perf_record()
{
	timeout -k 5 60 perf record -q -N -m 8M "$@" >"$work/perf.out" 2>&1 </dev/null
}

# said TEXT STATUS WORDS: how the last dwell ended, and what it said.
said()
{
	claim "$1: exit $2 (got $status)" [ "$status" = "$2" ]
	[ -z "$3" ] || claim "$1: says '$3'" grep -qF -- "$3" "$work/err"
}

for workload in sleep mutex condvar pipe io compute spinners; do
	rm -f "$TRUTH"
	perf_record -a -k mono -g --switch-events -e "cpu-clock,$SCHED" -o "$work/data" -- \
		"$WORKLOADS/$workload"
	verified "$workload" "$work/data" "$TRUTH"
done

# The other forms hold the same: compressed, as a stream, in a directory, of SWITCH records alone.
rm -f "$TRUTH"
perf_record -z -a -k mono -g --switch-events -e "cpu-clock,$SCHED" -o "$work/data" -- "$WORKLOADS/mutex"
verified 'mutex, compressed' "$work/data" "$TRUTH"
rm -f "$TRUTH"
timeout -k 5 60 perf record -q -N -a -m 8M -k mono -g --switch-events -e "cpu-clock,$SCHED" -o - -- \
	"$WORKLOADS/mutex" 2>/dev/null </dev/null | "$DWELL" fold --wall - >"$work/wall.folded" 2>"$work/err"
claim 'mutex, as a stream on standard input' grep -q '^mutex.*;\[blocked' "$work/wall.folded"
rm -f "$TRUTH"
perf_record --threads -a -k mono -g --switch-events -e "cpu-clock,$SCHED" -o "$work/dir" -- \
	"$WORKLOADS/mutex"
[ -d "$work/dir" ] && verified 'mutex, in a directory' "$work/dir" "$TRUTH"
rm -f "$work/dir/data.0"
dwell report "$work/dir"
claim 'a missing file of a directory is said' grep -q '1 file data.N of the directory is missing' "$work/out"
rm -f "$work/dir/data" && mkfifo "$work/dir/data"
dwell report "$work/dir"
said 'a directory with a pipe for its data' 3 "its 'data' is no regular file"

# Groups: as perf splits them, event by event.
perf_record -g -e '{cpu-clock,page-faults,context-switches}:S' -o "$work/data" -- "$WORKLOADS/faults"
perf script -i "$work/data" -F event,period 2>/dev/null |
	awk '$2 ~ /:$/ { sum[$2] += $1; n[$2]++ } END { for (e in n) printf "%s%d %d\n", e, n[e], sum[e] }' |
	sort >"$work/theirs"
claim 'perf splits the group' [ "$(wc -l <"$work/theirs")" -ge 2 ]
for event in $(cut -d: -f1 "$work/theirs"); do
	dwell fold --event "$event" --weight samples "$work/data"
	samples=$(awk '{ s += $NF } END { print s + 0 }' "$work/out")
	dwell fold --event "$event" --weight period "$work/data"
	echo "$event:$samples $(awk '{ s += $NF } END { print s + 0 }' "$work/out")"
done >"$work/ours"
claim 'a group is split into its events as by perf' cmp "$work/theirs" "$work/ours"
rm -f "$TRUTH"
perf_record -k mono --switch-events -e dummy -o "$work/data" -- "$WORKLOADS/mutex"
verified 'mutex, SWITCH records of the process alone' "$work/data" # no wakings: no runnable time
rm -f "$TRUTH"
perf_record -k mono --switch-events -g -e context-switches -c 1 -o "$work/data" -- "$WORKLOADS/mutex"
verified 'mutex, SWITCH records and context-switches' "$work/data"
dwell fold --off "$work/data"
claim 'mutex, context-switches give the stacks' grep -q 'futex' "$work/out"

# both WORKLOAD: recorded by both at once; off-CPU time agrees stack by stack. The two take their
# stamps one after the other, a few us apart at each switch; threads end some time after their
# process did, and both see that.
both()
{
	record_begin -a --call-graph fp
	perf_record -a -k mono -g --switch-events -e "$SCHED" -o "$work/perf.data" -- \
		taskset -c 0 sh -c "'$WORKLOADS/$1'; sleep 0.3"
	record_end
	for input in data perf.data; do
		dwell fold --off --state blocked,runnable --by thread --comm "$comms" "$work/$input"
		mv "$work/out" "$work/$input.folded"
	done
	awk -v least=1000000 '
		{ ns = $NF; sub(/ [0-9]+$/, "") }
		FNR == NR { ours[$0] = ns; next }
		{ theirs[$0] = ns }
		END {
			for (stack in ours) theirs[stack] += 0
			for (stack in theirs) {
				a = ours[stack] + 0; b = theirs[stack]; d = a > b ? a - b : b - a
				if (a < least && b < least) continue
				stacks++
				if (d > 0.02 * (a > b ? a : b) + 500000) { print a, b, stack; bad++ }
			}
			exit !stacks || bad > 0
		}' "$work/data.folded" "$work/perf.data.folded" >"$work/err"
	claim "$1: both recorders agree stack by stack" [ ! -s "$work/err" ]
	claim "$1: there are stacks to compare" [ -s "$work/data.folded" ]
}
comms='holder*,mutex*'
both mutex
comms='pipe*'
both pipe

# Off-CPU time that cannot be told is refused, with what would work.
perf_record -e sched:sched_switch -g -o "$work/data" -- "$WORKLOADS/sleep"
dwell fold --off "$work/data"
said 'sched_switch of one process' 3 'perf record -p PID --switch-events'
dwell fold --event sched_switch --weight samples "$work/data"
said 'sched_switch of one process, as samples' 0 ''
perf_record -a -F 99 -e sched:sched_switch -g -o "$work/data" -- "$WORKLOADS/sleep"
dwell fold --off "$work/data"
said 'sched_switch sampled by frequency' 3 'was sampled'
perf_record -e cpu-clock -g -o "$work/data" -- "$WORKLOADS/compute"
dwell fold --off "$work/data"
said 'a clock alone' 3 'the recording has no scheduler events'
dwell fold --on "$work/data"
said 'a clock alone, on-CPU' 0 'on-CPU time is sample periods'

# Cut anywhere: what stands before the cut is read.
size=$(stat -c %s "$work/data")
for part in 10 50 90 99; do
	head -c $((size * part / 100)) "$work/data" >"$work/cut"
	dwell fold --on "$work/cut"
	claim "cut at $part %: no crash (got $status)" [ "$status" -le 4 ]
done
