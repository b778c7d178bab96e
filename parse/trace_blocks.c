// SPDX-License-Identifier: MIT
/* Block payloads become tables: facts, the event table, coverage, and the definitions that records
 * point at. Each entry is checked as a whole before it is kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/trace_format.h"
#include "parse/trace_impl.h"

static int text_next(struct dwell_cursor *c, const char **ret_text, uint64_t *ret_bytes)
{
	*ret_bytes = dwell_cursor_varint(c);
	*ret_text = (const char *)dwell_cursor_bytes(c, *ret_bytes);
	return c->bad ? -EBADMSG : 0;
}

int trace_block_info(struct dwell_source *source, struct dwell_cursor *c)
{
	while (c->at < c->end) {
		const char *key, *value;
		uint64_t key_bytes, value_bytes;
		int rc;

		if (text_next(c, &key, &key_bytes) || text_next(c, &value, &value_bytes))
			return -EBADMSG;
		rc = source_fact_set(source, key, key_bytes, value, value_bytes);
		if (rc)
			return rc;
	}
	return 0;
}

int trace_block_events(struct dwell_source *source, struct dwell_cursor *c)
{
	while (c->at < c->end) {
		struct dwell_event_desc desc = { 0 };
		const char *name, *format;
		uint64_t name_bytes, format_bytes;
		int rc;

		if (text_next(c, &name, &name_bytes) || text_next(c, &format, &format_bytes))
			return -EBADMSG;
		desc.unit = (uint8_t)(dwell_cursor_varint(c) ? DWELL_UNIT_NS : DWELL_UNIT_COUNT);
		desc.is_clock = dwell_cursor_varint(c) & 1;
		desc.period = dwell_cursor_varint(c);
		desc.freq_hz = dwell_cursor_u32(c);
		if (c->bad)
			return -EBADMSG;
		rc = dwell_strings_add(source->strings, name, name_bytes, &desc.name);
		if (!rc)
			rc = dwell_strings_add(source->strings, format, format_bytes, &desc.format);
		if (!rc)
			rc = dwell_array_grow(&source->events);
		if (rc)
			return rc;
		source->events.data[source->events.count++] = desc;
	}
	return 0;
}

int trace_block_coverage(struct dwell_source *source, struct dwell_cursor *c)
{
	while (c->at < c->end) {
		struct dwell_coverage row = { 0 };
		int rc;

		row.event = dwell_cursor_u32(c);
		row.cpu = dwell_cursor_u32(c);
		row.kernel_count = dwell_cursor_varint(c);
		row.parsed = dwell_cursor_varint(c);
		row.lost = dwell_cursor_varint(c);
		row.blind_idle = dwell_cursor_varint(c) & 1;
		if (c->bad)
			return -EBADMSG;
		rc = dwell_array_grow(&source->coverage);
		if (rc)
			return rc;
		source->coverage.data[source->coverage.count++] = row;
	}
	return 0;
}

static int def_string(struct dwell_source *source, struct trace_source *trace,
		      struct dwell_cursor *c)
{
	const char *text;
	uint64_t bytes;
	uint32_t id;
	int rc;

	if (text_next(c, &text, &bytes))
		return -EBADMSG;
	rc = dwell_strings_add(source->strings, text, bytes, &id);
	if (rc)
		return rc;
	if (trace->string_count == trace->string_room) {
		uint32_t room = trace->string_room * 2 + 256;
		uint32_t *grown = realloc(trace->strings, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		trace->strings = grown;
		trace->string_room = room;
	}
	if (!trace->string_count)
		trace->strings[trace->string_count++] = 0;
	trace->strings[trace->string_count++] = id;
	return 0;
}

static int def_build_id(struct dwell_cursor *c, uint8_t build_id[DWELL_BUILD_ID_MAX],
			uint8_t *ret_bytes)
{
	const char *text;
	uint64_t bytes;

	if (text_next(c, &text, &bytes) || bytes > DWELL_BUILD_ID_MAX)
		return -EBADMSG;
	memcpy(build_id, text, bytes);
	*ret_bytes = (uint8_t)bytes;
	return 0;
}

static int def_file(struct dwell_source *source, struct trace_source *trace, struct dwell_cursor *c)
{
	struct dwell_file file = { 0 };
	uint32_t expected = dwell_stacks_file_count(source->stacks), id;
	int rc;

	file.path = string_of(trace, dwell_cursor_varint(c));
	file.kind = (uint8_t)dwell_cursor_varint(c);
	if (def_build_id(c, file.build_id, &file.build_id_bytes))
		return -EBADMSG;
	file.dev_major = dwell_cursor_u32(c);
	file.dev_minor = dwell_cursor_u32(c);
	file.inode = dwell_cursor_varint(c);
	file.inode_generation = dwell_cursor_varint(c);
	file.pid = (int32_t)dwell_cursor_svarint(c);
	if (c->bad || file.kind >= DWELL_FILE_KINDS)
		return -EBADMSG;
	rc = dwell_stacks_add_file(source->stacks, &file, &id);
	return rc ? rc : id == expected ? 0 : -EBADMSG;
}

static int def_frame(struct dwell_source *source, struct trace_source *trace,
		     struct dwell_cursor *c)
{
	uint32_t expected = dwell_stacks_frame_count(source->stacks), id;
	uint32_t file = dwell_cursor_u32(c);
	uint64_t offset = dwell_cursor_varint(c), symbol = dwell_cursor_varint(c);
	int rc;

	if (c->bad || file >= dwell_stacks_file_count(source->stacks))
		return -EBADMSG;
	rc = dwell_stacks_add_frame(source->stacks, file, offset, &id);
	if (rc)
		return rc;
	if (id != expected)
		return -EBADMSG;
	if (symbol)
		dwell_stacks_set_symbol(source->stacks, id, string_of(trace, symbol));
	return 0;
}

static int def_node(struct dwell_source *source, struct dwell_cursor *c)
{
	uint32_t expected = dwell_stacks_node_count(source->stacks), id;
	uint64_t back = dwell_cursor_varint(c);
	uint32_t frame = dwell_cursor_u32(c);
	int rc;

	if (c->bad || back >= expected || !frame ||
	    frame >= dwell_stacks_frame_count(source->stacks))
		return -EBADMSG;
	rc = dwell_stacks_add_node(source->stacks, back ? expected - (uint32_t)back : 0, frame,
				   &id);
	return rc ? rc : id == expected ? 0 : -EBADMSG;
}

static int def_places(struct dwell_source *source, struct trace_source *trace,
		      struct dwell_cursor *c)
{
	struct dwell_place places[DWELL_PLACES_MAX];
	uint32_t frame = dwell_cursor_u32(c), count = dwell_cursor_u32(c);

	if (c->bad || !frame || frame >= dwell_stacks_frame_count(source->stacks) || !count ||
	    count > DWELL_PLACES_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++) {
		places[i].name = string_of(trace, dwell_cursor_varint(c));
		places[i].file = string_of(trace, dwell_cursor_varint(c));
		places[i].line = dwell_cursor_u32(c);
	}
	if (c->bad)
		return -EBADMSG;
	return dwell_stacks_set_places(source->stacks, frame, places, count) == -ENOMEM ? -ENOMEM
											: 0;
}

int trace_block_defs(struct dwell_source *source, struct dwell_cursor *c)
{
	struct trace_source *trace = source->format;
	int rc = 0;

	while (!rc && c->at < c->end) {
		uint32_t id;

		switch (dwell_cursor_byte(c)) {
		case DWELL_DEF_STRING:
			rc = def_string(source, trace, c);
			break;
		case DWELL_DEF_FILE:
			rc = def_file(source, trace, c);
			break;
		case DWELL_DEF_FRAME:
			rc = def_frame(source, trace, c);
			break;
		case DWELL_DEF_NODE:
			rc = def_node(source, c);
			break;
		case DWELL_DEF_SYMBOL:
			id = dwell_cursor_u32(c);
			if (!id || id >= dwell_stacks_frame_count(source->stacks))
				return -EBADMSG;
			dwell_stacks_set_symbol(source->stacks, id,
						string_of(trace, dwell_cursor_varint(c)));
			break;
		case DWELL_DEF_PLACES:
			rc = def_places(source, trace, c);
			break;
		case DWELL_DEF_BUILD_ID: {
			uint8_t build_id[DWELL_BUILD_ID_MAX] = { 0 }, bytes;

			id = dwell_cursor_u32(c);
			if (id >= dwell_stacks_file_count(source->stacks) ||
			    def_build_id(c, build_id, &bytes))
				return -EBADMSG;
			dwell_stacks_set_build_id(source->stacks, id, build_id, bytes);
			break;
		}
		default:
			return -EBADMSG;
		}
	}
	return rc ? rc : c->bad ? -EBADMSG : 0;
}
