/* SPDX-License-Identifier: MIT */
/* What the parts of the trace reader share: blocks become tables (trace_blocks.c), records become
 * events (trace_records.c), and trace_source.c runs both in the right order. */
#ifndef DWELL_PARSE_TRACE_IMPL_H
#define DWELL_PARSE_TRACE_IMPL_H

#include "parse/source_impl.h"
#include "parse/trace_reader.h"
#include "parse/trace_streams.h"

/* source->format of a dwell trace. */
struct trace_source {
	struct trace_reader *reader;
	struct trace_streams streams;
	struct dwell_event event; /* the one handed out */
	uint64_t last_ns;
	uint32_t *strings; /* trace string id -> ours */
	uint32_t string_count, string_room;
	bool input_ended;
};

/* Our string id of a trace's; the empty string for ids not defined. */
static inline uint32_t string_of(const struct trace_source *trace, uint64_t id)
{
	return id < trace->string_count ? trace->strings[id] : 0;
}

/* Are the tables as small as the file's bytes read so far allow? Payloads unpack to 64 times their
 * size and entries take several times theirs: this bounds memory by what really stands in the file.
 * Files made by a recorder stay far below. */
bool trace_tables_fit(const struct dwell_source *source);

/* A payload of a block becomes facts and table entries. Each: 0, -ENOMEM, or -EBADMSG when it is
 * not well formed; what was good before that stays. */
int trace_block_info(struct dwell_source *source, struct dwell_cursor *c);
int trace_block_events(struct dwell_source *source, struct dwell_cursor *c);
int trace_block_coverage(struct dwell_source *source, struct dwell_cursor *c);
int trace_block_defs(struct dwell_source *source, struct dwell_cursor *c);

/* Decodes the head record of a stream into event, with tids turned into threads. 0 = an event,
 * 1 = only the tables learnt something, -EBADMSG, -ENOMEM. */
int trace_record_decode(struct dwell_source *source, struct trace_stream *s,
			struct dwell_event *event);

#endif
