/* SPDX-License-Identifier: MIT */
/* What this room offers to dwell.c. */
#ifndef DWELL_RECORD_CMD_H
#define DWELL_RECORD_CMD_H

/* `dwell record`: returns the exit status. Copies the path of the recording to show a summary of
 * into ret_summary_path, or "" when no screen is wanted. */
int dwell_cmd_record(int argc, char **argv, char *ret_summary_path, unsigned long path_bytes);

#endif
