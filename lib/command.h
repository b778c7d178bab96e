/* SPDX-License-Identifier: MIT */
/* What commands do alike: where output goes, how errors end, the exit status. */
#ifndef DWELL_LIB_COMMAND_H
#define DWELL_LIB_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/err.h"

/* Prints "dwell: ..." and returns status. */
int dwell_command_fail(const struct dwell_err *err, int status);

/* Opens path for writing; NULL or "-" = standard output. The input is refused: it would be empty
 * then. 0, or -errno with err set. */
int dwell_output_open(const char *path, const char *input, FILE **ret_out, struct dwell_err *err);

/* Flushes and closes (standard output is only flushed). A write that failed at any time is an
 * error here: 0, or -errno with err set. */
int dwell_output_close(FILE *out, const char *path, struct dwell_err *err);

#endif
