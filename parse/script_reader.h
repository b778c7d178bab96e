/* SPDX-License-Identifier: MIT */
/* perf-script text of any length becomes parsed chunks, in its order: read in pieces that are cut
 * between samples, and parsed by as many threads as asked for. Memory does not depend on how much
 * text there is. */
#ifndef DWELL_PARSE_SCRIPT_READER_H
#define DWELL_PARSE_SCRIPT_READER_H

#include "parse/script_chunk.h"

enum { SCRIPT_THREADS_MAX = 4 };

/* Where text comes from. read: as dwell_io_read(). Only the thread that calls the reader reads. */
struct script_input {
	int64_t (*read)(void *user, void *bytes, uint64_t count);
	void *user;
};

struct script_reader; /* opaque */

/* threads: how many parse, the caller's included; 1 starts none. head: bytes already read;
 * by them it is told whether the text shows times or tids. 0 or -errno. Borrows input's user. */
int script_reader_new(const struct script_input *input, unsigned threads, const void *head,
		      uint32_t head_bytes, struct script_reader **ret_reader);
void script_reader_free(struct script_reader *reader);

/* The chunk `ahead` behind the next one, parsed: 1, 0 when the text ends before it (or when as many
 * bytes lie ahead as fit), or -errno. Valid until it was taken and another one is taken. */
int script_reader_peek(struct script_reader *reader, uint32_t ahead,
		       const struct script_chunk **ret_chunk);

/* The next chunk, parsed: 1, 0 at the end, or -errno. Valid until the next call. */
int script_reader_next(struct script_reader *reader, const struct script_chunk **ret_chunk);

/* How many chunks peek may look ahead. */
enum { SCRIPT_CHUNK_BYTES = 256 << 10, SCRIPT_PEEK_MAX = 16 };

#endif
