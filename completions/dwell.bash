# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Completes dwell's commands and options in bash; both are asked of dwell itself, so that they never
# differ from what it takes.

_dwell_commands()
{
	dwell --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  +[^ ].*/\1/p'
}

_dwell_options()
{
	dwell "$1" --help 2>/dev/null | sed -n '/^options:/,$p' |
		grep -oE -- '^  .{4}--[a-z][a-z0-9-]*|^  -., --[a-z][a-z0-9-]*' |
		grep -oE -- '--[a-z][a-z0-9-]*'
}

_dwell_kinds()
{
	echo switch switch-in switch-out waking wakeup-new sample fork comm exit cpu gap count state \
		stopped throttle cgroup
}

_dwell()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} words='' i

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		words=$(_dwell_commands)
	else
		# After -- comes a command line of its own.
		for ((i = 2; i < COMP_CWORD; i++)); do
			if [ "${COMP_WORDS[i]}" = -- ]; then
				if [ $((i + 1)) = "$COMP_CWORD" ]; then
					mapfile -t COMPREPLY < <(compgen -c -- "$word")
				else
					mapfile -t COMPREPLY < <(compgen -f -- "$word")
				fi
				return
			fi
		done
		case $before in
		--call-graph) words='auto fp dwarf none' ;;
		--weight) words='samples period time' ;;
		--by) words='comm process thread cgroup' ;;
		--state) words='on runnable preempted woken new throttled blocked off unknown' ;;
		--sort) words='cpu observed on runnable blocked unknown switches samples longest pid tid comm' ;;
		--events) words=$(_dwell_kinds) ;;
		help) words=$(_dwell_commands) ;;
		-p | --pid) words=$(cd /proc && printf '%s\n' [0-9]*) ;;
		*) [[ $word == -* ]] && words=$(_dwell_options "$command") ;;
		esac
	fi
	if [ -n "$words" ]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		# A view, or a file.
		[ "$before" != report ] ||
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W 'summary threads' -- "$word")
	fi
}

complete -o filenames -F _dwell dwell
