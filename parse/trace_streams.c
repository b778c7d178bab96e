// SPDX-License-Identifier: MIT
/* Round payloads become per-CPU cursors, cursors become one time order by a binary heap. A round's
 * memory is freed with its last section. */
#include "parse/trace_streams.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/trace_format.h"
#include "parse/event.h"

struct trace_round {
	uint8_t *data;
	uint32_t sections; /* not read to their end yet */
};

static void round_put(struct trace_streams *streams, struct trace_round *round)
{
	if (--round->sections)
		return;
	free(round->data);
	free(round);
	streams->rounds--;
}

void trace_streams_release(struct trace_streams *streams)
{
	for (uint32_t i = 0; i < streams->stream_room; i++) {
		struct trace_stream *s = streams->streams[i];

		if (!s)
			continue;
		if (s->round)
			round_put(streams, s->round);
		for (; s->waiting_count; s->waiting_count--) {
			round_put(streams, s->waiting[s->waiting_first].round);
			s->waiting_first = (s->waiting_first + 1) % TRACE_ROUNDS_MAX;
		}
		free(s);
	}
	free(streams->streams);
	free(streams->heap);
	*streams = (struct trace_streams){ 0 };
}

static bool stream_before(const struct trace_stream *a, const struct trace_stream *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->id < b->id;
}

static void heap_sink(struct trace_streams *streams)
{
	struct trace_stream **heap = streams->heap, *top = heap[0];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < streams->heap_count) {
		if (child + 1 < streams->heap_count && stream_before(heap[child + 1], heap[child]))
			child++;
		if (!stream_before(heap[child], top))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = top;
}

static void heap_push(struct trace_streams *streams, struct trace_stream *stream)
{
	struct trace_stream **heap = streams->heap;
	uint32_t i = streams->heap_count++;

	while (i && stream_before(stream, heap[(i - 1) / 2])) {
		heap[i] = heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	heap[i] = stream;
}

/* Decodes tag and time of the next record. 1 = there is one, 0 = the stream is empty, -EBADMSG. */
static int stream_head(struct trace_streams *streams, struct trace_stream *stream)
{
	struct dwell_cursor *c = &stream->cursor;

	while (c->at == c->end) {
		struct trace_section *next = &stream->waiting[stream->waiting_first];

		if (stream->round)
			round_put(streams, stream->round);
		stream->round = NULL;
		if (!stream->waiting_count)
			return 0;
		*c = next->cursor;
		stream->round = next->round;
		stream->time_ns = next->base_ns;
		stream->current = 0;
		stream->waiting_first = (stream->waiting_first + 1) % TRACE_ROUNDS_MAX;
		stream->waiting_count--;
	}
	stream->tag = dwell_cursor_byte(c);
	if ((stream->tag & 15) == DWELL_REC_BACK) {
		stream->time_ns -= dwell_cursor_varint(c);
		stream->tag = dwell_cursor_byte(c);
	} else {
		stream->time_ns += dwell_cursor_varint(c);
	}
	return c->bad ? -EBADMSG : 1;
}

/* The stream of an id, made at first sight. */
static int stream_need(struct trace_streams *streams, uint32_t id, struct trace_stream **ret_stream)
{
	if (id >= streams->stream_room) {
		uint32_t room = id + 16;
		void *grown = realloc(streams->streams, room * sizeof(*streams->streams));

		if (!grown)
			return -ENOMEM;
		streams->streams = grown;
		while (streams->stream_room < room)
			streams->streams[streams->stream_room++] = NULL;
		grown = realloc(streams->heap, room * sizeof(*streams->heap));
		if (!grown)
			return -ENOMEM;
		streams->heap = grown;
	}
	if (!streams->streams[id]) {
		streams->streams[id] = calloc(1, sizeof(**streams->streams));
		if (!streams->streams[id])
			return -ENOMEM;
		streams->streams[id]->id = id;
		streams->streams[id]->running = streams->streams[id]->left = DWELL_THREAD_NONE;
	}
	*ret_stream = streams->streams[id];
	return 0;
}

/* Takes one section; sections of a stream may come in pieces but one per round. */
static int section_add(struct trace_streams *streams, struct trace_round *round,
		       struct dwell_cursor *c)
{
	uint64_t id = dwell_cursor_varint(c), base_ns = dwell_cursor_varint(c);
	uint64_t bytes = dwell_cursor_varint(c);
	const uint8_t *data = dwell_cursor_bytes(c, bytes);
	struct trace_stream *stream;
	bool idle;
	int rc;

	if (c->bad || id > DWELL_TRACE_CPUS_MAX)
		return -EBADMSG;
	rc = stream_need(streams, (uint32_t)id, &stream);
	if (rc || !bytes)
		return rc;
	if (stream->waiting_count == TRACE_ROUNDS_MAX)
		return -EBADMSG;
	idle = !stream->round;
	stream->waiting[(stream->waiting_first + stream->waiting_count) % TRACE_ROUNDS_MAX] =
		(struct trace_section){ round, { data, data + bytes, false }, base_ns };
	stream->waiting_count++;
	round->sections++;
	if (!idle)
		return 0;
	rc = stream_head(streams, stream);
	if (rc == 1)
		heap_push(streams, stream);
	return rc < 0 ? rc : 0;
}

int trace_streams_add(struct trace_streams *streams, uint8_t *data, uint32_t bytes)
{
	struct trace_round *round = calloc(1, sizeof(*round));
	struct dwell_cursor c = { data, data + bytes, false };
	int rc = 0;

	if (!round) {
		free(data);
		return -ENOMEM;
	}
	round->data = data;
	round->sections = 1; /* held while it is taken apart */
	streams->rounds++;
	streams->horizon_ns = dwell_cursor_varint(&c);
	if (streams->horizon_ns != UINT64_MAX && streams->horizon_ns > streams->told_ns)
		streams->told_ns = streams->horizon_ns;
	while (!rc && !c.bad && c.at < c.end)
		rc = section_add(streams, round, &c);
	if (!rc && c.bad)
		rc = -EBADMSG;
	round_put(streams, round);
	return rc;
}

bool trace_streams_hungry(const struct trace_streams *streams)
{
	if (!streams->heap_count)
		return true;
	return streams->heap[0]->time_ns >= streams->horizon_ns &&
	       streams->rounds < TRACE_ROUNDS_MAX;
}

struct trace_stream *trace_streams_first(const struct trace_streams *streams)
{
	return streams->heap_count ? streams->heap[0] : NULL;
}

int trace_streams_advance(struct trace_streams *streams)
{
	struct trace_stream *stream = streams->heap[0];
	int rc;

	if (stream->cursor.bad)
		return -EBADMSG;
	rc = stream_head(streams, stream);
	if (rc < 0)
		return rc;
	if (rc == 0) {
		streams->heap[0] = streams->heap[--streams->heap_count];
		if (!streams->heap_count)
			return 0;
	}
	heap_sink(streams);
	return 0;
}
