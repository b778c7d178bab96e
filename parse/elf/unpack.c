// SPDX-License-Identifier: MIT
/* Compressed bytes become plain ones in a buffer that grows by doubling up to a bound. What a
 * file claims of its size counts for nothing. */
#include "parse/elf/unpack.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What goes in and comes out at most. `xz -9` takes 65 MiB of memory to unpack. */
enum { BYTES_MAX = 64 << 20, MEMORY_MAX = 128 << 20, FIRST_BYTES = 64 << 10 };

struct buffer {
	uint8_t *bytes;
	size_t used, room;
};

static int buffer_grow(struct buffer *buffer)
{
	size_t room = buffer->room ? 2 * buffer->room : FIRST_BYTES;
	uint8_t *grown;

	if (room > BYTES_MAX)
		return -EFBIG;
	grown = realloc(buffer->bytes, room);
	if (!grown)
		return -ENOMEM;
	buffer->bytes = grown;
	buffer->room = room;
	return 0;
}

static int xz_unpack(const uint8_t *bytes, size_t count, struct buffer *out)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret state = lzma_stream_decoder(&stream, MEMORY_MAX, LZMA_CONCATENATED);
	int rc = 0;

	stream.next_in = bytes;
	stream.avail_in = count;
	while (!rc && state == LZMA_OK) {
		if (out->used == out->room)
			rc = buffer_grow(out);
		if (rc)
			break;
		stream.next_out = out->bytes + out->used;
		stream.avail_out = out->room - out->used;
		state = lzma_code(&stream, LZMA_FINISH);
		out->used = out->room - stream.avail_out;
	}
	lzma_end(&stream);
	return rc ? rc : state == LZMA_STREAM_END ? 0 : -ENOEXEC;
}

int unpack_bytes(const void *bytes, size_t count, void **ret_bytes, size_t *ret_count)
{
	struct buffer out = { 0 };
	int rc;

	if (count > BYTES_MAX)
		return -EFBIG;
	rc = xz_unpack(bytes, count, &out);
	if (rc || !out.used) {
		free(out.bytes);
		return rc ? rc : -ENOEXEC;
	}
	*ret_bytes = out.bytes;
	*ret_count = out.used;
	return 0;
}

int unpack_file(int fd, void **ret_bytes, size_t *ret_count)
{
	static const uint8_t magic[] = { 0xfd, '7', 'z', 'X', 'Z', 0 };
	uint8_t head[sizeof(magic)];
	struct stat st;
	void *bytes;
	ssize_t n;
	int rc;

	/* Most files that are no ELF files are no archives either: not read whole. */
	if (pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
	    memcmp(head, magic, sizeof(head)) != 0 || fstat(fd, &st))
		return -ENOEXEC;
	if (st.st_size > BYTES_MAX)
		return -EFBIG;
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes)
		return -ENOMEM;
	n = pread(fd, bytes, (size_t)st.st_size, 0);
	rc = n < 0 ? -errno : unpack_bytes(bytes, (size_t)n, ret_bytes, ret_count);
	free(bytes);
	return rc;
}
