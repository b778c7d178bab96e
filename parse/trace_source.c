// SPDX-License-Identifier: MIT
/* A dwell trace becomes events: blocks are taken in as the merge of the CPUs' streams asks for
 * them, and the earliest record is decoded and handed out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/io.h"
#include "lib/trace_format.h"
#include "parse/trace_impl.h"

static void info_update(struct dwell_source *source)
{
	struct dwell_source_info *info = &source->info;

	info->start_ns = dwell_source_fact_u64(source, "window.start_ns");
	info->end_ns = dwell_source_fact_u64(source, "window.end_ns");
	info->cpus = (uint32_t)dwell_source_fact_u64(source, "cpus");
	if (info->cpus > DWELL_TRACE_CPUS_MAX)
		info->cpus = DWELL_TRACE_CPUS_MAX;
	info->all_threads = dwell_source_fact_u64(source, "mode.all_threads") != 0;
	info->has_switches = dwell_source_fact_u64(source, "mode.switches") != 0;
	info->has_wakings = dwell_source_fact_u64(source, "mode.wakings") != 0;
	info->recorder_cpu_ns = dwell_source_fact_u64(source, "recorder.cpu_ns");
	info->wakings_dropped = dwell_source_fact_u64(source, "wakings.dropped");
}

bool trace_tables_fit(const struct dwell_source *source)
{
	enum { ENTRIES_FREE = 1 << 20, THREAD_ENTRIES = 8 };
	const struct trace_source *trace = source->format;
	uint64_t entries = dwell_strings_count(source->strings);

	entries += trace->string_count;
	entries += dwell_stacks_file_count(source->stacks);
	entries += dwell_stacks_frame_count(source->stacks);
	entries += dwell_stacks_node_count(source->stacks);
	entries += THREAD_ENTRIES * (uint64_t)dwell_threads_count(source->threads);
	return entries <= ENTRIES_FREE + trace_reader_offset(trace->reader);
}

/* The file ends here, wherever "here" is. */
static void input_end(struct dwell_source *source, bool damaged)
{
	struct trace_source *trace = source->format;
	struct dwell_source_info *info = &source->info;

	trace->input_ended = true;
	trace->streams.horizon_ns = UINT64_MAX;
	info->damaged = damaged || trace_reader_damaged(trace->reader);
	info->unread_bytes = trace_reader_tail_bytes(trace->reader);
	if (info->file_bytes > trace_reader_offset(trace->reader))
		info->unread_bytes = info->file_bytes - trace_reader_offset(trace->reader);
	for (uint32_t i = 0; i < source->coverage.count; i++)
		info->lost += source->coverage.data[i].lost;
}

/* Takes in the next block. 0, or -errno with err set when reading cannot go on. */
static int block_take(struct dwell_source *source, struct dwell_err *err)
{
	struct trace_source *trace = source->format;
	struct trace_block block;
	struct dwell_cursor c;
	int rc = trace_reader_next(trace->reader, &block, err);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		input_end(source, false);
		return 0;
	}
	c = (struct dwell_cursor){ block.data, block.data + block.bytes, false };
	rc = 0;
	switch (block.type) {
	case DWELL_BLOCK_INFO:
	case DWELL_BLOCK_END:
		rc = trace_block_info(source, &c);
		info_update(source);
		source->info.finished |= !rc && block.type == DWELL_BLOCK_END;
		break;
	case DWELL_BLOCK_EVENTS:
		rc = trace_block_events(source, &c);
		break;
	case DWELL_BLOCK_DEFS:
		rc = trace_block_defs(source, &c);
		break;
	case DWELL_BLOCK_ROUND:
		rc = trace_streams_add(&trace->streams, trace_reader_take(trace->reader),
				       block.bytes);
		break;
	case DWELL_BLOCK_COVERAGE:
		rc = trace_block_coverage(source, &c);
		break;
	default: /* a newer kind of block that may be ignored */
		break;
	}
	if (rc == -ENOMEM)
		return dwell_err_sys(err, rc, "cannot read the trace");
	if (rc || !trace_tables_fit(source))
		input_end(source, true);
	return 0;
}

/* Records that make no sense behind a good checksum: take nothing more from the file. */
static void streams_abandon(struct dwell_source *source)
{
	struct trace_source *trace = source->format;

	trace_streams_release(&trace->streams);
	if (!trace->input_ended)
		input_end(source, true);
	source->info.damaged = true;
}

static int trace_source_next(struct dwell_source *source, const struct dwell_event **ret_event,
			     struct dwell_err *err)
{
	struct trace_source *trace = source->format;

	for (;;) {
		struct trace_stream *s;
		uint64_t time_ns;
		int rc, rc_advance;

		while (!trace->input_ended && trace_streams_hungry(&trace->streams)) {
			rc = block_take(source, err);
			if (rc)
				return rc;
		}
		s = trace_streams_first(&trace->streams);
		if (!s)
			break;
		time_ns = s->time_ns;
		rc = trace_record_decode(source, s, &trace->event);
		rc_advance = rc >= 0 ? trace_streams_advance(&trace->streams) : 0;
		if (rc == -ENOMEM || rc_advance == -ENOMEM)
			return dwell_err_sys(err, -ENOMEM, "cannot read the trace");
		if (rc_advance)
			rc = rc_advance;
		if (rc < 0) {
			streams_abandon(source);
			break;
		}
		if (time_ns < trace->last_ns)
			source->info.late++;
		else
			trace->last_ns = time_ns;
		if (rc == 0) {
			*ret_event = &trace->event;
			return 1;
		}
	}
	if (!source->info.finished || source->info.damaged)
		source->info.end_ns = trace->streams.told_ns;
	if (source->info.end_ns < trace->last_ns)
		source->info.end_ns = trace->last_ns;
	if (source->info.end_ns < source->info.start_ns)
		source->info.end_ns = source->info.start_ns;
	return 0;
}

static void trace_source_close(struct dwell_source *source)
{
	struct trace_source *trace = source->format;

	trace_streams_release(&trace->streams);
	trace_reader_free(trace->reader);
	free(trace->strings);
	free(trace);
}

static int64_t input_read_fd(void *user, void *bytes, uint64_t count)
{
	const struct dwell_source *source = user;

	return dwell_io_read(source->fd, bytes, count);
}

int trace_source_open_input(struct dwell_source *source, const struct trace_input *input,
			    const uint8_t *head, uint32_t head_bytes, struct dwell_err *err)
{
	static const struct source_ops ops = { .next = trace_source_next,
					       .close = trace_source_close };
	struct trace_source *trace = calloc(1, sizeof(*trace));
	int rc;

	if (!trace)
		return dwell_err_sys(err, -ENOMEM, "cannot read the trace");
	rc = trace_reader_new(input, head, head_bytes, &trace->reader, err);
	if (rc) {
		free(trace);
		return rc;
	}
	source->format = trace;
	source->ops = &ops;
	source->info.format_name = "dwell trace";
	/* The facts stand before the first events. */
	while (!trace->input_ended && !trace->streams.heap_count) {
		rc = block_take(source, err);
		if (rc)
			return rc;
	}
	if (!dwell_source_fact(source, "window.start_ns"))
		return dwell_err_set(
			err, -EINVAL,
			source->info.damaged
				? "the trace is damaged at byte %llu, before its first "
				  "events"
				: "the trace ends at byte %llu, before its first events",
			(unsigned long long)trace_reader_offset(trace->reader));
	return 0;
}

int trace_source_open(struct dwell_source *source, const uint8_t *head, uint32_t head_bytes,
		      struct dwell_err *err)
{
	struct trace_input input = { input_read_fd, source };

	return trace_source_open_input(source, &input, head, head_bytes, err);
}
