/* SPDX-License-Identifier: MIT */
/* Unpacks xz, gzip and zstd data in memory: compressed kernel modules and the small symbol tables
 * that some distributions leave in stripped programs. Internal to this room. */
#ifndef DWELL_PARSE_ELF_UNPACK_H
#define DWELL_PARSE_ELF_UNPACK_H

#include <stddef.h>

/* Unpacks bytes, whose first ones tell their form, into malloc'd memory. 0, -ENOEXEC when they are
 * none of these or damaged, -EFBIG when more than 64 MiB come out, or -ENOMEM. */
int unpack_bytes(const void *bytes, size_t count, void **ret_bytes, size_t *ret_count);

/* The same of the regular file open at fd, of at most 64 MiB. */
int unpack_file(int fd, void **ret_bytes, size_t *ret_count);

#endif
