#!/bin/sh
# SPDX-License-Identifier: MIT
# Runnable time against schedstat's wait, from both sides, where threads wake each other across CPUs.
# Ours begins when somebody wakes the thread, schedstat's when the woken CPU has put it on its run
# queue: an idle CPU first has to leave its sleep for the interrupt that asks it to. ftrace tells how
# long that took for each waking (sched_waking to sched_wakeup); with it the two must agree.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'runnable time against schedstat across CPUs'

TRUTH=$work/truth
export TRUTH
instance=/sys/kernel/tracing/instances/dwell-test-$$
if ! mkdir "$instance" 2>/dev/null; then
	skip 'runnable time against schedstat across CPUs' 'no instance of ftrace can be made'
	exit 0
fi
trap 'echo 0 >"$instance/tracing_on"; rmdir "$instance"; cleanup' EXIT
echo mono >"$instance/trace_clock"
echo 16384 >"$instance/buffer_size_kb"
for event in sched/sched_waking sched/sched_wakeup sched/sched_wakeup_new task/task_newtask; do
	echo 1 >"$instance/events/$event/enable"
done

# delays: "TID NS" a line, what a thread's wakings took to take effect.
delays()
{
	awk '{
		if (!match($0, /[0-9]+\.[0-9]+: (sched_wak|task_new)/))
			next
		time = substr($0, RSTART) + 0
		waking = index($0, ": sched_waking: ") || index($0, ": task_newtask: ")
		match($0, / pid=[0-9]+/)
		tid = substr($0, RSTART + 5, RLENGTH - 5)
		if (waking && !(tid in since))
			since[tid] = time
		else if (!waking && tid in since) {
			sum[tid] += time - since[tid]
			delete since[tid]
		}
	}
	END { for (tid in sum) printf "%s %.0f\n", tid, sum[tid] * 1e9 }' "$instance/trace"
}

# Many switches, so that what is left of the delay would show.
rm -f "$TRUTH"
dwell record -q -o "$work/data" -- "$WORKLOADS/pipe" 2000
claim "recorded (exit status $status)" [ "$status" = 0 ]
delays >"$work/delays"
if ! awk '/entries-in-buffer/ { split($3, n, "/"); exit n[1] != n[2] }' "$instance/trace"; then
	skip 'runnable time against schedstat across CPUs' 'ftrace lost events'
	exit 0
fi
# One-sided where another CPU may wake (truth.h); now it has two sides.
awk 'NR == FNR { delay[$1] = $2; next }
	{ for (i = 4; i <= NF; i++)
		if (split($i, word, "=") == 2 && word[1] == "runnable_min_ns")
			$i = sprintf("schedstat_wait_ns=%.0f", word[2] + delay[$2])
	print }' "$work/delays" "$TRUTH" >"$work/both"
claim 'wait and delay are told' grep -q schedstat_wait_ns "$work/both"
verified 'pipe on any CPU' "$work/data" "$work/both"
