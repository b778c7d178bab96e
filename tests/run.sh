#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs unit test programs (CMocka, TAP) and end-to-end scripts (ok/not ok/skip lines) and shows
# their claims. Ends with one line `N passed, N failed, N skipped`; exit 1 when any failed.
#
#   tests/run.sh PROGRAM|SCRIPT.sh...      environment: DWELL, OUT (build directory), CI
set -u

# A test that hangs is a test that fails; seconds for one program or script.
readonly LIMIT=${TEST_LIMIT:-240}
claims=$(mktemp) || exit 3
trap 'rm -f "$claims"' EXIT
export DWELL=${DWELL:-./dwell} OUT=${OUT:-build}

# A skip for want of privilege is a failure where the privilege was promised: root in CI.
strict=0
if [ "${CI:-}" = true ] && [ "$(id -u)" = 0 ]; then
	strict=1
fi

# TAP of CMocka 1.1 to claims: numbers go, a skip there is spelled "not ok N # SKIP name".
tap_claims()
{
	sed -n -E \
		-e "s/^(not )?ok [0-9]+ # SKIP (.*)/skip - $1: \2: skipped by the test/p;t" \
		-e "s/^ok [0-9]+ - (.*)/ok - $1: \1/p;t" \
		-e "s/^not ok [0-9]+ - (.*)/not ok - $1: \1/p;t" -e 's/^# (.*)/# \1/p'
}

only_claims()
{
	grep -aE '^(ok|not ok|skip) - |^#'
}

enforce_privilege()
{
	if [ "$strict" = 1 ]; then
		sed -E 's/^skip - (.*: privilege: )/not ok - \1/'
	else
		cat
	fi
}

# Prints the claims of one test; what it says besides is shown only when it fails.
run_one()
{
	local test=$1 name log status planned
	name=$(basename "$test" .sh)
	log=$(mktemp)

	case $test in
	*.sh)
		timeout -k 5 "$LIMIT" bash "$test" </dev/null >"$log" 2>&1
		status=$?
		only_claims <"$log" | enforce_privilege
		planned=1
		;;
	*)
		CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 5 "$LIMIT" "$test" </dev/null >"$log" 2>&1
		status=$?
		tap_claims "$name" <"$log"
		planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
		;;
	esac
	if [ "$(grep -acE '^(ok|not ok|skip) ' "$log")" -lt "$planned" ]; then
		echo "not ok - $name: ended early (status $status)"
	elif [ "$status" != 0 ] && ! grep -aq '^not ok' "$log"; then
		echo "not ok - $name: exit status $status"
	fi
	if [ "$status" != 0 ]; then
		grep -avE '^(ok|not ok|skip) ' "$log" | tail -40 | sed "s/^/# $name: /"
	fi
	rm -f "$log"
}

# End-to-end claims compare clocks of a machine that others load at the same time. A script with a failed
# claim is run again, and a claim that fails every time has failed; what the earlier runs said is shown.
tries_of()
{
	case $1 in
	*.sh) echo "${TRIES:-3}" ;;
	*) echo 1 ;;
	esac
}

for test in "$@"; do
	echo "# $test"
	output=$(run_one "$test")
	for ((try = $(tries_of "$test"); try > 1; try--)); do
		grep -aq '^not ok - ' <<<"$output" || break
		grep -a '^not ok - ' <<<"$output" | sed 's/^/# again, since /'
		output=$(run_one "$test")
	done
	printf '%s\n' "$output" | tee -a "$claims"
done

count()
{
	grep -acE "^$1 - " "$claims"
}

failed=$(count 'not ok')
if [ "$failed" != 0 ]; then
	echo '# failed:'
	grep -a '^not ok - ' "$claims" | sed 's/^/#   /'
fi
echo "$(count ok) passed, $failed failed, $(count skip) skipped"
[ "$failed" = 0 ]
