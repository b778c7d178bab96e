/* SPDX-License-Identifier: MIT */
/* Stacks of frames become stacks of names: frames of one function are one name, and stacks of
 * equal names are one node of a prefix tree. User-only, kernel-only and the delimiter are applied
 * here, so every view shows the same stacks. */
#ifndef DWELL_REPORT_NAMES_H
#define DWELL_REPORT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/elf/symbols.h"
#include "parse/stack.h"

/* A name as folded stacks show it: no ';', no control characters, valid UTF-8, never empty, never
 * ending in a space and digits; `_[k]` behind kernel frames, `_[j]` behind JIT code, `_[i]` behind
 * inlined functions. Where lines are wanted, " (FILE:LINE)" stands in front of those. */
struct dwell_name {
	const char *text; /* owned by the names */
	uint32_t bytes;
	uint32_t plain_bytes; /* without the place and the annotation */
	bool kernel;
	bool pseudo; /* made by dwell, in brackets; the delimiter */
};

/* parent is nearer the root and its id smaller; node 0 is the empty stack. */
struct dwell_name_node {
	uint32_t parent, name;
	uint32_t bytes; /* of the whole line up to here, names joined by ';' */
};

struct dwell_names; /* opaque */

struct dwell_names_options {
	bool user_only, kernel_only, delimited;
};

/* The tables are borrowed and must not grow any more: reading is over. NULL when out of memory. */
struct dwell_names *dwell_names_new(const struct dwell_stacks *stacks,
				    struct dwell_symbols *symbols,
				    const struct dwell_names_options *options);
void dwell_names_free(struct dwell_names *names);

/* The node of a stack id. Each frame is looked up once. 0 or -ENOMEM. */
int dwell_names_stack(struct dwell_names *names, uint32_t stack, uint32_t *ret_node);

/* The node of `text` (any bytes; escaped here) below a node. 0 or -ENOMEM. */
int dwell_names_child(struct dwell_names *names, uint32_t parent, const char *text,
		      uint32_t *ret_node);

/* Entries by id; valid until the next call that adds. */
const struct dwell_name_node *dwell_names_node(const struct dwell_names *names, uint32_t node);
const struct dwell_name *dwell_names_name(const struct dwell_names *names, uint32_t name);

/* Writes the node's line (dwell_names_node()->bytes bytes, no NUL) at dst. */
void dwell_names_line(const struct dwell_names *names, uint32_t node, char *dst);

#endif
