// SPDX-License-Identifier: MIT
/* Records that perf itself writes between the kernel's become events, names, features and build
 * ids: in a pipe everything that a file has in its header comes in them. */
#include <errno.h>

#include "parse/perf/data_impl.h"

enum {
	USER_TYPES_END = 87, /* types up to here are known (Linux 7.3) */
	UPDATE_NAME = 2,     /* of EVENT_UPDATE: what it tells */
};

/* An attr of the size that it states, then the ids of its event. */
static int header_attr(struct dwell_perf_data *data, struct bytes *body)
{
	uint32_t attr_bytes = DWELL_PERF_ATTR_BYTES_MIN;
	const uint8_t *attr = body->at;
	int rc;

	if (bytes_left(body) < DWELL_PERF_ATTR_BYTES_MIN)
		return -EINVAL;
	if (load_u32(attr + 4, data->info.swapped))
		attr_bytes = load_u32(attr + 4, data->info.swapped);
	if (!bytes_take(body, attr_bytes))
		return -EINVAL;
	rc = event_table_add(data, attr, attr_bytes);
	while (!rc && bytes_left(body) >= 8)
		rc = event_table_add_id(data, bytes_u64(body), data->events.count - 1);
	return rc;
}

static int event_update(struct dwell_perf_data *data, struct bytes *body)
{
	uint64_t kind = bytes_u64(body), id = bytes_u64(body);
	int64_t event = event_table_find(data, id);
	const char *name;

	if (body->bad)
		return -EINVAL;
	if (kind != UPDATE_NAME || event < 0 || event >= data->events.count)
		return 0;
	name = bytes_text(body);
	return name ? event_table_set_name(data, (uint32_t)event, name) : -EINVAL;
}

static int header_feature(struct dwell_perf_data *data, struct bytes *body)
{
	uint64_t bit = bytes_u64(body);

	if (body->bad)
		return -EINVAL;
	/* An empty one of the highest number that the writer knows ends them. */
	if (!bytes_left(body))
		return 0;
	if (bit > UINT32_MAX || !feature_is_known((uint32_t)bit)) {
		data->info.unknown_features++;
		return 0;
	}
	if (!feature_is_needed((uint32_t)bit))
		return 0;
	return feature_decode(data, (uint32_t)bit, body->at, bytes_left(body));
}

int user_record(struct dwell_perf_data *data, uint32_t type, const uint8_t *record, uint32_t bytes)
{
	struct bytes body = { record + RECORD_HEADER_BYTES, record + bytes, data->info.swapped,
			      false };

	switch (type) {
	case DWELL_PERF_HEADER_ATTR:
		return header_attr(data, &body);
	case DWELL_PERF_EVENT_UPDATE:
		return event_update(data, &body);
	case DWELL_PERF_HEADER_FEATURE:
		return header_feature(data, &body);
	case DWELL_PERF_HEADER_BUILD_ID:
		return build_id_decode(data, record, bytes);
	default:
		if (type >= USER_TYPES_END) {
			data->info.records[0]++;
			data->info.unknown_records++;
		}
		return 0;
	}
}
