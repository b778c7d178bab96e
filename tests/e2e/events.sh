#!/bin/sh
# SPDX-License-Identifier: MIT
# Recordings that hold samples alone, or switches that are half told, as text of perf script: what
# can be told is, what cannot is refused with the reason, and the exit status says which.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
cd "$work" || exit 3

# said TEXT STATUS WORDS: how the last dwell ended, and what it said.
said()
{
	claim "$1: exit $2 (got $status)" [ "$status" = "$2" ]
	[ -z "$3" ] || claim "$1: says '$3'" grep -qF -- "$3" err
}

# folded TEXT LINE...: the last dwell printed these lines.
folded()
{
	local text=$1
	shift
	printf '%s\n' "$@" >expected
	claim "$text" cmp expected out
}

# sample COMM TIME PERIOD EVENT LEAF
sample()
{
	printf '%s 100/101 [001] 10.%06d: %s %s:\n' "$1" "$2" "$3" "$4"
	printf '\t%s\n\t%s\n\n' "        401000 $5+0x10 (/bin/app)" '        402000 main+0x20 (/bin/app)'
}

{
	sample app 100 700 cycles:P copy
	sample app 200 300 cycles:P copy
	sample app 300 50 cycles:P parse
	sample app 400 2 page-faults copy
} >counters
dwell fold counters
said 'counters: fold' 0 "no clock and no scheduler events: samples of 'cycles:P' are counted, not time"
folded 'counters: the first event is counted' 'app;main;copy 2' 'app;main;parse 1'
dwell fold --event cycles --weight period counters
said 'counters: --weight period' 0 ''
folded 'counters: periods add up' 'app;main;copy 1000' 'app;main;parse 50'
dwell fold --event 'page*' --by thread counters
folded 'counters: another event, by thread' 'app-100/101;main;copy 1'
dwell fold --event cycles --weight time counters
said 'counters: --weight time' 2 'something else than time'
dwell fold --event nope counters
said 'counters: no such event' 2 'it has cycles:P, page-faults'
for mode in --wall --on '--min 1us'; do
	# shellcheck disable=SC2086 # two words
	dwell fold $mode counters
	said "counters: $mode" 3 'time cannot be told'
done
dwell fold --off counters
said 'counters: --off' 3 'the recording has no scheduler events'
dwell report counters
said 'counters: report' 0 ''
claim 'counters: report counts samples' grep -q '3 samples of cycles:P' out
claim 'counters: report lists events' grep -qx 'events: cycles:P 3, page-faults 1' out
dwell report threads counters
claim 'counters: threads have samples' grep -q '^100/101  app .* 100%  *3$' out
dwell report --json counters
claim 'counters: JSON names the event' grep -q '"counted_event":"cycles:P"' out
dwell dump --headers counters
claim 'counters: dump counts events' grep -q '^# read of event [01]: page-faults samples=1$' out

{
	sample app 100 250000 cpu-clock copy
	sample app 350 250000 cpu-clock parse
} >clock
dwell fold clock
said 'clock: fold' 0 'no scheduler events were recorded'
folded 'clock: time on a CPU' 'app;[on-cpu];main;copy 250000' 'app;[on-cpu];main;parse 250000'
dwell fold --weight samples clock
folded 'clock: samples' 'app;main;copy 1' 'app;main;parse 1'
for mode in --off '--state blocked' '--on --state off'; do
	# shellcheck disable=SC2086 # two words
	dwell fold $mode clock
	said "clock: $mode" 3 'the recording has no scheduler events'
done

# Only app's own switches: it always leaves and never comes back.
{
	sample app 100 250000 cpu-clock copy
	for at in 200 400 600; do
		printf 'app 100/101 [001] 10.%06d: 1 sched:sched_switch: ' $at
		echo 'app:101 [120] S ==> other:7 [120]'
		printf '\t%s\n\n' '        401000 nap+0x10 (/bin/app)'
	done
} >half
for mode in '' --wall --off '--state blocked'; do
	# shellcheck disable=SC2086 # none, one or two words
	dwell fold $mode half
	said "half told: fold $mode" 3 'no wait has an end'
done
dwell fold --on half
said 'half told: --on' 0 'no wait has an end'
folded 'half told: time on a CPU' 'app;main;copy 250000'
dwell fold --event sched_switch half
said 'half told: --event' 0 ''
folded 'half told: switches are counted' 'app;nap 3'
dwell report half
said 'half told: report' 0 ''
claim 'half told: report gives the reason' grep -q '^! .*only the recorded' out
