// SPDX-License-Identifier: MIT
/* Lists from the command line become a predicate over intervals. */
#include "offcpu/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/opt.h"

enum { FILTER_CPUS_MAX = 1 << 16, FILTER_IDS_MAX = 1 << 20 };

/* Bits of filter->states. BLOCKED_FIRST + n is BLOCKED in task state n. */
enum filter_state {
	FILTER_ON = 1u << 0,
	FILTER_PREEMPTED = 1u << 1, /* + n: RUNNABLE for reason n */
	FILTER_WOKEN = 1u << 2,
	FILTER_NEW = 1u << 3,
	FILTER_THROTTLED = 1u << 4,
	FILTER_START = 1u << 5,
	FILTER_UNKNOWN = 1u << 6,
	FILTER_BLOCKED_SHIFT = 7,
	FILTER_RUNNABLE =
		FILTER_PREEMPTED | FILTER_WOKEN | FILTER_NEW | FILTER_THROTTLED | FILTER_START,
	FILTER_BLOCKED = ((1u << DWELL_TASK_STATES) - 1) << FILTER_BLOCKED_SHIFT,
};

static const struct {
	const char *word;
	uint32_t states;
} filter_words[] = {
	{ "on", FILTER_ON },
	{ "runnable", FILTER_RUNNABLE },
	{ "preempted", FILTER_PREEMPTED },
	{ "woken", FILTER_WOKEN },
	{ "new", FILTER_NEW },
	{ "throttled", FILTER_THROTTLED },
	{ "blocked", FILTER_BLOCKED },
	{ "off", FILTER_RUNNABLE | FILTER_BLOCKED },
	{ "unknown", FILTER_UNKNOWN },
};

/* Calls fn with each item of a comma-separated list; empty items are refused. */
static int filter_split(const char *list, struct dwell_err *err,
			int (*fn)(void *user, const char *item, struct dwell_err *err), void *user)
{
	char *copy = strdup(list), *rest = copy, *item;
	int rc = 0;

	if (!copy)
		return dwell_err_set(err, -ENOMEM, "out of memory");
	while (!rc && (item = strsep(&rest, ",")))
		rc = *item ? fn(user, item, err)
			   : dwell_err_set(err, -EINVAL, "'%s' has an empty item", list);
	free(copy);
	return rc;
}

static int filter_add_state(void *user, const char *item, struct dwell_err *err)
{
	struct dwell_filter *filter = user;

	for (size_t i = 0; i < sizeof(filter_words) / sizeof(*filter_words); i++) {
		if (strcmp(filter_words[i].word, item))
			continue;
		filter->states |= filter_words[i].states;
		return 0;
	}
	if (!item[1] && (*item == '?' || dwell_task_state_of(*item) != DWELL_TASK_OTHER)) {
		/* R is no blocked state: R off the CPU is preempted. */
		filter->states |=
			*item == 'R' ? FILTER_PREEMPTED | FILTER_THROTTLED
				     : 1u << (FILTER_BLOCKED_SHIFT + dwell_task_state_of(*item));
		return 0;
	}
	return dwell_err_set(err, -EINVAL,
			     "'%s' is not a state; states are on, runnable, preempted, woken, new, "
			     "throttled, blocked, off, unknown and letters such as S, D, T",
			     item);
}

int dwell_filter_add_states(struct dwell_filter *filter, const char *list, struct dwell_err *err)
{
	return filter_split(list, err, filter_add_state, filter);
}

bool dwell_filter_wants_off(const struct dwell_filter *filter)
{
	return filter->states & ~(uint32_t)FILTER_ON;
}

static int filter_add_glob(void *user, const char *item, struct dwell_err *err)
{
	char ***globs = user, **grown, *copy;
	size_t count = 0;

	while (*globs && (*globs)[count])
		count++;
	copy = strdup(item);
	grown = realloc(*globs, (count + 2) * sizeof(*grown));
	if (grown)
		*globs = grown;
	if (!copy || !grown) {
		free(copy);
		if (grown)
			grown[count] = NULL;
		return dwell_err_set(err, -ENOMEM, "out of memory");
	}
	grown[count] = copy;
	grown[count + 1] = NULL;
	return 0;
}

int dwell_filter_add_comms(struct dwell_filter *filter, const char *list, struct dwell_err *err)
{
	return filter_split(list, err, filter_add_glob, &filter->comms);
}

int dwell_filter_exclude_comms(struct dwell_filter *filter, const char *list, struct dwell_err *err)
{
	return filter_split(list, err, filter_add_glob, &filter->exclude_comms);
}

int dwell_filter_add_cgroups(struct dwell_filter *filter, const char *list, struct dwell_err *err)
{
	return filter_split(list, err, filter_add_glob, &filter->cgroups);
}

struct filter_ids {
	int32_t **ids;
	uint32_t *count;
};

static int filter_add_id(void *user, const char *item, struct dwell_err *err)
{
	const struct filter_ids *to = user;
	uint64_t id;
	int32_t *grown;
	int rc = dwell_opt_u64(item, 0, INT32_MAX, &id, err);

	if (rc)
		return rc;
	grown = *to->count < FILTER_IDS_MAX
			? realloc(*to->ids, (*to->count + (size_t)1) * sizeof(*grown))
			: NULL;
	if (!grown)
		return dwell_err_set(err, -ENOMEM, "out of memory");
	grown[(*to->count)++] = (int32_t)id;
	*to->ids = grown;
	return 0;
}

int dwell_filter_add_pids(struct dwell_filter *filter, const char *list, struct dwell_err *err)
{
	return filter_split(list, err, filter_add_id,
			    &(struct filter_ids){ &filter->pids, &filter->pid_count });
}

int dwell_filter_add_tids(struct dwell_filter *filter, const char *list, struct dwell_err *err)
{
	return filter_split(list, err, filter_add_id,
			    &(struct filter_ids){ &filter->tids, &filter->tid_count });
}

/* "3" or "2-5" */
static int filter_add_cpu_range(void *user, const char *item, struct dwell_err *err)
{
	struct dwell_filter *filter = user;
	char *first = strdup(item), *last;
	uint64_t from = 0, to = 0, *mask;
	uint32_t words;
	int rc;

	if (!first)
		return dwell_err_set(err, -ENOMEM, "out of memory");
	last = strchr(first, '-');
	if (last)
		*last++ = '\0';
	rc = dwell_opt_u64(first, 0, FILTER_CPUS_MAX - 1, &from, err);
	if (!rc)
		rc = dwell_opt_u64(last ? last : first, from, FILTER_CPUS_MAX - 1, &to, err);
	free(first);
	if (rc)
		return rc;
	words = (uint32_t)(to / 64 + 1);
	if (words > filter->cpu_words) {
		mask = realloc(filter->cpu_mask, words * sizeof(*mask));
		if (!mask)
			return dwell_err_set(err, -ENOMEM, "out of memory");
		memset(mask + filter->cpu_words, 0, (words - filter->cpu_words) * sizeof(*mask));
		filter->cpu_mask = mask;
		filter->cpu_words = words;
	}
	for (; from <= to; from++)
		filter->cpu_mask[from / 64] |= 1ull << (from % 64);
	return 0;
}

int dwell_filter_add_cpus(struct dwell_filter *filter, const char *list, struct dwell_err *err)
{
	return filter_split(list, err, filter_add_cpu_range, filter);
}

static void globs_free(char **globs)
{
	for (size_t i = 0; globs && globs[i]; i++)
		free(globs[i]);
	free(globs);
}

void dwell_filter_release(struct dwell_filter *filter)
{
	globs_free(filter->comms);
	globs_free(filter->exclude_comms);
	globs_free(filter->cgroups);
	free(filter->pids);
	free(filter->tids);
	free(filter->cpu_mask);
	*filter = (struct dwell_filter){ 0 };
}

static bool globs_match(char *const *globs, const char *name)
{
	for (; *globs; globs++)
		if (!fnmatch(*globs, name, 0))
			return true;
	return false;
}

static bool ids_have(const int32_t *ids, uint32_t count, int32_t id)
{
	for (uint32_t i = 0; i < count; i++)
		if (ids[i] == id)
			return true;
	return false;
}

static uint32_t filter_state_of(const struct dwell_interval *interval)
{
	switch (interval->state) {
	case DWELL_STATE_ON_CPU:
		return FILTER_ON;
	case DWELL_STATE_RUNNABLE:
		return FILTER_PREEMPTED << interval->detail;
	case DWELL_STATE_BLOCKED:
		return 1u << (FILTER_BLOCKED_SHIFT + interval->detail);
	default:
		return FILTER_UNKNOWN;
	}
}

static bool filter_thread(const struct dwell_filter *filter, const struct dwell_threads *threads,
			  const struct dwell_strings *strings,
			  const struct dwell_interval *interval)
{
	const struct dwell_thread *thread = dwell_threads_get(threads, interval->thread);
	const char *comm = dwell_strings_get(strings, interval->comm);

	if (filter->pid_count && !ids_have(filter->pids, filter->pid_count, thread->pid))
		return false;
	if (filter->tid_count && !ids_have(filter->tids, filter->tid_count, thread->tid))
		return false;
	if (filter->comms && !globs_match(filter->comms, comm))
		return false;
	if (filter->exclude_comms && globs_match(filter->exclude_comms, comm))
		return false;
	return !filter->cgroups ||
	       globs_match(filter->cgroups, dwell_strings_get(strings, thread->cgroup));
}

bool dwell_filter_clip(const struct dwell_filter *filter, const struct dwell_threads *threads,
		       const struct dwell_strings *strings, struct dwell_interval *interval)
{
	uint64_t ns = interval->end_ns - interval->start_ns;
	uint32_t cpu = interval->cpu;

	if (ns < filter->min_ns || (filter->max_ns && ns > filter->max_ns))
		return false;
	if (filter->states && !(filter->states & filter_state_of(interval)))
		return false;
	if (filter->cpu_mask &&
	    (cpu / 64 >= filter->cpu_words || !(filter->cpu_mask[cpu / 64] >> (cpu % 64) & 1)))
		return false;
	if (!filter_thread(filter, threads, strings, interval))
		return false;
	if (interval->start_ns < filter->from_ns) {
		interval->start_ns = filter->from_ns;
		interval->censored_start = false;
	}
	if (filter->to_ns && interval->end_ns > filter->to_ns) {
		interval->end_ns = filter->to_ns;
		interval->censored_end = false;
	}
	return interval->start_ns < interval->end_ns;
}
