// SPDX-License-Identifier: MIT
/* The names in an event table become one choice, as the entries show up. */
#include "report/event_choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

enum { RANK_GLOB = 1, RANK_SHORT, RANK_WHOLE };
enum { RANK_EMPTY = 1, RANK_DUMMY, RANK_ANY, RANK_CLOCK };

/* Where a name's modifiers stand, as in "cycles:uP", "cpu/cycles:u/" or "cpu/cycles/u"; at its end
 * if it has none. *ret_base: how much of the name is in front of them. */
static const char *modifiers_of(const char *name, size_t *ret_base)
{
	size_t bytes = strlen(name), end = bytes && name[bytes - 1] == '/' ? bytes - 1 : bytes;
	size_t from = end;

	while (from && strchr("ukhGHpPSDIWeb", name[from - 1]))
		from--;
	if (!from || from == end || (name[from - 1] != ':' && name[from - 1] != '/')) {
		*ret_base = end;
		return name + bytes;
	}
	*ret_base = from - 1;
	return name + from;
}

/* In which modes of a CPU an event counts, by its modifiers: bits, 0 = nothing said, all. */
static unsigned modes_of(const char *modifiers)
{
	static const char letters[] = "ukh";
	unsigned modes = 0;

	for (unsigned i = 0; letters[i]; i++)
		if (strchr(modifiers, letters[i]))
			modes |= 1u << i;
	return modes;
}

bool event_choice_is_clock(const struct event_choice *choice, uint32_t name)
{
	for (uint32_t i = 0; i < choice->clock_count; i++)
		if (choice->clocks[i] == name)
			return true;
	return false;
}

static void clock_add(struct event_choice *choice, uint32_t id, const char *name)
{
	size_t base;
	unsigned modes = modes_of(modifiers_of(name, &base));

	if (event_choice_is_clock(choice, id))
		return;
	modes = modes ? modes : ~0u;
	if (modes & choice->modes) {
		choice->same_time = choice->same_time ? choice->same_time : id;
		return;
	}
	choice->modes |= modes;
	choice->clocks[choice->clock_count++] = id;
}

/* Is wanted the name without "sched:" in front, or with other modifiers behind? Only in which modes
 * of the CPU it counts makes an event another one. */
static bool is_short_for(const char *wanted, const char *name)
{
	static const char system[] = "sched:";
	size_t base, named;
	unsigned modes, found;

	if (!strncmp(name, system, sizeof(system) - 1) &&
	    !strcmp(name + sizeof(system) - 1, wanted))
		return true;
	modes = modes_of(modifiers_of(wanted, &base));
	found = modes_of(modifiers_of(name, &named));
	return (!modes || modes == found) && base && base == named && !strncmp(wanted, name, base);
}

/* How well an entry fits, 0 = not at all. */
static unsigned rank_of(const struct event_choice *choice, const struct dwell_event_desc *desc,
			const char *name)
{
	if (!choice->wanted) {
		if (desc->is_empty)
			return RANK_EMPTY;
		if (desc->is_clock)
			return RANK_CLOCK;
		return strncmp(name, "dummy", 5) ? RANK_ANY : RANK_DUMMY;
	}
	if (!strcmp(name, choice->wanted))
		return RANK_WHOLE;
	if (is_short_for(choice->wanted, name))
		return RANK_SHORT;
	return fnmatch(choice->wanted, name, 0) ? 0 : RANK_GLOB;
}

bool event_choice_follow(struct event_choice *choice, struct dwell_source *source)
{
	const struct dwell_event_desc *desc;
	bool changed = false;

	for (; (desc = dwell_source_event_desc(source, choice->seen)) != NULL; choice->seen++) {
		const char *name = dwell_strings_get(dwell_source_strings(source), desc->name);
		unsigned rank = rank_of(choice, desc, name);

		choice->waits |= desc->is_wait;
		if (desc->is_clock && !desc->is_empty)
			clock_add(choice, desc->name, name);
		if (rank == choice->rank && rank && choice->wanted && desc->name != choice->name)
			choice->ambiguous = true;
		if (rank <= choice->rank)
			continue;
		choice->rank = rank;
		choice->entry = choice->seen;
		choice->name = desc->name;
		choice->clock = desc->is_clock;
		choice->ambiguous = false;
		changed = true;
	}
	return changed;
}

/* The names in the table, "a, b, c", each once, as many as there is room for. */
static void list_events(struct dwell_source *source, char *dst, size_t dst_bytes)
{
	enum { LISTED_MAX = 32 };
	const struct dwell_event_desc *desc;
	uint32_t listed[LISTED_MAX], count = 0;
	size_t used = 0;

	*dst = '\0';
	for (uint32_t i = 0; (desc = dwell_source_event_desc(source, i)) != NULL; i++) {
		const char *name = dwell_strings_get(dwell_source_strings(source), desc->name);
		uint32_t j = 0;

		while (j < count && listed[j] != desc->name)
			j++;
		if (j < count)
			continue;
		if (count == LISTED_MAX || strlen(name) + sizeof(", , ...") > dst_bytes - used) {
			snprintf(dst + used, dst_bytes - used, "%s...", used ? ", " : "");
			break;
		}
		used += (size_t)snprintf(dst + used, dst_bytes - used, "%s%s", used ? ", " : "",
					 name);
		listed[count++] = desc->name;
	}
}

int event_choice_check(const struct event_choice *choice, struct dwell_source *source,
		       struct dwell_err *err)
{
	const struct dwell_event_desc *desc = dwell_source_event_desc(source, choice->entry);
	char names[384];

	list_events(source, names, sizeof(names));
	if (!*names)
		return dwell_err_set(err, -ENODATA, "the file has no events to fold");
	if (!choice->rank)
		return dwell_err_set(err, -EINVAL, "no event '%s' in the file; it has %s",
				     choice->wanted, names);
	if (choice->ambiguous)
		return dwell_err_set(err, -EINVAL, "'%s' fits several events; the file has %s",
				     choice->wanted, names);
	if (choice->weigh == DWELL_WEIGH_TIME && desc->unit != DWELL_UNIT_NS)
		return dwell_err_set(err, -EINVAL,
				     "--weight time: '%s' counts something else than time; "
				     "--weight period adds that up",
				     dwell_strings_get(dwell_source_strings(source), desc->name));
	return 0;
}

int event_choice_weigh(const char *value, enum dwell_weigh *ret, struct dwell_err *err)
{
	static const char *const names[] = { [DWELL_WEIGH_SAMPLES] = "samples",
					     [DWELL_WEIGH_PERIOD] = "period",
					     [DWELL_WEIGH_TIME] = "time" };

	for (unsigned i = DWELL_WEIGH_SAMPLES; i <= DWELL_WEIGH_TIME; i++)
		if (!strcmp(value, names[i])) {
			*ret = (enum dwell_weigh)i;
			return 0;
		}
	return dwell_err_set(err, -EINVAL, "'%s' is not samples, period or time", value);
}
