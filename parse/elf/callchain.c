// SPDX-License-Identifier: MIT
/* Return addresses become frames {file, offset}, frames become one interned stack. */
#include "parse/elf/callchain.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"

enum {
	CACHE_SLOTS = 1 << 16, /* of 16 bytes; a power of two, 4-way */
	CACHE_WAYS = 4,
	CHAIN_MAX = 1024, /* frames taken of one chain; kernel.perf_event_max_stack is 127 */
	REPEATS_MAX = 8,  /* of one address at the end of a chain that reached the maximum */
};

struct cache_slot {
	uint64_t hash; /* 0 = free */
	uint32_t stack;
};

struct dwell_callchains {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_addrspaces *spaces;
	struct dwell_callchain_ops ops;
	void *user;
	struct cache_slot *cache;
	uint64_t seed;
	uint64_t epoch; /* of what kernel addresses mean */
	uint32_t max_stack;
	uint32_t truncated_frame, unknown_frame;
	struct dwell_callchain_stats stats;
};

struct dwell_callchains *dwell_callchains_new(struct dwell_strings *strings,
					      struct dwell_stacks *stacks,
					      struct dwell_addrspaces *spaces, uint32_t max_stack,
					      const struct dwell_callchain_ops *ops, void *user)
{
	struct dwell_callchains *chains = calloc(1, sizeof(*chains));
	struct dwell_file unknown = { .kind = DWELL_FILE_UNKNOWN };
	uint32_t file;

	if (!chains)
		return NULL;
	chains->strings = strings;
	chains->stacks = stacks;
	chains->spaces = spaces;
	chains->ops = *ops;
	chains->user = user;
	chains->max_stack = max_stack;
	chains->seed = dwell_hash_seed();
	chains->cache = calloc(CACHE_SLOTS, sizeof(*chains->cache));
	if (!chains->cache || dwell_stacks_add_file(stacks, &unknown, &file) ||
	    dwell_stacks_add_frame(stacks, file, 0, &chains->unknown_frame) ||
	    dwell_stacks_add_pseudo(stacks, strings, DWELL_FRAME_TRUNCATED,
				    &chains->truncated_frame)) {
		dwell_callchains_free(chains);
		return NULL;
	}
	return chains;
}

void dwell_callchains_free(struct dwell_callchains *chains)
{
	if (!chains)
		return;
	free(chains->cache);
	free(chains);
}

void dwell_callchains_forget(struct dwell_callchains *chains)
{
	chains->epoch++;
}

/* A chain on its way from addresses to frames, leaf first. */
struct walk {
	uint32_t frames[CHAIN_MAX];
	uint32_t count;
	uint32_t addresses; /* that were in the chain: the kernel's maximum is of these */
	uint32_t repeats;
	uint64_t last;
	bool first; /* the next address is an instruction pointer, not a return address */
	bool kernel, user;
	bool done;
};

static int walk_kernel(struct dwell_callchains *chains, struct walk *walk, uint64_t address,
		       enum dwell_callchain_part part)
{
	uint32_t frame;
	int rc =
		chains->ops.kernel_frame(chains->user, walk->first ? address : address - 1, &frame);

	if (rc)
		return rc;
	walk->frames[walk->count++] = frame;
	walk->done = part == DWELL_CALLCHAIN_INTERRUPT && chains->ops.interrupt_entry &&
		     chains->ops.interrupt_entry(chains->user, frame);
	return 0;
}

static int walk_user(struct dwell_callchains *chains, struct walk *walk, int32_t pid,
		     uint64_t address)
{
	const struct dwell_mapping *map;
	uint32_t frame, frames;
	int rc;

	if (!walk->first)
		address--;
	map = dwell_addrspaces_find(chains->spaces, pid, address);
	if (!map) {
		if (walk->first)
			walk->frames[walk->count++] = chains->unknown_frame;
		chains->stats.junk_cut++;
		walk->done = true;
		return 0;
	}
	frames = dwell_stacks_frame_count(chains->stacks);
	rc = dwell_stacks_add_frame(chains->stacks, map->file,
				    address - map->start + map->file_offset, &frame);
	if (rc)
		return rc;
	walk->frames[walk->count++] = frame;
	if (frame < frames || !chains->ops.user_frame)
		return 0;
	return chains->ops.user_frame(chains->user, pid, map, frame);
}

static int walk_joined(struct dwell_callchains *chains, struct walk *walk)
{
	if (walk->count == CHAIN_MAX)
		return 0;
	return dwell_stacks_add_pseudo(chains->stacks, chains->strings, DWELL_FRAME_JOINED,
				       &walk->frames[walk->count++]);
}

static int walk_entry(struct dwell_callchains *chains, struct walk *walk, int32_t pid,
		      uint64_t address, enum dwell_callchain_part part)
{
	int rc;

	if (address == DWELL_CALLCHAIN_JOINED && walk->user && part == DWELL_CALLCHAIN_UNWOUND)
		return walk_joined(chains, walk);
	if (address >= (uint64_t)-4095) { /* PERF_CONTEXT_*: what follows is of another kind */
		walk->kernel = address == PERF_CONTEXT_KERNEL;
		walk->user = address == PERF_CONTEXT_USER && pid > 0 &&
			     part != DWELL_CALLCHAIN_INTERRUPT;
		walk->first = true;
		return 0;
	}
	walk->addresses++;
	if (walk->count == CHAIN_MAX)
		return 0;
	walk->repeats = address == walk->last ? walk->repeats + 1 : 0;
	walk->last = address;
	rc = walk->kernel ? walk_kernel(chains, walk, address, part)
	     : walk->user ? walk_user(chains, walk, pid, address)
			  : 0;
	walk->first = false;
	return rc;
}

int dwell_callchain_frames(struct dwell_callchains *chains, const uint32_t *frames, uint32_t count,
			   uint32_t root_frame, uint32_t *ret_stack)
{
	uint32_t node = 0;
	int rc = root_frame ? dwell_stacks_add_node(chains->stacks, 0, root_frame, &node) : 0;

	while (!rc && count--)
		rc = dwell_stacks_add_node(chains->stacks, node, frames[count], &node);
	if (!rc)
		*ret_stack = node;
	return rc;
}

static int chain_intern(struct dwell_callchains *chains, int32_t pid, const uint64_t *chain,
			uint64_t count, enum dwell_callchain_part part, uint32_t root_frame,
			uint32_t *ret_stack)
{
	struct walk walk = { .first = true };
	bool truncated;
	int rc = 0;

	for (uint64_t i = 0; !rc && !walk.done && i < count; i++)
		rc = walk_entry(chains, &walk, pid, chain[i], part);
	truncated = !walk.done && walk.addresses >= chains->max_stack &&
		    part != DWELL_CALLCHAIN_UNWOUND;
	chains->stats.truncated += truncated;
	if (rc)
		return rc;
	/* Gone in circles, or a recursion deeper than the maximum: nobody needs to see all of it.
	 */
	if (truncated && walk.repeats > REPEATS_MAX && walk.repeats < walk.count) {
		chains->stats.junk_cut++;
		walk.count -= walk.repeats - REPEATS_MAX;
	}
	return dwell_callchain_frames(chains, walk.frames, walk.count,
				      truncated ? chains->truncated_frame : root_frame, ret_stack);
}

int dwell_callchain_stack(struct dwell_callchains *chains, int32_t pid, const uint64_t *chain,
			  uint64_t count, enum dwell_callchain_part part, uint32_t root_frame,
			  uint32_t *ret_stack)
{
	uint64_t generation = pid > 0 ? dwell_addrspaces_generation(chains->spaces, pid) : 0;
	uint64_t key = generation << 3 | (uint64_t)(pid > 0) << 2 | part;
	uint64_t kind = chains->epoch << 32 | root_frame;
	uint64_t hash =
		dwell_hash_words(chain, count, chains->seed ^ key ^ dwell_hash_u64(kind)) | 1;
	struct cache_slot *set = &chains->cache[(hash >> 32) & (CACHE_SLOTS - CACHE_WAYS)];
	int rc;

	if (!count && !root_frame) {
		*ret_stack = 0;
		return 0;
	}
	for (unsigned way = 0; way < CACHE_WAYS; way++) {
		if (set[way].hash != hash)
			continue;
		*ret_stack = set[way].stack;
		return 0;
	}
	rc = chain_intern(chains, pid, chain, count, part, root_frame, ret_stack);
	if (rc)
		return rc;
	memmove(set + 1, set, (CACHE_WAYS - 1) * sizeof(*set));
	set[0] = (struct cache_slot){ hash, *ret_stack };
	return 0;
}

const struct dwell_callchain_stats *dwell_callchains_stats(const struct dwell_callchains *chains)
{
	return &chains->stats;
}
