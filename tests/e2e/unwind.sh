#!/bin/sh
# SPDX-License-Identifier: MIT
# User stacks that perf copied (--call-graph dwarf), unwound here: a workload whose paths are known,
# and chain by chain the same as perf's own unwinder tells.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'copied stacks are unwound'
if ! perf --version >/dev/null 2>&1; then
	skip 'copied stacks are unwound' 'perf is not installed'
	exit 0
fi

timeout -k 5 60 perf record -q -N -m 8M --call-graph dwarf -e cpu-clock -F 999 -o "$work/data" -- \
	"$WORKLOADS/deep" >"$work/perf.out" 2>&1 </dev/null
dwell fold --on "$work/data"
cp "$work/out" "$work/folded"
claim "folds (got $status)" [ "$status" = 0 ]
path='main;\(deep_recurse;\)\{13\}deep_sort'
claim 'a recursion, alloca, libc and a callback' \
	grep -q "$path;.*qsort.*;deep_compare;deep_spin" "$work/folded"
claim 'a signal handler and what it interrupted' \
	grep -q "$path;.*raise.*;deep_handler;deep_sleep;deep_spin" "$work/folded"
claim 'nothing is left as it was' sh -c "! grep -q 'not unwound' '$work/folded'"
dwell report "$work/data"
claim 'how stacks ended is no cause for a warning' sh -c "! grep -q '^!.*stacks' '$work/out'"

# perf prints its own unwinding as text; ours of the same file must be the same stacks, whichever of a
# function's names each takes.
plain()
{
	sed 's/@@*[A-Z_0-9.]*//g; s/\([; ]\)__*\(GI_*\)*/\1/g' "$1" | sort
}

perf script --no-inline -i "$work/data" >"$work/text" 2>/dev/null
dwell fold --weight samples "$work/text"
plain "$work/out" >"$work/theirs"
dwell fold --no-inline --event cpu-clock --weight samples "$work/data"
plain "$work/out" >"$work/ours"
same=$(comm -12 "$work/ours" "$work/theirs" | awk '{ n += $NF } END { print n + 0 }')
all=$(awk '{ n += $NF } END { print n + 0 }' "$work/theirs")
echo "# $same of $all samples have the very same stack"
claim 'nearly all stacks are the same as perf tells' [ "$((same * 100))" -ge "$((all * 95))" ]
comm -3 "$work/ours" "$work/theirs" | head -n 4 | sed 's/^/# /'
