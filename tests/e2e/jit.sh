#!/bin/sh
# SPDX-License-Identifier: MIT
# Code made at run time has its names, though the process and its files are gone when the recording
# ends, also in a container, and also when memory holds other code than before.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root "run-time code is recorded with its names"
cd "$work" || exit 3

# names TEXT PATTERN: of on-CPU stacks.
names()
{
	dwell fold --on data
	claim "$1" grep -qE "$2" out
}

# share NAME: of all on-CPU time of the workload, in per cent.
share()
{
	awk -v name="$1" '/^jit;/ { all += $NF } index($0, name) { part += $NF }
		END { print all ? int(100 * part / all) : 0 }' out
}

for how in fp dwarf; do
	dwell record -q -F 999 --call-graph $how -o data -- "$WORKLOADS/jit" map
	claim "$how: code of a map (got $status)" [ "$status" = 0 ]
	names "$how: is named, on top of who called it" 'main;jit_run;jit_of_map_\[j\] '
	rm -f /tmp/perf-*.map
	names "$how: and needs no file afterwards" 'main;jit_run;jit_of_map_\[j\] '

	dwell record -q -F 999 --call-graph $how -o data -- "$WORKLOADS/jit" dump
	claim "$how: code of a dump (got $status)" [ "$status" = 0 ]
	names "$how: what stood there first" 'main;jit_run;jit_first_\[j\] '
	names "$how: and what came in its place" 'main;jit_run;jit_second_\[j\] '
	claim "$how: each as long as it ran ($(share jit_first) and $(share jit_second) %)" \
		[ "$(share jit_first)" -ge 35 -a "$(share jit_second)" -ge 35 ]
done

# Another recorder's view: the process was there before.
"$WORKLOADS/jit" dump &
jit=$!
children="$children $jit"
sleep 0.05
dwell record -q -F 999 -o data -p $jit
names 'a dump that was there before' 'jit_run;jit_second_\[j\] '

# In a container: its own /tmp, its own pids, and all is gone with the process.
if unshare -mpf mount -t tmpfs none /tmp 2>/dev/null; then
	dwell record -q -F 999 -a -o data -- unshare -mpf --kill-child sh -c \
		"mount -t tmpfs none /tmp && '$WORKLOADS/jit' map"
	claim "in a container (got $status)" [ "$status" = 0 ]
	names 'its map is found' 'main;jit_run;jit_of_map_\[j\] '
else
	skip 'in a container' 'there are no mount namespaces here'
fi

# What others put in the place of a map is not believed, and nobody waits for it.
cat >"$work/other.sh" <<END
mkfifo /tmp/perf-\$\$.map 2>/dev/null || ln -s /etc/passwd /tmp/perf-\$\$.map
exec "$WORKLOADS/jit" dump
END
dwell record -q -F 99 -o data -- timeout 20 sh "$work/other.sh"
claim "a FIFO in the map's place does not hang (got $status)" [ "$status" = 0 ]
rm -f /tmp/perf-*.map
