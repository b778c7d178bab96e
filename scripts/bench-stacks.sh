#!/bin/bash
# SPDX-License-Identifier: MIT
# What stacks cost while a compiler runs: by frame pointers, by unwind information, and as perf copies
# them. The variants alternate, and medians are compared. Prints a table; asserts nothing.
#
#   DWELL=./dwell OUT=build [ROUNDS=7] [CXX=c++] scripts/bench-stacks.sh
set -u

DWELL=${DWELL:-./dwell}
OUT=${OUT:-build}
ROUNDS=${ROUNDS:-7}
CXX=${CXX:-c++}
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

if [ "$(id -u)" != 0 ] || ! command -v perf >/dev/null || ! command -v "$CXX" >/dev/null; then
	echo 'bench: stacks need root, perf and a C++ compiler'
	exit 0
fi

cat >"$work/load.cc" <<'END'
#include <algorithm>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <unordered_map>

int main(int, char **argv)
{
	std::string text = argv[0];
	std::regex pattern(text);
	std::map<std::string, std::vector<int>> map;
	std::unordered_map<std::string, std::function<int(int)>> functions;
	std::smatch match;
	std::mt19937 random;

	std::regex_search(text, match, pattern);
	std::sort(text.begin(), text.end());
	std::cout << std::async([&] { return random(); }).get() << map.size() << functions.size();
}
END
load=("$OUT/tests/bench/usage" "$work/usage" "$CXX" -O2 -c "$work/load.cc" -o "$work/load.o")

# median FILE AWK-EXPRESSION
median()
{
	awk "{print $2}" "$1" | sort -n | awk '{v[NR] = $1} END {print NR ? v[int((NR + 1) / 2)] : "nan"}'
}

fact()
{
	"$DWELL" dump --headers "$work/data.$1" 2>/dev/null | sed -n "s/^# $2: //p" | grep . || echo 0
}

row()
{
	printf '%-46s %10s   %s\n' "$@"
}

# round NAME COMMAND...: runs the load below it, and keeps what the load used.
round()
{
	local name=$1
	shift
	rm -f "$work/usage"
	"$@" "${load[@]}" >/dev/null 2>&1
	cat "$work/usage" >>"$work/usage.$name"
}

for ((i = 0; i < ROUNDS; i++)); do
	round none env
	for how in fp dwarf; do
		round "$how" "$DWELL" record -q -F 999 --call-graph "$how" -o "$work/data.$how" --
		echo "$(fact "$how" recorder.cpu_ns) $(fact "$how" records.lost)" >>"$work/cost.$how"
	done
done
perf record -q -N -m 32M -F 999 --call-graph dwarf -e cpu-clock -o "$work/samples" -- "${load[@]}" \
	>/dev/null 2>&1
perf record -q -N -m 32M --call-graph dwarf -e sched:sched_switch -e cpu-clock/freq=999/ \
	-o "$work/perf" -- "${load[@]}" >/dev/null 2>&1

echo "load: $CXX -O2 of 25 lines of C++ and their headers, 999 Hz, median of $ROUNDS, alternating"
row variant 'user+sys s' 'against none; recorder CPU against the load, lost, bytes'
for how in none fp dwarf; do
	used=$(median "$work/usage.$how" '$1 + $2')
	none=$(median "$work/usage.none" '$1 + $2')
	rest=
	[ $how = none ] || rest=$(awk -v ns="$(median "$work/cost.$how" '$1')" -v used="$used" \
		-v lost="$(median "$work/cost.$how" '$2')" -v bytes="$(stat -c %s "$work/data.$how")" \
		'BEGIN {printf "%.2f%%  %d  %d", ns / 1e7 / used, lost, bytes}')
	row "$how" "$used" "$(awk -v a="$used" -v b="$none" 'BEGIN {printf "%.3f", a / b}')  $rest"
done
row 'dwarf against fp, user+sys' "$(paste "$work/usage.dwarf" "$work/usage.fp" |
	awk '{print ($1 + $2) / ($6 + $7)}' | sort -n |
	awk '{v[NR] = $1} END {printf "%.3f", v[int((NR + 1) / 2)]}')" 'median of the ratios of each round'
for end in complete joined truncated broken; do
	row "stacks, $end" "$(fact dwarf "stacks.$end")" ''
done
bytes=$(stat -c %s "$work/perf")
row 'perf record --call-graph dwarf, bytes' "$bytes" "$(awk -v a="$bytes" \
	-v b="$(stat -c %s "$work/data.dwarf")" 'BEGIN {printf "%.0f times as many", a / b}')"
row 'unwinding, ns a frame' "$("$OUT/tests/tools/unwindtime" "$work/samples" |
	sed 's/.*frame //')" "its samples' second half, tables made"
