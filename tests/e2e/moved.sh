#!/bin/sh
# SPDX-License-Identifier: MIT
# A trace moved to another machine, which has none of the files that were recorded: it shows the
# same. So does one of programs that are gone by the end of the recording.
# shellcheck source=tests/e2e/common.inc
. "$(dirname "$0")/common.inc"
need_root 'a trace is moved'
cd "$work" || exit 3

# An empty root but for dwell and its libraries, which are not those of the recording: they have
# other inodes and other paths.
mkdir -p root/lib
cp "$DWELL" root/dwell
loader=
for library in $(ldd "$DWELL" 2>/dev/null | grep -o '/[^ ]*'); do
	cp "$library" root/lib/
	case $library in */ld-*) loader=/lib/${library##*/} ;; esac
done

# The sanitizers' own runtime does not work without it.
if ldd "$DWELL" 2>/dev/null | grep -q libasan; then
	mkdir root/proc
	mount -t proc proc root/proc
fi
trap 'umount "$work/root/proc" 2>/dev/null; cleanup' EXIT

# there ARG...: dwell in the empty root, on file data.
there()
{
	cp "$data" root/data
	if [ -n "$loader" ]; then
		chroot root "$loader" --library-path /lib /dwell "$@" data >out 2>err
	else
		chroot root /dwell "$@" data >out 2>err
	fi
	status=$?
}

# same TEXT DATA ARG...: dwell ARG says the same here and there.
same()
{
	local text=$1
	data=$2
	shift 2
	dwell "$@" "$data"
	mv "$work/out" here
	there "$@"
	claim "$text: is shown there (got $status)" [ "$status" = 0 ]
	claim "$text: and is the same" cmp here out
	diff here out | head -n 4 | cut -c 1-200 | sed 's/^/# /'
}

dwell record -q -F 499 -o moved -- "$WORKLOADS/paths"
claim "is recorded (got $status)" [ "$status" = 0 ]
same 'waits and running' moved fold --wall
claim 'there are functions' grep -q 'paths_lock.*pthread_mutex_lock.*futex_wait' here
same 'names as in the files' moved fold --wall --no-demangle
same 'threads' moved report threads --json

if command -v cc >/dev/null 2>&1; then
	cat >inlined.c <<-END
		static volatile unsigned sink;
		static inline __attribute__((always_inline)) void inlined_inner(unsigned n)
		{
			for (unsigned i = 0; i < n; i++)
				sink += i;
		}
		__attribute__((noinline)) static void inlined_outer(unsigned n)
		{
			inlined_inner(n);
			sink++;
		}
		int main(void)
		{
			for (int i = 0; i < 100; i++)
				inlined_outer(1000000);
			return 0;
		}
	END
	cc -O2 -g -o inlined inlined.c
	dwell record -q -F 499 -o moved -- ./inlined
	same 'what is inlined' moved fold --on
	claim 'and there is some' grep -q 'inlined_outer[^;]*;inlined_inner_\[i\]' here
	same 'without it' moved fold --on --no-inline
	same 'files and lines' moved fold --on --srcline
	claim 'and there are some' grep -q 'inlined_inner (inlined.c:5)' here
else
	skip 'what is inlined' 'there is no C compiler'
fi

# Gone from its path by the end, and only ever seen in a container. One process alone may be over
# before anybody looks at it.
cp "$WORKLOADS/deep" gone
cat >delete.sh <<END
"$work/gone"
"$work/gone"
"$work/gone"
rm "$work/gone"
END
dwell record -q -F 499 -o moved -- sh delete.sh
dwell fold --wall moved
claim 'a program that was deleted has its names' grep -q 'deep_recurse;.*deep_sort' out
same 'a program that was deleted' moved fold --wall
dwell record -q -F 499 -o moved -- unshare -m sh -c "mount -t tmpfs none /mnt &&
	cp '$WORKLOADS/deep' /mnt/deep && /mnt/deep && /mnt/deep && /mnt/deep"
claim "in a container (got $status)" [ "$status" = 0 ]
dwell fold --wall moved
claim 'a program that only a container saw has its names' grep -q 'deep_recurse;.*deep_sort' out
