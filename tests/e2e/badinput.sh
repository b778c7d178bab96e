#!/bin/sh
# SPDX-License-Identifier: MIT
# Input that cannot be used gets one clear line and exit status 2 or 3: never a crash, a hang or a
# huge allocation.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
cd "$work" || exit 3

# refused STATUS TEXT ARG...
refused()
{
	local expected=$1 text=$2
	shift 2
	dwell "$@"
	claim "$text: exit $expected (got $status)" [ "$status" = "$expected" ]
	claim "$text: one line says why" one_line
}

mkdir directory
: >empty
printf 'nothing that anybody records\n' >text
head -c 65536 /dev/urandom >noise
for command in 'fold --wall' 'report' 'report threads' 'dump'; do
	# shellcheck disable=SC2086 # several words
	for file in missing directory empty noise; do
		refused 3 "$command of $file" $command $file
	done
	# shellcheck disable=SC2086
	refused 2 "$command with an unknown option" $command --no-such-option
done
refused 3 'fold of text that is no trace' fold text
printf '\037\213\010\000\000\000\000\000' >zipped
refused 3 'a file that gzip made' report zipped
claim 'says how to unpack it' grep -q 'gzip -dc FILE' err
touch perf.data
refused 3 'no dwell.data, but a perf.data' report
claim 'points to it' grep -q "there is a 'perf.data' here" err
rm perf.data
refused 2 'a place for symbols that is not there' fold --symfs /nosuch empty
refused 2 'an unknown command' frobnicate
refused 2 'no target to record' record
refused 2 'a duration that is none' record -d soon -- true
refused 2 'a duration in hexadecimal' record -d 0x1 -- true
refused 2 'a duration of nothing' record -d 0 -- true
refused 2 'a size of nothing' record --max-size 0 -- true
refused 2 'a cgroup without a name' record -G '' -d 1
labels=$(seq -f '--label k%g=v' 300)
# shellcheck disable=SC2086 # many words
refused 2 'more labels than a reader takes' record $labels -- true
refused 2 'an unknown report' report no-such-view empty
refused 2 'CPUs that are none' record -a -C garbage -- true
refused 2 'a time that ends before it starts' report --time 5s,2s empty
refused 3 'neither a view nor a file' report thread
claim 'says which views there are' grep -q 'summary.*threads' err
for option in --version -V; do
	dwell $option
	claim "$option (got $status)" [ "$status" = 0 ]
done
for command in record fold report dump; do
	dwell $command --help
	claim "$command --help (got $status)" [ "$status" = 0 ]
done

if [ "$(id -u)" != 0 ]; then
	skip 'damaged traces' 'privilege: not root, so there is no trace to damage'
	exit 0
fi
dwell record -q -o good -- "$WORKLOADS/mutex"
bytes=$(stat -c %s good)

# survives TEXT: every command ends by itself, with 0 or a refusal in one line.
survives()
{
	local command
	for command in 'fold --wall' 'report threads --json' 'dump'; do
		# shellcheck disable=SC2086
		dwell $command damaged
		case $status in
		0) ;;
		3) one_line || damage="$1: $command: not one line" ;;
		*) damage="$1: $command: exit status $status" ;;
		esac
	done
}

cp good copy
for command in fold report dump; do
	refused 3 "$command into its own input" $command -o copy copy
done
claim 'and it is left alone' cmp -s good copy

damage=
at=0
while [ $at -lt "$bytes" ]; do
	head -c $at good >damaged
	survives "cut at $at"
	at=$((at + 1 + at / 8))
done
claim "a trace cut anywhere is read or refused${damage:+ ($damage)}" [ -z "$damage" ]

damage=
at=0
while [ $at -lt "$bytes" ]; do
	cp good damaged
	printf '\377' | dd of=damaged bs=1 seek=$at conv=notrunc 2>/dev/null
	survives "byte $at set to 255"
	at=$((at + 1 + at / 10))
done
claim "a flipped byte is found or harmless${damage:+ ($damage)}" [ -z "$damage" ]
