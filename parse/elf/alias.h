/* SPDX-License-Identifier: MIT */
/* Which of several names for one address is shown. Internal to this room; the rule is documented
 * in symbols.h. */
#ifndef DWELL_PARSE_ELF_ALIAS_H
#define DWELL_PARSE_ELF_ALIAS_H

#include <stdbool.h>
#include <string.h>

struct alias {
	const char *name;
	bool label; /* not marked as a function */
	bool local; /* not global and not weak */
	bool weak;
};

/* Names are compared no further than this: files may hold endless ones, all alike. */
enum { ALIAS_BYTES = 256, ALIAS_UNDERSCORES = 8 };

static inline int alias_underscores(const char *name)
{
	int count = 0;

	while (count < ALIAS_UNDERSCORES && name[count] == '_')
		count++;
	return count;
}

/* < 0 when a is the better name, > 0 when b is; 0 for equal names. */
static inline int alias_compare(const struct alias *a, const struct alias *b)
{
	size_t a_bytes, b_bytes;
	int diff = a->label - b->label;

	if (!diff)
		diff = alias_underscores(a->name) - alias_underscores(b->name);
	if (!diff)
		diff = a->local - b->local;
	if (!diff)
		diff = a->weak - b->weak;
	if (diff)
		return diff;
	a_bytes = strnlen(a->name, ALIAS_BYTES);
	b_bytes = strnlen(b->name, ALIAS_BYTES);
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes ? -1 : 1;
	return memcmp(a->name, b->name, a_bytes);
}

#endif
