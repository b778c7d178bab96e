#!/bin/bash
# SPDX-License-Identifier: MIT
# Records the bundled demo program and shows where its time went: the summary, and the paths of its
# three folded files.
#
#   DWELL=./dwell OUT=build scripts/demo.sh
set -u
DWELL=${DWELL:-./dwell}
OUT=${OUT:-build}
out=$OUT/demo
mkdir -p "$out" || exit 3

"$DWELL" record -o "$out/dwell.data" -F 999 -- "$OUT/demo-workload" || exit
for view in on off wall; do
	"$DWELL" fold --$view "$out/dwell.data" >"$out/$view.folded" || exit
done
echo
"$DWELL" report "$out/dwell.data" || exit
echo
echo "folded stacks, nanoseconds: $out/on.folded $out/off.folded $out/wall.folded"
