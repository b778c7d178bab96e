// SPDX-License-Identifier: MIT
/* Fuzzing of traces: bytes become a file, raw or as blocks with right checksums, which is read
 * through the timeline. Whatever they say, events stay inside their tables and the books balance.
 */
#include <stdio.h>

#include "tests/synth/feeding.h"
#include "tests/synth/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { MODE_RAW = 1, MODE_ALL_THREADS = 2, MODE_FINISHED = 4, PIECE_ROUND = 7, STREAMS = 5 };

static void info(struct blob *blob, uint8_t type, const char *key, const char *value)
{
	struct blob payload = { 0 };

	blob_text(&payload, key);
	blob_text(&payload, value);
	blob_flush(blob, type, &payload);
	dwell_array_release(&payload);
}

/* What most records need to make sense: two events and one stack. */
static void tables(struct blob *blob)
{
	static const uint8_t defs[] = { DWELL_DEF_STRING,
					1,
					'a',
					DWELL_DEF_FILE,
					1,
					0,
					0,
					0,
					0,
					0,
					0,
					0,
					DWELL_DEF_FRAME,
					0,
					16,
					0,
					DWELL_DEF_NODE,
					0,
					1 };
	struct blob payload = { 0 };

	for (int clock = 1; clock >= 0; clock--) {
		blob_text(&payload, clock ? "clock" : "count");
		blob_text(&payload, "");
		for (int i = 0; i < 4; i++)
			blob_varint(&payload, (uint64_t)clock);
	}
	blob_flush(blob, DWELL_BLOCK_EVENTS, &payload);
	blob_put(&payload, defs, sizeof(defs));
	blob_flush(blob, DWELL_BLOCK_DEFS, &payload);
	dwell_array_release(&payload);
}

/* A round of one section whose length is right. */
static void round_piece(struct blob *blob, struct dwell_cursor c)
{
	struct blob payload = { 0 };
	uint64_t left;

	blob_varint(&payload, dwell_cursor_varint(&c));
	blob_varint(&payload, dwell_cursor_byte(&c) % STREAMS);
	blob_varint(&payload, 90 + dwell_cursor_varint(&c));
	left = (uint64_t)(c.end - c.at);
	blob_varint(&payload, left);
	blob_put(&payload, c.at, left);
	blob_flush(blob, DWELL_BLOCK_ROUND, &payload);
	dwell_array_release(&payload);
}

/* Pieces {type, length, payload} become blocks behind a header and some facts. */
static void blocks(struct blob *blob, uint8_t mode, struct dwell_cursor *c)
{
	blob_header(blob, trace_header());
	info(blob, DWELL_BLOCK_INFO, "window.start_ns", "100");
	info(blob, DWELL_BLOCK_INFO, "mode.all_threads", mode & MODE_ALL_THREADS ? "1" : "0");
	tables(blob);
	while (c->at < c->end) {
		uint8_t type = dwell_cursor_byte(c) % (PIECE_ROUND + 1);
		uint64_t left, length = dwell_cursor_varint(c);
		const uint8_t *data;

		left = (uint64_t)(c->end - c->at);
		data = dwell_cursor_bytes(c, length < left ? length : left);
		length = (uint64_t)(c->at - data);
		if (type == PIECE_ROUND)
			round_piece(blob, (struct dwell_cursor){ data, c->at, false });
		else
			blob_block(blob, type, 0, data, (uint32_t)length, (uint32_t)length);
	}
	if (mode & MODE_FINISHED)
		info(blob, DWELL_BLOCK_END, "window.end_ns", "5000");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct dwell_cursor c = { bytes, bytes + count, false };
	uint8_t mode = dwell_cursor_byte(&c);
	struct dwell_source *source;
	struct memory_input input;
	struct blob blob = { 0 };

	if (mode & MODE_RAW)
		blob_put(&blob, c.at, (size_t)(c.end - c.at));
	else
		blocks(&blob, mode, &c);
	input = (struct memory_input){ blob.data, blob.count, 0 };
	if (!memory_open(&input, &source, NULL)) {
		feeding_all(source, false, true);
		dwell_source_close(source);
	}
	dwell_array_release(&blob);
	return 0;
}
