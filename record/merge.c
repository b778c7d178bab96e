// SPDX-License-Identifier: MIT
/* Ring buffers become one time order by a binary heap of their oldest records. A ring's space goes
 * back to the kernel in steps, since each step is seen by the CPU that writes. */
#include "record/merge.h"

#include <string.h>

enum { RELEASE_EVERY = 64 };

/* The time of a record: second field of a sample, last of a trailer (both begin with TID, TIME). */
static uint64_t record_time(const struct perf_event_header *record)
{
	const uint8_t *bytes = (const uint8_t *)record;
	uint64_t time_ns = 0;

	if (record->type == PERF_RECORD_SAMPLE && record->size >= 24)
		memcpy(&time_ns, bytes + 16, 8);
	else if (record->type != PERF_RECORD_SAMPLE && record->size >= 24)
		memcpy(&time_ns, bytes + record->size - 8, 8);
	return time_ns;
}

static bool head_before(const struct merge_head *a, const struct merge_head *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	return a->side != b->side ? a->side : a->cpu < b->cpu;
}

/* Reads the ring's next record. False when there is none to take. */
static bool head_read(const struct merge *merge, struct merge_head *head)
{
	head->record = ring_peek(head->ring);
	if (!head->record)
		return false;
	head->time_ns = record_time(head->record);
	return head->time_ns < merge->before_ns;
}

static bool head_is_loss(const struct merge_head *head)
{
	return head->side && head->record->type == PERF_RECORD_LOST;
}

static void heap_sink(struct merge *merge)
{
	struct merge_head *heads = merge->heap.data, top = heads[0];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < merge->heap.count) {
		if (child + 1 < merge->heap.count && head_before(&heads[child + 1], &heads[child]))
			child++;
		if (!head_before(&heads[child], &top))
			break;
		heads[i] = heads[child];
		i = child;
	}
	heads[i] = top;
}

void merge_start(struct merge *merge, uint64_t before_ns)
{
	merge->heap.count = merge->losing = 0;
	merge->before_ns = before_ns;
}

int merge_add(struct merge *merge, struct ring *ring, uint32_t cpu, bool side)
{
	struct merge_head head = { .ring = ring, .cpu = cpu, .side = side };
	struct merge_head *heads;
	uint32_t i;

	if (!head_read(merge, &head))
		return 0;
	if (dwell_array_grow(&merge->heap))
		return -ENOMEM;
	merge->losing += head_is_loss(&head);
	heads = merge->heap.data;
	for (i = merge->heap.count++; i && head_before(&head, &heads[(i - 1) / 2]); i = (i - 1) / 2)
		heads[i] = heads[(i - 1) / 2];
	heads[i] = head;
	return 0;
}

const struct merge_head *merge_peek(const struct merge *merge)
{
	return merge->heap.count ? merge->heap.data : NULL;
}

void merge_pop(struct merge *merge)
{
	struct merge_head *head = merge->heap.data;
	struct ring *ring = head->ring;
	bool more;

	merge->losing -= head_is_loss(head);
	ring_consume(ring, head->record);
	more = head_read(merge, head);
	if (more)
		merge->losing += head_is_loss(head);
	if (!more || ++head->taken % RELEASE_EVERY == 0)
		ring_release(ring);
	if (!more)
		*head = merge->heap.data[--merge->heap.count];
	if (merge->heap.count)
		heap_sink(merge);
}

void merge_release(struct merge *merge)
{
	dwell_array_release(&merge->heap);
}
