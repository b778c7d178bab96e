#!/bin/bash
# SPDX-License-Identifier: MIT
# What recording and reading cost, as ratios taken in one run: the variants alternate, and medians
# are compared. Prints a table; asserts nothing.
#
#   DWELL=./dwell OUT=build [FLOOR_C=floor.c] [STACKCOLLAPSE=stackcollapse-perf.pl] [ROUNDS=7]
#   [LOOPS=300000] scripts/bench.sh
#
# FLOOR_C is a program that opens the same events and throws every record away: the least that any
# recorder can cost.
set -u

DWELL=${DWELL:-./dwell}
OUT=${OUT:-build}
FLOOR_C=${FLOOR_C:-../shared/bench/floor.c}
ROUNDS=${ROUNDS:-7}
LOOPS=${LOOPS:-300000}
programs=$OUT/tests/bench
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT

if [ "$(id -u)" != 0 ] || ! command -v perf >/dev/null; then
	echo 'bench: needs root and perf'
	exit 0
fi
if [ ! -e /sys/kernel/tracing/events ]; then
	mount -t tracefs tracefs /sys/kernel/tracing || exit 3
fi
floor=
if [ -r "$FLOOR_C" ] && "${CC:-cc}" -O2 -o "$work/floor" "$FLOOR_C"; then
	floor=$work/floor
else
	echo "bench: no floor: FLOOR_C='$FLOOR_C' cannot be built"
fi

# The load: one process pair that switches on CPU 0 as fast as it can.
load=(taskset -c 0 perf bench sched pipe -l "$LOOPS")

# timed NAME COMMAND...: runs it and adds the load's own time, in seconds, to the variant's list.
timed()
{
	local name=$1
	shift
	"$@" 2>"$work/err" | sed -nE 's/.*Total time: ([0-9.]+).*/\1/p' >>"$work/time.$name"
}

# median FILE [FIELD]
median()
{
	awk -v f="${2:-1}" '{print $f}' "$1" | sort -n |
		awk '{v[NR] = $1} END {print NR ? v[int((NR + 1) / 2)] : "nan"}'
}

ratio()
{
	awk -v a="$1" -v b="$2" 'BEGIN {if (b > 0) printf "%.3f", a / b; else printf "-"}'
}

row()
{
	printf '%-46s %10s   %s\n' "$@"
}

# records_of TRACE: "+records" if CPU 0 had SWITCH records besides the tracepoint: the mode of the floor that
# it is held against. (A CPU that is too busy to be tested at the start has them for a while.)
records_of()
{
	"$DWELL" dump --events cpu "$1" 2>/dev/null | grep ' cpu 0 ' | tail -n 1 |
		grep -q 'witness=both' && echo '+records'
}

for ((i = 0; i < ROUNDS; i++)); do
	timed none "${load[@]}"
	timed dwell-nowakers "$DWELL" record -q -a --call-graph fp --no-wakers -o "$work/nowakers" -- "${load[@]}"
	# Without SWITCH records anywhere: one CPU that needs them makes every CPU's switches dearer.
	timed dwell-nowakers-cpu0 "$DWELL" record -q -a --call-graph fp -C 0 --no-wakers -o "$work/cpu0" -- "${load[@]}"
	timed dwell "$DWELL" record -q -a --call-graph fp -o "$work/data" -- "${load[@]}"
	if [ -n "$floor" ]; then
		records=$(records_of "$work/nowakers")
		timed floor "$floor" "switch+stack$records" "${load[@]}"
		waking_records=$(records_of "$work/data")
		timed floor-waking "$floor" "switch+stack+waking$waking_records" "${load[@]}"
		echo "${records:-none} ${waking_records:-none}" >>"$work/modes"
	fi
	timed perf perf record -q -a -g -e sched:sched_switch -o "$work/perf.data" -- "${load[@]}"
	timed perf-waking perf record -q -a -g -e sched:sched_switch -e sched:sched_waking \
		-o "$work/perf-waking.data" -- "${load[@]}"
done

none=$(median "$work/time.none")
echo "load: perf bench sched pipe -l $LOOPS on CPU 0, median of $ROUNDS, alternating"
row variant seconds 'slow-down, against the floor'
row 'nothing recorded' "$none" 1.000
for name in floor dwell-nowakers dwell-nowakers-cpu0 perf floor-waking dwell perf-waking; do
	[ -s "$work/time.$name" ] || continue
	time=$(median "$work/time.$name")
	against=
	case $name in
	*-waking | dwell) reference='floor-waking' ;;
	*) reference=floor ;;
	esac
	[ -n "$floor" ] && against=$(ratio "$time" "$(median "$work/time.$reference")")
	row "$name" "$time" "$(ratio "$time" "$none")   $against"
done
grep -q records "$work/modes" 2>/dev/null &&
	echo "SWITCH records were on for CPU 0, and the floor's too: $(grep -c records "$work/modes") rounds"

switches=$((LOOPS * 2))
echo
row 'trace size' bytes 'bytes/switch'
for name in nowakers perf.data data perf-waking.data; do
	bytes=$(stat -c %s "$work/$name")
	row "$name" "$bytes" "$(ratio "$bytes" "$switches")"
done

# ---- targeted: another process is recorded while the load runs
echo
sleep 3600 &
target=$!
for ((i = 0; i < ROUNDS; i++)); do
	timed untargeted "${load[@]}"
	"$DWELL" record -q --call-graph fp -p $target -o "$work/target" >/dev/null 2>&1 &
	recorder=$!
	sleep 0.5
	descriptors=$(find "/proc/$recorder/fd" -lname 'anon_inode:\[perf_event\]' | wc -l)
	timed targeted "${load[@]}"
	kill -TERM $recorder
	wait $recorder
done
kill $target
row 'targeted recording' '' ''
row 'descriptors per CPU' "$(ratio "$descriptors" "$(nproc)")" "$descriptors on $(nproc) CPUs"
row 'untargeted ping-pong' "$(median "$work/time.targeted")" \
	"$(ratio "$(median "$work/time.targeted")" "$(median "$work/time.untargeted")")"

# thread_cost NAME RECORD?: ns for one create+join, with or without a recorder on the process.
thread_cost()
{
	local name=$1 pid recorder=
	rm -f "$work/go"
	mkfifo "$work/go"
	"$programs/threads" 20000 <"$work/go" >>"$work/time.$name" &
	pid=$!
	exec 9>"$work/go"
	if [ "$name" = threads-recorded ]; then
		"$DWELL" record -q --call-graph fp -p $pid -o "$work/target" >/dev/null 2>&1 &
		recorder=$!
		sleep 0.5
	fi
	echo >&9
	exec 9>&-
	wait $pid
	[ -n "$recorder" ] && wait $recorder
}
for ((i = 0; i < ROUNDS; i++)); do
	thread_cost threads
	thread_cost threads-recorded
done
row 'thread create+join in the target, ns' "$(median "$work/time.threads-recorded")" \
	"$(ratio "$(median "$work/time.threads-recorded")" "$(median "$work/time.threads")")"

# ---- reading
echo
"$DWELL" record -q -a --call-graph fp -o "$work/data4" -- taskset -c 0 perf bench sched pipe -l $((LOOPS * 4)) \
	>/dev/null 2>&1
row 'fold --wall' 'events/s' 'user s, peak KiB'
for name in data data4; do
	events=$("$DWELL" report threads --json "$work/$name" 2>/dev/null |
		grep -oE '"parsed": *[0-9]+' | sed 's|.*:||' | awk '{n += $1} END {print n + 0}')
	for ((i = 0; i < ROUNDS; i++)); do
		"$programs/usage" "$work/usage.$name" "$DWELL" fold --wall "$work/$name" \
			>/dev/null 2>&1
	done
	user=$(median "$work/usage.$name")
	row "$name ($events events)" "$(awk -v e="$events" -v t="$user" \
		'BEGIN {printf "%.0f", t > 0 ? e / t : 0}')" "$user   $(median "$work/usage.$name" 4)"
done

# ---- perf.data: the same load recorded by perf, against perf's own way to folded stacks
# STACKCOLLAPSE is FlameGraph's stackcollapse-perf.pl; without it perf script alone is the peer.
echo
for loops in $((LOOPS / 10)) "$LOOPS"; do
	perf record -q -a -g -e sched:sched_switch -m 8M -o "$work/perf.$loops" -- \
		taskset -c 0 perf bench sched pipe -l "$loops" >/dev/null 2>&1
	for ((i = 0; i < ROUNDS; i++)); do
		"$programs/usage" "$work/usage.perf.$loops" taskset -c 1 "$DWELL" fold --wall \
			"$work/perf.$loops" >/dev/null 2>&1
	done
done
samples=$("$DWELL" report --json "$work/perf.$LOOPS" 2>/dev/null |
	sed -nE 's/.*"samples": *([0-9]+).*/\1/p' | sort -n | tail -1)
wall=$(median "$work/usage.perf.$LOOPS" 3)
row 'perf.data, fold --wall, symbols included' 'M/s' 'samples, wall s, peak KiB'
row "one CPU" "$(awk -v n="$samples" -v t="$wall" 'BEGIN {printf "%.2f", n / t / 1e6}')" \
	"$samples   $wall   $(median "$work/usage.perf.$LOOPS" 4)"
row 'ten times the input' "$(ratio "$wall" "$(median "$work/usage.perf.$((LOOPS / 10))" 3)")" \
	"times the wall time, peak KiB of the small one $(median "$work/usage.perf.$((LOOPS / 10))" 4)"
begin=$(date +%s.%N)
if [ -r "${STACKCOLLAPSE:-}" ]; then
	peer='perf script | stackcollapse-perf.pl'
	perf script -i "$work/perf.$LOOPS" 2>/dev/null | perl "$STACKCOLLAPSE" >/dev/null 2>&1
else
	peer='perf script alone (STACKCOLLAPSE is not set)'
	perf script -i "$work/perf.$LOOPS" >/dev/null 2>&1
fi
peer_s=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN {printf "%.3f", b - a}')
row "$peer" "$(ratio "$peer_s" "$wall")" "times our wall time ($peer_s s)"

# ---- text: what `perf script` prints, made here; ten times as much takes ten times as long
# script_text SAMPLES: 150 threads, 5,500 stacks of 13 frames, frames out of 3,000 lines.
script_text()
{
	awk -v samples="$1" 'BEGIN {
		srand(1)
		split("[kernel.kallsyms] /usr/lib/libc.so.6 /usr/bin/load /usr/lib/libstdc++.so.6", dso)
		for (i = 0; i < 3000; i++)
			line[i] = sprintf("\t%16x symbol_of_%d_functions+0x%x (%s)\n", 4194304 + i * 4099, i,
				i % 4096, dso[1 + i % 4])
		for (i = 0; i < 5500; i++)
			for (k = 0; k < 13; k++)
				stack[i] = stack[i] line[int(rand() * 3000)]
		for (i = 0; i < samples; i++) {
			k = int(rand() * 5500)
			printf "load %d/%d [%03d] %d.%06d:    2004008 cpu-clock: \n%s\n", 4000 + k % 150,
				4000 + k % 150, i % 2, 100 + i / 100000, i % 100000 * 10, stack[k]
		}
	}'
}
echo
script_text 40000 >"$work/text"
script_text 400000 >"$work/text10"
row 'text, fold --on' 'MB/s' 'wall s, peak KiB'
for name in text text10; do
	bytes=$(stat -c %s "$work/$name")
	for ((i = 0; i < ROUNDS; i++)); do
		for cpus in 0 0,1; do
			"$programs/usage" "$work/usage.$name.$cpus" taskset -c $cpus "$DWELL" fold --on \
				"$work/$name" >/dev/null 2>&1
		done
	done
	for cpus in 0 0,1; do
		wall=$(median "$work/usage.$name.$cpus" 3)
		row "$name, $((bytes >> 20)) MiB, CPUs $cpus" "$(awk -v b="$bytes" -v t="$wall" \
			'BEGIN {printf "%.0f", b / t / 1e6}')" "$wall   $(median "$work/usage.$name.$cpus" 4)"
	done
done
row 'ten times the text, one thread' "$(ratio "$(median "$work/usage.text10.0" 3)" \
	"$(median "$work/usage.text.0" 3)")" 'times the wall time'

# ---- inlined functions: samples all over one unit of some 60,000 DIEs
inlines_source()
{
	awk 'BEGIN {
		inlined = "static inline __attribute__((always_inline)) unsigned long"
		print "volatile unsigned long sink;"
		for (i = 0; i < 2000; i++) {
			printf "%s in%d(unsigned long a)\n{\n\tunsigned long b = a * %d, c = b ^ a;\n", inlined, i, i + 3
			printf "\treturn sink += c;\n}\n%s mid%d(unsigned long a)\n{\n", inlined, i
			printf "\tunsigned long b = in%d(a), c = in%d(a + b);\n\treturn b + c;\n}\n", i, i
			printf "__attribute__((noinline)) unsigned long out%d(unsigned long a)\n{\n", i
			printf "\tunsigned long b = 0;\n\twhile (a--)\n\t\tb += mid%d(a);\n\treturn b;\n}\n", i
		}
		print "int main(void)\n{\n\tfor (int i = 0; i < 50; i++) {"
		for (i = 0; i < 2000; i++)
			printf "\t\tout%d(4000);\n", i
		print "\t}\n}"
	}'
}

# perf_inlines NAME: fold's wall time of NAME.data against perf script's, with and without them.
perf_inlines()
{
	local option wall
	for ((i = 0; i < ROUNDS; i++)); do
		for option in --no-inline --wall --srcline; do # --wall: the default, with them
			"$programs/usage" "$work/usage.$1$option" "$DWELL" fold $option \
				"$work/$1.data" >/dev/null 2>&1
		done
	done
	wall=$(median "$work/usage.$1--wall" 3)
	row "fold of $1" "$wall" 1
	for option in --no-inline --srcline; do
		row "fold $option" "$(median "$work/usage.$1$option" 3)" \
			"$(ratio "$(median "$work/usage.$1$option" 3)" "$wall")"
	done
	for option in --no-inline --inline; do
		begin=$(date +%s.%N)
		perf script $option -i "$work/$1.data" >/dev/null 2>&1
		peer_s=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN {printf "%.3f", b - a}')
		row "perf script $option" "$peer_s" "$(ratio "$peer_s" "$wall")"
	done
}
echo
# Of a program with debug information, and of the compiler that makes it, which has none.
inlines_source >"$work/inlines.c"
perf record -q --call-graph dwarf -e cpu-clock -F 99 -o "$work/compiler.data" -- \
	"${CC:-cc}" -O2 -g -o "$work/inlines" "$work/inlines.c" >/dev/null 2>&1
perf record -q --call-graph dwarf,1024 -e cpu-clock -F 20000 -o "$work/inlines.data" -- \
	"$work/inlines" >/dev/null 2>&1
dies=$(readelf --debug-dump=info "$work/inlines" 2>/dev/null | grep -c 'Abbrev Number: [1-9]')
row "inlined functions, a unit of $dies DIEs" 'wall s' 'times the default'
perf_inlines inlines
row 'a compiler without debug information' 'wall s' 'times the default'
perf_inlines compiler
