// SPDX-License-Identifier: MIT
/* Callchains of the running system become stacks: kernel addresses are named from kallsyms at once,
 * and what is met in a process for the first time is identified while the process lives. */
#include "record/chains.h"

#include <elf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/idmap.h"
#include "parse/elf/kallsyms.h"

struct chains {
	struct dwell_strings *strings;
	struct dwell_stacks *stacks;
	struct identify *identify;
	struct dwell_addrspaces *spaces;
	struct dwell_callchains *callchains;
	struct dwell_unwinder *unwinder; /* NULL = no stacks are copied */
	const char *kallsyms_path;
	struct dwell_kallsyms *kallsyms;
	DWELL_ARRAY(uint32_t) unnamed; /* kernel frames without a symbol */
	DWELL_ARRAY(uint64_t) unnamed_addresses;
	struct dwell_idmap start_of;  /* name (string id) -> place in starts, from 1 */
	DWELL_ARRAY(uint64_t) starts; /* addresses of functions, 0 = no such */
};

/* The address space of what came and went in the kernel since the start. */
enum { KERNEL_PID = -1 };

int chains_kernel_code(struct chains *chains, uint64_t start, uint64_t bytes, const char *name)
{
	struct dwell_file file = { .kind = name ? DWELL_FILE_MODULE : DWELL_FILE_UNKNOWN };
	struct dwell_mapping mapping = { .start = start, .end = start + bytes };
	char path[96];
	int rc = 0;

	snprintf(path, sizeof(path), "[%.90s]", name ? name : "");
	if (name)
		rc = dwell_strings_add(chains->strings, path, strlen(path), &file.path);
	if (!rc)
		rc = dwell_stacks_add_file(chains->stacks, &file, &mapping.file);
	if (!rc)
		rc = dwell_addrspaces_map_file(chains->spaces, KERNEL_PID, &mapping);
	dwell_callchains_forget(chains->callchains);
	return rc;
}

/* The frame of such code, named as the record that told of it: 1 when the address lies
 * in none, 0 or -ENOMEM. */
static int kernel_code_frame(struct chains *chains, uint64_t address, uint32_t *ret_frame)
{
	const struct dwell_mapping *map =
		dwell_addrspaces_find(chains->spaces, KERNEL_PID, address);
	uint32_t name;
	const char *path;
	int rc;

	if (!map || dwell_stacks_file(chains->stacks, map->file)->kind != DWELL_FILE_MODULE)
		return 1;
	path = dwell_strings_get(chains->strings,
				 dwell_stacks_file(chains->stacks, map->file)->path);
	rc = dwell_stacks_add_frame(chains->stacks, map->file,
				    address - map->start + map->file_offset, ret_frame);
	if (rc || dwell_stacks_frame(chains->stacks, *ret_frame)->symbol)
		return rc;
	rc = dwell_strings_add(chains->strings, path + 1, strlen(path) - 2, &name);
	if (!rc)
		dwell_stacks_set_symbol(chains->stacks, *ret_frame, name);
	return rc;
}

/* The frame of a kernel address: {kernel or module, offset}, named from kallsyms. */
static int kernel_frame(void *user, uint64_t address, uint32_t *ret_frame)
{
	struct chains *chains = user;
	struct dwell_kernel_symbol symbol = { .module = "" };
	struct dwell_file file = { .kind = DWELL_FILE_KERNEL };
	uint32_t file_id, name = 0, frames = dwell_stacks_frame_count(chains->stacks);
	uint64_t base;
	char path[96];
	bool found;
	int rc = kernel_code_frame(chains, address, ret_frame);

	if (rc <= 0)
		return rc;
	found = dwell_kallsyms_find(chains->kallsyms, address, &symbol);
	base = found ? symbol.base : dwell_kallsyms_text(chains->kallsyms);
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
	if (dwell_array_grow(&chains->unnamed) || dwell_array_grow(&chains->unnamed_addresses))
		return -ENOMEM;
	chains->unnamed.data[chains->unnamed.count++] = *ret_frame;
	chains->unnamed_addresses.data[chains->unnamed_addresses.count++] = address;
	return 0;
}

/* The entry points of interrupts: what lies below them belongs to the task that was interrupted. */
static bool interrupt_entry(void *user, uint32_t frame)
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
	const struct chains *chains = user;
	const char *name = dwell_strings_get(chains->strings,
					     dwell_stacks_frame(chains->stacks, frame)->symbol);

	for (const char *const *entry = entries; *entry; entry++)
		if (!strncmp(name, *entry, strlen(*entry)))
			return true;
	return false;
}

static int user_frame(void *user, int32_t pid, const struct dwell_mapping *map, uint32_t frame)
{
	struct chains *chains = user;

	return identify_frame(chains->identify, pid, map, frame);
}

static int mapped_open(void *user, int32_t pid, const struct dwell_mapping *map)
{
	const struct chains *chains = user;
	int rc = identify_file(chains->identify, pid, map);

	return rc ? rc : identify_open(chains->identify, pid, map);
}

/* The vdso is this host's and this kernel's: the unwinder is told whose the recording is. */
static int unwinder_new(struct chains *chains, const struct dwell_addrspaces *spaces)
{
	struct dwell_symbols_options options = { 0 };
	struct utsname host;
	int rc = dwell_symbols_here(&host, &options);

	return rc ? rc
		  : dwell_unwinder_new(chains->strings, chains->stacks, spaces, &options,
				       mapped_open, chains, &chains->unwinder);
}

int chains_new(struct dwell_strings *strings, struct dwell_stacks *stacks,
	       struct dwell_addrspaces *spaces, struct identify *identify,
	       const char *kallsyms_path, bool unwinding, struct chains **ret_chains,
	       struct dwell_err *err)
{
	static const struct dwell_callchain_ops ops = { kernel_frame, interrupt_entry, user_frame };
	uint32_t max_stack = (uint32_t)proc_number("/proc/sys/kernel/perf_event_max_stack", 127);
	struct chains *chains = calloc(1, sizeof(*chains));
	int rc = -ENOMEM;

	if (!chains)
		return dwell_err_sys(err, rc, "cannot prepare stacks");
	chains->strings = strings;
	chains->stacks = stacks;
	chains->identify = identify;
	chains->spaces = spaces;
	chains->kallsyms_path = kallsyms_path;
	chains->callchains = dwell_callchains_new(strings, stacks, spaces, max_stack, &ops, chains);
	if (chains->callchains)
		rc = dwell_kallsyms_read(kallsyms_path, &chains->kallsyms, err);
	if (!rc && unwinding)
		rc = unwinder_new(chains, spaces);
	if (rc) {
		chains_free(chains);
		return dwell_err_sys(err, rc, "cannot prepare stacks");
	}
	*ret_chains = chains;
	return 0;
}

void chains_free(struct chains *chains)
{
	if (!chains)
		return;
	dwell_kallsyms_free(chains->kallsyms);
	dwell_callchains_free(chains->callchains);
	dwell_unwinder_free(chains->unwinder);
	dwell_array_release(&chains->unnamed);
	dwell_array_release(&chains->unnamed_addresses);
	dwell_array_release(&chains->starts);
	dwell_idmap_release(&chains->start_of);
	free(chains);
}

int chains_stack(struct chains *chains, int32_t pid, const struct dwell_perf_sample *sample,
		 enum dwell_callchain_part part, uint32_t *ret_stack)
{
	const uint64_t *chain = sample->chain;
	uint64_t count = sample->chain_count;
	uint32_t root = 0;

	/* Kernel threads and those that exit have no user part. Of 32-bit ones the kernel has taken
	 * it, by frame pointer. */
	if (chains->unwinder && sample->user_regs &&
	    sample->user_regs_abi == PERF_SAMPLE_REGS_ABI_64) {
		const struct dwell_copied_stack copied = {
			.machine = DWELL_UNWIND_THIS_MACHINE,
			.abi = sample->user_regs_abi,
			.regs_mask = DWELL_UNWIND_REGS_MASK,
			.regs = sample->user_regs,
			.stack = sample->user_stack,
			.stack_bytes = sample->user_stack_bytes,
		};

		if (dwell_unwinder_chain(chains->unwinder, pid, (int32_t)sample->tid, &copied,
					 &chain, &count, &root))
			part = DWELL_CALLCHAIN_UNWOUND;
	}
	return dwell_callchain_stack(chains->callchains, pid, chain, count, part, root, ret_stack);
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
	return dwell_callchain_frames(chains->callchains, ids, known, 0, ret_stack);
}

bool chains_kernel_hidden(const struct chains *chains)
{
	return dwell_kallsyms_hidden(chains->kallsyms);
}

const struct dwell_callchain_stats *chains_stats(const struct chains *chains)
{
	return dwell_callchains_stats(chains->callchains);
}

const struct dwell_unwinder_stats *chains_unwound(const struct chains *chains)
{
	return chains->unwinder ? dwell_unwinder_stats(chains->unwinder) : NULL;
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
