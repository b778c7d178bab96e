// SPDX-License-Identifier: MIT
/* What the tables gained becomes DEFS blocks: strings, files, frames and nodes in the order of
 * their ids, so that a reader's tables grow alike. */
#include <errno.h>

#include "record/trace_writer_impl.h"

static int defs_file(bytes_t *out, const struct dwell_file *file)
{
	const uint64_t rest[] = { file->dev_major, file->dev_minor, file->inode,
				  file->inode_generation, dwell_zigzag(file->pid) };
	int rc = bytes_varint(out, DWELL_DEF_FILE);

	if (!rc)
		rc = bytes_varint(out, file->path);
	if (!rc)
		rc = bytes_varint(out, file->kind);
	if (!rc)
		rc = bytes_text(out, (const char *)file->build_id, file->build_id_bytes);
	for (unsigned i = 0; !rc && i < sizeof(rest) / sizeof(*rest); i++)
		rc = bytes_varint(out, rest[i]);
	return rc;
}

/* When a DEFS payload has grown to a block's size, writes it. */
static int defs_step(struct trace_writer *writer, struct dwell_err *err)
{
	return writer->payload.count >= TRACE_BLOCK_TARGET_BYTES
		       ? trace_block_flush(writer, DWELL_BLOCK_DEFS, &writer->payload, err)
		       : 0;
}

static int defs_numbers(struct trace_writer *writer, unsigned count, const uint64_t *numbers,
			struct dwell_err *err)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < count; i++)
		rc = bytes_varint(&writer->payload, numbers[i]);
	return rc ? rc : defs_step(writer, err);
}

static int defs_places(struct trace_writer *writer, uint32_t frame)
{
	uint32_t count;
	const struct dwell_place *places = dwell_stacks_places(writer->stacks, frame, &count);
	const uint64_t head[] = { DWELL_DEF_PLACES, frame, count };
	int rc = 0;

	for (unsigned i = 0; !rc && i < sizeof(head) / sizeof(*head); i++)
		rc = bytes_varint(&writer->payload, head[i]);
	for (uint32_t i = 0; !rc && i < count; i++) {
		rc = bytes_varint(&writer->payload, places[i].name);
		if (!rc)
			rc = bytes_varint(&writer->payload, places[i].file);
		if (!rc)
			rc = bytes_varint(&writer->payload, places[i].line);
	}
	return rc;
}

/* Names and build ids that became known after their frame or file was written. */
static int defs_late(struct trace_writer *writer, struct dwell_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < writer->symbols.count; i++) {
		uint32_t frame = writer->symbols.data[i];

		rc = defs_numbers(writer, 3,
				  (uint64_t[]){ DWELL_DEF_SYMBOL, frame,
						dwell_stacks_frame(writer->stacks, frame)->symbol },
				  err);
	}
	for (uint32_t i = 0; !rc && i < writer->placed.count; i++) {
		rc = defs_places(writer, writer->placed.data[i]);
		if (!rc)
			rc = defs_step(writer, err);
	}
	for (uint32_t i = 0; !rc && i < writer->build_ids.count; i++) {
		uint32_t id = writer->build_ids.data[i];
		const struct dwell_file *file = dwell_stacks_file(writer->stacks, id);

		/* Not defs_numbers(): a definition must not be parted by a block's end. */
		rc = bytes_varint(&writer->payload, DWELL_DEF_BUILD_ID);
		if (!rc)
			rc = bytes_varint(&writer->payload, id);
		if (!rc)
			rc = bytes_text(&writer->payload, (const char *)file->build_id,
					file->build_id_bytes);
		if (!rc)
			rc = defs_step(writer, err);
	}
	writer->symbols.count = writer->placed.count = writer->build_ids.count = 0;
	return rc;
}

int trace_defs_flush(struct trace_writer *writer, struct dwell_err *err)
{
	bytes_t *out = &writer->payload;
	int rc = 0;

	out->count = 0;
	for (; !rc && writer->strings_done < dwell_strings_count(writer->strings);
	     writer->strings_done++) {
		const char *text = dwell_strings_get(writer->strings, writer->strings_done);

		rc = bytes_varint(out, DWELL_DEF_STRING);
		if (!rc)
			rc = bytes_text(out, text, strlen(text));
		if (!rc)
			rc = defs_step(writer, err);
	}
	for (; !rc && writer->files_done < dwell_stacks_file_count(writer->stacks);
	     writer->files_done++) {
		rc = defs_file(out, dwell_stacks_file(writer->stacks, writer->files_done));
		if (!rc)
			rc = defs_step(writer, err);
	}
	for (; !rc && writer->frames_done < dwell_stacks_frame_count(writer->stacks);
	     writer->frames_done++) {
		const struct dwell_frame *frame =
			dwell_stacks_frame(writer->stacks, writer->frames_done);

		rc = defs_numbers(writer, 4,
				  (uint64_t[]){ DWELL_DEF_FRAME, frame->file, frame->offset,
						frame->symbol },
				  err);
	}
	for (; !rc && writer->nodes_done < dwell_stacks_node_count(writer->stacks);
	     writer->nodes_done++) {
		const struct dwell_stack_node *node =
			dwell_stacks_node(writer->stacks, writer->nodes_done);

		rc = defs_numbers(writer, 3,
				  (uint64_t[]){ DWELL_DEF_NODE,
						node->parent ? writer->nodes_done - node->parent
							     : 0,
						node->frame },
				  err);
	}
	if (!rc)
		rc = defs_late(writer, err);
	if (rc)
		return dwell_err_sys(err, rc, "cannot write the trace");
	return trace_block_flush(writer, DWELL_BLOCK_DEFS, out, err);
}

static int late_add(ids_t *late, uint32_t id)
{
	if (dwell_array_grow(late))
		return -ENOMEM;
	late->data[late->count++] = id;
	return 0;
}

int trace_writer_symbol(struct trace_writer *writer, uint32_t frame)
{
	return late_add(&writer->symbols, frame);
}

void trace_writer_unhurried(struct trace_writer *writer)
{
	writer->unhurried = true;
}

int trace_writer_places(struct trace_writer *writer, uint32_t frame)
{
	return late_add(&writer->placed, frame);
}

int trace_writer_build_id(struct trace_writer *writer, uint32_t file)
{
	return late_add(&writer->build_ids, file);
}
