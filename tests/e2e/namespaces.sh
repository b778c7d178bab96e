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
in_namespace time-namespace -T --monotonic 100000 -f

# /proc of another pid namespace would tell of strangers.
unshare --pid --fork "$DWELL" record -o strangers -- true >out 2>err
status=$?
claim "another namespace's /proc: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and one line says so' grep -q 'of another pid namespace' err
