// SPDX-License-Identifier: MIT
/* The text of a list becomes its CPUs, one call each. */
#include "record/cpulist.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/io.h"

int cpulist_each(const char *list, uint32_t limit, void (*fn)(void *user, uint32_t cpu), void *user)
{
	if (*list < '0' || *list > '9')
		return -EINVAL;
	while (*list && *list != '\n') {
		char *end;
		unsigned long low = strtoul(list, &end, 10), high = low;

		if (*list < '0' || *list > '9')
			return -EINVAL;
		if (*end == '-') {
			list = end + 1;
			high = strtoul(list, &end, 10);
			if (*list < '0' || *list > '9')
				return -EINVAL;
		}
		if (high < low || high >= limit || (*end && *end != ',' && *end != '\n'))
			return -EINVAL;
		for (; fn && low <= high; low++)
			fn(user, (uint32_t)low);
		list = *end == ',' ? end + 1 : end;
	}
	return 0;
}

int cpulist_read(const char *name, uint32_t limit, void (*fn)(void *user, uint32_t cpu), void *user)
{
	char path[64], text[4096];
	int64_t n;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", name);
	n = dwell_io_read_small(path, text, sizeof(text));
	return n < 0 ? (int)n : cpulist_each(text, limit, fn, user);
}
