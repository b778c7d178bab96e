/* SPDX-License-Identifier: MIT */
/* A text in memory becomes one that its parser owns and may cut up. */
#ifndef DWELL_PARSE_ELF_TEXTCOPY_H
#define DWELL_PARSE_ELF_TEXTCOPY_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A copy of at most max_bytes, NUL-terminated, to be freed. 0, -EFBIG or -ENOMEM. */
static inline int text_copy(const char *text, uint64_t bytes, uint64_t max_bytes, char **ret_copy)
{
	char *copy;

	if (bytes > max_bytes)
		return -EFBIG;
	copy = malloc(bytes + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
	*ret_copy = copy;
	return 0;
}

#endif
