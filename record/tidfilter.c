// SPDX-License-Identifier: MIT
/* Sorted tids become at most TIDFILTER_RANGES_MAX ranges, ranges become the text of a filter. */
#include "record/tidfilter.h"

#include <stdio.h>
#include <string.h>

enum { TID_HIGHEST = (4 << 20) - 1 };

/* Closes the smallest hole between neighbours. */
static void ranges_merge_nearest(struct tid_range *ranges, uint32_t *count)
{
	uint32_t best = 0, best_hole = UINT32_MAX;

	for (uint32_t i = 0; i + 1 < *count; i++) {
		uint32_t hole = ranges[i + 1].low - ranges[i].high;

		if (hole < best_hole) {
			best_hole = hole;
			best = i;
		}
	}
	ranges[best].high = ranges[best + 1].high;
	(*count)--;
	memmove(&ranges[best + 1], &ranges[best + 2], (*count - best - 1) * sizeof(*ranges));
}

void tidfilter_build(struct tidfilter *filter, const uint32_t *tids, uint32_t count,
		     int64_t newer_than)
{
	struct tid_range *ranges = filter->ranges;

	filter->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct tid_range *last = filter->count ? &ranges[filter->count - 1] : NULL;

		if (newer_than >= 0 && tids[i] > newer_than)
			break;
		if (last && tids[i] == last->high + 1) {
			last->high = tids[i];
			continue;
		}
		ranges[filter->count++] = (struct tid_range){ tids[i], tids[i] };
		if (filter->count > TIDFILTER_RANGES_MAX - 1)
			ranges_merge_nearest(ranges, &filter->count);
	}
	if (newer_than >= 0 && newer_than < TID_HIGHEST)
		ranges[filter->count++] =
			(struct tid_range){ (uint32_t)newer_than + 1, TID_HIGHEST };
	if (!filter->count) /* nothing to follow: a filter that nothing passes */
		ranges[filter->count++] = (struct tid_range){ TID_HIGHEST, TID_HIGHEST };
}

bool tidfilter_covers(const struct tidfilter *filter, uint32_t tid)
{
	for (uint32_t i = 0; i < filter->count; i++)
		if (tid >= filter->ranges[i].low && tid <= filter->ranges[i].high)
			return true;
	return false;
}

/* One range over one field, in as few comparisons as it takes: the kernel makes them for every
 * switch of the whole system. */
static int range_text(char *text, size_t room, const char *field, const struct tid_range *r)
{
	if (r->low == r->high)
		return snprintf(text, room, "%s==%u", field, r->low);
	if (r->high == TID_HIGHEST)
		return snprintf(text, room, "%s>=%u", field, r->low);
	return snprintf(text, room, "(%s>=%u&&%s<=%u)", field, r->low, field, r->high);
}

const char *tidfilter_text(const struct tidfilter *filter, const char *first, const char *second,
			   char text[TIDFILTER_TEXT_BYTES])
{
	int used = 0;

	for (uint32_t i = 0; i < filter->count; i++) {
		for (const char *field = first; field; field = field == first ? second : NULL) {
			size_t room = (size_t)(TIDFILTER_TEXT_BYTES - used);

			used += snprintf(text + used, room, "%s", used ? "||" : "");
			room = (size_t)(TIDFILTER_TEXT_BYTES - used);
			used += range_text(text + used, room, field, &filter->ranges[i]);
		}
	}
	return text;
}
