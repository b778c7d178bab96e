// SPDX-License-Identifier: MIT
/* Where Android's simpleperf departs from perf: the names of its events stand in a feature section
 * of its own, which becomes names of events here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/hash.h"
#include "parse/perf/data_impl.h"

static uint64_t type_key(const struct dwell_perf_data *data, uint32_t type, uint64_t config)
{
	return dwell_hash_pair(type ^ data->id_seed, config);
}

/* Puts each line of "NAME,TYPE,CONFIG" into the map, by what follows the name; cuts the names. */
static int lines_index(const struct dwell_perf_data *data, char *text, struct dwell_idmap *map)
{
	int rc = 0;

	for (char *line = text, *next; !rc && *line; line = next) {
		char *end = line + strcspn(line, "\n"), *config, *type;

		next = *end ? end + 1 : end;
		*end = '\0';
		config = strrchr(line, ',');
		if (!config)
			continue;
		*config++ = '\0';
		type = strrchr(line, ',');
		if (!type)
			continue;
		*type++ = '\0';
		rc = dwell_idmap_set(map,
				     type_key(data, (uint32_t)strtoul(type, NULL, 10),
					      strtoull(config, NULL, 10)),
				     (uint32_t)(line - text) + 1);
	}
	return rc;
}

static int name_events(struct dwell_perf_data *data, const char *types)
{
	struct dwell_idmap map = { 0 };
	char *text = strdup(types);
	int rc = text ? lines_index(data, text, &map) : -ENOMEM;

	for (uint32_t i = 0; !rc && i < data->events.count; i++) {
		const struct dwell_perf_attr *attr = &data->events.data[i].attr;
		uint32_t at = dwell_idmap_find(&map, type_key(data, attr->type, attr->config));

		if (at)
			rc = event_table_set_name(data, i, text + at - 1);
	}
	dwell_idmap_release(&map);
	free(text);
	return rc;
}

int simpleperf_meta_decode(struct dwell_perf_data *data, struct bytes *body)
{
	while (bytes_left(body)) {
		const char *key = bytes_text(body), *value = bytes_text(body);

		if (!value)
			return -EINVAL;
		if (!strcmp(key, "event_type_info"))
			return name_events(data, value);
	}
	return 0;
}
