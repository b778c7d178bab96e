#compdef dwell
# SPDX-License-Identifier: MIT
# Completes dwell's commands and options in zsh; both are asked of dwell itself, so that they never
# differ from what it takes.

_dwell_commands()
{
	local -a commands
	commands=(${(f)"$(dwell --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  +([^ ].*)/\1:\2/p')"})
	_describe command commands
}

_dwell_options()
{
	local -a options
	options=(${(f)"$(dwell $1 --help 2>/dev/null | sed -nE \
		's/^  (-.,|   ) (--[a-z][a-z0-9-]*)( [A-Z][^ ]*)?  +(.*)/\2:\4/p')"})
	_describe option options
}

_dwell()
{
	local dashes=${words[(i)--]}

	if (( CURRENT == 2 )); then
		_dwell_commands
	elif (( dashes > 1 && dashes < CURRENT )); then
		# After -- comes a command line of its own.
		shift dashes words
		(( CURRENT -= dashes ))
		_normal
	elif [[ $words[CURRENT] == -* ]]; then
		_dwell_options $words[2]
	else
		case $words[CURRENT-1] in
		--call-graph) _values 'call graph' auto fp dwarf none ;;
		--weight) _values weight samples period time ;;
		--by) _values group comm process thread cgroup ;;
		--state) _values -s , state on runnable preempted woken new throttled blocked off unknown ;;
		--sort) _values key cpu observed on runnable blocked unknown switches samples longest \
			pid tid comm ;;
		--events) _values -s , kind switch switch-in switch-out waking wakeup-new sample fork comm \
			exit cpu gap count state stopped throttle cgroup ;;
		help) _dwell_commands ;;
		report) _alternative 'views:view:(summary threads)' 'files:file:_files' ;;
		-p|--pid) _pids ;;
		*) _files ;;
		esac
	fi
}

_dwell "$@"
