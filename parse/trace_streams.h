/* SPDX-License-Identifier: MIT */
/* The rounds of a trace become one stream of encoded records in time order: a heap over one cursor
 * per CPU. A record is handed out once no later block can hold an earlier one. */
#ifndef DWELL_PARSE_TRACE_STREAMS_H
#define DWELL_PARSE_TRACE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/varint.h"

/* Rounds held back at most, whatever horizons a file claims: bounds memory. */
enum { TRACE_ROUNDS_MAX = 64 };

struct trace_round;

struct trace_section {
	struct trace_round *round;
	struct dwell_cursor cursor;
	uint64_t base_ns;
};

/* One CPU's records (id = cpu + 1) or those of no CPU (id 0). */
struct trace_stream {
	uint32_t id;
	uint32_t current; /* tid implied by the records so far in this section */
	/* Threads: who came last to this CPU and who left last, NONE = not known. */
	uint32_t running, left;
	uint64_t time_ns;	    /* of the head record */
	uint8_t tag;		    /* of the head record */
	struct dwell_cursor cursor; /* at the head record's fields */
	struct trace_round *round;
	struct trace_section waiting[TRACE_ROUNDS_MAX];
	uint32_t waiting_first, waiting_count;
};

struct trace_streams {
	struct trace_stream **streams; /* by id, NULL = never seen */
	uint32_t stream_room;
	struct trace_stream **heap; /* streams with a head record, earliest first */
	uint32_t heap_count;
	uint32_t rounds; /* alive */
	uint64_t horizon_ns;
	uint64_t told_ns; /* the latest horizon that a block had */
};

void trace_streams_release(struct trace_streams *streams);

/* Takes a ROUND payload; data becomes the streams' (freed when read). 0, -ENOMEM, or -EBADMSG when
 * it is not well formed. */
int trace_streams_add(struct trace_streams *streams, uint8_t *data, uint32_t bytes);

/* True when another round should be added before the next record is taken. */
bool trace_streams_hungry(const struct trace_streams *streams);

/* The stream with the earliest head record, or NULL. Decode its fields from stream->cursor, then
 * call advance. */
struct trace_stream *trace_streams_first(const struct trace_streams *streams);
/* Moves that stream on. 0, or -EBADMSG when its fields were cut or the next tag is. */
int trace_streams_advance(struct trace_streams *streams);

#endif
