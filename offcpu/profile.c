// SPDX-License-Identifier: MIT
/* Intervals and samples become rows. Off-CPU intervals are added at once; on-CPU time is kept per
 * thread and comm until all its samples are known, then spread over them. */
#include "offcpu/profile.h"

#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/hash.h"
#include "offcpu/weights.h"

/* Two words -> the index of what they name: open addressing, at most 3/4 full. */
struct key_slot {
	uint64_t a, b;
	uint32_t index; /* + 1; 0 = free */
};

struct key_table {
	struct key_slot *slots;
	uint32_t count, mask;
};

struct weight {
	uint32_t stack;
	uint64_t weight, samples;
	uint64_t ns, rest; /* while spreading */
};

/* On-CPU time of one thread under one comm, still to be spread. */
struct share {
	uint32_t thread, comm, cgroup;
	uint32_t next; /* the same thread's older share, + 1; or the next free one */
	uint64_t ns, count, longest_ns, censored_ns;
	DWELL_ARRAY(struct weight) weights;
	struct key_table by_stack; /* of weights, once they are more than a few */
};

/* The group that a thread's samples went to last. */
struct latest_group {
	uint32_t comm, cgroup;
	uint32_t group; /* + 1; 0 = none yet */
};

struct dwell_profile {
	const struct dwell_threads *threads;
	enum dwell_group_by by;
	struct key_table group_table, row_table;
	DWELL_ARRAY(struct dwell_group) groups;
	DWELL_ARRAY(struct dwell_row) rows;
	DWELL_ARRAY(struct share) shares;
	DWELL_ARRAY(uint32_t) heads;		 /* by thread: its newest share, + 1 */
	uint32_t free_share;			 /* + 1 */
	DWELL_ARRAY(struct latest_group) latest; /* by thread */
	struct dwell_weights weights;		 /* become rows at the end */
};

static struct key_slot *key_slot_find(struct key_slot *slots, uint32_t mask, uint64_t a, uint64_t b)
{
	uint32_t i = (uint32_t)dwell_hash_pair(a, b) & mask;

	while (slots[i].index && (slots[i].a != a || slots[i].b != b))
		i = (i + 1) & mask;
	return &slots[i];
}

static int key_table_widen(struct key_table *table)
{
	uint64_t room = table->slots ? 2 * ((uint64_t)table->mask + 1) : 16;
	struct key_slot *slots;

	if (room > 1u << 31)
		return -ENOMEM;
	slots = calloc(room, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint64_t i = 0; table->slots && i <= table->mask; i++) {
		const struct key_slot *old = &table->slots[i];

		if (old->index)
			*key_slot_find(slots, (uint32_t)room - 1, old->a, old->b) = *old;
	}
	free(table->slots);
	table->slots = slots;
	table->mask = (uint32_t)room - 1;
	return 0;
}

/* The index of a key; a new key gets index `next`. 0, 1 when it is new, or -ENOMEM. */
static int key_table_need(struct key_table *table, uint64_t a, uint64_t b, uint32_t next,
			  uint32_t *ret_index)
{
	struct key_slot *slot;

	if (!table->slots || (uint64_t)table->count * 4 >= ((uint64_t)table->mask + 1) * 3) {
		int rc = key_table_widen(table);

		if (rc)
			return rc;
	}
	slot = key_slot_find(table->slots, table->mask, a, b);
	if (slot->index) {
		*ret_index = slot->index - 1;
		return 0;
	}
	*slot = (struct key_slot){ a, b, next + 1 };
	table->count++;
	*ret_index = next;
	return 1;
}

static void key_table_release(struct key_table *table)
{
	free(table->slots);
	*table = (struct key_table){ 0 };
}

struct dwell_profile *dwell_profile_new(const struct dwell_threads *threads, enum dwell_group_by by)
{
	struct dwell_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->threads = threads;
	profile->by = by;
	return profile;
}

static void share_release(struct share *share)
{
	key_table_release(&share->by_stack);
	dwell_array_release(&share->weights);
}

void dwell_profile_free(struct dwell_profile *profile)
{
	if (!profile)
		return;
	for (uint32_t i = 0; i < profile->shares.count; i++)
		share_release(&profile->shares.data[i]);
	for (uint32_t i = 0; i < profile->rows.count; i++)
		free(profile->rows.data[i].histogram);
	key_table_release(&profile->group_table);
	key_table_release(&profile->row_table);
	dwell_array_release(&profile->groups);
	dwell_array_release(&profile->rows);
	dwell_array_release(&profile->shares);
	dwell_array_release(&profile->heads);
	dwell_array_release(&profile->latest);
	dwell_weights_release(&profile->weights);
	free(profile);
}

static int profile_group(struct dwell_profile *profile, uint32_t thread, uint32_t comm,
			 uint32_t cgroup, uint32_t *ret_group)
{
	struct dwell_group group = { comm, thread };
	uint64_t name = comm, member = 0;
	int rc;

	switch (profile->by) {
	case DWELL_BY_COMM:
		break;
	case DWELL_BY_PROCESS:
		member = (uint32_t)dwell_threads_get(profile->threads, thread)->pid;
		break;
	case DWELL_BY_THREAD:
		member = thread;
		break;
	case DWELL_BY_CGROUP:
		name = group.comm = cgroup;
		break;
	}
	if (dwell_array_grow(&profile->groups))
		return -ENOMEM;
	rc = key_table_need(&profile->group_table, name, member, profile->groups.count, ret_group);
	if (rc > 0)
		profile->groups.data[profile->groups.count++] = group;
	return rc < 0 ? rc : 0;
}

/* The row of a key, its sums all zero when new. The caller's row has the key only. */
static int profile_row(struct dwell_profile *profile, const struct dwell_row *key,
		       struct dwell_row **ret_row)
{
	uint32_t index, *histogram = NULL;
	int rc;

	if (dwell_array_grow(&profile->rows))
		return -ENOMEM;
	rc = key_table_need(&profile->row_table, (uint64_t)key->group << 32 | key->stack,
			    (uint64_t)key->state << 16 | key->detail << 8 | key->not_sampled,
			    profile->rows.count, &index);
	if (rc < 0)
		return rc;
	if (rc > 0) {
		profile->rows.data[profile->rows.count] = *key;
		profile->rows.count++;
	}
	*ret_row = &profile->rows.data[index];
	if (key->state == DWELL_STATE_ON_CPU || (*ret_row)->histogram)
		return 0;
	histogram = calloc(DWELL_HISTOGRAM_BUCKETS, sizeof(*histogram));
	if (!histogram)
		return -ENOMEM;
	(*ret_row)->histogram = histogram;
	return 0;
}

/* Who gets the ns that the division left over: the largest rests, then the lowest stack ids. */
static int weight_by_rest(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	if (x->rest != y->rest)
		return x->rest < y->rest ? 1 : -1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

/* Largest remainder: whole ns that sum to total_ns, each within 1 of its exact part. */
static void weights_spread(struct weight *weights, uint32_t count, uint64_t total_ns)
{
	unsigned __int128 sum = 0;
	uint64_t left_ns = total_ns;

	for (uint32_t i = 0; i < count; i++)
		sum += weights[i].weight;
	while (sum > UINT64_MAX) { /* no recording is that long; keep the products in range */
		sum = 0;
		for (uint32_t i = 0; i < count; i++)
			sum += weights[i].weight = weights[i].weight / 2 + 1;
	}
	for (uint32_t i = 0; i < count; i++) {
		unsigned __int128 product = (unsigned __int128)total_ns * weights[i].weight;

		weights[i].ns = (uint64_t)(product / sum);
		weights[i].rest = (uint64_t)(product % sum);
		left_ns -= weights[i].ns;
	}
	qsort(weights, count, sizeof(*weights), weight_by_rest);
	for (uint32_t i = 0; i < left_ns; i++)
		weights[i].ns++;
}

static int share_spread_sampled(struct dwell_profile *profile, struct share *share, uint32_t group)
{
	uint64_t ns_left = share->ns, censored_left = share->censored_ns;

	weights_spread(share->weights.data, share->weights.count, share->ns);
	for (uint32_t i = 0; i < share->weights.count; i++) {
		const struct weight *weight = &share->weights.data[i];
		struct dwell_row key = { .group = group, .stack = weight->stack }, *row;
		uint64_t censored_ns;
		int rc;

		if (!weight->ns)
			continue;
		rc = profile_row(profile, &key, &row);
		if (rc)
			return rc;
		/* The same part of what is left each time: the sum comes out exact. */
		censored_ns = (uint64_t)((unsigned __int128)censored_left * weight->ns / ns_left);
		row->ns += weight->ns;
		row->count += weight->samples;
		row->censored_ns += censored_ns;
		ns_left -= weight->ns;
		censored_left -= censored_ns;
	}
	return 0;
}

/* Turns a share into rows. */
static int share_spread(struct dwell_profile *profile, struct share *share)
{
	struct dwell_row key = { .not_sampled = true }, *row;
	int rc;

	if (!share->ns)
		return 0;
	rc = profile_group(profile, share->thread, share->comm, share->cgroup, &key.group);
	if (rc)
		return rc;
	if (share->weights.count)
		return share_spread_sampled(profile, share, key.group);
	rc = profile_row(profile, &key, &row);
	if (rc)
		return rc;
	row->ns += share->ns;
	row->count += share->count;
	row->censored_ns += share->censored_ns;
	if (row->longest_ns < share->longest_ns)
		row->longest_ns = share->longest_ns;
	return 0;
}

/* Spreads and frees a thread's shares from *link on. */
static int shares_retire(struct dwell_profile *profile, uint32_t *link)
{
	int rc = 0;

	while (*link) {
		uint32_t index = *link - 1;
		struct share *share = &profile->shares.data[index];
		int rc_one = share_spread(profile, share);

		rc = rc ? rc : rc_one;
		*link = share->next;
		share_release(share);
		*share = (struct share){ .next = profile->free_share };
		profile->free_share = index + 1;
	}
	return rc;
}

/* The share of a thread under a comm. A new comm ends all but the last one before it (whose
 * interval may still be open), so no thread has more than two. NULL when out of memory. */
static struct share *share_need(struct dwell_profile *profile, uint32_t thread, uint32_t comm)
{
	uint32_t cgroup = dwell_threads_get(profile->threads, thread)->cgroup, index;
	uint32_t had = profile->heads.count;

	if (dwell_array_reserve(&profile->heads, (uint64_t)thread + 1))
		return NULL;
	for (; had <= thread; had++)
		profile->heads.data[profile->heads.count++] = 0;
	for (index = profile->heads.data[thread]; index;
	     index = profile->shares.data[index - 1].next) {
		struct share *share = &profile->shares.data[index - 1];

		if (share->comm == comm && share->cgroup == cgroup)
			return share;
	}
	index = profile->heads.data[thread];
	if (index && shares_retire(profile, &profile->shares.data[index - 1].next))
		return NULL;
	if (!profile->free_share) {
		if (dwell_array_grow(&profile->shares))
			return NULL;
		profile->shares.data[profile->shares.count++] = (struct share){ 0 };
		profile->free_share = profile->shares.count;
	}
	index = profile->free_share;
	profile->free_share = profile->shares.data[index - 1].next;
	profile->shares.data[index - 1] = (struct share){
		.thread = thread,
		.comm = comm,
		.cgroup = cgroup,
		.next = profile->heads.data[thread],
	};
	profile->heads.data[thread] = index;
	return &profile->shares.data[index - 1];
}

static int profile_add_on(struct dwell_profile *profile, const struct dwell_interval *interval,
			  uint64_t ns)
{
	struct share *share = share_need(profile, interval->thread, interval->comm);

	if (!share)
		return -ENOMEM;
	share->ns += ns;
	share->count++;
	if (share->longest_ns < ns)
		share->longest_ns = ns;
	if (interval->censored_start || interval->censored_end)
		share->censored_ns += ns;
	return 0;
}

int dwell_profile_add(struct dwell_profile *profile, const struct dwell_interval *interval)
{
	struct dwell_row key = { .stack = interval->stack,
				 .state = interval->state,
				 .detail = interval->detail },
			 *row;
	uint64_t ns = interval->end_ns - interval->start_ns;
	unsigned bucket;
	int rc;

	if (!ns)
		return 0;
	if (interval->state == DWELL_STATE_ON_CPU)
		return profile_add_on(profile, interval, ns);
	rc = profile_group(profile, interval->thread, interval->comm,
			   dwell_threads_get(profile->threads, interval->thread)->cgroup,
			   &key.group);
	if (!rc)
		rc = profile_row(profile, &key, &row);
	if (rc)
		return rc;
	row->ns += ns;
	row->count++;
	if (row->longest_ns < ns)
		row->longest_ns = ns;
	if (interval->censored_start || interval->censored_end)
		row->censored_ns += ns;
	bucket = 63 - (unsigned)__builtin_clzll(ns);
	row->histogram[bucket < DWELL_HISTOGRAM_BUCKETS ? bucket : DWELL_HISTOGRAM_BUCKETS - 1]++;
	return 0;
}

/* The weight of a stack in a share, added when new. 0 or -ENOMEM. Most threads have few: those are
 * looked through. */
static int share_weight(struct share *share, uint32_t stack, struct weight **ret_weight)
{
	enum { FEW = 8 };
	uint32_t index = 0, count = share->weights.count;
	int rc;

	if (dwell_array_grow(&share->weights))
		return -ENOMEM;
	if (count < FEW) {
		while (index < count && share->weights.data[index].stack != stack)
			index++;
	} else {
		for (uint32_t i = share->by_stack.count; i < count; i++) {
			rc = key_table_need(&share->by_stack, share->weights.data[i].stack, 0, i,
					    &index);
			if (rc < 0)
				return rc;
		}
		rc = key_table_need(&share->by_stack, stack, 0, count, &index);
		if (rc < 0)
			return rc;
	}
	if (index == count)
		share->weights.data[share->weights.count++] = (struct weight){ .stack = stack };
	*ret_weight = &share->weights.data[index];
	return 0;
}

int dwell_profile_add_sample(struct dwell_profile *profile, const struct dwell_event *event,
			     uint32_t comm)
{
	struct share *share;
	uint64_t weight = event->u.sample.weight ? event->u.sample.weight : 1;
	struct weight *to;

	if (event->thread >= dwell_threads_count(profile->threads))
		return 0;
	share = share_need(profile, event->thread, comm);
	if (!share || share_weight(share, event->stack, &to))
		return -ENOMEM;
	to->weight = weight > UINT64_MAX - to->weight ? UINT64_MAX : to->weight + weight;
	to->samples++;
	return 0;
}

/* As profile_group(), for threads in the table: most samples have the group of the one before. */
static int latest_group(struct dwell_profile *profile, uint32_t thread, uint32_t comm,
			uint32_t *ret_group)
{
	uint32_t cgroup = dwell_threads_get(profile->threads, thread)->cgroup, group;
	struct latest_group *latest;
	int rc;

	if (dwell_array_reserve(&profile->latest, (uint64_t)thread + 1))
		return -ENOMEM;
	while (profile->latest.count <= thread)
		profile->latest.data[profile->latest.count++] = (struct latest_group){ 0 };
	latest = &profile->latest.data[thread];
	if (!latest->group || latest->comm != comm || latest->cgroup != cgroup) {
		rc = profile_group(profile, thread, comm, cgroup, &group);
		if (rc)
			return rc;
		*latest = (struct latest_group){ comm, cgroup, group + 1 };
	}
	*ret_group = latest->group - 1;
	return 0;
}

int dwell_profile_add_weight(struct dwell_profile *profile, uint32_t thread, uint32_t comm,
			     uint32_t stack, uint64_t weight)
{
	uint32_t group;
	int rc = thread < dwell_threads_count(profile->threads)
			 ? latest_group(profile, thread, comm, &group)
			 : profile_group(profile, thread, comm, 0, &group);

	return rc ? rc : dwell_weights_add(&profile->weights, group, stack, weight);
}

static int weights_to_rows(struct dwell_profile *profile)
{
	const struct dwell_weights *weights = &profile->weights;

	for (uint64_t i = 0; weights->entries && i <= weights->mask; i++) {
		const struct dwell_weights_entry *entry = &weights->entries[i];

		if (!entry->samples)
			continue;
		if (dwell_array_grow(&profile->rows))
			return -ENOMEM;
		profile->rows.data[profile->rows.count++] =
			(struct dwell_row){ .group = (uint32_t)(entry->key >> 32),
					    .stack = (uint32_t)entry->key,
					    .ns = entry->weight,
					    .count = entry->samples };
	}
	dwell_weights_release(&profile->weights);
	return 0;
}

int dwell_profile_end_thread(struct dwell_profile *profile, uint32_t thread)
{
	return thread < profile->heads.count ? shares_retire(profile, &profile->heads.data[thread])
					     : 0;
}

int dwell_profile_finish(struct dwell_profile *profile)
{
	int rc = 0;

	for (uint32_t thread = 0; thread < profile->heads.count && !rc; thread++)
		rc = dwell_profile_end_thread(profile, thread);
	return rc ? rc : weights_to_rows(profile);
}

uint32_t dwell_profile_count(const struct dwell_profile *profile)
{
	return profile->rows.count;
}

const struct dwell_row *dwell_profile_row(const struct dwell_profile *profile, uint32_t index)
{
	return &profile->rows.data[index];
}

const struct dwell_group *dwell_profile_group(const struct dwell_profile *profile, uint32_t index)
{
	return &profile->groups.data[index];
}

enum dwell_group_by dwell_profile_by(const struct dwell_profile *profile)
{
	return profile->by;
}
