// SPDX-License-Identifier: MIT
/* The head of a perf.data becomes events with their ids and the places of everything else: the
 * records, and one section for each feature bit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/perf/data_impl.h"

/* Offsets of struct perf_file_header (tools/perf/util/header.h). */
enum header_offset {
	AT_SIZE = 8,
	AT_ATTR_SIZE = 16,
	AT_ATTRS = 24,
	AT_DATA = 40,
	AT_FEATURES = 72,
	PIPE_HEADER_BYTES = 16,
	OLD_HEADER_BYTES = 72, /* no feature bitmap */
	HEADER_BYTES = 104,
	SECTION_BYTES = 16, /* u64 offset, u64 size */
	FEATURE_WORDS = 4,
	FEATURE_HOSTNAME = 3,
	FEATURE_BUILD_ID = 2,
};

static const uint8_t magic_v2[8] = "PERFILE2", magic_v1[8] = "PERFFILE";

static bool host_is_little(void)
{
	static const uint16_t one = 1;

	return *(const uint8_t *)&one == 1;
}

/* Stored as a u64: its bytes stand in reverse in a big-endian file. */
static bool magic_is(const uint8_t *head, const uint8_t *magic)
{
	return load_u64(head, false) == load_u64(magic, false) ||
	       load_u64(head, true) == load_u64(magic, false);
}

bool dwell_perf_data_is(const uint8_t *head, uint32_t head_bytes)
{
	return head_bytes >= sizeof(magic_v2) &&
	       (magic_is(head, magic_v2) || magic_is(head, magic_v1));
}

struct section {
	uint64_t offset, bytes;
};

static struct section section_at(const uint8_t *at, bool swapped)
{
	return (struct section){ load_u64(at, swapped), load_u64(at + 8, swapped) };
}

static int file_error(const struct dwell_perf_data *data, struct dwell_err *err, const char *what)
{
	return dwell_err_set(err, -EINVAL, "'%s' cannot be read: %s", data->path, what);
}

/* The ids of an event. A section that is not in the file is passed over: ids are then unknown. */
static int ids_read(struct dwell_perf_data *data, struct section ids, uint64_t *ids_left,
		    struct dwell_err *err)
{
	uint64_t count = ids.bytes / 8;
	uint8_t *bytes;
	int rc;

	if (count > *ids_left) {
		data->info.bad_features++;
		return 0;
	}
	rc = segment_load(data, 0, ids.offset, 8 * count, &bytes, err);
	if (rc == -EINVAL)
		data->info.bad_features++;
	if (rc)
		return rc == -EINVAL ? 0 : rc;
	*ids_left -= count;
	for (uint64_t i = 0; !rc && i < count; i++)
		rc = event_table_add_id(data, load_u64(bytes + 8 * i, data->info.swapped),
					data->events.count - 1);
	free(bytes);
	return rc ? dwell_err_sys(err, rc, "cannot read '%s'", data->path) : 0;
}

/* Attrs follow each other by the header's attr_size, whatever size they state themselves: the last
 * 16 bytes of each are the section of its ids. */
static int attrs_read(struct dwell_perf_data *data, struct section attrs, uint64_t stride,
		      struct dwell_err *err)
{
	uint64_t ids_left = data->segments.data[0].bytes / 8;
	uint8_t *bytes;
	int rc;

	if (stride < DWELL_PERF_ATTR_BYTES_MIN + SECTION_BYTES ||
	    stride > DWELL_PERF_ATTR_BYTES_MAX + SECTION_BYTES || attrs.bytes < stride)
		return file_error(data, err, "no event is described in its header");
	if (attrs.bytes / stride > EVENTS_MAX)
		return file_error(data, err, "its header claims more than 65536 events");
	rc = segment_load(data, 0, attrs.offset, attrs.bytes, &bytes, err);
	if (rc)
		return rc == -EINVAL ? file_error(data, err, "its events lie behind its end") : rc;
	for (uint64_t at = 0; !rc && attrs.bytes - at >= stride; at += stride) {
		const uint8_t *ids = bytes + at + stride - SECTION_BYTES;

		rc = event_table_add(data, bytes + at, (uint32_t)stride - SECTION_BYTES);
		if (rc)
			dwell_err_sys(err, rc, "cannot read '%s'", data->path);
		else
			rc = ids_read(data, section_at(ids, data->info.swapped), &ids_left, err);
	}
	free(bytes);
	return rc;
}

/* The bitmap is of longs. Writers of 32 bits on big-endian machines put its words the other way
 * round: then the hostname's bit, which all set, is in the wrong half. */
static void bitmap_read(const uint8_t *at, bool swapped, uint64_t bitmap[FEATURE_WORDS])
{
	bool big_endian = swapped == host_is_little();

	for (unsigned i = 0; i < FEATURE_WORDS; i++)
		bitmap[i] = load_u64(at + 8 * i, swapped);
	if (!big_endian || (bitmap[0] >> FEATURE_HOSTNAME & 1))
		return;
	for (unsigned i = 0; i < FEATURE_WORDS; i++)
		bitmap[i] = bitmap[i] << 32 | bitmap[i] >> 32;
	if (bitmap[0] >> FEATURE_HOSTNAME & 1)
		return;
	memset(bitmap, 0, FEATURE_WORDS * sizeof(*bitmap));
	bitmap[0] = 1u << FEATURE_BUILD_ID;
}

static int feature_read(struct dwell_perf_data *data, uint32_t bit, struct section section,
			struct dwell_err *err)
{
	uint8_t *body;
	int rc;

	if (!feature_is_known(bit)) {
		data->info.unknown_features++;
		return 0;
	}
	/* One that could not be written when the recording ended is empty. */
	if (!feature_is_needed(bit) || !section.bytes)
		return 0;
	rc = segment_load(data, 0, section.offset, section.bytes, &body, err);
	if (!rc) {
		rc = feature_decode(data, bit, body, section.bytes);
		free(body);
		if (rc == -ENOMEM)
			dwell_err_sys(err, rc, "cannot read '%s'", data->path);
	}
	data->info.bad_features += rc == -EINVAL;
	return rc == -EINVAL ? 0 : rc;
}

/* Behind the records stands one section for each bit set, in ascending order. */
static int features_read(struct dwell_perf_data *data, const uint8_t *bitmap_at, uint64_t offset,
			 struct dwell_err *err)
{
	uint64_t bitmap[FEATURE_WORDS];
	uint8_t section[SECTION_BYTES];
	int64_t n;
	int rc = 0;

	bitmap_read(bitmap_at, data->info.swapped, bitmap);
	for (uint32_t bit = 0; !rc && bit < 64 * FEATURE_WORDS; bit++) {
		if (!(bitmap[bit / 64] >> bit % 64 & 1))
			continue;
		n = segment_read(data, 0, offset, section, sizeof(section), err);
		if (n < 0)
			return (int)n;
		if ((uint64_t)n < sizeof(section)) {
			data->info.bad_features++;
			return 0;
		}
		rc = feature_read(data, bit, section_at(section, data->info.swapped), err);
		offset += sizeof(section);
	}
	return rc;
}

static int file_header_read(struct dwell_perf_data *data, const uint8_t *header, uint64_t size,
			    uint64_t *ret_offset, uint64_t *ret_end, struct dwell_err *err)
{
	bool swapped = data->info.swapped;
	uint64_t file_bytes = data->segments.data[0].bytes;
	struct section records = section_at(header + AT_DATA, swapped);
	int rc = attrs_read(data, section_at(header + AT_ATTRS, swapped),
			    load_u64(header + AT_ATTR_SIZE, swapped), err);

	if (rc)
		return rc;
	if (records.offset > file_bytes)
		records.offset = file_bytes;
	data->info.unfinished = !records.bytes;
	if (records.bytes > file_bytes - records.offset) {
		data->info.unread_bytes += records.bytes - (file_bytes - records.offset);
		records.bytes = file_bytes - records.offset;
	} else if (records.bytes && size >= HEADER_BYTES) {
		rc = features_read(data, header + AT_FEATURES, records.offset + records.bytes, err);
	}
	if (rc)
		return rc;
	*ret_offset = records.offset;
	*ret_end = data->info.unfinished ? file_bytes : records.offset + records.bytes;
	return 0;
}

int header_read(struct dwell_perf_data *data, uint64_t *ret_offset, uint64_t *ret_end,
		bool *ret_pipe, struct dwell_err *err)
{
	uint8_t header[HEADER_BYTES] = { 0 };
	uint64_t size;
	int64_t n = segment_read(data, 0, 0, header, sizeof(header), err);

	if (n < 0)
		return (int)n;
	if (!dwell_perf_data_is(header, (uint32_t)n))
		return dwell_err_set(err, -EINVAL, "'%s' is not a perf.data", data->path);
	if (magic_is(header, magic_v1))
		return file_error(data, err,
				  "it is of perf's first format (\"PERFFILE\"), out of use for "
				  "long");
	data->info.swapped = (*header == *magic_v2) != host_is_little();
	size = load_u64(header + AT_SIZE, data->info.swapped);
	if ((uint64_t)n < PIPE_HEADER_BYTES)
		return file_error(data, err, "it ends within its header");
	*ret_pipe = size == PIPE_HEADER_BYTES;
	if (*ret_pipe) {
		*ret_offset = PIPE_HEADER_BYTES;
		*ret_end = data->segments.data[0].bytes;
		return 0;
	}
	if (size != OLD_HEADER_BYTES && size < HEADER_BYTES)
		return file_error(data, err, "its header has a size that no perf writes");
	if ((uint64_t)n < (size < HEADER_BYTES ? size : HEADER_BYTES))
		return file_error(data, err, "it ends within its header");
	return file_header_read(data, header, size, ret_offset, ret_end, err);
}
