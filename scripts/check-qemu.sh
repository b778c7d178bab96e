#!/bin/bash
# SPDX-License-Identifier: MIT
# Boots a stock kernel in a virtual machine with two CPUs, in software, runs the recorder tests in it
# and prints their claims, each with the kernel's release. The kernel is Debian's own package, unpacked
# but not installed, or a file.
#
#   OUT=build [KERNEL=vmlinuz] scripts/check-qemu.sh [TEST.sh...]      exit 1 when a claim fails
set -u

OUT=${OUT:-build}
readonly BOOT_LIMIT=${QEMU_LIMIT:-420} # seconds; software emulation is slow
cache=$OUT/qemu
root=$cache/root
tests=("$@")
if [ ${#tests[@]} = 0 ]; then
	tests=(tests/e2e/truth.sh tests/e2e/attach.sh tests/e2e/namespaces.sh tests/e2e/overflow.sh
		tests/e2e/hotplug.sh)
fi

die()
{
	echo "not ok - qemu: $*"
	echo '0 passed, 1 failed, 0 skipped'
	exit 1
}

for tool in qemu-system-x86_64 cpio gzip; do
	command -v $tool >/dev/null && continue
	echo "skip - qemu: recorder tests under a stock kernel: $tool is not installed"
	echo '0 passed, 0 failed, 1 skipped'
	exit 0
done
mkdir -p "$cache/packages" || exit 3

# unpacked PACKAGE: the directory of an unpacked package, downloaded once.
unpacked()
{
	local dir=$cache/packages/$1
	if [ ! -d "$dir" ]; then
		(cd "$cache/packages" && apt-get -q download "$1" >&2) || return 1
		dpkg -x "$cache/packages/$1"_*.deb "$dir.part" && mv "$dir.part" "$dir" || return 1
		rm -f "$cache/packages/$1"_*.deb
	fi
	echo "$dir"
}

kernel_package()
{
	apt-cache depends linux-image-amd64 2>/dev/null |
		awk '/Depends: linux-image/ {print $2; exit}'
}

kernel=${KERNEL:-}
if [ -z "$kernel" ]; then
	package=$(kernel_package)
	# A new machine has no package lists yet.
	[ -z "$package" ] && apt-get -q update >&2 && package=$(kernel_package)
	[ -n "$package" ] || die "no package linux-image-amd64 here; give KERNEL=vmlinuz"
	dir=$(unpacked "$package") || die "cannot get package $package"
	kernel=$(find "$dir" -name 'vmlinuz*')
	if [ -z "$kernel" ]; then # since 7.x the image itself is in a package of its own
		package=linux-binary-${package#linux-image-}
		dir=$(unpacked "$package") || die "cannot get package $package"
		kernel=$(find "$dir" -name 'vmlinuz*')
	fi
fi
[ -r "$kernel" ] || die "cannot read '$kernel'"
busybox=$(command -v busybox)
if [ -z "$busybox" ] || ldd "$busybox" >/dev/null 2>&1; then
	dir=$(unpacked busybox-static) || die 'cannot get package busybox-static'
	busybox=$(echo "$dir"/bin/busybox "$dir"/usr/bin/busybox | tr ' ' '\n' | xargs ls 2>/dev/null)
fi

# install_program FILE NAME: into the guest, with its shared libraries if it has any.
install_program()
{
	local library
	cp "$1" "$root/bin/$2" || return 1
	for library in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
		mkdir -p "$root$(dirname "$library")"
		cp -Ln "$library" "$root$library"
	done
}

rm -rf "$root"
mkdir -p "$root"/{bin,dev,proc,sys,tmp,tests/e2e}
cp "$busybox" "$root/bin/busybox"
for program in "$OUT"/static/tests/workload/*.static; do
	install_program "$program" "$(basename "$program" .static)"
done
dwell=$OUT/static/dwell
[ -x "$dwell" ] || dwell=${DWELL:-./dwell}
[ -x "$dwell" ] && install_program "$dwell" dwell
# Busybox has an unshare, which it prefers to any file of that name, but without time namespaces.
install_program "$(command -v unshare)" unshare-full
cp "${tests[@]}" tests/e2e/common.inc "$root/tests/e2e/"
cat >"$root/init" <<'EOF'
#!/bin/busybox sh
/bin/busybox --install -s /bin 2>/dev/null
export PATH=/bin HOME=/tmp DWELL=/bin/dwell WORKLOADS=/bin OUT=/tmp DWELL_LIMIT=120
export UNSHARE=/bin/unshare-full VERIFY_SLOW=5 VERIFY_STALL_MS=200 VERIFY_WHOLE=1 HOTPLUG=1
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t tracefs tracefs /sys/kernel/tracing
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
echo # what the firmware left on the line
echo "# guest: Linux $(uname -r), $(nproc) CPUs"
for test in /tests/e2e/*.sh; do
	sh "$test" </dev/null 2>&1
done
echo 'guest: done'
poweroff -f
EOF
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0 | gzip -1) >"$cache/initramfs.gz" ||
	die 'cannot pack the initramfs'

echo "# $(basename "$kernel"), $(du -h "$cache/initramfs.gz" | cut -f1) initramfs"
# Both CPUs take turns in one thread of the emulator. With a thread each, one may run code that the
# other has just patched back (static keys and calls, at each perf_event_open): the guest dies of an
# int3 that is no more, or hangs. The time stamp counter is the host's and the same on both, though
# the kernel would not trust it; its second choice, the HPET, is slow and differs from sched_clock.
timeout -k 5 "$BOOT_LIMIT" qemu-system-x86_64 -accel tcg,thread=single -cpu max -smp 2 -m 1G \
	-nographic -no-reboot -nodefaults -serial stdio -monitor none -kernel "$kernel" \
	-initrd "$cache/initramfs.gz" -append "console=ttyS0 loglevel=4 softlockup_all_cpu_backtrace=1 \
panic=-1 edd=off tsc=reliable clocksource=tsc rdinit=/init" </dev/null 2>&1 |
	tr -d '\r' >"$cache/console.log"

release=$(sed -n 's/^# guest: Linux \([^,]*\),.*/\1/p' "$cache/console.log")
claims=$(grep -aE '^(ok|not ok|skip) - |^# ' "$cache/console.log" |
	sed -E "s/^(ok|not ok|skip) - /\\1 - qemu ${release:-?}: /")
if ! grep -aq '^guest: done' "$cache/console.log"; then
	tail -15 "$cache/console.log" | sed 's/^/# /'
	claims+=$'\n'"not ok - qemu ${release:-?}: the machine ran all tests and powered off"
fi
printf '%s\n' "$claims"

count()
{
	grep -cE "^$1 - " <<<"$claims"
}
failed=$(count 'not ok')
echo "# under Linux ${release:-?}"
echo "$(count ok) passed, $failed failed, $(count skip) skipped"
[ "$failed" = 0 ]
