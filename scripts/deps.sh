#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the libraries and tools that building and testing dwell needs, with the distribution's
# own package manager. Does nothing when they are all there; elsewhere it says what is needed.
set -u

apt='libelf-dev libdw-dev libjson-c-dev libzstd-dev zlib1g-dev
	liblzma-dev libiberty-dev libcmocka-dev'
dnf='elfutils-libelf-devel elfutils-devel json-c-devel
	libzstd-devel zlib-devel xz-devel binutils-devel libcmocka-devel'
pacman='libelf json-c zstd zlib xz binutils cmocka'

# Whether a program that needs every library compiles and links: true on any distribution, however
# the packages are called there.
all_present()
{
	"${CC:-cc}" -x c -o /dev/null - \
		-lelf -ldw -ljson-c -lzstd -lz -llzma -liberty -lcmocka 2>/dev/null <<-EOF
		#include <stdarg.h>
		#include <stddef.h>
		#include <stdint.h>
		#include <setjmp.h>
		#include <cmocka.h>
		#include <elfutils/libdw.h>
		#include <gelf.h>
		#include <json-c/json.h>
		#include <libiberty/demangle.h>
		#include <lzma.h>
		#include <zlib.h>
		#include <zstd.h>
		int main(void) { return 0; }
	EOF
}

as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		echo "deps: not root, and there is no sudo; as root run: $*" >&2
		return 1
	fi
}

if all_present; then
	echo 'deps: all present'
	exit 0
fi
if command -v apt-get >/dev/null; then
	# shellcheck disable=SC2086 # a list of packages
	as_root apt-get -q -o DPkg::Lock::Timeout=120 update &&
		as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
			-o DPkg::Lock::Timeout=120 install --no-install-recommends $apt
elif command -v dnf >/dev/null; then
	# shellcheck disable=SC2086
	as_root dnf -q -y install $dnf
elif command -v pacman >/dev/null; then
	# shellcheck disable=SC2086
	as_root pacman -S --noconfirm --needed $pacman
else
	echo 'deps: no apt-get, dnf or pacman here. Install, with headers: libelf,'
	echo 'deps: libdw (elfutils), json-c, zstd, zlib, liblzma (xz), libiberty (binutils), cmocka.'
	exit 3
fi || exit 3
if ! all_present; then
	echo 'deps: the packages are installed, but a program with all libraries does not link' >&2
	exit 3
fi
