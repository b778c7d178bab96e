// SPDX-License-Identifier: MIT
/* User stacks that perf copied (`--call-graph dwarf`) become the user part of their samples'
 * callchains. */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "parse/perf_impl.h"

int perf_unwind_open(struct dwell_source *source, const struct dwell_symbols_options *options)
{
	struct perf_source *perf = source->format;

	if (perf->unwinder)
		return -EINVAL;
	return dwell_unwinder_new(source->strings, source->stacks, perf->spaces, options, NULL,
				  NULL, &perf->unwinder);
}

/* Of the recording; by the registers that were copied where it does not tell. */
static uint16_t machine_of(const struct perf_source *perf, uint64_t regs_mask)
{
	enum { X86_64_REGISTERS = 24 };
	const char *arch = perf->info->arch;

	if (arch)
		return !strcmp(arch, "x86_64")	  ? EM_X86_64
		       : !strcmp(arch, "aarch64") ? EM_AARCH64
						  : EM_NONE;
	return regs_mask >> X86_64_REGISTERS ? EM_AARCH64 : EM_X86_64;
}

bool perf_unwind(struct perf_source *perf, const struct dwell_perf_layout *layout,
		 const struct dwell_perf_sample *sample, int32_t pid, const uint64_t **chain,
		 uint64_t *count, uint32_t *ret_root)
{
	struct dwell_copied_stack copied = {
		.machine = machine_of(perf, layout->regs_user),
		.swapped = layout->swapped,
		.abi = sample->user_regs_abi,
		.regs_mask = layout->regs_user,
		.regs = sample->user_regs,
		.stack = sample->user_stack,
		.stack_bytes = sample->user_stack_bytes,
	};

	if (!perf->unwinder) {
		perf->not_unwound++;
		*ret_root = perf->not_unwound_frame;
		return false;
	}
	return dwell_unwinder_chain(perf->unwinder, pid, (int32_t)sample->tid, &copied, chain,
				    count, ret_root);
}
