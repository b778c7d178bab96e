/* SPDX-License-Identifier: MIT */
/* Finds a control group by path or container id, and the processes in it. */
#ifndef DWELL_RECORD_CGROUPS_H
#define DWELL_RECORD_CGROUPS_H

#include <stdint.h>

#include "lib/err.h"

/* The folder of a cgroup: an absolute path in a hierarchy that mountinfo (/proc/self/mountinfo)
 * tells of, a path as in /proc/PID/cgroup, or the beginning (at least 6 characters) of a container
 * id that is part of exactly one folder's name. The unified hierarchy comes first, of v1 the one of
 * perf_event. 0, or -ENOENT, -ENOTUNIQ or whatever reading mountinfo gave, with err set. */
int cgroups_find(const char *mountinfo, const char *name, char *ret_folder, uint32_t folder_bytes,
		 struct dwell_err *err);

/* Calls fn for every process in the cgroup and those below it, until non-zero, which is returned.
 */
int cgroups_each_pid(const char *folder, int (*fn)(void *user, int32_t pid), void *user);

#endif
