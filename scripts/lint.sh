#!/bin/bash
# SPDX-License-Identifier: MIT
# Everything about the source that a program can judge: format, include law, man pages against
# options, licence lines, scripts. One `ok - ` or `not ok - ` line each; exit 1 when any failed.
set -u
failed=0

# claim TEXT COMMAND...: the command's output is shown only when it fails.
claim()
{
	local text=$1 out
	shift
	if out=$("$@" 2>&1); then
		echo "ok - lint: $text"
	else
		printf '%s\n' "$out" | head -40 | sed 's/^/# /'
		echo "not ok - lint: $text"
		failed=1
	fi
}

sources()
{
	find . \( -path ./build -o -path './.git' \) -prune -o -type f "$@" -print
}

formatted()
{
	sources -name '*.[ch]' | xargs clang-format --dry-run -Werror
}

licensed()
{
	local missing
	missing=$(sources \( -name '*.[ch]' -o -name '*.sh' -o -name '*.[1-9]' -o -name Makefile \
		-o -path './completions/*' -o -path './.ci/*' \) | xargs grep -L 'SPDX-License-Identifier: MIT')
	[ -z "$missing" ] || { printf 'no SPDX line: %s\n' $missing; return 1; }
}

scripts_parse()
{
	local file status=0
	for file in $(sources -name '*.sh') .ci/run completions/dwell.bash; do
		bash -n "$file" || status=1
	done
	return $status
}

scripts_checked()
{
	# shellcheck disable=SC2046 # our file names have no spaces
	shellcheck -x -S warning -e SC3043 $(sources -name '*.sh') .ci/run completions/dwell.bash
}

pages_parse()
{
	local page status=0
	for page in Documentation/*.[1-9]; do
		[ -e "$page" ] || continue
		mandoc -Tlint -W warning "$page" || status=1
	done
	return $status
}

if command -v clang-format >/dev/null; then
	claim 'C is formatted' formatted
else
	echo 'skip - lint: C is formatted: clang-format is not installed'
fi
claim 'rooms include what they may' scripts/check-layers.sh
claim 'options and man pages agree' scripts/check-man.sh
if command -v mandoc >/dev/null; then
	claim 'man pages are well formed' pages_parse
else
	echo 'skip - lint: man pages are well formed: mandoc is not installed'
fi
claim 'every file names its licence' licensed
claim 'scripts parse' scripts_parse
if command -v shellcheck >/dev/null; then
	claim 'scripts pass shellcheck' scripts_checked
else
	echo 'skip - lint: scripts pass shellcheck: shellcheck is not installed'
fi
exit $failed
