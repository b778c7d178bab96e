#!/bin/bash
# SPDX-License-Identifier: MIT
# Compares the long options that `dwell COMMAND --help` prints with those that the man page defines,
# both ways, and the commands with the pages. Prints each difference; exit 1 when there is one.
#
#   DWELL=./dwell scripts/check-man.sh
set -u
dwell=${DWELL:-./dwell}
differences=0

# Options that head an entry of the page: in mdoc .It lines, in man the line after .TP or .TQ.
page_options()
{
	sed -E -e 's/\\f[A-Z]//g' -e 's/\\-/-/g' -e 's/Fl -/--/g' "$1" |
		awk '/^\.It/ || head {print} {head = /^\.T[PQ]/}' |
		grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
}

help_options()
{
	"$dwell" "$1" --help | sed -n '/^options:/,$p' |
		grep -oE -- '^  .{4}--[a-z][a-z0-9-]*|^  -., --[a-z][a-z0-9-]*' |
		grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
}

difference()
{
	echo "$*"
	differences=1
}

# Commands: those of the general help, which lists them as "  name   what it does".
commands=$("$dwell" --help | sed -nE 's/^  ([a-z]+)  +[^ ].*/\1/p' | grep -vx help)
[ -n "$commands" ] || difference "'$dwell --help' lists no command"
for command in $commands; do
	page=Documentation/dwell-$command.1
	if [ ! -e "$page" ]; then
		difference "dwell $command: no $page"
		continue
	fi
	while read -r line; do
		difference "dwell $command: $line"
	done < <(diff <(help_options "$command") <(page_options "$page") |
		sed -nE -e 's/^< (.*)/\1 is in --help but has no entry in the page/p' \
			-e 's/^> (.*)/\1 has an entry in the page but is not in --help/p')
done
for page in Documentation/dwell-*.1; do
	[ -e "$page" ] || continue
	command=${page#Documentation/dwell-}
	grep -qx "${command%.1}" <<<"$commands" || difference "$page: no such command"
done
exit $differences
