/* SPDX-License-Identifier: MIT */
/* Finds the symbols that were taken out of a stripped ELF file. Internal to this room. */
#ifndef DWELL_PARSE_ELF_DEBUGFILE_H
#define DWELL_PARSE_ELF_DEBUGFILE_H

#include "parse/elf/places.h"

/* The debug file with the same build id as elf, which was opened as path (without the symfs):
 * /usr/lib/debug/.build-id/xx/yyyy.debug, or the name in .gnu_debuglink beside the file, in .debug/
 * there, or below /usr/lib/debug, or "debug" in perf's build-id cache; none of them for a file
 * without a build id. Else the table of symbols packed into .gnu_debugdata. 0 or -ENOENT. */
int debugfile_open(Elf *elf, const struct places *places, const char *path,
		   struct image *ret_debug);

#endif
