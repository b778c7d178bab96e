// SPDX-License-Identifier: MIT
/* Return addresses become frames {file, offset}, frames become one interned stack. Return addresses
 * are stored less one, so that they lie in the call and not behind the function. */
#include "record/chains.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "lib/idmap.h"
#include "parse/elf/kallsyms.h"

enum {
	CACHE_SLOTS = 1 << 16, /* of 16 bytes; a power of two, 4-way */
	CACHE_WAYS = 4,
	CHAIN_MAX = 512, /* frames taken of one chain; kernel.perf_event_max_stack is 127 */
	REPEATS_MAX = 8, /* an address repeated more often in a row is a chain gone in circles */
};

struct cache_slot {
	uint64_t hash; /* 0 = free */
	uint32_t stack;
};

struct chains {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct dwell_addrspaces *spaces;
	struct identify *identify;
	const char *kallsyms_path;
	struct dwell_kallsyms *kallsyms;
	struct cache_slot *cache;
	uint64_t seed;
	uint32_t max_stack; /* kernel.perf_event_max_stack */
	uint32_t truncated_frame, unknown_frame;
	DWELL_ARRAY(uint32_t) unnamed; /* kernel frames without a symbol */
	DWELL_ARRAY(uint64_t) unnamed_addresses;
	struct dwell_idmap start_of;  /* name (string id) -> place in starts, from 1 */
	DWELL_ARRAY(uint64_t) starts; /* addresses of functions, 0 = no such */
	struct chains_stats stats;
};

int chains_new(struct dwell_strings *strings, struct dwell_stacks *stacks,
	       struct dwell_addrspaces *spaces, struct identify *identify,
	       const char *kallsyms_path, struct chains **ret_chains, struct dwell_err *err)
{
	struct chains *chains = calloc(1, sizeof(*chains));
	struct dwell_file unknown = { .kind = DWELL_FILE_UNKNOWN };
	uint32_t file;
	int rc = -ENOMEM;

	if (!chains)
		return dwell_err_sys(err, -ENOMEM, "cannot prepare stacks");
	chains->strings = strings;
	chains->stacks = stacks;
	chains->spaces = spaces;
	chains->identify = identify;
	chains->kallsyms_path = kallsyms_path;
	chains->seed = dwell_hash_seed();
	chains->max_stack = (uint32_t)proc_number("/proc/sys/kernel/perf_event_max_stack", 127);
	chains->cache = calloc(CACHE_SLOTS, sizeof(*chains->cache));
	if (!chains->cache || dwell_stacks_add_file(stacks, &unknown, &file) ||
	    dwell_stacks_add_frame(stacks, file, 0, &chains->unknown_frame) ||
	    dwell_stacks_add_pseudo(stacks, strings, DWELL_FRAME_TRUNCATED,
				    &chains->truncated_frame))
		goto fail;
	rc = dwell_kallsyms_read(kallsyms_path, &chains->kallsyms, err);
	if (rc)
		goto fail;
	*ret_chains = chains;
	return 0;
fail:
	chains_free(chains);
	return dwell_err_sys(err, rc, "cannot prepare stacks");
}

void chains_free(struct chains *chains)
{
	if (!chains)
		return;
	dwell_kallsyms_free(chains->kallsyms);
	dwell_array_release(&chains->unnamed);
	dwell_array_release(&chains->unnamed_addresses);
	dwell_array_release(&chains->starts);
	dwell_idmap_release(&chains->start_of);
	free(chains->cache);
	free(chains);
}

/* The frame of a kernel address: {kernel or module, offset}, named from kallsyms. */
static int kernel_frame(struct chains *chains, uint64_t address, uint32_t *ret_frame)
{
	struct dwell_kernel_symbol symbol = { .module = "" };
	struct dwell_file file = { .kind = DWELL_FILE_KERNEL };
	bool found = dwell_kallsyms_find(chains->kallsyms, address, &symbol);
	uint64_t base = found ? symbol.base : dwell_kallsyms_text(chains->kallsyms);
	uint32_t file_id, name = 0, frames = dwell_stacks_frame_count(chains->stacks);
	char path[96];
	int rc;

	if (symbol.module[0])
		file.kind = DWELL_FILE_MODULE;
	snprintf(path, sizeof(path), "[%s]", symbol.module[0] ? symbol.module : "kernel");
	rc = dwell_strings_add(chains->strings, path, strlen(path), &file.path);
	if (!rc)
		rc = dwell_stacks_add_file(chains->stacks, &file, &file_id);
	if (!rc)
		rc = dwell_stacks_add_frame(chains->stacks, file_id, address - base, ret_frame);
	if (rc || *ret_frame < frames)
		return rc;
	if (found) {
		rc = dwell_strings_add(chains->strings, symbol.name, strlen(symbol.name), &name);
		dwell_stacks_set_symbol(chains->stacks, *ret_frame, name);
		return rc;
	}
	chains->stats.kernel_unnamed++;
	if (dwell_array_grow(&chains->unnamed) || dwell_array_grow(&chains->unnamed_addresses))
		return -ENOMEM;
	chains->unnamed.data[chains->unnamed.count++] = *ret_frame;
	chains->unnamed_addresses.data[chains->unnamed_addresses.count++] = address;
	return 0;
}

/* The entry points of interrupts: what lies below them belongs to the task that was interrupted. */
static bool frame_is_interrupt_entry(const struct chains *chains, uint32_t frame)
{
	static const char *const entries[] = {
		"asm_sysvec_",
		"asm_common_interrupt",
		"asm_exc_",
		"common_interrupt",
		"apic_timer_interrupt",
		"ret_from_intr",
		"el0t_64_irq",
		"el1h_64_irq",
		"el0_irq",
		"el1_irq",
		"handle_softirqs",
		"__do_softirq",
		"irq_exit_rcu",
		"do_IRQ",
		NULL,
	};
	const char *name = dwell_strings_get(chains->strings,
					     dwell_stacks_frame(chains->stacks, frame)->symbol);

	for (const char *const *entry = entries; *entry; entry++)
		if (!strncmp(name, *entry, strlen(*entry)))
			return true;
	return false;
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

static int walk_kernel(struct chains *chains, struct walk *walk, uint64_t address,
		       enum chains_part part)
{
	uint32_t frame;
	int rc = kernel_frame(chains, walk->first ? address : address - 1, &frame);

	if (rc)
		return rc;
	walk->frames[walk->count++] = frame;
	walk->done = part == CHAINS_INTERRUPT && frame_is_interrupt_entry(chains, frame);
	return 0;
}

/* User addresses without frame pointers end in junk: the first address that is no code ends it. */
static int walk_user(struct chains *chains, struct walk *walk, int32_t pid, uint64_t address)
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
	return frame < frames ? 0 : identify_frame(chains->identify, pid, map, frame);
}

static int walk_entry(struct chains *chains, struct walk *walk, int32_t pid, uint64_t address,
		      enum chains_part part)
{
	int rc;

	if (address >= (uint64_t)-4095) { /* PERF_CONTEXT_*: what follows is of another kind */
		walk->kernel = address == PERF_CONTEXT_KERNEL;
		walk->user = address == PERF_CONTEXT_USER && pid > 0 && part == CHAINS_ALL;
		walk->first = true;
		return 0;
	}
	walk->addresses++;
	if (walk->count == CHAIN_MAX)
		return 0;
	walk->repeats = address == walk->last ? walk->repeats + 1 : 0;
	walk->last = address;
	if (walk->repeats > REPEATS_MAX) {
		chains->stats.junk_cut++;
		walk->done = true;
		return 0;
	}
	rc = walk->kernel ? walk_kernel(chains, walk, address, part)
	     : walk->user ? walk_user(chains, walk, pid, address)
			  : 0;
	walk->first = false;
	return rc;
}

/* Frames, leaf first, become a stack with root_frame (0 = none) below them. */
static int frames_stack(struct chains *chains, const uint32_t *frames, uint32_t count,
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

static int chain_intern(struct chains *chains, int32_t pid, const uint64_t *chain, uint64_t count,
			enum chains_part part, uint32_t *ret_stack)
{
	struct walk walk = { .first = true };
	bool truncated;
	int rc = 0;

	for (uint64_t i = 0; !rc && !walk.done && i < count; i++)
		rc = walk_entry(chains, &walk, pid, chain[i], part);
	truncated = !walk.done && walk.addresses >= chains->max_stack;
	chains->stats.truncated += truncated;
	if (rc)
		return rc;
	return frames_stack(chains, walk.frames, walk.count,
			    truncated ? chains->truncated_frame : 0, ret_stack);
}

int chains_stack(struct chains *chains, int32_t pid, const uint64_t *chain, uint64_t count,
		 enum chains_part part, uint32_t *ret_stack)
{
	uint64_t generation = pid > 0 ? dwell_addrspaces_generation(chains->spaces, pid) : 0;
	uint64_t key = generation << 2 | (uint64_t)(pid > 0) << 1 | part;
	uint64_t hash = dwell_hash_words(chain, count, chains->seed ^ key) | 1;
	struct cache_slot *set = &chains->cache[(hash >> 32) & (CACHE_SLOTS - CACHE_WAYS)];
	int rc;

	if (!count) {
		*ret_stack = 0;
		return 0;
	}
	for (unsigned way = 0; way < CACHE_WAYS; way++) {
		if (set[way].hash != hash)
			continue;
		*ret_stack = set[way].stack;
		return 0;
	}
	rc = chain_intern(chains, pid, chain, count, part, ret_stack);
	if (rc)
		return rc;
	memmove(set + 1, set, (CACHE_WAYS - 1) * sizeof(*set));
	set[0] = (struct cache_slot){ hash, *ret_stack };
	return 0;
}

/* The address of a kernel function by name. Few names come again and again, and looking for one is
 * linear: each is looked for once. */
static bool symbol_start(struct chains *chains, const char *name, uint64_t *ret_start)
{
	struct dwell_kernel_symbol symbol = { 0 };
	uint32_t id, slot;

	if (dwell_strings_add(chains->strings, name, strlen(name), &id))
		return false;
	slot = dwell_idmap_find(&chains->start_of, id);
	if (!slot) {
		dwell_kallsyms_find_name(chains->kallsyms, name, &symbol);
		if (dwell_array_grow(&chains->starts))
			return false;
		chains->starts.data[chains->starts.count++] = symbol.start;
		slot = chains->starts.count;
		if (dwell_idmap_set(&chains->start_of, id, slot))
			return false;
	}
	*ret_start = chains->starts.data[slot - 1];
	return *ret_start != 0;
}

int chains_proc_stack(struct chains *chains, const struct proc_stack_frame *frames, int count,
		      uint32_t *ret_stack)
{
	uint32_t ids[PROC_STACK_MAX];
	uint32_t known = 0;

	for (int i = 0; i < count && i < PROC_STACK_MAX; i++) {
		uint64_t start;

		if (!symbol_start(chains, frames[i].symbol, &start))
			continue;
		if (kernel_frame(chains, start + frames[i].offset, &ids[known]))
			return -ENOMEM;
		known++;
	}
	return frames_stack(chains, ids, known, 0, ret_stack);
}

bool chains_kernel_hidden(const struct chains *chains)
{
	return dwell_kallsyms_hidden(chains->kallsyms);
}

const struct chains_stats *chains_stats(const struct chains *chains)
{
	return &chains->stats;
}

int chains_finish(struct chains *chains, int (*named)(void *user, uint32_t frame), void *user)
{
	struct dwell_kallsyms *later;
	int rc = 0;

	if (!chains->unnamed.count || chains_kernel_hidden(chains) ||
	    dwell_kallsyms_read(chains->kallsyms_path, &later, NULL))
		return 0;
	for (uint32_t i = 0; !rc && i < chains->unnamed.count; i++) {
		struct dwell_kernel_symbol symbol;
		uint32_t name = 0;

		if (!dwell_kallsyms_find(later, chains->unnamed_addresses.data[i], &symbol))
			continue;
		rc = dwell_strings_add(chains->strings, symbol.name, strlen(symbol.name), &name);
		dwell_stacks_set_symbol(chains->stacks, chains->unnamed.data[i], name);
		if (!rc)
			rc = named(user, chains->unnamed.data[i]);
	}
	dwell_kallsyms_free(later);
	return rc;
}
