/* SPDX-License-Identifier: MIT */
/* What this room offers to dwell.c: commands, which take argv from their own name on, print, and
 * return the exit status (lib/err.h). */
#ifndef DWELL_REPORT_CMD_H
#define DWELL_REPORT_CMD_H

#include <stdio.h>

#include "lib/err.h"

int dwell_cmd_fold(int argc, char **argv);
int dwell_cmd_report(int argc, char **argv);

/* Writes the summary of the recording at path to out: the screen at the end of a recording. 0, or
 * -errno with err set. */
int dwell_report_summary(const char *path, FILE *out, struct dwell_err *err);

#endif
