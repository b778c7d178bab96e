/* SPDX-License-Identifier: MIT */
/* Opens ELF files and memory images through libelf with the bounds that libelf leaves to its
 * callers. Internal to this room. */
#ifndef DWELL_PARSE_ELF_IMAGE_H
#define DWELL_PARSE_ELF_IMAGE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "parse/stack.h"

/* An ELF file open for reading, with what its handle reads from. */
struct image {
	Elf *elf;
	int fd;	     /* owned; -1 = none */
	void *bytes; /* owned, malloc'd; NULL = none */
};

/* The regular file at path, as image_open_fd(); one packed with xz, gzip or zstd is unpacked. 0,
 * -ENOEXEC when it is no usable ELF file, -EINVAL when no regular file, or -errno. */
int image_open(const char *path, struct image *ret_image);
/* Bytes, which are taken over on success. 0 or -ENOEXEC. */
int image_open_owned(void *bytes, size_t count, struct image *ret_image);
void image_close(struct image *image);
/* Closes the descriptor once everything needed has been read. */
void image_finish(struct image *image);

/* The ELF file open at fd, read by pread only: a file cut short meanwhile gives errors, where a
 * mapping would give SIGBUS. fd is borrowed until elf_end(). 0, or -ENOEXEC when it is not a
 * regular file with usable ELF headers. */
int image_open_fd(int fd, Elf **ret_elf);

/* The same for bytes in memory, borrowed until elf_end() and not written to. */
int image_open_memory(const void *bytes, size_t count, Elf **ret_elf);

/* As dwell_build_id_read(), of an open image. Zero-padded when there is one. */
int image_build_id(Elf *elf, uint8_t ret_build_id[DWELL_BUILD_ID_MAX]);
/* The same of ELF notes in this machine's byte order, as the kernel shows them in /sys. */
int build_id_of_notes(const void *notes, size_t count, uint8_t ret_build_id[DWELL_BUILD_ID_MAX]);

/* Is the id found in a file the recorded one? Both are zero-padded. Before Linux 5.10 perf wrote
 * shorter ids with zeroes behind them, and no length. */
bool build_id_equal(const uint8_t *found, int found_bytes, const uint8_t *recorded, int bytes);

enum { BUILD_ID_HEX = 2 * DWELL_BUILD_ID_MAX + 1 };
/* Lower-case digits; "" for no bytes. */
void build_id_hex(const uint8_t *build_id, int bytes, char ret_hex[BUILD_ID_HEX]);

#endif
