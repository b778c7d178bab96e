// SPDX-License-Identifier: MIT
/* Files, frames and prefix-tree nodes become ids: each table keeps its entries in an array and
 * finds them again through open addressing. Hashes are seeded, since offsets come from strangers.
 */
#include "parse/stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/idmap.h"

/* A slot keeps 32 bits of the hash next to the id: most probes end without touching the entry, and
 * growing needs no entry at all. */
struct slot {
	uint32_t tag, taken; /* taken: id + 1; 0 = free */
};

/* mask + 1 slots, at most half of them taken. */
struct slots {
	struct slot *data;
	uint32_t mask, count;
};

/* Where a frame's places are. */
struct placed {
	uint32_t first, count;
};

struct dwell_stacks {
	DWELL_ARRAY(struct dwell_file) files;
	DWELL_ARRAY(struct dwell_frame) frames;	    /* [0] = none */
	DWELL_ARRAY(struct dwell_stack_node) nodes; /* [0] = the empty stack */
	struct slots file_slots, frame_slots, node_slots;
	uint64_t seed;
	DWELL_ARRAY(struct dwell_place) places;
	DWELL_ARRAY(struct placed) placed;
	struct dwell_idmap placed_of; /* frame -> index in placed + 1 */
};

static int slots_init(struct slots *slots, uint64_t room)
{
	slots->data = calloc(room, sizeof(*slots->data));
	slots->mask = (uint32_t)(room - 1);
	slots->count = 0;
	return slots->data ? 0 : -ENOMEM;
}

static void slots_put(struct slots *slots, struct slot entry)
{
	uint32_t i = entry.tag & slots->mask;

	while (slots->data[i].taken)
		i = (i + 1) & slots->mask;
	slots->data[i] = entry;
	slots->count++;
}

/* Makes room for one more slot, so that the slots_put() after it cannot fail. */
static int slots_grow(struct slots *slots)
{
	struct slots wider;

	if (slots->count <= slots->mask / 2)
		return 0;
	if (slots->mask > UINT32_MAX / 4 || slots_init(&wider, 2 * ((uint64_t)slots->mask + 1)))
		return -ENOMEM;
	for (uint64_t i = 0; i <= slots->mask; i++)
		if (slots->data[i].taken)
			slots_put(&wider, slots->data[i]);
	free(slots->data);
	*slots = wider;
	return 0;
}

struct dwell_stacks *dwell_stacks_new(void)
{
	struct dwell_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->seed = dwell_hash_seed();
	if (slots_init(&stacks->file_slots, 64) || slots_init(&stacks->frame_slots, 1024) ||
	    slots_init(&stacks->node_slots, 1024) || dwell_array_grow(&stacks->frames) ||
	    dwell_array_grow(&stacks->nodes)) {
		dwell_stacks_free(stacks);
		return NULL;
	}
	stacks->frames.data[stacks->frames.count++] = (struct dwell_frame){ 0 };
	stacks->nodes.data[stacks->nodes.count++] = (struct dwell_stack_node){ 0 };
	return stacks;
}

void dwell_stacks_free(struct dwell_stacks *stacks)
{
	if (!stacks)
		return;
	dwell_array_release(&stacks->files);
	dwell_array_release(&stacks->frames);
	dwell_array_release(&stacks->nodes);
	free(stacks->file_slots.data);
	free(stacks->frame_slots.data);
	free(stacks->node_slots.data);
	dwell_array_release(&stacks->places);
	dwell_array_release(&stacks->placed);
	dwell_idmap_release(&stacks->placed_of);
	free(stacks);
}

static uint32_t file_tag(const struct dwell_stacks *stacks, const struct dwell_file *file)
{
	const uint64_t words[] = { (uint64_t)file->path << 8 | file->kind,
				   (uint64_t)file->dev_major << 32 | file->dev_minor, file->inode,
				   file->inode_generation, (uint32_t)file->pid };

	return (uint32_t)dwell_hash_words(words, sizeof(words) / sizeof(*words), stacks->seed);
}

/* Two build ids of one path prove two files, even where the kernel told no inode (a MMAP2 record
 * carries either the one or the other). */
static bool files_equal(const struct dwell_file *a, const struct dwell_file *b)
{
	if (a->build_id_bytes && b->build_id_bytes &&
	    (a->build_id_bytes != b->build_id_bytes ||
	     memcmp(a->build_id, b->build_id, sizeof(a->build_id)) != 0))
		return false;
	return a->path == b->path && a->kind == b->kind && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor && a->inode == b->inode &&
	       a->inode_generation == b->inode_generation && a->pid == b->pid;
}

int dwell_stacks_add_file(struct dwell_stacks *stacks, const struct dwell_file *file,
			  uint32_t *ret_id)
{
	uint32_t tag = file_tag(stacks, file), id, i = tag & stacks->file_slots.mask;
	const struct slot *s;

	if (file->kind >= DWELL_FILE_KINDS || file->build_id_bytes > DWELL_BUILD_ID_MAX)
		return -EINVAL;
	while ((s = &stacks->file_slots.data[i])->taken) {
		if (s->tag == tag && files_equal(&stacks->files.data[s->taken - 1], file)) {
			id = s->taken - 1;
			if (!stacks->files.data[id].build_id_bytes)
				dwell_stacks_set_build_id(stacks, id, file->build_id,
							  file->build_id_bytes);
			*ret_id = id;
			return 0;
		}
		i = (i + 1) & stacks->file_slots.mask;
	}
	if (dwell_array_grow(&stacks->files) || slots_grow(&stacks->file_slots))
		return -ENOMEM;
	id = stacks->files.count++;
	stacks->files.data[id] = *file;
	slots_put(&stacks->file_slots, (struct slot){ tag, id + 1 });
	*ret_id = id;
	return 0;
}

int dwell_stacks_add_frame(struct dwell_stacks *stacks, uint32_t file, uint64_t offset,
			   uint32_t *ret_id)
{
	uint32_t tag = (uint32_t)dwell_hash_pair(offset ^ stacks->seed, file), id;
	uint32_t i = tag & stacks->frame_slots.mask;
	const struct slot *s;

	while ((s = &stacks->frame_slots.data[i])->taken) {
		const struct dwell_frame *frame = &stacks->frames.data[s->taken - 1];

		if (s->tag == tag && frame->offset == offset && frame->file == file) {
			*ret_id = s->taken - 1;
			return 0;
		}
		i = (i + 1) & stacks->frame_slots.mask;
	}
	if (file >= stacks->files.count)
		return -EINVAL;
	if (dwell_array_grow(&stacks->frames) || slots_grow(&stacks->frame_slots))
		return -ENOMEM;
	id = stacks->frames.count++;
	stacks->frames.data[id] = (struct dwell_frame){ .file = file, .offset = offset };
	slots_put(&stacks->frame_slots, (struct slot){ tag, id + 1 });
	*ret_id = id;
	return 0;
}

int dwell_stacks_add_node(struct dwell_stacks *stacks, uint32_t parent, uint32_t frame,
			  uint32_t *ret_id)
{
	uint32_t tag = (uint32_t)dwell_hash_pair(parent ^ stacks->seed, frame), id;
	uint32_t i = tag & stacks->node_slots.mask;
	const struct slot *s;

	while ((s = &stacks->node_slots.data[i])->taken) {
		const struct dwell_stack_node *node = &stacks->nodes.data[s->taken - 1];

		if (s->tag == tag && node->frame == frame && node->parent == parent) {
			*ret_id = s->taken - 1;
			return 0;
		}
		i = (i + 1) & stacks->node_slots.mask;
	}
	if (parent >= stacks->nodes.count || frame == 0 || frame >= stacks->frames.count)
		return -EINVAL;
	if (dwell_array_grow(&stacks->nodes) || slots_grow(&stacks->node_slots))
		return -ENOMEM;
	id = stacks->nodes.count++;
	stacks->nodes.data[id] = (struct dwell_stack_node){ parent, frame };
	slots_put(&stacks->node_slots, (struct slot){ tag, id + 1 });
	*ret_id = id;
	return 0;
}

void dwell_stacks_set_symbol(struct dwell_stacks *stacks, uint32_t frame, uint32_t symbol)
{
	if (frame && frame < stacks->frames.count)
		stacks->frames.data[frame].symbol = symbol;
}

int dwell_stacks_set_places(struct dwell_stacks *stacks, uint32_t frame,
			    const struct dwell_place *places, uint32_t count)
{
	struct placed placed = { stacks->places.count, count };

	if (!frame || frame >= stacks->frames.count || !count || count > DWELL_PLACES_MAX ||
	    dwell_idmap_find(&stacks->placed_of, frame))
		return -EINVAL;
	if (dwell_array_reserve(&stacks->places, (uint64_t)stacks->places.count + count) ||
	    dwell_array_grow(&stacks->placed) ||
	    dwell_idmap_set(&stacks->placed_of, frame, stacks->placed.count + 1))
		return -ENOMEM;
	memcpy(stacks->places.data + stacks->places.count, places, count * sizeof(*places));
	stacks->places.count += count;
	stacks->placed.data[stacks->placed.count++] = placed;
	stacks->frames.data[frame].symbol = places[0].name;
	return 0;
}

const struct dwell_place *dwell_stacks_places(const struct dwell_stacks *stacks, uint32_t frame,
					      uint32_t *ret_count)
{
	uint32_t index = dwell_idmap_find(&stacks->placed_of, frame);
	const struct placed *placed;

	*ret_count = 0;
	if (!index)
		return NULL;
	placed = &stacks->placed.data[index - 1];
	*ret_count = placed->count;
	return stacks->places.data + placed->first;
}

void dwell_stacks_set_build_id(struct dwell_stacks *stacks, uint32_t file, const uint8_t *build_id,
			       uint8_t bytes)
{
	struct dwell_file *f;

	if (file >= stacks->files.count || bytes > DWELL_BUILD_ID_MAX)
		return;
	f = &stacks->files.data[file];
	memset(f->build_id, 0, sizeof(f->build_id));
	memcpy(f->build_id, build_id, bytes);
	f->build_id_bytes = bytes;
}

int dwell_stacks_add_pseudo(struct dwell_stacks *stacks, struct dwell_strings *strings,
			    const char *name, uint32_t *ret_frame)
{
	struct dwell_file file = { .kind = DWELL_FILE_PSEUDO };
	uint32_t id;
	int rc = dwell_strings_add(strings, name, strlen(name), &file.path);

	if (!rc)
		rc = dwell_stacks_add_file(stacks, &file, &id);
	if (!rc)
		rc = dwell_stacks_add_frame(stacks, id, 0, ret_frame);
	return rc;
}

uint32_t dwell_stacks_file_count(const struct dwell_stacks *stacks)
{
	return stacks->files.count;
}

uint32_t dwell_stacks_frame_count(const struct dwell_stacks *stacks)
{
	return stacks->frames.count;
}

uint32_t dwell_stacks_node_count(const struct dwell_stacks *stacks)
{
	return stacks->nodes.count;
}

const struct dwell_file *dwell_stacks_file(const struct dwell_stacks *stacks, uint32_t id)
{
	static const struct dwell_file none;

	return id < stacks->files.count ? &stacks->files.data[id] : &none;
}

const struct dwell_frame *dwell_stacks_frame(const struct dwell_stacks *stacks, uint32_t id)
{
	static const struct dwell_frame none;

	return id < stacks->frames.count ? &stacks->frames.data[id] : &none;
}

const struct dwell_stack_node *dwell_stacks_node(const struct dwell_stacks *stacks, uint32_t id)
{
	static const struct dwell_stack_node none;

	return id < stacks->nodes.count ? &stacks->nodes.data[id] : &none;
}
