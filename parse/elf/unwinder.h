/* SPDX-License-Identifier: MIT */
/* Copied user stacks become the user parts of callchains: the files that are mapped become unwind
 * tables, each once, the kernel's part of the chain goes before what is unwound, and what the end
 * of a chain is worth is told by a frame at its root. For the recorder and the reader of perf.data
 * alike. */
#ifndef DWELL_PARSE_ELF_UNWINDER_H
#define DWELL_PARSE_ELF_UNWINDER_H

#include "parse/elf/symbols.h"
#include "parse/elf/unwind.h"

/* What a sample has of a thread's user part. Borrowed of its record, without alignment. */
struct dwell_copied_stack {
	uint16_t machine; /* EM_X86_64, EM_AARCH64; others are not unwound */
	bool swapped;
	uint64_t abi, regs_mask; /* as in PERF_SAMPLE_REGS_USER */
	const uint8_t *regs;	 /* NULL = none */
	const uint8_t *stack;
	uint64_t stack_bytes;
};

/* Opens what is mapped in a live process: a descriptor, or -errno. */
typedef int (*dwell_unwinder_open_fn)(void *user, int32_t pid, const struct dwell_mapping *map);

struct dwell_unwinder_stats {
	uint64_t ends[DWELL_UNWIND_ENDS]; /* how many stacks ended so */
	uint64_t joined;		  /* of those truncated: continued by an earlier chain */
	uint64_t not_unwound;		  /* without registers, or of another machine */
};

/* The same by the facts' names that traces and readers use: "stacks.complete" and so on. */
struct dwell_unwinder_count {
	const char *fact;
	uint64_t count;
};
enum { DWELL_UNWINDER_COUNTS = 5 };
void dwell_unwinder_counts(const struct dwell_unwinder_stats *stats,
			   struct dwell_unwinder_count ret_counts[DWELL_UNWINDER_COUNTS]);

struct dwell_unwinder; /* opaque */

/* Tables are borrowed and may grow meanwhile; options are copied. Files are opened by `open`, else
 * (NULL) looked for as for symbols (symbols.h says where, and what is refused). 0 or -ENOMEM. */
int dwell_unwinder_new(struct dwell_strings *strings, struct dwell_stacks *stacks,
		       const struct dwell_addrspaces *spaces,
		       const struct dwell_symbols_options *options, dwell_unwinder_open_fn open,
		       void *user, struct dwell_unwinder **ret_unwinder);
void dwell_unwinder_free(struct dwell_unwinder *unwinder);

/* Unwinds a copied stack of a thread (tid; 0 = not known) of pid: true, and *chain and *count,
 * which come in as the kernel's chain, are a chain that ends with what was unwound
 * (DWELL_CALLCHAIN_UNWOUND), valid until the next call. *ret_root is the frame below it: none (0)
 * of a complete one, DWELL_FRAME_TRUNCATED where the copy ended, else DWELL_FRAME_NOT_UNWOUND, also
 * with false: then the chain is as it was. A chain whose copy ended is continued, behind
 * DWELL_CALLCHAIN_JOINED, by the thread's last complete one if that had the same frames at the same
 * places of the stack. */
bool dwell_unwinder_chain(struct dwell_unwinder *unwinder, int32_t pid, int32_t tid,
			  const struct dwell_copied_stack *copied, const uint64_t **chain,
			  uint64_t *count, uint32_t *ret_root);

const struct dwell_unwinder_stats *dwell_unwinder_stats(const struct dwell_unwinder *unwinder);

#endif
