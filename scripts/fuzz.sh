#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs each libFuzzer program of a directory for FUZZ_SECONDS, from the seeds in tests/fuzz/NAME/.
# One `ok - ` or `not ok - ` line each; a crashing input stays in build/fuzz-findings.
#
#   FUZZ_SECONDS=20 scripts/fuzz.sh DIRECTORY
set -u
seconds=${FUZZ_SECONDS:-60}
findings=build/fuzz-findings
failed=0

# Real perf.data of others, small ones, where they stand beside the project.
seed_perf_data()
{
	local file
	find "${CORPUS:-../shared/corpus}/files" -type f -size -64k 2>/dev/null |
		while read -r file; do
			case $(head -c 4 "$file" | tr -d '\0') in
			PERF | 2ELI) cp -n "$file" "$1/$(sha256sum <"$file" | cut -c 1-16)" ;;
			esac
		done
}

# Small libraries of this machine, and their call frame information alone.
seed_cfi()
{
	local file
	find /usr/lib -maxdepth 2 -name 'lib*.so.*' -type f -size -32k 2>/dev/null | head -16 |
		while read -r file; do
			cp -n "$file" "$1/$(basename "$file")"
			objcopy -O binary --only-section=.eh_frame "$file" \
				"$1/$(basename "$file").eh_frame" 2>/dev/null
		done
}

# sections_pack FILE OUT: the sections that fuzz_inlines.c names, behind their lengths.
sections_pack()
{
	local section bytes part
	: >"$2"
	part=$(mktemp)
	for section in info abbrev str ranges line rnglists addr line_str; do
		: >"$part"
		objcopy -O binary --only-section=.debug_$section --set-section-flags \
			.debug_$section=alloc "$1" "$part" 2>/dev/null
		bytes=$(stat -c %s "$part")
		# shellcheck disable=SC2059 # octal escapes are the point
		printf "\\$(printf %o $((bytes >> 8)))\\$(printf %o $((bytes & 255)))" >>"$2"
		cat "$part" >>"$2.parts"
	done
	cat "$2.parts" >>"$2"
	rm "$2.parts" "$part"
}

# Small libraries with debug information, of both compilers and versions, and their sections alone.
seed_inlines()
{
	local compiler version name
	for compiler in gcc clang; do
		for version in 4 5; do
			name=$1/$compiler$version
			printf '%s\n' 'static inline int in(int a) { return a * a + 1; }' \
				'static inline int mid(int a) { return in(a) ^ in(a + 7); }' \
				'int out(int a) { while (a > 9) a -= mid(a); return in(a); }' |
				"$compiler" -O2 -g "-gdwarf-$version" -shared -nostdlib -o "$name" \
					-x c - 2>/dev/null || continue
			sections_pack "$name" "$name.sections"
		done
	done
}

mkdir -p "$findings"
for program in "$1"/fuzz_*; do
	[ -f "$program" ] && [ -x "$program" ] || continue
	name=$(basename "$program")
	corpus=build/fuzz-corpus/$name
	mkdir -p "$corpus"
	[ -d "tests/fuzz/$name" ] && cp -n "tests/fuzz/$name"/* "$corpus/"
	[ "$name" = fuzz_perf_data ] && seed_perf_data "$corpus"
	[ "$name" = fuzz_cfi ] && seed_cfi "$corpus"
	[ "$name" = fuzz_inlines ] && seed_inlines "$corpus"
	if timeout -k 5 $((seconds + 60)) "$program" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$findings/$name-" "$corpus" \
		>"$findings/$name.log" 2>&1; then
		runs=$(sed -nE 's/^Done ([0-9]+) runs.*/\1/p' "$findings/$name.log")
		echo "ok - fuzz: $name: $runs runs in $seconds s"
	else
		tail -30 "$findings/$name.log" | sed 's/^/# /'
		echo "not ok - fuzz: $name"
		failed=1
	fi
done
exit $failed
