/* SPDX-License-Identifier: MIT */
/* Where tracepoint formats are read: tracefs where it is mounted, else a mount of our own that
 * nobody else sees. */
#ifndef DWELL_RECORD_TRACEFS_H
#define DWELL_RECORD_TRACEFS_H

#include "lib/err.h"

/* A descriptor of tracefs's root folder: found in /sys/kernel/tracing or /sys/kernel/debug/tracing,
 * else mounted detached (fsmount(2), Linux 5.2; gone when the descriptor is closed), else mounted
 * on /sys/kernel/tracing. 0, or -errno with err saying what to do. */
int tracefs_open(int *ret_fd, struct dwell_err *err);

/* The format text of a tracepoint such as "sched/sched_switch": malloc'd. 0 or -errno with err. */
int tracefs_format(int tracefs_fd, const char *name, char **ret_text, struct dwell_err *err);

#endif
