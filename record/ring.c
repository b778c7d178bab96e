// SPDX-License-Identifier: MIT
/* Ring memory becomes records: head and tail with the barriers that the kernel's ring_buffer.c asks
 * for, and a copy for the one record in a lap that wraps. */
#include "record/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_wrap(struct ring *ring, void *page, void *data, uint64_t data_bytes)
{
	uint8_t *scratch = malloc(RING_RECORD_MAX_BYTES);

	if (!scratch)
		return -ENOMEM;
	*ring = (struct ring){
		.page = page, .data = data, .data_bytes = data_bytes, .scratch = scratch
	};
	return 0;
}

int ring_map(struct ring *ring, int fd, uint64_t data_bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *memory =
		mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int rc;

	if (memory == MAP_FAILED)
		return -errno;
	rc = ring_wrap(ring, memory, (uint8_t *)memory + page_bytes, data_bytes);
	if (rc)
		munmap(memory, page_bytes + data_bytes);
	return rc;
}

void ring_unmap(struct ring *ring)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);

	if (ring->page)
		munmap(ring->page, page_bytes + ring->data_bytes);
	free(ring->scratch);
	*ring = (struct ring){ 0 };
}

void ring_note(struct ring *ring)
{
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

const struct perf_event_header *ring_peek(struct ring *ring)
{
	uint64_t at = ring->tail & (ring->data_bytes - 1), left = ring->head - ring->tail, first;
	const struct perf_event_header *record = (const void *)(ring->data + at);

	if (ring->broken || left < sizeof(*record))
		return NULL;
	/* Records are multiples of 8 bytes, so a header never wraps. */
	if (left > ring->data_bytes || record->size < sizeof(*record) || record->size > left ||
	    record->size % 8) {
		ring->broken = true;
		return NULL;
	}
	first = ring->data_bytes - at;
	if (record->size <= first)
		return record;
	memcpy(ring->scratch, record, first);
	memcpy(ring->scratch + first, ring->data, record->size - first);
	return (const void *)ring->scratch;
}

void ring_consume(struct ring *ring, const struct perf_event_header *record)
{
	ring->tail += record->size;
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
