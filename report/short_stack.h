/* SPDX-License-Identifier: MIT */
/* A stack becomes the few names that tell a person where it was: user functions, innermost first,
 * without the glue of the scheduler, the system call entry and the C library's start. */
#ifndef DWELL_REPORT_SHORT_STACK_H
#define DWELL_REPORT_SHORT_STACK_H

#include <stddef.h>

#include "report/names.h"

/* Writes "pthread_mutex_lock < cache_get < serve" (at most three names) for a name node; valid
 * UTF-8, NUL-terminated, cut to dst_bytes. Kernel functions are used where there is no user part.
 */
void dwell_short_stack(const struct dwell_names *names, uint32_t node, char *dst, size_t dst_bytes);

#endif
