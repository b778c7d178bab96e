/* SPDX-License-Identifier: MIT */
/* Plain file input and output that finishes what it starts: short writes, EINTR, bounded reads. */
#ifndef DWELL_LIB_IO_H
#define DWELL_LIB_IO_H

#include <stddef.h>
#include <stdint.h>

#include "lib/err.h"

/* Writes all bytes. 0 or -errno. */
int dwell_io_write(int fd, const void *bytes, size_t count);

/* Reads up to count bytes, fewer only at the end of the file. The number read, or -errno. */
int64_t dwell_io_read(int fd, void *bytes, size_t count);

/* Reads a whole file of at most max_bytes (also in /proc, where sizes read 0) into malloc'd memory
 * with a NUL behind it. 0, -EFBIG when larger, or -errno. */
int dwell_io_read_file(const char *path, size_t max_bytes, char **ret_text, size_t *ret_bytes);

/* Reads a small file into a buffer of the caller's, NUL-terminated, cut at room - 1 bytes.
 * The number of bytes read, or -errno. */
int64_t dwell_io_read_small(const char *path, char *text, size_t room);

/* Opens a regular file for reading, whatever else a stranger puts at path meanwhile: devices, which
 * may act on being opened, and pipes are never opened. `flags`: O_NOFOLLOW or 0. The descriptor,
 * -EINVAL when it is no regular file, or -errno. */
int dwell_io_open_regular(const char *path, int flags);

/* The same of an absolute path as a process sees it whose root directory is open as `root`: links
 * lead nowhere outside of that (before Linux 5.6 only the last name is kept from being one). */
int dwell_io_open_below(int root, const char *path, int flags);

/* CLOCK_MONOTONIC of this process's time namespace, in ns. */
uint64_t dwell_io_now_ns(void);

#endif
