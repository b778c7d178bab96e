# SPDX-License-Identifier: MIT
# Completes dwell's commands and options in fish; both are asked of dwell itself, so that they never
# differ from what it takes.

function __dwell_commands
    dwell --help 2>/dev/null | string replace -rf '^  ([a-z]+)  +([^ ].*)' '$1\t$2'
end

function __dwell_options
    set -l words (commandline -opc)
    test (count $words) -ge 2; or return
    dwell $words[2] --help 2>/dev/null |
        string replace -rf '^  (?:-.,|   ) (--[a-z][a-z0-9-]*)(?: [A-Z]\S*)?  +(.*)' '$1\t$2'
end

complete -c dwell -n 'test (count (commandline -opc)) -eq 1' -f -a '(__dwell_commands)'
complete -c dwell -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__dwell_options)'
