#!/bin/sh
# SPDX-License-Identifier: MIT
# `dwell record --call-graph dwarf`: programs without frame pointers block and run in paths that are
# known, and the paths are found whole.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'stacks are unwound while recording'

# The counter of how stacks ended, from the trace.
ended()
{
	"$DWELL" dump --headers "$work/data" 2>/dev/null | sed -n "s/^# stacks\.$1: //p" | grep . || echo 0
}

# path TEXT PATTERN: a folded line matches.
path()
{
	claim "$1" grep -qE "$2" "$work/folded"
}

# recorded CMD: records it, folds its waits.
recorded()
{
	dwell record -q --call-graph dwarf -F 499 -o "$work/data" -- "$@"
	claim "records $(basename "$1") (got $status)" [ "$status" = 0 ]
	verified "$(basename "$1")" "$work/data"
	dwell fold --off "$work/data"
	cp "$work/out" "$work/folded"
}

recorded "$WORKLOADS/paths"
thread='[^;]*start_thread;paths_thread'
path 'a lock' "^lock;(clone3;|[^;]*;)?$thread;paths_lock;.*pthread_mutex_lock"
path 'a condition variable' "^condvar;.*$thread;paths_condvar;.*pthread_cond_wait"
path 'read' "^read;.*$thread;paths_read;.*read"
path 'epoll' "^epoll;.*$thread;paths_epoll;.*epoll_wait"
path 'vfork' "^vfork;.*$thread;paths_vfork;.*vfork;"
path "a coroutine's stack, to its end" '^context;([^;[]*;|\[unknown\][^;]*;)?paths_coroutine;paths_nap;'
path 'what a small copy holds' "^levels;.*$thread;paths_levels;(paths_deep;)+paths_nap"
path 'what it does not, joined' \
	"^levels;.*$thread;paths_levels;(paths_deep;)+\[joined\];(paths_deep;)+paths_nap"
path 'and what nothing can be joined to' '^levels;\[truncated\];(paths_deep;)+paths_nap'
claim 'no stack is broken' [ "$(ended broken)" = 0 ]
claim 'how stacks ended is counted' \
	[ "$(ended complete)" -gt 100 -a "$(ended joined)" -gt 0 -a "$(ended truncated)" -gt 0 ]
dwell report "$work/data"
claim 'and said' grep -q 'user stacks complete' "$work/out"
dwell report --json "$work/data"
claim 'in JSON, too' grep -q "\"complete\": *$(ended complete)" "$work/out"
complete=$(ended complete)

# A copy that holds them all leaves nothing to be joined.
dwell record -q --call-graph dwarf,60000 -o "$work/data" -- "$WORKLOADS/paths"
claim "larger copies (got $status)" [ "$status" = 0 ]
claim 'hold deeper stacks' \
	[ "$(ended joined)" = 0 -a "$(ended truncated)" = 0 -a "$(ended complete)" -gt "$complete" ]

recorded "$WORKLOADS/deep"
deep='main;(deep_recurse;){13}deep_sort'
path 'a signal handler and what it interrupted' "$deep;.*raise.*;deep_handler;deep_sleep;.*nanosleep"
dwell fold --on "$work/data"
cp "$work/out" "$work/folded"
path 'a recursion, alloca, libc and a callback, running' "$deep;.*qsort.*;deep_compare;deep_spin"

# With frame pointers these are not found: else nothing above proved anything.
dwell record -q --call-graph fp -o "$work/data" -- "$WORKLOADS/paths"
dwell fold --off "$work/data"
claim 'by frame pointers it cannot be done' \
	sh -c "! grep -qE '^condvar;.*paths_thread;paths_condvar;.*pthread_cond_wait' '$work/out'"

if ! command -v c++ >/dev/null 2>&1; then
	skip 'libstdc++ is unwound' 'there is no C++ compiler'
else
	c++ -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -pthread -o "$work/cxx" \
		"$(dirname "$0")/unwind_live.cc"
	recorded "$work/cxx"
	path 'below libstdc++' 'start_thread;[^;]+;.*::_M_run;cxx_wait;.*cond_wait'
	path 'before a throw' 'main;cxx_catch.*;cxx_throw.*;nap.*;.*nanosleep'
	path 'in the handler of an exception' 'main;cxx_catch[^;]*;nap.*;.*nanosleep'
	claim 'no stack of C++ is broken' [ "$(ended broken)" = 0 ]
fi

for wrong in dwarf,255 dwarf,64505 dwarf,x 'dwarf,' dwarfs; do
	dwell record -q --call-graph "$wrong" -o "$work/data" -- true
	claim "--call-graph $wrong: exit 2 (got $status)" [ "$status" = 2 ]
done
