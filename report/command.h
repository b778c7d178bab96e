/* SPDX-License-Identifier: MIT */
/* What all commands of this room do alike: where output goes, how errors end, the exit status. */
#ifndef DWELL_REPORT_COMMAND_H
#define DWELL_REPORT_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/err.h"

/* Prints "dwell: ..." and returns status. */
int command_fail(const struct dwell_err *err, int status);

/* Opens path for writing; NULL or "-" = standard output. 0, or -errno with err set. */
int command_output_open(const char *path, FILE **ret_out, struct dwell_err *err);

/* Flushes and closes (standard output is only flushed). A write that failed at any time is an
 * error here: 0, or -errno with err set. */
int command_output_close(FILE *out, const char *path, struct dwell_err *err);

#endif
