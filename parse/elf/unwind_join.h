/* SPDX-License-Identifier: MIT */
/* A chain whose copy of the stack ended too early is continued by what an earlier, complete chain
 * of the thread told of the same frames. Internal to this room. */
#ifndef DWELL_PARSE_ELF_UNWIND_JOIN_H
#define DWELL_PARSE_ELF_UNWIND_JOIN_H

#include "parse/elf/unwind.h"

struct unwind_joins; /* opaque; the last complete chain of up to 1,024 threads, some 2 MB */

/* NULL when out of memory. */
struct unwind_joins *unwind_joins_new(void);
void unwind_joins_free(struct unwind_joins *joins);

/* Remembers a complete chain of a thread, its outermost 128 frames. generation is its process's
 * (dwell_addrspaces_generation()). Without memory, nothing is remembered. */
void unwind_joins_keep(struct unwind_joins *joins, uint64_t generation, int32_t tid,
		       const struct dwell_unwound *unwound);

/* Appends to a truncated chain what lay further out in the thread's complete one, if the last three
 * frames of the first, address and stack pointer, are frames of the second in the same order.
 * Returns how many addresses the copy itself told, and 0 when nothing was appended. A thread that
 * went out of these frames and came back to them from elsewhere, at the same place of its stack, is
 * not noticed: hence the mark that joined chains get. */
uint32_t unwind_joins_append(const struct unwind_joins *joins, uint64_t generation, int32_t tid,
			     struct dwell_unwound *unwound);

#endif
