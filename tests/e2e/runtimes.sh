#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of other languages, recorded as they come: the functions that compute and wait are on the
# stacks, and these go down to the threads' first frames.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'programs of other languages are recorded'
loads=$(cd "$(dirname "$0")" && pwd)/runtimes
cd "$work" || exit 3 # Node leaves a log where it runs

# has PROGRAM TEXT: else skips it.
has()
{
	command -v "$1" >/dev/null 2>&1 && return
	skip "$2" "there is no $1"
	return 1
}

# recorded NAME COMMAND...: folded waits are in off, computing in on.
recorded()
{
	local name=$1
	shift
	dwell record -q --call-graph dwarf -F 499 -o "$work/data" -- "$@"
	claim "$name is recorded (got $status)" [ "$status" = 0 ]
	dwell fold --on "$work/data"
	cp "$work/out" "$work/on"
	dwell fold --off "$work/data"
	cp "$work/out" "$work/off"
	dwell report --json "$work/data"
	claim "$name: nine of ten stacks are whole" awk '
		/"user_stacks"/ { inside = 1 }
		inside && /"complete"|"joined"/ { gsub(/[^0-9]/, ""); whole += $0; all += $0; next }
		inside && /"truncated"|"broken"|"not_unwound"/ { gsub(/[^0-9]/, ""); all += $0 }
		inside && /}/ { inside = 0 }
		END { exit !(all > 20 && whole >= 0.9 * all) }' "$work/out"
}

path()
{
	claim "$1" grep -qE "$3" "$work/$2"
}

if has node 'Node'; then
	recorded Node node --perf-basic-prof --interpreted-frames-native-stack "$loads/load.js"
	path 'Node computes' on '_start;.*node::Start;.*loadOuter[^;]*_\[j\];[^;]*loadSpin[^;]*_\[j\]'
	path 'Node waits' off 'node::Start;.*loadOuter[^;]*_\[j\];[^;]*loadWait[^;]*_\[j\];.*[Ff]utex'
fi
if has javac 'Java'; then
	javac -d "$work" "$loads/Load.java"
	recorded Java java -XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions \
		-XX:+DumpPerfMapAtExit -cp "$work" Load
	path 'Java computes' on 'start_thread;.*JavaMain;.*loadSpin[^;]*_\[j\]'
	path 'Java waits' off 'start_thread;.*JavaMain;.*[Ss]leep.*futex'
fi
if [ -x /usr/bin/python3 ]; then
	recorded Python /usr/bin/python3 "$loads/load.py"
	path 'Python computes' on '_start;__libc_start_main.*;_PyEval_EvalFrameDefault'
	path 'Python waits' off '_start;__libc_start_main.*;_PyEval_EvalFrameDefault.*clock_nanosleep'
else
	skip 'Python' 'there is no /usr/bin/python3'
fi
if has rustc 'Rust'; then
	rustc -C opt-level=2 -o "$work/rust" "$loads/load.rs"
	recorded Rust "$work/rust"
	path 'Rust computes' on 'main;.*load::main;load::load_outer;load::load_spin'
	path 'Rust sleeps' off 'load::main;load::load_outer;.*nanosleep'
	path 'Rust waits' off 'start_thread;.*load::load_wait;.*futex'
fi
if has go 'Go'; then
	HOME=$work GOFLAGS=-p=1 go build -o "$work/go" "$loads/load.go"
	recorded Go "$work/go"
	path 'Go computes' on 'runtime.main;main.main;main.loadOuter;main.loadSpin'
	path 'Go waits' off 'runtime.main;main.main;main.loadOuter;main.loadWait;syscall.Nanosleep'
	# Stripped, they have frame pointers and the runtime's table; a leaf function hides its caller.
	for how in exe pie; do
		HOME=$work GOFLAGS=-p=1 go build -buildmode=$how -ldflags=-s -o "$work/go" "$loads/load.go"
		dwell record -q -F 499 -o "$work/data" -- "$work/go"
		dwell fold --on "$work/data"
		cp "$work/out" "$work/on"
		path "Go, stripped, $how: computes" on 'main.main;(main.loadOuter;)?main.loadSpin'
		dwell fold --off "$work/data"
		cp "$work/out" "$work/off"
		path "Go, stripped, $how: waits" off 'main.main;main.loadOuter;.*syscall.Nanosleep'
	done
fi
