/* SPDX-License-Identifier: MIT */
/* Interned strings: equal bytes get one u32 id; id 0 is the empty string. Pointers stay valid
 * until release. */
#ifndef DWELL_LIB_STRINGS_H
#define DWELL_LIB_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwell_strings; /* opaque */

/* NULL when out of memory. */
struct dwell_strings *dwell_strings_new(void);
void dwell_strings_free(struct dwell_strings *strings);

/* The id of the `bytes` bytes at text (embedded NULs end the string). New strings get the next
 * id. Returns 0 or -ENOMEM; *ret_id untouched on failure. */
int dwell_strings_add(struct dwell_strings *strings, const char *text, size_t bytes,
		      uint32_t *ret_id);

/* The id of the `bytes` bytes at text if they have one: true. */
bool dwell_strings_find(const struct dwell_strings *strings, const char *text, size_t bytes,
			uint32_t *ret_id);

/* The NUL-terminated text of id; "" for ids never given out. Valid until free. */
const char *dwell_strings_get(const struct dwell_strings *strings, uint32_t id);

/* How many ids were given out, id 0 included. */
uint32_t dwell_strings_count(const struct dwell_strings *strings);

#endif
