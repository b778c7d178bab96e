/* SPDX-License-Identifier: MIT */
/* Interned stacks: files, frames {file, offset} and a prefix tree of nodes {parent, frame}. A
 * stack is the u32 id of its leaf node; 0 is the empty stack; a parent's id is always smaller than
 * its child's. Shared by the recorder (which interns) and the reader (which appends in order). */
#ifndef DWELL_PARSE_STACK_H
#define DWELL_PARSE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/strings.h"

enum dwell_file_kind {
	DWELL_FILE_ELF = 0, /* a mapped file; offset = file offset of the instruction */
	DWELL_FILE_KERNEL,  /* the kernel image; offset = address - address of _text (no KASLR) */
	DWELL_FILE_MODULE,  /* a kernel module, BPF program or trampoline; offset in it */
	DWELL_FILE_JIT,	    /* executable memory without a file, per process and, where it is used
			     * again, per epoch; offset = address */
	DWELL_FILE_VDSO,    /* [vdso]; offset in the image */
	DWELL_FILE_UNKNOWN, /* no mapping at that address; offset = 0 (all such frames are one) */
	DWELL_FILE_PSEUDO,  /* made by dwell; the path is the frame's whole name, offset = 0 */
	DWELL_FILE_INLINED, /* a function inlined into the frame's caller, known by name only */
	DWELL_FILE_KINDS
};

/* Names of the pseudo frames. Every name of this kind is in square brackets. */
#define DWELL_FRAME_TRUNCATED	"[truncated]"	/* root of a chain cut at the kernel's maximum */
#define DWELL_FRAME_NOT_SAMPLED "[not sampled]" /* ran, but no sample hit it */
#define DWELL_FRAME_NOT_UNWOUND "[not unwound]" /* a copied user stack stands for this part */
#define DWELL_FRAME_JOINED \
	"[joined]" /* from here to the root: of an earlier chain, see unwinder.h */
#define DWELL_FRAME_NO_STACK "[no stack]" /* the stack is not known */

enum { DWELL_BUILD_ID_MAX = 20 };

/* What identifies a file: build id if known, else device, inode and generation. */
struct dwell_file {
	uint32_t path;			      /* string id; as the process saw it */
	uint8_t kind;			      /* enum dwell_file_kind */
	uint8_t build_id_bytes;		      /* 0 = not known */
	uint8_t build_id[DWELL_BUILD_ID_MAX]; /* zero-padded */
	uint32_t dev_major, dev_minor;
	uint64_t inode, inode_generation; /* generation of DWELL_FILE_JIT: the epoch, else 0 */
	int32_t pid; /* DWELL_FILE_JIT: the process whose memory it is; else 0 */
};

struct dwell_frame {
	uint32_t file;	 /* index in the file table */
	uint32_t symbol; /* string id of a name known at record time (kernel, JIT), else 0 */
	uint64_t offset;
};

/* A function at a frame's instruction. */
struct dwell_place {
	uint32_t name; /* string id; mangled, as in the file */
	uint32_t file; /* string id of where in it: the source file's base name; 0 = not known */
	uint32_t line; /* 0 = not known */
};

enum { DWELL_PLACES_MAX = 65 }; /* of a frame: its own function, and 64 inlined into it */

struct dwell_stack_node {
	uint32_t parent; /* nearer the root; 0 = this is the root frame */
	uint32_t frame;
};

struct dwell_stacks; /* opaque; owns all three tables */

/* NULL when out of memory. */
struct dwell_stacks *dwell_stacks_new(void);
void dwell_stacks_free(struct dwell_stacks *stacks);

/* Find-or-add. Each returns 0 or -ENOMEM (-EINVAL if an id given does not exist) and the id in
 * *ret_id. Ids count up from 0 for files, from 1 for frames and nodes (0 = none). A file is found
 * again by all its members except build_id; but two build ids that differ are two files, and an
 * entry without one takes it from the file that finds it. */
int dwell_stacks_add_file(struct dwell_stacks *stacks, const struct dwell_file *file,
			  uint32_t *ret_id);
int dwell_stacks_add_frame(struct dwell_stacks *stacks, uint32_t file, uint64_t offset,
			   uint32_t *ret_id);
int dwell_stacks_add_node(struct dwell_stacks *stacks, uint32_t parent, uint32_t frame,
			  uint32_t *ret_id);

/* Names a frame (string id), as the recording machine did. */
void dwell_stacks_set_symbol(struct dwell_stacks *stacks, uint32_t frame, uint32_t symbol);
/* The same, with what is inlined there: the frame's own function first, the innermost last. A frame
 * has its places once. 0, -ENOMEM, or -EINVAL: no such frame, it has places, or count is not 1 to
 * DWELL_PLACES_MAX. */
int dwell_stacks_set_places(struct dwell_stacks *stacks, uint32_t frame,
			    const struct dwell_place *places, uint32_t count);
/* Those; NULL and 0 for a frame that got none. Valid until the next are set. */
const struct dwell_place *dwell_stacks_places(const struct dwell_stacks *stacks, uint32_t frame,
					      uint32_t *ret_count);
/* Sets a file's build id when it becomes known after the file was added. */
void dwell_stacks_set_build_id(struct dwell_stacks *stacks, uint32_t file, const uint8_t *build_id,
			       uint8_t bytes);

/* The frame or node of a pseudo name such as DWELL_FRAME_TRUNCATED: 0 or -ENOMEM. */
int dwell_stacks_add_pseudo(struct dwell_stacks *stacks, struct dwell_strings *strings,
			    const char *name, uint32_t *ret_frame);

uint32_t dwell_stacks_file_count(const struct dwell_stacks *stacks);
uint32_t dwell_stacks_frame_count(const struct dwell_stacks *stacks); /* ids 1 .. count - 1 */
uint32_t dwell_stacks_node_count(const struct dwell_stacks *stacks);  /* ids 1 .. count - 1 */

/* Entries by id. Ids out of range give an entry of zeroes, never NULL. Pointers are valid until
 * the next add. */
const struct dwell_file *dwell_stacks_file(const struct dwell_stacks *stacks, uint32_t id);
const struct dwell_frame *dwell_stacks_frame(const struct dwell_stacks *stacks, uint32_t id);
const struct dwell_stack_node *dwell_stacks_node(const struct dwell_stacks *stacks, uint32_t id);

/* True for frames that run in the kernel (DWELL_FILE_KERNEL and DWELL_FILE_MODULE). */
static inline bool dwell_file_is_kernel(const struct dwell_file *file)
{
	return file->kind == DWELL_FILE_KERNEL || file->kind == DWELL_FILE_MODULE;
}

#endif
