#!/bin/sh
# SPDX-License-Identifier: MIT
# Code made at run time has the name that it had at that time, and keeps it when the process and its
# files are gone: by a jit-PID.dump, by a perf-PID.map, and by one that only a container saw.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"

UNSHARE=${UNSHARE:-unshare}
cd "$work" || exit 3

# time_of NAME: milliseconds on a CPU in frames of that name, in the last fold.
time_of()
{
	awk -v name="$1" '{ n = split($0, f, ";"); sub(/ [0-9]+$/, "", f[n]) }
		f[n] == name { ns += $NF } END { printf "%d", ns / 1000000 }' "$work/out"
}

# spun TEXT NAME: NAME ran for about 300 ms.
spun()
{
	local ms
	ms=$(time_of "$2")
	claim "$1: $2 ran for 200 to 400 ms (got $ms)" [ $((ms / 200)) = 1 ]
}

dwell record -q -F 999 -o dump.data -- "$WORKLOADS/jit" dump
claim "a dump: exit status 0 (got $status)" [ "$status" = 0 ]
rm -f jit-*.dump
dwell fold --on dump.data
spun 'a dump' 'jit_first_[j]'
spun 'a dump' 'jit_second_[j]'

dwell record -q -F 999 -o map.data -- "$WORKLOADS/jit" map
claim "a map: exit status 0 (got $status)" [ "$status" = 0 ]
for map in /tmp/perf-*.map; do
	grep -qs ' mapped_code$' "$map" && rm -f "$map"
done
dwell fold --on map.data
spun 'a map' 'mapped_code_[j]'

# In there it is process 2 or so, with a /tmp that goes with it.
if [ "$(id -u)" != 0 ]; then
	skip 'a map in a container' 'privilege: not root'
elif ! $UNSHARE -pfm --mount-proc mount -t tmpfs none /mnt 2>/dev/null; then
	skip 'a map in a container' "no $UNSHARE -pfm here"
else
	dwell record -q -F 999 -o inner.data -- "$UNSHARE" -pfm --mount-proc \
		sh -c 'mount -t tmpfs none /mnt && cp "$0" /mnt/jit && mount -t tmpfs none /tmp &&
			/mnt/jit map; exit $?' "$WORKLOADS/jit"
	claim "a map in a container: exit status 0 (got $status)" [ "$status" = 0 ]
	dwell fold --on inner.data
	spun 'a map in a container' 'mapped_code_[j]'
	# The map is written last, and with its process the container is gone.
	dwell record -q -F 999 -o inner.data -- "$UNSHARE" -pfm --mount-proc \
		sh -c 'mount -t tmpfs none /mnt && cp "$0" /mnt/jit && mount -t tmpfs none /tmp &&
			exec /mnt/jit map' "$WORKLOADS/jit"
	claim "a map of a whole container: exit status 0 (got $status)" [ "$status" = 0 ]
	dwell fold --on inner.data
	spun 'a map of a whole container' 'mapped_code_[j]'
fi

# A perf.data does not hold such names: its map is found beside it, or where one says.
if ! perf record -q -e cpu-clock -g -o perf.data true >/dev/null 2>&1; then
	skip 'the map of a perf.data' 'no usable perf here'
	exit 0
fi
perf record -q -e cpu-clock -g -o perf.data "$WORKLOADS/jit" map >/dev/null 2>&1
mkdir maps
for map in /tmp/perf-*.map; do
	grep -qs ' mapped_code$' "$map" && mv "$map" maps/
done
dwell fold --on --perf-map-dir maps perf.data
spun 'a perf.data, its map in a directory' 'mapped_code_[j]'
mv maps/perf-*.map .
dwell fold --on perf.data
spun 'a perf.data, its map beside it' 'mapped_code_[j]'
rm -f perf-*.map
dwell fold --on perf.data
claim 'a perf.data without its map: no name' [ "$(time_of 'mapped_code_[j]')" = 0 ]
