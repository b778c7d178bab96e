/* SPDX-License-Identifier: MIT */
/* Images become unwind tables in a thread beside, so that whoever drains rings need not wait for
 * those of large files. Internal to this room. */
#ifndef DWELL_PARSE_ELF_UNWIND_LOADER_H
#define DWELL_PARSE_ELF_UNWIND_LOADER_H

#include "parse/elf/image.h"
#include "parse/elf/unwind_table.h"

struct unwind_loader; /* opaque */

/* The thread begins with the first image. NULL when out of memory. */
struct unwind_loader *unwind_loader_new(void);
/* Waits for the table that is being made; others are not begun. */
void unwind_loader_free(struct unwind_loader *loader);

/* Has the table of an image made, which is taken over, for the file with number `key`. 0, -ENOMEM
 * or -errno when there can be no thread: then the image is still the caller's. */
int unwind_loader_give(struct unwind_loader *loader, uint32_t key, struct image *image);

/* A table that is made: true, its key and the table, which is the caller's (NULL: the image had
 * none that is usable). Waits until deadline_ns (CLOCK_MONOTONIC; 0 = not at all) for one while
 * any is to come. */
bool unwind_loader_take(struct unwind_loader *loader, uint64_t deadline_ns, uint32_t *ret_key,
			struct dwell_unwind_table **ret_table);

#endif
