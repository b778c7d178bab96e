#!/bin/sh
# SPDX-License-Identifier: MIT
# What a user without privileges gets: a clear refusal or a recording that says what it lacks, never
# silently less; an exec of a setuid program does not unbalance the books.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'the user nobody records'
if ! command -v setpriv >/dev/null; then
	skip 'the user nobody records' 'no setpriv here'
	exit 0
fi
mkdir "$work/home"
chown 65534:65534 "$work/home"
cp "$DWELL" "$work/home/dwell"
chmod 755 "$work/home/dwell"
cd "$work/home" || exit 3

as_nobody()
{
	timeout -k 5 60 setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs \
		"$work/home/dwell" "$@" >"$work/out" 2>"$work/err" </dev/null
	status=$?
}

as_nobody record -o data -a -d 0.3
claim "nobody may not record the system: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and is told what is missing' grep -qE 'perf_event_paranoid|CAP_PERFMON|tracefs' "$work/err"
as_nobody record -o data -p 1 -d 0.3
claim "nobody may not record process 1: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and is told that it is the process' grep -q "another user's" "$work/err"

# Without memory to lock, rings of the size that the kernel gives every user; a user of its own,
# since that is counted by user.
timeout -k 5 60 prlimit --memlock=0 setpriv --reuid 64999 --regid 64999 --clear-groups \
	--no-new-privs "$work/home/dwell" record -o - -- sh -c 'exit 6' >"$work/unlocked" \
	2>"$work/err" </dev/null
status=$?
claim "recording without memory to lock: the command's status (got $status)" [ "$status" = 6 ]
verified unlocked "$work/unlocked"

as_nobody record -o own -- sh -c 'exit 5'
case $status in
5)
	claim 'a recording with less says what is missing' \
		grep -qE 'perf_event_paranoid|CAP_PERFMON|tracefs' "$work/err"
	verified own own
	# With privileges to gain, unlike above: the kernel stops observing at the exec.
	timeout -k 5 60 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/home/dwell" \
		record -o setuid -- sh -c 'su --version; sleep 0.2' >"$work/out" 2>"$work/err" \
		</dev/null
	status=$?
	claim "exec of a setuid program: exit 0 (got $status)" [ "$status" = 0 ]
	verified setuid setuid
	;;
3)
	claim 'a refusal says what is missing' grep -qE 'perf_event_paranoid|CAP_PERFMON|tracefs' "$work/err"
	;;
*)
	not_ok "nobody records a command of its own: the command's status, or 3 (got $status)"
	;;
esac

touch "$work/secret"
chmod 600 "$work/secret"
as_nobody report "$work/secret"
claim "a file without permission: exit 3 (got $status)" [ "$status" = 3 ]
claim 'and one line says so' one_line
