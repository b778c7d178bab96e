#!/bin/bash
# SPDX-License-Identifier: MIT
# Records the bundled demo program and shows where its time went: the summary that ends the
# recording, and the paths of its three folded files.
#
#   DWELL=./dwell OUT=build scripts/demo.sh
set -u
DWELL=${DWELL:-./dwell}
OUT=${OUT:-build}
out=$OUT/demo
mkdir -p "$out" || exit 3

"$DWELL" record -o "$out/dwell.data" -F 999 -- "$OUT/demo-workload" || exit
for view in on off wall; do
	# What it warns of stands in the summary already.
	"$DWELL" fold --$view "$out/dwell.data" >"$out/$view.folded" 2>"$out/fold.log" || {
		status=$?
		cat "$out/fold.log" >&2
		exit $status
	}
done
echo
echo "folded stacks, nanoseconds: $out/on.folded $out/off.folded $out/wall.folded"
