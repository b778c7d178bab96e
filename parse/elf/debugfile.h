/* SPDX-License-Identifier: MIT */
/* Finds the separate debug file of a stripped ELF file. Internal to this room. */
#ifndef DWELL_PARSE_ELF_DEBUGFILE_H
#define DWELL_PARSE_ELF_DEBUGFILE_H

#include <libelf.h>

/* The debug file with the same build id as elf, which was opened as path (with symfs, "" = none,
 * before it): /usr/lib/debug/.build-id/xx/yyyy.debug, or the name in .gnu_debuglink beside the
 * file, in .debug/ there, or below /usr/lib/debug. 0 with both results, which the caller closes
 * (the descriptor after the handle's last read), or -ENOENT; always so without a build id. */
int debugfile_open(Elf *elf, const char *symfs, const char *path, int *ret_fd, Elf **ret_debug);

#endif
