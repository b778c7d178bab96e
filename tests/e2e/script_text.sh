#!/bin/sh
# SPDX-License-Identifier: MIT
# perf-script text folds to what the reference tool makes of it, but for the differences that
# Documentation/perf-script.md lists; and what perf prints here folds as its perf.data does.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
corpus=${CORPUS:-$(dirname "$0")/../../../shared/corpus}
case $corpus in /*) ;; *) corpus=$PWD/$corpus ;; esac
known_differences=$(dirname "$0")/script_text.differences
case $known_differences in /*) ;; *) known_differences=$PWD/$known_differences ;; esac

# ours FILE WEIGHT: folded, in the reference's spelling.
ours()
{
	set -- "$1" "$2" "$(first_event "$1")"
	dwell fold --no-demangle --weight "$2" ${3:+--event "$3"} "$1"
	awk '{
		n = $NF
		sub(/ [0-9]+$/, "")
		gsub(/_\[[kij]\]/, "")
		gsub(/["\047]/, "")
		count = split($0, f, ";")
		gsub(/ /, "_", f[1])
		line = f[1]
		for (i = 2; i <= count; i++) {
			if (f[i] ~ /^\[unknown\] \(.*\)$/)
				f[i] = "[" substr(f[i], 12, length(f[i]) - 12) "]"
			sub(/^\[\/\/anon\]$/, "[anon]", f[i])
			if (f[i] != "[no stack]")
				line = line ";" f[i]
		}
		sum[line] += n
	} END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' "$work/out" | sort
}

first_event()
{
	sed -nE 's/^.*[0-9]\.[0-9]+:[ 	]+([0-9]+[ 	]+)?([^ 	]+):([ 	].*)?$/\2/p' "$1" | head -n 1
}

# theirs FILE: without what depends on options.
theirs()
{
	awk '{
		n = $NF
		sub(/ [0-9]+$/, "")
		gsub(/_\[i\]/, "")
		count = split($0, f, ";")
		line = f[1]
		for (i = 2; i <= count; i++) {
			sub(/ +$/, "", f[i])
			line = line ";" f[i]
		}
		sum[line] += n
	} END { for (line in sum) printf "%s %.0f\n", line, sum[line] }' "$1" | sort
}

plain()
{
	case $1 in *.gz) gzip -dc "$1" ;; *) cat "$1" ;; esac
}

# Texts in which the reference loses or misreads something, for a reason that the page gives: the
# lines that are ours alone and those that are the reference's alone are as many as when they were
# looked at.
differs()
{
	set -- "${1#"$corpus"/}" "$(comm -23 "$work/ours" "$work/theirs" | wc -l)" \
		"$(comm -13 "$work/ours" "$work/theirs" | wc -l)"
	grep -qxF "$1 $2 $3" "$known_differences" && return
	echo "# $1 $2 $3"
	return 1
}

# compare TEXT FOLDED
compare()
{
	plain "$1" >"$work/text"
	plain "$2" >"$work/folded"
	theirs "$work/folded" >"$work/theirs"
	for weight in samples period; do
		ours "$work/text" $weight >"$work/ours"
		if cmp -s "$work/ours" "$work/theirs"; then
			same=$((same + 1))
			return
		fi
	done
	if differs "$1"; then
		known=$((known + 1))
	else
		not_ok "${1#"$corpus"/} is as the reference has it"
		other=$((other + 1))
	fi
}

if [ -r "$corpus/INDEX.tsv" ]; then
	same=0 known=0 other=0
	grep '	perf-script text	' "$corpus/INDEX.tsv" | cut -f 1 >"$work/texts"
	while read -r text; do
		folded=$corpus/ref/text-folded/${text#files/}.default.folded
		[ -r "$folded" ] || folded=$folded.gz
		[ -r "$folded" ] && compare "$corpus/$text" "$folded"
	done <"$work/texts"
	for text in "$corpus"/ref/perf-script/*/*.gz "$corpus"/ref/perf-script/*/*/*.gz \
		"$corpus"/ref/perf7.2/perf-script/*/*.gz "$corpus"/ref/perf7.2/perf-script/*/*/*.gz; do
		folded=$(echo "${text%.txt.gz}.folded" | sed 's|/perf-script/|/folded/|')
		[ -r "$folded" ] || folded=$folded.gz
		[ -r "$folded" ] && compare "$text" "$folded"
	done
	claim "texts: $same as the reference, $known different on purpose, $other others" \
		[ "$same" -gt 80 -a "$other" = 0 ]
else
	skip 'texts of the corpus' 'no ../shared/corpus here'
fi

cat >"$work/small" <<-'END'
	main 7/7 [000] 1.000001:    1000000 cpu-clock: 
		            4005 leaf+0x1 (/bin/main)
		            4006 root+0x1 (/bin/main)

	main 7/7 [000] 1.000002:    1000000 cpu-clock: 
		            4005 leaf+0x2 (/bin/main)
		            4006 root+0x1 (/bin/main)
END
dwell fold --weight samples "$work/small"
claim 'samples are counted' [ "$(cat "$work/out")" = 'main;root;leaf 2' ]
dwell fold --on "$work/small"
claim 'a clock with periods is time' [ "$(cat "$work/out")" = 'main;root;leaf 2000000' ]
timeout 20 "$DWELL" fold --on - <"$work/small" >"$work/out" 2>/dev/null
claim 'standard input' [ "$(cat "$work/out")" = 'main;root;leaf 2000000' ]
dwell fold --off "$work/small"
claim "no waits in samples: exit 3 (got $status)" [ "$status" = 3 ]
cat >"$work/own" <<-'END'
	a 7 [000] 1.0: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=0 next_prio=1
	a 7 [000] 2.0: sched:sched_switch: prev_comm=a prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=b next_pid=9 next_prio=1
END
dwell fold --off "$work/own"
claim "a process's own switches: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and what to do is said' grep -q 'perf record -a' "$work/err"
printf 'hello\nworld\n' >"$work/hello"
dwell fold "$work/hello"
claim "other text is refused (got $status)" [ "$status" = 3 ]
claim 'in one line' one_line

if [ "$(id -u)" != 0 ] || ! command -v perf >/dev/null; then
	skip 'text of a recording made here' 'needs root and perf'
	exit 0
fi
if ! perf record -q -a -g --switch-events -e cpu-clock -e sched:sched_switch -e sched:sched_waking \
	-o "$work/perf.data" -- sh -c 'for i in 1 2 3 4 5; do /bin/true; sleep 0.1; done' >/dev/null 2>&1; then
	skip 'text of a recording made here' 'perf cannot record here'
	exit 0
fi
# Some machines tell no switch out of idle: the records do.
perf script --show-switch-events --show-task-events -i "$work/perf.data" >"$work/text" 2>/dev/null
dwell fold --wall "$work/text"
claim "a system's text folds (got $status)" [ "$status" = 0 ]
claim 'with waits' grep -q '^sleep;\[blocked\];.*nanosleep' "$work/out"
total()
{
	awk '{ n += $NF } END { printf "%.0f\n", n }' "$work/out"
}
for event in cpu-clock sched:sched_switch; do
	dwell fold --event $event --weight samples "$work/text"
	text=$(total)
	dwell fold --event $event --weight samples "$work/perf.data"
	claim "$event: $text samples in the text, as in perf.data" [ "$text" = "$(total)" ]
done
