// SPDX-License-Identifier: MIT
/* Build id records, of the feature section or between other records, become the list of files that
 * the recording touched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/perf/data_impl.h"

enum build_id_offset {
	AT_PID = 8,
	AT_ID = 12,
	AT_ID_BYTES = 32, /* told only where misc says so */
	AT_PATH = 36,
	ID_BYTES = 20,
	MISC_SIZE = 1 << 15, /* PERF_RECORD_MISC_BUILD_ID_SIZE */
	MISC_CPUMODE = 7,    /* PERF_RECORD_MISC_CPUMODE_MASK */
	NO_PID_BYTES = 4,    /* by which the records of 2010 are shorter */
	RECORD_MIN_BYTES = AT_PATH,
};

static int build_id_add(struct dwell_perf_data *data, const uint8_t *record, uint32_t bytes,
			uint32_t missing)
{
	bool swapped = data->info.swapped;
	uint16_t misc = load_u16(record + 4, swapped);
	const char *path = (const char *)record + AT_PATH - missing;
	struct dwell_perf_build_id build_id = {
		.bytes = ID_BYTES,
		.cpumode = misc & MISC_CPUMODE,
		.pid = missing ? -1 : (int32_t)load_u32(record + AT_PID, swapped),
	};

	if (!missing && (misc & MISC_SIZE))
		build_id.bytes = record[AT_ID_BYTES];
	if (build_id.bytes > ID_BYTES)
		return -EINVAL;
	memcpy(build_id.id, record + AT_ID - missing, build_id.bytes);
	if (dwell_array_grow(&data->build_ids))
		return -ENOMEM;
	build_id.path = strndup(path, bytes - (AT_PATH - missing));
	if (!build_id.path)
		return -ENOMEM;
	data->build_ids.data[data->build_ids.count++] = build_id;
	return 0;
}

int build_id_decode(struct dwell_perf_data *data, const uint8_t *record, uint32_t bytes)
{
	return bytes < RECORD_MIN_BYTES ? -EINVAL : build_id_add(data, record, bytes, 0);
}

/* The record at body's front, or NULL at its end or where it is damaged. */
static const uint8_t *record_take(struct bytes *body, uint32_t *ret_bytes)
{
	uint32_t bytes;

	if (bytes_left(body) < RECORD_HEADER_BYTES)
		return NULL;
	bytes = load_u16(body->at + 6, body->swapped);
	if (bytes < RECORD_MIN_BYTES) {
		body->bad = true;
		return NULL;
	}
	*ret_bytes = bytes;
	return bytes_take(body, bytes);
}

/* perf of 2010 wrote no pid; "[kernel.kallsyms]" then opens four bytes too early. */
static bool lacks_pid(struct bytes body)
{
	static const char shifted[] = "nel.kallsyms]";
	const uint8_t *record;
	uint32_t bytes;

	while ((record = record_take(&body, &bytes)))
		if (bytes >= AT_PATH + sizeof(shifted) &&
		    !memcmp(record + AT_PATH, shifted, sizeof(shifted)))
			return true;
	return false;
}

int build_ids_decode(struct dwell_perf_data *data, struct bytes *body)
{
	uint32_t missing = lacks_pid(*body) ? NO_PID_BYTES : 0, bytes;
	const uint8_t *record;
	int rc = 0;

	while (!rc && (record = record_take(body, &bytes)))
		rc = build_id_add(data, record, bytes, missing);
	return rc ? rc : body->bad ? -EINVAL : 0;
}

void build_ids_release(struct dwell_perf_data *data)
{
	for (uint32_t i = 0; i < data->build_ids.count; i++)
		free(data->build_ids.data[i].path);
	dwell_array_release(&data->build_ids);
}
