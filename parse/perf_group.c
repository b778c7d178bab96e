// SPDX-License-Identifier: MIT
/* The counts of a group become samples: one of each event that has counted anything since the
 * sample before, weighted by how much, with the stack of the leader (`perf record -e '{a,b}:S'`).
 */
#include <errno.h>

#include "lib/hash.h"
#include "parse/perf_impl.h"

enum { GROUP_COUNTS_MAX = 1 << 22 }; /* kept; those of further threads are their first */

void perf_group_begin(struct perf_source *perf, const struct dwell_perf_layout *layout,
		      const struct dwell_perf_sample *sample)
{
	perf->group.layout = layout;
	perf->group.sample = *sample;
	perf->group.next = 0;
	perf->group.event = perf->event;
}

/* What the event counted since the sample before: of each thread for itself where its counter is
 * inherited. */
static int count_since(struct perf_group *group, uint64_t id, bool inherited, uint64_t value,
		       uint64_t *ret_since)
{
	uint64_t key = dwell_hash_pair(id ^ group->seed, inherited ? group->sample.tid + 1ull : 0);
	uint32_t place = dwell_idmap_find(&group->places, key);
	uint64_t before;

	if (!place) {
		*ret_since = value;
		if (group->last.count == GROUP_COUNTS_MAX)
			return 0;
		if (dwell_array_grow(&group->last) ||
		    dwell_idmap_set(&group->places, key, group->last.count + 1))
			return -ENOMEM;
		group->last.data[group->last.count++] = value;
		return 0;
	}
	before = group->last.data[place - 1];
	group->last.data[place - 1] = value;
	*ret_since = value > before ? value - before : 0;
	return 0;
}

int perf_group_next(struct perf_source *perf)
{
	struct perf_group *group = &perf->group;

	while (group->next < group->sample.group_count) {
		const struct dwell_perf_event *event;
		uint64_t id, value, since;
		int64_t index;

		dwell_perf_sample_count(group->layout, &group->sample, group->next++, &id, &value);
		index = id ? dwell_perf_data_event_of(perf->data, id) : -1;
		if (index < 0)
			continue;
		event = dwell_perf_data_event(perf->data, (uint32_t)index);
		if (count_since(group, id, event->attr.flags & DWELL_PERF_ATTR_INHERIT, value,
				&since))
			return -ENOMEM;
		perf->bad_samples += since > SOURCE_WEIGHT_MAX;
		if (!since || since > SOURCE_WEIGHT_MAX)
			continue;
		perf->event = group->event;
		perf->event.u.sample.event = (uint32_t)index;
		perf->event.u.sample.weight = since;
		return 0;
	}
	return 1;
}

void perf_group_release(struct perf_group *group)
{
	dwell_idmap_release(&group->places);
	dwell_array_release(&group->last);
}
