// SPDX-License-Identifier: MIT
/* Lines become records and local ids. A frame line costs the search for its end, a hash of what
 * stands behind its address and one comparison; only a line that is new is looked at. */
#include "parse/script_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FRAME_COLUMN = 17, /* where the blank behind a frame's address stands, as perf prints it */
	FACTS_MAX = 256,
	PARSER_BYTES_MAX = 64 << 20, /* then a parser begins anew */
};

void script_chunk_release(struct script_chunk *chunk)
{
	free(chunk->text);
	dwell_array_release(&chunk->records);
	dwell_array_release(&chunk->new_names);
	dwell_array_release(&chunk->new_frames);
	dwell_array_release(&chunk->new_stacks);
	dwell_array_release(&chunk->stack_frames);
	dwell_array_release(&chunk->facts);
	*chunk = (struct script_chunk){ 0 };
}

int script_parser_init(struct script_parser *parser, uint32_t index, bool bare)
{
	uint64_t seed = dwell_hash_seed();

	*parser = (struct script_parser){ .index = index, .bare = bare };
	if (memo_init(&parser->names, seed) || memo_init(&parser->frames, seed) ||
	    memo_init(&parser->stacks, seed)) {
		script_parser_release(parser);
		return -ENOMEM;
	}
	return 0;
}

void script_parser_release(struct script_parser *parser)
{
	memo_release(&parser->names);
	memo_release(&parser->frames);
	memo_release(&parser->stacks);
	dwell_array_release(&parser->name_kinds);
	dwell_array_release(&parser->open);
}

static uint8_t kind_of(struct dwell_slice name)
{
	static const struct {
		const char *name;
		uint8_t kind;
	} kinds[] = {
		{ "sched:sched_switch", SCRIPT_SWITCH },
		{ "sched:sched_waking", SCRIPT_WAKING },
		{ "sched:sched_wakeup", SCRIPT_WAKEUP },
		{ "sched:sched_wakeup_new", SCRIPT_WAKEUP_NEW },
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (dwell_slice_equal(name, kinds[i].name))
			return kinds[i].kind;
	return SCRIPT_SAMPLE;
}

static int name_id(struct script_parser *parser, struct dwell_slice name, uint32_t *ret_id)
{
	struct script_chunk *chunk = parser->chunk;
	uint64_t hash = memo_hash(&parser->names, name.at, name.bytes);
	uint32_t id = memo_find(&parser->names, name.at, name.bytes, hash);

	if (!id) {
		if (dwell_array_grow(&chunk->new_names) || dwell_array_grow(&parser->name_kinds))
			return -ENOMEM;
		id = memo_add(&parser->names, name.at, name.bytes, hash);
		if (!id)
			return -ENOMEM;
		chunk->new_names.data[chunk->new_names.count++] = name;
		parser->name_kinds.data[parser->name_kinds.count++] = kind_of(name);
	}
	*ret_id = id;
	return 0;
}

static int frame_push(struct script_parser *parser, uint32_t id)
{
	if (dwell_array_grow(&parser->open))
		return -ENOMEM;
	parser->open.data[parser->open.count++] = id;
	return 0;
}

static int frame_add(struct script_parser *parser, struct dwell_slice tail)
{
	struct script_chunk *chunk = parser->chunk;
	uint64_t hash = memo_hash(&parser->frames, tail.at, tail.bytes);
	uint32_t id = memo_find(&parser->frames, tail.at, tail.bytes, hash);

	if (!id) {
		if (dwell_array_grow(&chunk->new_frames))
			return -ENOMEM;
		id = memo_add(&parser->frames, tail.at, tail.bytes, hash);
		if (!id)
			return -ENOMEM;
		chunk->new_frames.data[chunk->new_frames.count++] = tail;
	}
	return frame_push(parser, id);
}

static int stack_add(struct script_parser *parser, uint32_t *ret_id)
{
	struct script_chunk *chunk = parser->chunk;
	const uint32_t *ids = parser->open.data;
	uint32_t count = parser->open.count, bytes = count * (uint32_t)sizeof(*ids);
	uint64_t hash = memo_hash(&parser->stacks, ids, bytes);
	uint32_t id = memo_find(&parser->stacks, ids, bytes, hash);

	if (!id) {
		if (dwell_array_grow(&chunk->new_stacks) ||
		    dwell_array_reserve(&chunk->stack_frames,
					(uint64_t)chunk->stack_frames.count + count))
			return -ENOMEM;
		id = memo_add(&parser->stacks, ids, bytes, hash);
		if (!id)
			return -ENOMEM;
		chunk->new_stacks.data[chunk->new_stacks.count++] =
			(struct script_stack){ chunk->stack_frames.count, count };
		memcpy(chunk->stack_frames.data + chunk->stack_frames.count, ids, bytes);
		chunk->stack_frames.count += count;
	}
	*ret_id = id;
	return 0;
}

static int sample_close(struct script_parser *parser)
{
	struct script_chunk *chunk = parser->chunk;
	int rc = 0;

	if (parser->is_open && parser->open.count)
		rc = stack_add(parser, &chunk->records.data[chunk->records.count - 1].stack);
	parser->is_open = false;
	parser->open.count = 0;
	return rc;
}

/* A tracepoint of the scheduler whose text cannot be read stays a sample. */
static int sched_fill(struct script_parser *parser, struct dwell_slice text,
		      struct script_record *r)
{
	struct dwell_script_switch sw;
	struct dwell_script_waking waking;

	if (r->kind == SCRIPT_SWITCH && dwell_script_switch_parse(text, &sw)) {
		r->prev_tid = sw.prev_tid;
		r->other_tid = sw.next_tid;
		r->state = sw.prev_state;
		r->preempted = sw.preempted;
		return name_id(parser, sw.next_comm, &r->other_comm);
	}
	if (r->kind > SCRIPT_SWITCH && dwell_script_waking_parse(text, &waking)) {
		r->other_tid = waking.tid;
		r->target_cpu = waking.target_cpu;
		return name_id(parser, waking.comm, &r->other_comm);
	}
	r->kind = SCRIPT_SAMPLE;
	return 0;
}

static bool record_fill(struct script_parser *parser, struct dwell_slice text,
			struct script_record *r, int *ret_rc)
{
	static const uint8_t kinds[] = {
		[DWELL_SCRIPT_RECORD_COMM] = SCRIPT_COMM,
		[DWELL_SCRIPT_RECORD_FORK] = SCRIPT_FORK,
		[DWELL_SCRIPT_RECORD_EXIT] = SCRIPT_EXIT,
		[DWELL_SCRIPT_RECORD_SWITCH_IN] = SCRIPT_SWITCH_IN,
		[DWELL_SCRIPT_RECORD_SWITCH_OUT] = SCRIPT_SWITCH_OUT,
		[DWELL_SCRIPT_RECORD_LOST] = SCRIPT_LOST,
	};
	struct dwell_script_record record;

	if (!dwell_script_record_parse(text, &record) || record.kind == DWELL_SCRIPT_RECORD_OTHER)
		return false;
	r->kind = kinds[record.kind];
	r->exec = record.exec;
	r->preempted = record.preempted;
	r->other_pid = record.pid;
	r->other_tid = record.tid;
	r->parent_pid = record.other_pid;
	r->parent_tid = record.other_tid;
	if (r->kind == SCRIPT_SWITCH_IN || r->kind == SCRIPT_SWITCH_OUT) {
		r->other_pid = record.other_pid;
		r->other_tid = record.other_tid;
	}
	if (r->kind == SCRIPT_LOST)
		r->period = record.lost;
	*ret_rc = r->kind == SCRIPT_COMM ? name_id(parser, record.comm, &r->other_comm) : 0;
	return true;
}

/* A header line: opens a sample, or is a record of its own. */
static int header_take(struct script_parser *parser, const struct dwell_script_header *h)
{
	struct script_chunk *chunk = parser->chunk;
	struct dwell_slice rest = h->rest, tail;
	struct script_record r = { .time_ns = h->time_ns,
				   .period = h->period,
				   .pid = h->pid,
				   .tid = h->tid,
				   .cpu = h->cpu,
				   .has_time = h->has_time,
				   .has_period = h->has_period,
				   .other_pid = DWELL_SCRIPT_NO_ID,
				   .target_cpu = DWELL_SCRIPT_NO_CPU };
	bool has_frame = false;
	int rc = sample_close(parser);

	chunk->known++;
	if (!rc)
		rc = name_id(parser, h->comm, &r.comm);
	if (rc)
		return rc;
	if (h->is_record) {
		if (!record_fill(parser, rest, &r, &rc))
			return 0; /* mappings and the like: their frames are named already */
	} else {
		rc = name_id(parser, h->event, &r.event);
		if (rc)
			return rc;
		r.kind = parser->name_kinds.data[r.event - 1];
		has_frame = dwell_script_rest_frame(&rest, &tail);
		if (r.kind != SCRIPT_SAMPLE)
			rc = sched_fill(parser, rest, &r);
	}
	if (rc || dwell_array_grow(&chunk->records))
		return -ENOMEM;
	chunk->records.data[chunk->records.count++] = r;
	parser->is_open = !h->is_record;
	return has_frame ? frame_add(parser, tail) : 0;
}

/* -F srcline: "  file.c:12" behind a frame, or "  [kernel.kallsyms][ffffffff81000000]". */
static bool is_srcline(struct dwell_slice line)
{
	const char *colon = memrchr(line.at, ':', line.bytes);

	if (line.bytes <= 3 || line.at[0] != ' ' || line.at[1] != ' ')
		return false;
	return (colon && colon + 1 < line.at + line.bytes && dwell_slice_digit(colon[1])) ||
	       dwell_slice_ends(dwell_slice_trim(line), "]");
}

static int comment_take(struct script_chunk *chunk, struct dwell_slice line)
{
	chunk->comments++;
	if (chunk->facts.count >= FACTS_MAX)
		return 0;
	if (dwell_array_grow(&chunk->facts))
		return -ENOMEM;
	chunk->facts.data[chunk->facts.count++] = line;
	return 0;
}

/* A frame of the open sample, in the form that is not the usual one. */
static bool frame_take(struct script_parser *parser, struct dwell_slice line, int *ret_rc)
{
	struct dwell_slice tail;

	if (!parser->is_open || !dwell_script_frame_split(line, &tail))
		return false;
	*ret_rc = frame_add(parser, tail);
	return true;
}

/* The line that may open a sample does, or does not. */
static int opener_settle(struct script_parser *parser, bool opens)
{
	if (!parser->has_opener)
		return 0;
	parser->has_opener = false;
	if (opens)
		return header_take(parser, &parser->opener);
	parser->chunk->unknown++;
	return 0;
}

/* A line of text without times and tids: true if that is all there is to it. */
static bool bare_take(struct script_parser *parser, struct dwell_slice line, int *ret_rc)
{
	static const struct dwell_script_header nameless = { .comm = { "", 0 },
							     .pid = DWELL_SCRIPT_NO_ID,
							     .tid = DWELL_SCRIPT_NO_ID,
							     .cpu = DWELL_SCRIPT_NO_CPU,
							     .event = { "", 0 },
							     .rest = { "", 0 } };
	struct dwell_script_header h;
	bool framed;

	*ret_rc = 0;
	if (dwell_script_bare_frame(line)) {
		if (parser->has_opener)
			*ret_rc = opener_settle(parser, true);
		else if (!parser->is_open)
			*ret_rc = header_take(parser, &nameless);
		return *ret_rc || frame_take(parser, line, ret_rc);
	}
	*ret_rc = opener_settle(parser, false);
	if (*ret_rc || *line.at == '\t' || !dwell_script_bare_parse(line, &h, &framed))
		return *ret_rc != 0;
	if (!framed && parser->is_open)
		return false;
	parser->opener = h;
	parser->has_opener = true;
	if (framed)
		*ret_rc = opener_settle(parser, true);
	return true;
}

/* Any line but a usual frame. */
static int line_take(struct script_parser *parser, struct dwell_slice line)
{
	struct script_chunk *chunk = parser->chunk;
	struct dwell_slice text = dwell_slice_trim(line);
	struct dwell_script_header h;
	struct dwell_script_record record;
	bool indented;
	int rc;

	if (!text.bytes) {
		rc = opener_settle(parser, true);
		return rc ? rc : sample_close(parser);
	}
	indented = text.at != line.at;
	if (!indented && *line.at == '#' &&
	    (line.bytes == 1 || line.at[1] == ' ' || line.at[1] == '#'))
		return comment_take(chunk, text);
	if (*line.at == '\t' && !parser->has_opener && frame_take(parser, line, &rc))
		return rc;
	if (dwell_script_header_parse(line, &h)) {
		rc = opener_settle(parser, false);
		return rc ? rc : header_take(parser, &h);
	}
	if (parser->bare && bare_take(parser, line, &rc))
		return rc;
	if (frame_take(parser, line, &rc))
		return rc;
	if (dwell_script_record_parse(text, &record))
		chunk->known++;
	else if (!parser->is_open || !is_srcline(line))
		chunk->unknown++;
	return 0;
}

/* The usual frame: a line that was met before, with its address in the usual column. */
static inline uint32_t frame_known(const struct script_parser *parser, const char *line,
				   uint32_t bytes)
{
	const char *tail = line + FRAME_COLUMN;
	uint32_t tail_bytes = bytes - FRAME_COLUMN;

	if (bytes <= FRAME_COLUMN || *line != '\t' || *tail != ' ' || tail[-1] == ' ' ||
	    !parser->is_open)
		return 0;
	return memo_find(&parser->frames, tail, tail_bytes,
			 memo_hash(&parser->frames, tail, tail_bytes));
}

static int lines_take(struct script_parser *parser, const char *at, const char *end)
{
	int rc = 0;

	while (at < end && !rc) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		uint32_t bytes = (uint32_t)(stop - at), id;

		if (bytes && stop[-1] == '\r')
			bytes--;
		id = frame_known(parser, at, bytes);
		rc = id ? frame_push(parser, id)
			: line_take(parser, (struct dwell_slice){ at, bytes });
		at = stop + 1;
	}
	if (!rc)
		rc = opener_settle(parser, true);
	return rc ? rc : sample_close(parser);
}

/* Text without end in which nothing repeats would fill the memory: ids are given anew. */
static int parser_limit(struct script_parser *parser, struct script_chunk *chunk)
{
	chunk->forget = parser->names.bytes + parser->frames.bytes + parser->stacks.bytes >
			PARSER_BYTES_MAX;
	if (!chunk->forget)
		return 0;
	parser->name_kinds.count = 0;
	return memo_reset(&parser->names) || memo_reset(&parser->frames) ||
			       memo_reset(&parser->stacks)
		       ? -ENOMEM
		       : 0;
}

void script_chunk_parse(struct script_parser *parser, struct script_chunk *chunk)
{
	parser->chunk = chunk;
	parser->is_open = parser->has_opener = false;
	parser->open.count = 0;
	chunk->parser = parser->index;
	chunk->known = chunk->unknown = chunk->comments = 0;
	chunk->records.count = chunk->new_names.count = chunk->new_frames.count = 0;
	chunk->new_stacks.count = chunk->stack_frames.count = chunk->facts.count = 0;
	chunk->rc = parser_limit(parser, chunk);
	if (!chunk->rc)
		chunk->rc = lines_take(parser, chunk->text, chunk->text + chunk->bytes);
}
