// SPDX-License-Identifier: MIT
/* Attrs, ids and names, from wherever a perf.data has them, become the table of its events, and the
 * places by which a record is found to be one of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse/perf/data_impl.h"

static uint16_t places_sample_bytes(const struct places *places)
{
	int16_t last = places->time;

	if (places->id > last)
		last = places->id;
	if (places->tid > last)
		last = places->tid;
	if (places->cpu > last)
		last = places->cpu;
	return last < 0 ? 0 : (uint16_t)(last + 8);
}

static struct places places_of(const struct dwell_perf_layout *layout)
{
	struct places places = {
		.time = layout->time_at,
		.id = layout->id_at,
		.tid = layout->tid_at,
		.cpu = layout->cpu_at,
		.end_time = layout->trailer_time_at,
		.end_id = layout->trailer_id_at,
		.end_tid = layout->trailer_tid_at,
		.end_cpu = layout->trailer_cpu_at,
		.trailer_bytes = (uint16_t)dwell_perf_trailer_bytes(layout),
	};

	places.sample_bytes = places_sample_bytes(&places);
	return places;
}

int event_table_add(struct dwell_perf_data *data, const uint8_t *attr, uint32_t bytes)
{
	struct dwell_perf_event event = { 0 };
	const struct places *first;
	struct places places;

	if (data->events.count == EVENTS_MAX ||
	    !dwell_perf_attr_decode(attr, bytes, data->info.swapped, &event.attr))
		return -EINVAL;
	dwell_perf_layout_init(&event.layout, &event.attr, data->info.swapped);
	places = places_of(&event.layout);
	if (dwell_array_grow(&data->events) || dwell_array_grow(&data->places))
		return -ENOMEM;
	first = data->events.count ? data->places.data : &places;
	data->same_places = (!data->events.count || data->same_places) &&
			    !memcmp(first, &places, sizeof(places));
	data->same_id = (!data->events.count || data->same_id) && first->id == places.id;
	data->same_end_id =
		(!data->events.count || data->same_end_id) && first->end_id == places.end_id;
	data->events.data[data->events.count++] = event;
	data->places.data[data->places.count++] = places;
	return 0;
}

int event_table_add_id(struct dwell_perf_data *data, uint64_t id, uint32_t event)
{
	if (!id || dwell_idmap_find(&data->ids, id ^ data->id_seed) == event + 1)
		return 0;
	data->events.data[event].id_count++;
	return dwell_idmap_set(&data->ids, id ^ data->id_seed, event + 1);
}

int event_table_set_name(struct dwell_perf_data *data, uint32_t event, const char *name)
{
	struct dwell_perf_event *named = &data->events.data[event];

	if (named->name || !*name)
		return 0;
	named->name = strdup(name);
	return named->name ? 0 : -ENOMEM;
}

/* "name: sched_switch" opens a format text. */
static int format_name(const struct dwell_perf_format *format, char **ret_name)
{
	static const char key[] = "name: ";
	const char *name = format->text;
	char *full;

	if (strncmp(name, key, sizeof(key) - 1))
		return -EINVAL;
	name += sizeof(key) - 1;
	if (asprintf(&full, "%s:%.*s", format->system, (int)strcspn(name, "\n"), name) < 0)
		return -ENOMEM;
	*ret_name = full;
	return 0;
}

static int event_finish(struct dwell_perf_event *event, const struct dwell_perf_data *data,
			const struct dwell_idmap *formats)
{
	uint32_t format = 0;
	char name[64];

	if (event->name)
		return 0;
	if (event->attr.type == PERF_TYPE_TRACEPOINT)
		format = dwell_idmap_find(formats, event->attr.config ^ data->id_seed);
	if (format && format_name(&data->formats.data[format - 1], &event->name) != -EINVAL)
		return event->name ? 0 : -ENOMEM;
	dwell_perf_attr_name(&event->attr, name, sizeof(name));
	event->name = strdup(name);
	return event->name ? 0 : -ENOMEM;
}

int event_table_finish(struct dwell_perf_data *data)
{
	struct dwell_idmap formats = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < data->formats.count; i++)
		rc = dwell_idmap_set(&formats, data->formats.data[i].id ^ data->id_seed, i + 1);
	for (uint32_t i = 0; !rc && i < data->events.count; i++)
		rc = event_finish(&data->events.data[i], data, &formats);
	dwell_idmap_release(&formats);
	return rc;
}

void event_table_release(struct dwell_perf_data *data)
{
	for (uint32_t i = 0; i < data->events.count; i++)
		free(data->events.data[i].name);
	dwell_array_release(&data->events);
	dwell_array_release(&data->places);
	dwell_idmap_release(&data->ids);
}
