#!/bin/sh
# SPDX-License-Identifier: MIT
# Real perf.data files of many makers, kept beside the project: the records of each type that come
# out of them, in time order, are those that are known to be inside. Skipped without those files.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
corpus=${CORPUS:-$(dirname "$0")/../../../shared/corpus}
tool=$OUT/tests/tools/perfdata

if [ ! -f "$corpus/INDEX.tsv" ]; then
	skip 'files recorded by others' "no $corpus here"
	exit 0
fi

# type_of NAME: the number of a kernel record's type; nothing for perf's own.
type_of()
{
	case $1 in
	MMAP) echo 1 ;;
	LOST) echo 2 ;;
	COMM) echo 3 ;;
	EXIT) echo 4 ;;
	THROTTLE) echo 5 ;;
	UNTHROTTLE) echo 6 ;;
	FORK) echo 7 ;;
	READ) echo 8 ;;
	SAMPLE) echo 9 ;;
	MMAP2) echo 10 ;;
	AUX) echo 11 ;;
	ITRACE_START) echo 12 ;;
	LOST_SAMPLES) echo 13 ;;
	SWITCH) echo 14 ;;
	SWITCH_CPU_WIDE) echo 15 ;;
	NAMESPACES) echo 16 ;;
	KSYMBOL) echo 17 ;;
	BPF_EVENT) echo 18 ;;
	CGROUP) echo 19 ;;
	TEXT_POKE) echo 20 ;;
	esac
}

# counts RECORDS: prints what differs between "NAME=COUNT ..." and what was understood.
counts()
{
	local pair type found
	for pair in $1; do
		type=$(type_of "${pair%=*}")
		[ -n "$type" ] || continue
		found=$(sed -n "s/^type $type //p" "$work/out")
		[ "$found" = "${pair#*=} ${pair#*=}" ] || echo "$pair, found: ${found:-none}"
	done
}

# sane: prints what nothing that perf wrote may show.
sane()
{
	grep -E '^(backward|undecoded|bad records|damaged) ' "$work/out" |
		grep -vE '^(backward|undecoded|damaged) 0$|^bad records 0 features 0$'
}

# whole PATH KIND RECORDS SAMPLES: a file that perf can read.
whole()
{
	local differing
	if ! timeout 60 "$tool" "$corpus/$1" >"$work/out" 2>"$work/err"; then
		not_ok "$1: is read"
		return
	fi
	differing=$(sane)
	case $3 in
	*COMPRESSED*) # the index knows what is outside of them only
		differing=$differing$(counts "SAMPLE=$4")
		;;
	*) differing=$differing$(counts "$3") ;;
	esac
	if [ -z "$differing" ]; then
		ok "$1: all records, in order"
	else
		not_ok "$1: all records, in order: $(echo "$differing" | tr '\n' ';')"
	fi
}

# broken PATH: one that is damaged on purpose; any end but a crash or none will do.
broken()
{
	timeout 20 "$tool" "$corpus/$1" >"$work/out" 2>"$work/err"
	status=$?
	claim "$1: ends with 0 or 3 (got $status)" [ "$status" = 0 -o "$status" = 3 ]
}

tab=$(printf '\t')
# An empty field must not vanish: tabs are white space to read.
sed "s/$tab/|/g" "$corpus/INDEX.tsv" | while IFS='|' read -r line; do
	path=${line%%|*}
	kind=$(echo "$line" | cut -d'|' -f8)
	case $kind in
	'perf.data file' | 'perf.data pipe')
		case $path in *corrupted*) kind='corrupt perf.data' ;; esac
		;;
	*) ;;
	esac
	case $kind in
	'perf.data file' | 'perf.data pipe') ;;
	'corrupt perf.data'*)
		broken "$path"
		continue
		;;
	*) continue ;;
	esac
	whole "$path" "$kind" \
		"$(grep -F "$path$tab" "$corpus/INDEX.tsv" | head -1 | cut -f14)" \
		"$(grep -F "$path$tab" "$corpus/INDEX.tsv" | head -1 | cut -f19)"
done
