// SPDX-License-Identifier: MIT
/* Pass two: runs, each in time order already, become one stream in time order. Those that have
 * begun stand in a heap by the stamp of their next record; the one that is being handed out stays
 * outside of it for as long as no other is due, which costs one comparison a record. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/perf/data_impl.h"

enum {
	BUFFER_MAX_BYTES = 128 << 10, /* of a run, unless a record needs more */
	BUFFER_MIN_BYTES = 4 << 10,
	BUFFERS_BYTES = 64 << 20, /* of all that have begun, above their least */
};

/* A run that has begun. */
struct active {
	struct run run;
	uint64_t stamp; /* of its record */
	uint64_t read;	/* bytes of the run that were read into the buffer so far */
	uint8_t *buffer;
	uint32_t room, at, filled; /* buffer[at] is the record */
	uint32_t bytes;		   /* of the record, header included; 0 = before the first */
	uint32_t type, event, trailer_bytes;
	uint16_t misc;
	bool timed;
};

struct waiting {
	uint64_t stamp;
	struct active *active;
};

struct order {
	const struct dwell_perf_data *data;
	struct active *current; /* handed out last; NULL = none */
	uint64_t limit;		/* current goes on without a look while below it */
	uint32_t next_run;	/* the first that has not begun */
	DWELL_ARRAY(struct waiting) heap;
	uint8_t *spare; /* a buffer of BUFFER_MAX_BYTES that nobody uses */
};

static int run_compare(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	if (x->segment != y->segment)
		return x->segment < y->segment ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Is a record of stamp x in a run due before one of stamp y in another? Equal stamps go by their
 * place in the file. */
static bool due_before(uint64_t x_ns, const struct run *x, uint64_t y_ns, const struct run *y)
{
	if (x_ns != y_ns)
		return x_ns < y_ns;
	if (x->segment != y->segment)
		return x->segment < y->segment;
	return x->offset < y->offset;
}

static bool waiting_before(const struct waiting *x, const struct waiting *y)
{
	return due_before(x->stamp, &x->active->run, y->stamp, &y->active->run);
}

/* ---- one run */

static void active_free(struct order *order, struct active *active)
{
	if (!active)
		return;
	if (active->room == BUFFER_MAX_BYTES && !order->spare)
		order->spare = active->buffer;
	else
		free(active->buffer);
	free(active);
}

/* Makes the buffer hold at least need bytes of records. */
static int active_room(struct order *order, struct active *active, uint32_t need)
{
	uint32_t room = BUFFERS_BYTES / (order->heap.count + 1);
	uint8_t *buffer;

	if (need <= active->room)
		return 0;
	room = room > BUFFER_MAX_BYTES	 ? BUFFER_MAX_BYTES
	       : room < BUFFER_MIN_BYTES ? BUFFER_MIN_BYTES
					 : room;
	room = room > active->run.bytes ? active->run.bytes : room;
	room = room < need ? need : room;
	if (room == BUFFER_MAX_BYTES && order->spare && !active->buffer) {
		buffer = order->spare;
		order->spare = NULL;
	} else {
		buffer = realloc(active->buffer, room);
		if (!buffer)
			return -ENOMEM;
	}
	active->buffer = buffer;
	active->room = room;
	return 0;
}

static int changed(const struct order *order, struct dwell_err *err)
{
	return dwell_err_set(err, -EIO, "'%s' was changed while it was read", order->data->path);
}

/* Reads on, so that need bytes from `at` on are there; the run is known to have them. */
static int active_fill(struct order *order, struct active *active, uint32_t need,
		       struct dwell_err *err)
{
	uint32_t rest = active->filled - active->at;
	uint64_t left = active->run.bytes - active->read;
	int64_t n;

	if (need > rest + left)
		return changed(order, err);
	if (rest)
		memmove(active->buffer, active->buffer + active->at, rest);
	active->at = 0;
	active->filled = rest;
	if (active_room(order, active, need))
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", order->data->path);
	left = left < active->room - rest ? left : active->room - rest;
	n = segment_read(order->data, active->run.segment, active->run.offset + active->read,
			 active->buffer + rest, left, err);
	if (n < 0)
		return (int)n;
	if ((uint64_t)n < left)
		return changed(order, err);
	active->read += left;
	active->filled += (uint32_t)left;
	return 0;
}

/* Moves on to the run's next kernel record: 1, 0 at its end, or -errno. What pass one passed over
 * is passed over again. */
static int active_advance(struct order *order, struct active *active, struct dwell_err *err)
{
	const struct dwell_perf_data *data = order->data;
	bool swapped = data->info.swapped;
	int rc;

	for (;;) {
		struct record_place place;
		const uint8_t *record;
		uint32_t bytes;

		active->at += active->bytes;
		active->bytes = 0;
		if (active->at == active->filled && active->read == active->run.bytes)
			return 0;
		if (active->filled - active->at < RECORD_HEADER_BYTES) {
			rc = active_fill(order, active, RECORD_HEADER_BYTES, err);
			if (rc)
				return rc;
		}
		bytes = load_u16(active->buffer + active->at + 6, swapped);
		if (bytes < RECORD_HEADER_BYTES || bytes % 8)
			return changed(order, err);
		if (active->filled - active->at < bytes) {
			rc = active_fill(order, active, bytes, err);
			if (rc)
				return rc;
		}
		record = active->buffer + active->at;
		active->bytes = bytes;
		active->type = load_u32(record, swapped);
		active->misc = load_u16(record + 4, swapped);
		if (active->type >= DWELL_PERF_USER_TYPES || !kernel_forms[active->type].widths ||
		    !record_find(data, active->type, record + RECORD_HEADER_BYTES,
				 bytes - RECORD_HEADER_BYTES, &place))
			continue;
		active->event = place.event;
		active->trailer_bytes = place.trailer_bytes;
		active->timed = place.stamped && place.stamp && place.stamp != UINT64_MAX;
		/* Not back in time, were the file to change under us. */
		if (place.stamped && place.stamp > active->stamp)
			active->stamp = place.stamp;
		return 1;
	}
}

static void record_give(const struct dwell_perf_data *data, const struct active *active,
			struct dwell_perf_record *record)
{
	uint8_t *payload = active->buffer + active->at + RECORD_HEADER_BYTES;
	uint32_t bytes = active->bytes - RECORD_HEADER_BYTES;

	if (active->type != PERF_RECORD_SAMPLE) {
		if (data->info.swapped)
			kernel_record_swap(active->type, active->misc, payload,
					   bytes - active->trailer_bytes);
		if (kernel_forms[active->type].named)
			kernel_record_terminate(active->type, payload,
						bytes - active->trailer_bytes);
	}
	*record = (struct dwell_perf_record){
		.type = active->type,
		.misc = active->misc,
		.bytes = bytes,
		.payload = payload,
		.event = active->event,
		.time_ns = active->stamp,
		.timed = active->timed,
	};
}

/* ---- the heap */

static void heap_down(struct order *order, uint32_t i)
{
	struct waiting *heap = order->heap.data, moved = heap[i];
	uint32_t count = order->heap.count, child;

	for (; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count && waiting_before(&heap[child + 1], &heap[child]))
			child++;
		if (!waiting_before(&heap[child], &moved))
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

/* Room is there. */
static void heap_push(struct order *order, struct active *active)
{
	struct waiting *heap = order->heap.data, added = { active->stamp, active };
	uint32_t i = order->heap.count++;

	for (; i && waiting_before(&added, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = added;
}

static struct active *heap_pop(struct order *order)
{
	struct active *top = order->heap.data[0].active;

	order->heap.data[0] = order->heap.data[--order->heap.count];
	if (order->heap.count)
		heap_down(order, 0);
	return top;
}

/* Opens the next run and puts it into the heap. */
static int run_begin(struct order *order, struct dwell_err *err)
{
	const struct run *run = &order->data->runs.data[order->next_run];
	struct active *active = calloc(1, sizeof(*active));
	int rc;

	if (!active || dwell_array_grow(&order->heap)) {
		free(active);
		return dwell_err_sys(err, -ENOMEM, "cannot read '%s'", order->data->path);
	}
	active->run = *run;
	active->stamp = run->first_ns;
	order->next_run++;
	rc = active_advance(order, active, err);
	if (rc == 1)
		heap_push(order, active);
	else
		active_free(order, active);
	return rc < 0 ? rc : 0;
}

/* The run among those that have begun whose record comes first; NULL when there is none. */
static struct active *order_first(const struct order *order)
{
	struct active *current = order->current;
	const struct waiting *top = order->heap.data;

	if (!order->heap.count)
		return current;
	if (!current || due_before(top->stamp, &top->active->run, current->stamp, &current->run))
		return top->active;
	return current;
}

/* Makes the run current whose next record is due: 1, 0 when there is none, or -errno. */
static int order_switch(struct order *order, struct dwell_err *err)
{
	uint32_t count = order->data->runs.count;
	const struct run *next;
	struct active *first;
	int rc;

	for (;;) {
		first = order_first(order);
		next = order->next_run < count ? &order->data->runs.data[order->next_run] : NULL;
		if (!next || (first && due_before(first->stamp, &first->run, next->first_ns, next)))
			break;
		rc = run_begin(order, err);
		if (rc)
			return rc;
	}
	if (!first)
		return 0;
	if (!order->current) {
		order->current = heap_pop(order);
	} else if (first != order->current) {
		order->heap.data[0] = (struct waiting){ order->current->stamp, order->current };
		order->current = first;
		heap_down(order, 0);
	}
	order->limit = order->heap.count ? order->heap.data[0].stamp : UINT64_MAX;
	if (next && next->first_ns < order->limit)
		order->limit = next->first_ns;
	return 1;
}

int dwell_perf_data_next(struct dwell_perf_data *data, struct dwell_perf_record *ret_record,
			 struct dwell_err *err)
{
	struct order *order = data->order;
	int rc = 1;

	if (order->current) {
		rc = active_advance(order, order->current, err);
		if (rc < 0)
			return rc;
		if (!rc) {
			active_free(order, order->current);
			order->current = NULL;
		}
	}
	if (!order->current || order->current->stamp >= order->limit) {
		rc = order_switch(order, err);
		if (rc <= 0)
			return rc;
	}
	record_give(data, order->current, ret_record);
	return 1;
}

int order_new(struct dwell_perf_data *data)
{
	struct order *order = calloc(1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	if (data->runs.count)
		qsort(data->runs.data, data->runs.count, sizeof(*data->runs.data), run_compare);
	order->data = data;
	data->order = order;
	return 0;
}

int dwell_perf_data_rewind(struct dwell_perf_data *data)
{
	order_free(data->order);
	data->order = NULL;
	return order_new(data);
}

void order_free(struct order *order)
{
	if (!order)
		return;
	active_free(order, order->current);
	for (uint32_t i = 0; i < order->heap.count; i++)
		active_free(order, order->heap.data[i].active);
	dwell_array_release(&order->heap);
	free(order->spare);
	free(order);
}
