#!/bin/sh
# SPDX-License-Identifier: MIT
# The recorder itself inside a pid namespace and inside a time namespace: tids and clocks there are
# not those of the kernel's records.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'recordings inside namespaces'

TRUTH=$work/truth
export TRUTH
UNSHARE=${UNSHARE:-unshare}

# in_namespace NAME FLAG...
in_namespace()
{
	local name=$1
	shift
	if ! $UNSHARE "$@" true 2>/dev/null; then
		skip "$name" "no unshare $* here"
		return
	fi
	rm -f "$TRUTH"
	timeout -k 5 60 $UNSHARE "$@" "$DWELL" record -q -o "$work/data" -- "$WORKLOADS/mutex" \
		>"$work/out" 2>"$work/err"
	status=$?
	claim "$name: exit status 0 (got $status)" [ "$status" = 0 ]
	# Which namespace's tids the report shows is not the claim here.
	sed -i 's/^thread [0-9]*/thread -/' "$TRUTH"
	verified "$name" "$work/data" "$TRUTH"
}

in_namespace pid-namespace -pf --mount-proc
# All threads there; those of other namespaces have no number here.
if $UNSHARE -pf --mount-proc true 2>/dev/null; then
	rm -f "$TRUTH"
	"$WORKLOADS/sleep" >/dev/null &
	stranger=$!
	dwell_all="\"$DWELL\" record -q -a -o \"$work/data\" -- \"$WORKLOADS/mutex\""
	timeout -k 5 60 $UNSHARE -pf --mount-proc sh -c "$dwell_all" >"$work/out" 2>"$work/err"
	status=$?
	claim "all of a pid namespace: exit status 0 (got $status)" [ "$status" = 0 ]
	wait "$stranger"
	# A thread whose number is not learnt yet comes unheard once.
	(VERIFY_WHOLE=0 && export VERIFY_WHOLE && verified 'all of a pid namespace' "$work/data")
	claim 'none of them is without a pid' [ -z "$(grep '"pid": *-' "$work/threads.json")" ]
	dwell report "$work/data"
	claim 'those of others are told of' grep -q 'threads of other pid namespaces' "$work/out"
fi
in_namespace time-namespace -T --monotonic 100000 -f

# /proc of another pid namespace would tell of strangers.
unshare --pid --fork "$DWELL" record -o strangers -- true >out 2>err
status=$?
claim "another namespace's /proc: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and one line says so' grep -q 'of another pid namespace' err
