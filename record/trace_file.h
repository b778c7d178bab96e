/* SPDX-License-Identifier: MIT */
/* Creates the file a recording is written to. */
#ifndef DWELL_RECORD_TRACE_FILE_H
#define DWELL_RECORD_TRACE_FILE_H

#include "lib/err.h"

/* A new file at path, mode 0600, opened for writing. A regular file that stands there is kept as
 * path.old; a symbolic link is refused (a recorder often runs as root in somebody's folder);
 * devices and pipes are opened as they are; "-" is standard output, refused on a terminal. 0, or
 * -errno with err set. */
int trace_file_create(const char *path, int *ret_fd, struct dwell_err *err);

#endif
