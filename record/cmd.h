/* SPDX-License-Identifier: MIT */
/* The commands of this room, for dwell.c. */
#ifndef DWELL_RECORD_CMD_H
#define DWELL_RECORD_CMD_H

/* `dwell record`. Returns the exit status. When a trace was written that is worth a look at the
 * end, ret_summary_path is set to its path, else to "". */
int dwell_cmd_record(int argc, char **argv, char *ret_summary_path, unsigned long path_bytes);

#endif
