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
#include <zlib.h>

#include "lib/unzstd.h"

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

static int gzip_unpack(const uint8_t *bytes, size_t count, struct buffer *out)
{
	enum { WINDOW_GZIP = 15 + 16 }; /* the largest window, behind a header of gzip */
	z_stream stream = { .next_in = (Bytef *)(uintptr_t)bytes, .avail_in = (uInt)count };
	int state, rc = 0;

	if (inflateInit2(&stream, WINDOW_GZIP) != Z_OK)
		return -ENOMEM;
	do {
		if (out->used == out->room)
			rc = buffer_grow(out);
		if (rc)
			break;
		stream.next_out = out->bytes + out->used;
		stream.avail_out = (uInt)(out->room - out->used);
		state = inflate(&stream, Z_NO_FLUSH);
		out->used = out->room - stream.avail_out;
		if (state == Z_STREAM_END && stream.avail_in)
			state = inflateReset(&stream);
		else if (state == Z_STREAM_END)
			break;
		rc = state == Z_OK ? 0 : -ENOEXEC;
	} while (!rc);
	inflateEnd(&stream);
	return rc;
}

static int zstd_unpack(const uint8_t *bytes, size_t count, struct buffer *out)
{
	struct dwell_unzstd *unzstd = dwell_unzstd_new();
	const uint8_t *end = bytes + count;
	int rc = unzstd ? 0 : -ENOMEM;

	while (!rc) {
		int64_t n;

		if (out->used == out->room)
			rc = buffer_grow(out);
		if (rc)
			break;
		n = dwell_unzstd_feed(unzstd, &bytes, end, out->bytes + out->used,
				      out->room - out->used);
		if (n < 0)
			rc = -ENOEXEC;
		else
			out->used += (size_t)n;
		if (out->used < out->room)
			break;
	}
	dwell_unzstd_free(unzstd);
	return rc;
}

/* Each form with what it begins with. */
static const struct form {
	uint8_t magic[6], bytes;
	int (*unpack)(const uint8_t *bytes, size_t count, struct buffer *out);
} forms[] = {
	{ { 0xfd, '7', 'z', 'X', 'Z', 0 }, 6, xz_unpack },
	{ { 0x1f, 0x8b, 8 }, 3, gzip_unpack },
	{ { 0x28, 0xb5, 0x2f, 0xfd }, 4, zstd_unpack },
};

static const struct form *form_of(const uint8_t *bytes, size_t count)
{
	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (count >= forms[i].bytes && !memcmp(bytes, forms[i].magic, forms[i].bytes))
			return &forms[i];
	return NULL;
}

int unpack_bytes(const void *bytes, size_t count, void **ret_bytes, size_t *ret_count)
{
	const struct form *form = form_of(bytes, count);
	struct buffer out = { 0 };
	int rc;

	if (!form)
		return -ENOEXEC;
	if (count > BYTES_MAX)
		return -EFBIG;
	rc = form->unpack(bytes, count, &out);
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
	uint8_t head[sizeof(forms[0].magic)];
	struct stat st;
	void *bytes;
	ssize_t n = pread(fd, head, sizeof(head), 0);
	int rc;

	/* Most files that are no ELF files are no archives either: not read whole. */
	if (n < 0 || !form_of(head, (size_t)n) || fstat(fd, &st))
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
