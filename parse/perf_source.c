// SPDX-License-Identifier: MIT
/* A perf.data becomes events: its records come in time order (parse/perf/data.h), and each is
 * handed to what makes an event of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "parse/perf_impl.h"

enum {
	STACK_MAX = 127,	 /* kernel.perf_event_max_stack, unless somebody changed it */
	MAPPINGS_FREE = 1 << 20, /* kept of all processes however small the file, ... */
	MAPPING_FILE_BYTES = 32, /* ... and one more for so many bytes */
};

/* What is known of each CPU goes before the first event. */
static bool cpu_tell(struct perf_source *perf)
{
	if (perf->cpus_told >= perf->info->cpus_seen)
		return false;
	perf->event = (struct dwell_event){ .time_ns = perf->info->start_ns,
					    .cpu = perf->cpus_told++,
					    .thread = DWELL_THREAD_NONE,
					    .kind = DWELL_EVENT_CPU };
	perf->event.u.cpu.witness = perf->witness;
	perf->event.u.cpu.online = true;
	return true;
}

/* What was left out or passed over, and how user stacks ended that were unwound: a word only where
 * there is something to count. 0 or -ENOMEM. */
static int counts_tell(struct dwell_source *source)
{
	const struct perf_source *perf = source->format;
	struct dwell_unwinder_stats stats = { 0 };
	struct dwell_unwinder_count counts[DWELL_UNWINDER_COUNTS + 5] = {
		[DWELL_UNWINDER_COUNTS] = { "mappings.left_out",
					    dwell_addrspaces_left_out(perf->spaces) },
		{ "records.unknown", perf->info->unknown_records },
		{ "records.bad", perf->info->bad_records + perf->bad_samples },
		{ "files.missing", perf->info->missing_files },
		{ "aux.bytes", perf->info->aux_bytes },
	};

	if (perf->unwinder)
		stats = *dwell_unwinder_stats(perf->unwinder);
	stats.not_unwound += perf->not_unwound;
	dwell_unwinder_counts(&stats, counts);
	for (unsigned i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		if (counts[i].count &&
		    source_fact_set_u64(source, counts[i].fact, counts[i].count) == -ENOMEM)
			return -ENOMEM;
	return 0;
}

static int input_end(struct dwell_source *source)
{
	const struct perf_source *perf = source->format;
	struct dwell_source_info *info = &source->info;

	info->end_ns = perf->info->end_ns;
	info->damaged = perf->info->damaged;
	info->finished = !perf->info->unfinished && !perf->info->damaged &&
			 !perf->info->unread_bytes && !perf->info->missing_files;
	info->unread_bytes = perf->info->unread_bytes;
	if (info->lost < perf->info->lost_samples)
		info->lost = perf->info->lost_samples;
	return counts_tell(source);
}

static int perf_source_next(struct dwell_source *source, const struct dwell_event **ret_event,
			    struct dwell_err *err)
{
	struct perf_source *perf = source->format;
	struct dwell_perf_record record;
	int rc;

	*ret_event = &perf->event;
	if (cpu_tell(perf))
		return 1;
	rc = perf_group_next(perf);
	if (rc <= 0)
		return rc ? dwell_err_sys(err, rc, "cannot read the file") : 1;
	while ((rc = dwell_perf_data_next(perf->data, &record, err)) > 0) {
		perf->event = (struct dwell_event){ .time_ns = record.time_ns,
						    .cpu = DWELL_CPU_NONE,
						    .thread = DWELL_THREAD_NONE };
		perf->timed = record.timed;
		rc = record.type == PERF_RECORD_SAMPLE ? perf_take_sample(source, &record)
						       : perf_take_record(source, &record);
		if (perf->event.cpu < perf->cpus.count && record.timed)
			perf->cpus.data[perf->event.cpu].last_ns = record.time_ns;
		if (rc == 0)
			return 1;
		if (rc < 0)
			return dwell_err_sys(err, rc, "cannot read the file");
	}
	if (!rc && input_end(source))
		return dwell_err_sys(err, -ENOMEM, "cannot read the file");
	return rc;
}

static void perf_source_close(struct dwell_source *source)
{
	struct perf_source *perf = source->format;

	dwell_perf_data_free(perf->data);
	dwell_callchains_free(perf->chains);
	perf_kernel_release(&perf->kernel);
	dwell_addrspaces_free(perf->spaces);
	dwell_idmap_release(&perf->build_ids);
	dwell_idmap_release(&perf->cgroups);
	perf_group_release(&perf->group);
	dwell_unwinder_free(perf->unwinder);
	dwell_array_release(&perf->roles);
	dwell_array_release(&perf->cpus);
	dwell_array_release(&perf->seen);
	free(perf);
}

static int kernel_frame(void *user, uint64_t address, uint32_t *ret_frame)
{
	return perf_kernel_frame(user, address, ret_frame);
}

/* The tables that chains are resolved with. */
static int resolvers_make(struct dwell_source *source)
{
	static const struct dwell_callchain_ops ops = { .kernel_frame = kernel_frame };
	struct perf_source *perf = source->format;

	perf->spaces = dwell_addrspaces_new(source->strings, source->stacks);
	if (!perf->spaces)
		return -ENOMEM;
	dwell_addrspaces_limit(perf->spaces,
			       MAPPINGS_FREE + perf->info->data_bytes / MAPPING_FILE_BYTES);
	perf->chains = dwell_callchains_new(source->strings, source->stacks, perf->spaces,
					    STACK_MAX, &ops, &perf->kernel);
	if (!perf->chains)
		return -ENOMEM;
	perf->kernel.strings = source->strings;
	perf->kernel.stacks = source->stacks;
	perf->kernel.spaces = perf->spaces;
	perf->kernel.chains = perf->chains;
	return dwell_stacks_add_pseudo(source->stacks, source->strings, DWELL_FRAME_NOT_UNWOUND,
				       &perf->not_unwound_frame);
}

static int build_ids_read(struct dwell_source *source)
{
	struct perf_source *perf = source->format;
	const struct dwell_perf_build_id *build_id;
	int rc = 0;

	for (uint32_t i = 0; !rc && (build_id = dwell_perf_data_build_id(perf->data, i)); i++) {
		uint32_t path;

		rc = dwell_strings_add(source->strings, build_id->path, strlen(build_id->path),
				       &path);
		if (!rc)
			rc = dwell_idmap_set(&perf->build_ids, path, i + 1);
	}
	return rc;
}

int perf_source_open(struct dwell_source *source, const char *path, bool is_directory,
		     const uint8_t *head, uint32_t head_bytes, struct dwell_err *err)
{
	static const struct source_ops ops = { .next = perf_source_next,
					       .close = perf_source_close,
					       .binaries = perf_unwind_open };
	struct perf_source *perf = calloc(1, sizeof(*perf));
	int rc;

	if (!perf)
		return dwell_err_sys(err, -ENOMEM, "cannot read the file");
	perf->group.seed = dwell_hash_seed();
	source->format = perf;
	source->ops = &ops;
	rc = dwell_perf_data_open(source->fd, path, is_directory, head, head_bytes, &perf->data,
				  err);
	if (rc)
		return rc;
	perf->info = dwell_perf_data_info(perf->data);
	source->info.file_bytes = perf->info->input_bytes;
	rc = resolvers_make(source);
	if (!rc)
		rc = build_ids_read(source);
	if (rc)
		return dwell_err_sys(err, rc, "cannot read the file");
	return perf_facts_read(source, err);
}
