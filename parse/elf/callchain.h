/* SPDX-License-Identifier: MIT */
/* Callchains as the kernel writes them become interned stacks: user addresses through the process's
 * mappings, kernel addresses through whoever knows the kernel, junk cut. A cache makes a chain seen
 * before cost one hash. Used by the recorder and by the reader of perf.data alike. */
#ifndef DWELL_PARSE_ELF_CALLCHAIN_H
#define DWELL_PARSE_ELF_CALLCHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/strings.h"
#include "parse/elf/addrspace.h"
#include "parse/stack.h"

/* What differs between a live system and a file. */
struct dwell_callchain_ops {
	/* The frame of a kernel address, which lies in the call already: 0 or -ENOMEM. */
	int (*kernel_frame)(void *user, uint64_t address, uint32_t *ret_frame);
	/* Does the part of the task that was interrupted begin below this kernel frame? NULL:
	 * cannot be told; then nothing is cut. */
	bool (*interrupt_entry)(void *user, uint32_t frame);
	/* A user frame in map was met for the first time; may be NULL. 0 or -ENOMEM. */
	int (*user_frame)(void *user, int32_t pid, const struct dwell_mapping *map, uint32_t frame);
};

struct dwell_callchain_stats {
	uint64_t truncated; /* at the kernel's maximum */
	uint64_t junk_cut;  /* ended by an address that is no code */
};

enum dwell_callchain_part {
	DWELL_CALLCHAIN_ALL = 0,
	DWELL_CALLCHAIN_INTERRUPT, /* of a waker in interrupt context: the interrupted frames are
				    * cut */
	DWELL_CALLCHAIN_UNWOUND,   /* ALL, and the user part was unwound by us: no maximum cut it */
};

/* In the user part of an unwound chain: the addresses behind are an earlier chain's, and a frame
 * [joined] tells so. Among the kernel's context markers none has this number. */
#define DWELL_CALLCHAIN_JOINED ((uint64_t)-4094)

struct dwell_callchains; /* opaque */

/* Tables are borrowed. max_stack is the recording kernel's maximum of addresses in a chain
 * (kernel.perf_event_max_stack). NULL when out of memory. */
struct dwell_callchains *dwell_callchains_new(struct dwell_strings *strings,
					      struct dwell_stacks *stacks,
					      struct dwell_addrspaces *spaces, uint32_t max_stack,
					      const struct dwell_callchain_ops *ops, void *user);
void dwell_callchains_free(struct dwell_callchains *chains);

/* The stack of a callchain with its context markers, in process pid (-1 = not known: kernel part
 * only), on top of root_frame (0 = none). 0 or -ENOMEM.
 * Return addresses are taken less one, so that they lie in the call and not behind the function.
 * User addresses without frame pointers end in junk: the first address that is no code ends the
 * chain (as [unknown] if it is the innermost one). */
int dwell_callchain_stack(struct dwell_callchains *chains, int32_t pid, const uint64_t *chain,
			  uint64_t count, enum dwell_callchain_part part, uint32_t root_frame,
			  uint32_t *ret_stack);

/* Frames, leaf first, become a stack on top of root_frame (0 = none). 0 or -ENOMEM. */
int dwell_callchain_frames(struct dwell_callchains *chains, const uint32_t *frames, uint32_t count,
			   uint32_t root_frame, uint32_t *ret_stack);

/* Kernel mappings changed: what was resolved before holds no longer. */
void dwell_callchains_forget(struct dwell_callchains *chains);

const struct dwell_callchain_stats *dwell_callchains_stats(const struct dwell_callchains *chains);

#endif
