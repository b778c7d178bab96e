/* SPDX-License-Identifier: MIT */
/* Opens ELF files and memory images through libelf with the bounds that libelf leaves to its
 * callers. Internal to this room. */
#ifndef DWELL_PARSE_ELF_IMAGE_H
#define DWELL_PARSE_ELF_IMAGE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "parse/stack.h"

/* The ELF file open at fd, read by pread only: a file cut short meanwhile gives errors, where a
 * mapping would give SIGBUS. fd is borrowed until elf_end(). 0, or -ENOEXEC when it is not a
 * regular file with usable ELF headers. */
int image_open_fd(int fd, Elf **ret_elf);

/* The same for bytes in memory, borrowed until elf_end() and not written to. */
int image_open_memory(const void *bytes, size_t count, Elf **ret_elf);

/* As dwell_build_id_read(), of an open image. */
int image_build_id(Elf *elf, uint8_t ret_build_id[DWELL_BUILD_ID_MAX]);

#endif
