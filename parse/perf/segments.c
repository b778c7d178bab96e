// SPDX-License-Identifier: MIT
/* Inputs become segments that can be read at any offset: files as they are, pipes and what is
 * decompressed through temporary files that nobody else sees. Read calls and not mappings: memory
 * does not grow with the file, and a file cut meanwhile is a short read. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/perf/data_impl.h"

/* Spools end here, whatever a file claims to hold. */
#define SPOOL_MAX_BYTES (1ull << 40)

/* An unlinked temporary file in $TMPDIR, else /tmp. */
static int spool_open(struct dwell_err *err)
{
	const char *dir = getenv("TMPDIR");
	char name[4096];
	int fd;

	if (!dir || !*dir)
		dir = "/tmp";
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Not every file system has O_TMPFILE. */
	if ((size_t)snprintf(name, sizeof(name), "%s/dwell.XXXXXX", dir) >= sizeof(name))
		return dwell_err_sys(err, -ENAMETOOLONG, "cannot make a temporary file in $TMPDIR");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return dwell_err_sys(err, -errno, "cannot make a temporary file in '%s'", dir);
	unlink(name);
	return fd;
}

int segments_add(struct dwell_perf_data *data, int fd, bool owned, uint64_t bytes)
{
	if (dwell_array_grow(&data->segments))
		return -ENOMEM;
	data->segments.data[data->segments.count++] = (struct segment){ fd, owned, bytes };
	return 0;
}

int segments_add_spool(struct dwell_perf_data *data, uint32_t *ret_segment, struct dwell_err *err)
{
	int fd = spool_open(err);

	if (fd < 0)
		return fd;
	if (segments_add(data, fd, true, 0)) {
		close(fd);
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", data->path);
	}
	*ret_segment = data->segments.count - 1;
	return 0;
}

int segment_append(struct segment *segment, const void *bytes, uint64_t count,
		   struct dwell_err *err)
{
	int rc;

	if (count > SPOOL_MAX_BYTES - segment->bytes)
		return dwell_err_set(err, -EFBIG,
				     "the input is larger than %llu GiB, decompressed or piped",
				     SPOOL_MAX_BYTES >> 30);
	rc = dwell_io_write(segment->fd, bytes, count);
	if (rc)
		return dwell_err_sys(err, rc,
				     "cannot write a temporary file (set TMPDIR to a directory "
				     "with room)");
	segment->bytes += count;
	return 0;
}

static int spool_input(struct dwell_perf_data *data, int fd, const uint8_t *head,
		       uint32_t head_bytes, struct dwell_err *err)
{
	uint8_t *piece = malloc(PIECE_BYTES);
	uint32_t segment = 0;
	int64_t n;
	int rc;

	if (!piece)
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", data->path);
	rc = segments_add_spool(data, &segment, err);
	if (!rc && head_bytes)
		rc = segment_append(&data->segments.data[segment], head, head_bytes, err);
	while (!rc) {
		n = dwell_io_read(fd, piece, PIECE_BYTES);
		if (n < 0)
			rc = dwell_err_sys(err, (int)n, "cannot read '%s'", data->path);
		if (n <= 0)
			break;
		rc = segment_append(&data->segments.data[segment], piece, (uint64_t)n, err);
	}
	free(piece);
	return rc;
}

int segments_add_input(struct dwell_perf_data *data, int fd, const uint8_t *head,
		       uint32_t head_bytes, struct dwell_err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return dwell_err_sys(err, -errno, "cannot read '%s'", data->path);
	if (!S_ISREG(st.st_mode))
		return spool_input(data, fd, head, head_bytes, err);
	if (segments_add(data, fd, false, (uint64_t)st.st_size))
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", data->path);
	data->info.input_bytes = (uint64_t)st.st_size;
	return 0;
}

int64_t segment_read(const struct dwell_perf_data *data, uint32_t segment, uint64_t offset,
		     void *bytes, uint64_t count, struct dwell_err *err)
{
	const struct segment *from = &data->segments.data[segment];
	uint64_t done = 0;

	if (offset >= from->bytes)
		return 0;
	if (count > from->bytes - offset)
		count = from->bytes - offset;
	while (done < count) {
		ssize_t n = pread(from->fd, (uint8_t *)bytes + done, count - done,
				  (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return dwell_err_sys(err, -errno, "cannot read '%s'", data->path);
		if (n == 0)
			break;
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

int segment_load(const struct dwell_perf_data *data, uint32_t segment, uint64_t offset,
		 uint64_t count, uint8_t **ret_bytes, struct dwell_err *err)
{
	uint64_t all = data->segments.data[segment].bytes;
	uint8_t *bytes;
	int64_t n;

	if (offset > all || count > all - offset)
		return -EINVAL;
	bytes = malloc(count ? count : 1);
	if (!bytes)
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", data->path);
	n = segment_read(data, segment, offset, bytes, count, err);
	if (n < 0 || (uint64_t)n < count) {
		free(bytes);
		return n < 0 ? (int)n : -EINVAL;
	}
	*ret_bytes = bytes;
	return 0;
}

void segments_release(struct dwell_perf_data *data)
{
	for (uint32_t i = 0; i < data->segments.count; i++)
		if (data->segments.data[i].owned)
			close(data->segments.data[i].fd);
	dwell_array_release(&data->segments);
}
