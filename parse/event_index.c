// SPDX-License-Identifier: MIT
/* Names in the event table become the entries of event kinds. */
#include "parse/event_index.h"

#include <string.h>

static void index_follow(struct dwell_event_index *index, struct dwell_source *source)
{
	const struct {
		const char *name;
		uint32_t *entry;
	} kinds[] = {
		{ "sched:sched_switch", &index->sched_switch },
		{ "sched:sched_waking", &index->sched_waking },
		{ "sched:sched_wakeup", &index->sched_wakeup },
		{ "sched:sched_wakeup_new", &index->sched_wakeup_new },
	};
	const struct dwell_event_desc *desc;

	while ((desc = dwell_source_event_desc(source, index->seen)) != NULL) {
		const char *name = dwell_strings_get(dwell_source_strings(source), desc->name);

		index->seen++;
		for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (!*kinds[i].entry && !strcmp(name, kinds[i].name))
				*kinds[i].entry = index->seen;
	}
}

uint32_t dwell_event_index_find(struct dwell_event_index *index, struct dwell_source *source,
				const struct dwell_event *event)
{
	uint32_t waking;

	switch (event->kind) {
	case DWELL_EVENT_SAMPLE:
		return event->u.sample.event;
	case DWELL_EVENT_SWITCH:
		if (!index->sched_switch)
			index_follow(index, source);
		return index->sched_switch - 1; /* 0 becomes DWELL_EVENT_UNLISTED */
	case DWELL_EVENT_WAKING:
		if (!index->sched_waking)
			index_follow(index, source);
		waking = index->sched_waking ? index->sched_waking : index->sched_wakeup;
		return waking - 1;
	case DWELL_EVENT_WAKEUP_NEW:
		if (!index->sched_wakeup_new)
			index_follow(index, source);
		return index->sched_wakeup_new - 1;
	}
	return DWELL_EVENT_UNLISTED;
}
