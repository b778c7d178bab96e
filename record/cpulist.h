/* SPDX-License-Identifier: MIT */
/* Lists of CPUs such as "0,2-3", as users and sysfs write them. */
#ifndef DWELL_RECORD_CPULIST_H
#define DWELL_RECORD_CPULIST_H

#include <stdint.h>

/* Calls fn (NULL = only check) for each CPU of the list, which a line's end may close. 0, or
 * -EINVAL when it is no list of CPUs below limit. */
int cpulist_each(const char *list, uint32_t limit, void (*fn)(void *user, uint32_t cpu),
		 void *user);

/* The same for a file below /sys/devices/system/cpu. 0, or -errno. */
int cpulist_read(const char *name, uint32_t limit, void (*fn)(void *user, uint32_t cpu),
		 void *user);

#endif
