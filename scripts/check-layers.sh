#!/bin/bash
# SPDX-License-Identifier: MIT
# Holds every #include against the include law of Documentation/design.md, and outside libraries
# against "one or two .c files each". Prints each breach; exit 1 when there is one.
set -u
breaches=0

breach()
{
	echo "$*"
	breaches=1
}

# The headers that a file of a room may include, as one extended regular expression.
allowed()
{
	case $1 in
	lib/*) echo 'lib/' ;;
	parse/perf/*) echo 'lib/|parse/perf/|parse/(event|stack)\.h' ;;
	parse/elf/*) echo 'lib/|parse/elf/|parse/(event|stack)\.h' ;;
	parse/*) echo 'lib/|parse/' ;;
	offcpu/*) echo 'lib/|offcpu/|parse/(event|stack|thread)\.h' ;;
	record/watch/*) echo 'lib/|parse/|offcpu/|report/|record/' ;;
	record/*) echo 'lib/|record/[^/]*$|parse/stack\.h|parse/elf/|parse/perf/(sample|tracepoint)\.h' ;;
	report/*) echo 'lib/|offcpu/|parse/|report/' ;;
	dwell.c) echo 'lib/|[a-z]+/cmd\.h' ;;
	esac
}

files=$(find lib parse offcpu report record dwell.c -name '*.[ch]' 2>/dev/null | sort)
for file in $files; do
	law=$(allowed "$file")
	while read -r header; do
		[[ $header =~ ^($law) ]] || breach "$file: may not include \"$header\""
	done < <(sed -n 's/^#include "\(.*\)".*/\1/p' "$file")
done

# library:header pattern:where
while IFS=: read -r library pattern where; do
	# shellcheck disable=SC2086 # a list of files
	users=$(grep -lE "^#include <($pattern)" $files)
	for file in $users; do
		[[ $file =~ ^($where) ]] || breach "$file: $library is not for this file"
	done
	[ "$(grep -c '\.c$' <<<"$users")" -le 2 ] || breach "$library: more than two files:" $users
done <<-EOF
	libelf:libelf\.h|gelf\.h:parse/elf/
	libdw:elfutils/:parse/elf/
	json-c:json-c/|json\.h:report/
	zstd:zstd\.h:lib/|parse/|record/
	lzma:lzma\.h:parse/elf/
	libiberty:libiberty/|demangle\.h:parse/elf/
EOF

# Rooms below the commands never print to the user's streams and never exit.
for file in $files; do
	case $file in
	lib/opt.c | lib/command.c | parse/cmd_*.c) continue ;; # --help, errors, commands
	lib/*.c | parse/*.c | offcpu/*.c) ;;
	*) continue ;;
	esac
	grep -nE '(^|[^a-z_>.])(printf|puts|perror|exit|abort)\(|fprintf\((stdout|stderr)' "$file" |
		sed "s|^|$file:|" | grep . && breach "$file: prints or exits"
done
exit $breaches
