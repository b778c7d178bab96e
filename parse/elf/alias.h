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

/* < 0 when a is the better name, > 0 when b is; 0 only for equal names. */
static inline int alias_compare(const struct alias *a, const struct alias *b)
{
	size_t a_bytes, b_bytes;
	int diff = a->label - b->label;

	if (!diff)
		diff = (int)strspn(a->name, "_") - (int)strspn(b->name, "_");
	if (!diff)
		diff = a->local - b->local;
	if (!diff)
		diff = a->weak - b->weak;
	if (diff)
		return diff;
	a_bytes = strlen(a->name);
	b_bytes = strlen(b->name);
	if (a_bytes != b_bytes)
		return a_bytes < b_bytes ? -1 : 1;
	return strcmp(a->name, b->name);
}

#endif
