/* SPDX-License-Identifier: MIT */
/* The commands of this room, for dwell.c. */
#ifndef DWELL_PARSE_CMD_H
#define DWELL_PARSE_CMD_H

/* `dwell dump`: every header and record of a file, in time order. Returns the exit status. */
int dwell_cmd_dump(int argc, char **argv);

#endif
