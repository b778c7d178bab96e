// SPDX-License-Identifier: MIT
/* Bytes become parsed chunks in a ring: the caller reads and cuts, threads parse what is filled,
 * and the caller parses too where it would wait. */
#include "parse/script_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHUNK_BYTES_MAX = 4 << 20, /* a sample longer than this is cut */
	CUT_BYTES = 64 << 10,	   /* how far back a cut is looked for */
	SLOTS = SCRIPT_PEEK_MAX + 2 * SCRIPT_THREADS_MAX + 2,
};

struct slot {
	struct script_chunk chunk;
	bool parsed;
};

/* Chunks are numbered; number n is in slot n % SLOTS. taken <= claimed <= filled. The chunk before
 * `taken` is still the caller's. */
struct script_reader {
	struct script_input input;
	struct slot slots[SLOTS];
	uint64_t filled, claimed, taken;
	bool ended; /* nothing more to read; rc says if by an error */
	int rc;
	char *carry; /* the begin of the next chunk, read already */
	uint32_t carry_bytes, carry_room;
	unsigned threads; /* parsers; number 0 is the caller's */
	struct script_parser parsers[SCRIPT_THREADS_MAX];
	pthread_t workers[SCRIPT_THREADS_MAX];
	unsigned started; /* workers that run: numbers 1 to started */
	bool quit;
	pthread_mutex_t lock; /* of filled, claimed, parsed, quit */
	pthread_cond_t changed;
};

struct worker_start {
	struct script_reader *reader;
	struct script_parser *parser;
};

/* The oldest chunk that nobody parses, claimed; NULL if there is none. Under the lock. */
static struct slot *chunk_claim(struct script_reader *reader)
{
	return reader->claimed < reader->filled ? &reader->slots[reader->claimed++ % SLOTS] : NULL;
}

/* Parses a claimed chunk. Called and returns under the lock. */
static void chunk_work(struct script_reader *reader, struct script_parser *parser,
		       struct slot *slot)
{
	pthread_mutex_unlock(&reader->lock);
	script_chunk_parse(parser, &slot->chunk);
	pthread_mutex_lock(&reader->lock);
	slot->parsed = true;
}

static void *worker_main(void *user)
{
	struct worker_start start = *(struct worker_start *)user;
	struct script_reader *reader = start.reader;

	free(user);
	pthread_mutex_lock(&reader->lock);
	while (!reader->quit) {
		struct slot *slot = chunk_claim(reader);

		if (slot) {
			chunk_work(reader, start.parser, slot);
			pthread_cond_broadcast(&reader->changed);
		} else {
			pthread_cond_wait(&reader->changed, &reader->lock);
		}
	}
	pthread_mutex_unlock(&reader->lock);
	return NULL;
}

/* A thread more; without it the others do its part. */
static void worker_start(struct script_reader *reader)
{
	struct worker_start *start = malloc(sizeof(*start));
	unsigned number = reader->started + 1;

	if (!start)
		return;
	*start = (struct worker_start){ reader, &reader->parsers[number] };
	if (script_parser_init(start->parser, number, reader->parsers[0].bare) ||
	    pthread_create(&reader->workers[number], NULL, worker_main, start)) {
		script_parser_release(start->parser);
		free(start);
		return;
	}
	reader->started = number;
}

int script_reader_new(const struct script_input *input, unsigned threads, const void *head,
		      uint32_t head_bytes, struct script_reader **ret_reader)
{
	struct script_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->input = *input;
	reader->threads = threads < SCRIPT_THREADS_MAX ? threads : SCRIPT_THREADS_MAX;
	reader->carry = malloc(head_bytes + 1);
	if (!reader->carry ||
	    script_parser_init(&reader->parsers[0], 0,
			       dwell_script_bare_is((struct dwell_slice){ head, head_bytes }))) {
		free(reader->carry);
		free(reader);
		return -ENOMEM;
	}
	memcpy(reader->carry, head, head_bytes);
	reader->carry_bytes = head_bytes;
	reader->carry_room = head_bytes + 1;
	pthread_mutex_init(&reader->lock, NULL);
	pthread_cond_init(&reader->changed, NULL);
	*ret_reader = reader;
	return 0;
}

void script_reader_free(struct script_reader *reader)
{
	if (!reader)
		return;
	pthread_mutex_lock(&reader->lock);
	reader->quit = true;
	pthread_cond_broadcast(&reader->changed);
	pthread_mutex_unlock(&reader->lock);
	for (unsigned i = 1; i <= reader->started; i++)
		pthread_join(reader->workers[i], NULL);
	for (unsigned i = 0; i <= reader->started; i++)
		script_parser_release(&reader->parsers[i]);
	for (unsigned i = 0; i < SLOTS; i++)
		script_chunk_release(&reader->slots[i].chunk);
	pthread_cond_destroy(&reader->changed);
	pthread_mutex_destroy(&reader->lock);
	free(reader->carry);
	free(reader);
}

/* Behind the last blank line within the last CUT_BYTES; 0 if there is none. */
static uint32_t blank_find(const char *text, uint32_t bytes)
{
	uint32_t floor = bytes > CUT_BYTES ? bytes - CUT_BYTES : 0, end = bytes;

	while (end > floor) {
		const char *newline = memrchr(text + floor, '\n', end - floor);
		uint32_t at;

		if (!newline)
			break;
		at = (uint32_t)(newline - text);
		if ((at >= 1 && newline[-1] == '\n') ||
		    (at >= 2 && newline[-1] == '\r' && newline[-2] == '\n'))
			return at + 1;
		end = at;
	}
	return 0;
}

/* Before the last header line within the last CUT_BYTES; 0 if there is none. */
static uint32_t header_find(const char *text, uint32_t bytes)
{
	uint32_t floor = bytes > CUT_BYTES ? bytes - CUT_BYTES : 0;
	const char *end = memrchr(text + floor, '\n', bytes - floor), *begin;

	for (; end; end = begin) {
		struct dwell_script_header h;

		begin = memrchr(text + floor, '\n', (size_t)(end - text) - floor);
		if (!begin)
			break;
		if (begin[1] != '\t' &&
		    dwell_script_header_parse(dwell_slice_of(begin + 1, end), &h))
			return (uint32_t)(begin + 1 - text);
	}
	return 0;
}

/* How much of the text is whole samples; `full`: no more can be read to find an end. */
static uint32_t cut_find(const char *text, uint32_t bytes, bool full)
{
	uint32_t cut = blank_find(text, bytes);
	const char *newline;

	if (!cut)
		cut = header_find(text, bytes);
	if (cut || !full)
		return cut;
	newline = memrchr(text, '\n', bytes);
	return newline ? (uint32_t)(newline + 1 - text) : bytes;
}

static int room_need(char **text, uint32_t *room, uint32_t need)
{
	char *grown;

	if (need <= *room)
		return 0;
	grown = realloc(*text, need);
	if (!grown)
		return -ENOMEM;
	*text = grown;
	*room = need;
	return 0;
}

/* Keeps what is behind the cut for the next chunk. */
static int carry_set(struct script_reader *reader, const char *bytes, uint32_t count)
{
	int rc = room_need(&reader->carry, &reader->carry_room, count);

	if (!rc && count)
		memcpy(reader->carry, bytes, count);
	reader->carry_bytes = rc ? 0 : count;
	return rc;
}

/* Reads until there is an end of a sample to cut at. 0, or -errno. */
static int chunk_fill(struct script_reader *reader, struct script_chunk *chunk)
{
	uint32_t used = reader->carry_bytes, room = SCRIPT_CHUNK_BYTES, cut = 0;
	int rc;

	while (room <= used)
		room *= 2;
	rc = room_need(&chunk->text, &chunk->room, room);
	if (rc)
		return rc;
	memcpy(chunk->text, reader->carry, used);
	for (;;) {
		int64_t n = reader->input.read(reader->input.user, chunk->text + used, room - used);

		if (n < 0)
			return (int)n;
		used += (uint32_t)n;
		if (used < room) {
			reader->ended = true;
			cut = used;
			break;
		}
		cut = cut_find(chunk->text, used, room >= CHUNK_BYTES_MAX);
		if (cut)
			break;
		room *= 2;
		rc = room_need(&chunk->text, &chunk->room, room);
		if (rc)
			return rc;
	}
	chunk->bytes = cut;
	return carry_set(reader, chunk->text + cut, used - cut);
}

/* Fills slots up to chunk number `until`. Called and returns under the lock. */
static void chunks_fill(struct script_reader *reader, uint64_t until)
{
	while (!reader->ended && reader->filled < until) {
		struct slot *slot = &reader->slots[reader->filled % SLOTS];
		int rc;

		pthread_mutex_unlock(&reader->lock);
		slot->parsed = false;
		rc = chunk_fill(reader, &slot->chunk);
		pthread_mutex_lock(&reader->lock);
		if (rc) {
			reader->rc = rc;
			reader->ended = true;
			break;
		}
		if (reader->filled == 1)
			while (reader->started + 1 < reader->threads) {
				unsigned before = reader->started;

				worker_start(reader);
				if (reader->started == before)
					reader->threads = before + 1;
			}
		reader->filled++;
		pthread_cond_broadcast(&reader->changed);
	}
}

/* Waits for chunk number `number`, parsing meanwhile what nobody else does. */
static int chunk_await(struct script_reader *reader, uint64_t number,
		       const struct script_chunk **ret_chunk)
{
	uint64_t ahead = reader->threads > 1 ? 2 * reader->threads : 0;
	struct slot *wanted = &reader->slots[number % SLOTS], *slot;
	int rc = 0;

	pthread_mutex_lock(&reader->lock);
	chunks_fill(reader, number + 1 + ahead);
	while (number < reader->filled && !wanted->parsed) {
		slot = chunk_claim(reader);
		if (slot)
			chunk_work(reader, &reader->parsers[0], slot);
		else
			pthread_cond_wait(&reader->changed, &reader->lock);
	}
	if (number >= reader->filled)
		rc = reader->rc;
	else if (wanted->chunk.rc)
		rc = wanted->chunk.rc;
	else
		rc = 1;
	pthread_mutex_unlock(&reader->lock);
	if (rc == 1)
		*ret_chunk = &wanted->chunk;
	return rc;
}

int script_reader_peek(struct script_reader *reader, uint32_t ahead,
		       const struct script_chunk **ret_chunk)
{
	if (ahead >= SCRIPT_PEEK_MAX)
		return 0;
	return chunk_await(reader, reader->taken + ahead, ret_chunk);
}

int script_reader_next(struct script_reader *reader, const struct script_chunk **ret_chunk)
{
	int rc = chunk_await(reader, reader->taken, ret_chunk);

	if (rc == 1)
		reader->taken++;
	return rc;
}
