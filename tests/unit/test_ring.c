// SPDX-License-Identifier: MIT
/* Tests of record/ring.c over plain memory: records in order, wrapping ones in one piece, nothing
 * beyond the noted head, and a stop at headers that cannot be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/ring.h"

enum { DATA_BYTES = 4096 };

struct fixture {
	struct ring ring;
	struct perf_event_mmap_page *page;
	uint8_t *data;
};

static int setup(void **state)
{
	static struct fixture f;
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page_bytes + DATA_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -1;
	f.page = memory;
	f.data = (uint8_t *)memory + page_bytes;
	*state = &f;
	return ring_wrap(&f.ring, f.page, f.data, DATA_BYTES);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ring_unmap(&f->ring);
	assert_null(f->ring.page);
	return 0;
}

/* What the kernel does: a record of `bytes` bytes, each payload byte telling its number. */
static void kernel_writes(struct fixture *f, uint32_t number, uint16_t bytes)
{
	struct perf_event_header header = { .type = number, .size = bytes };
	uint64_t head = f->page->data_head;

	assert_true(head + bytes - f->page->data_tail <= DATA_BYTES);
	for (uint16_t i = 0; i < bytes; i++)
		f->data[(head + i) % DATA_BYTES] =
			i < sizeof(header) ? ((uint8_t *)&header)[i] : (uint8_t)(number + i);
	f->page->data_head = head + bytes;
}

static void assert_record(struct fixture *f, uint32_t number, uint16_t bytes)
{
	const struct perf_event_header *record = ring_peek(&f->ring);
	const uint8_t *at = (const uint8_t *)record;

	assert_non_null(record);
	assert_int_equal((uintptr_t)record % 8, 0);
	assert_int_equal(record->type, number);
	assert_int_equal(record->size, bytes);
	for (uint16_t i = sizeof(*record); i < bytes; i++)
		assert_int_equal(at[i], (uint8_t)(number + i));
	ring_consume(&f->ring, record);
}

static void records_up_to_the_noted_head(void **state)
{
	struct fixture *f = *state;

	ring_note(&f->ring);
	assert_null(ring_peek(&f->ring));
	kernel_writes(f, 1, 24);
	assert_null(ring_peek(&f->ring));
	ring_note(&f->ring);
	kernel_writes(f, 2, 8);
	assert_ptr_equal(ring_peek(&f->ring), ring_peek(&f->ring));
	assert_record(f, 1, 24);
	assert_null(ring_peek(&f->ring));
	assert_int_equal(f->page->data_tail, 0);
	ring_release(&f->ring);
	assert_int_equal(f->page->data_tail, 24);
	ring_note(&f->ring);
	assert_record(f, 2, 8);
}

static void laps_with_every_size_and_place(void **state)
{
	struct fixture *f = *state;
	uint32_t written = 0, read = 0, sizes[256];

	for (uint32_t lap = 0; lap < 3000; lap++) {
		for (uint32_t n = lap % 7; n; n--) {
			uint32_t bytes = 8 + 8 * (written * 7 % 61);

			if (f->page->data_head + bytes - f->page->data_tail > DATA_BYTES)
				break;
			sizes[written % 256] = bytes;
			kernel_writes(f, written++, (uint16_t)bytes);
		}
		ring_note(&f->ring);
		for (uint32_t n = lap % 5; n && read < written; n--, read++)
			assert_record(f, read, (uint16_t)sizes[read % 256]);
		ring_release(&f->ring);
	}
	assert_true(f->page->data_head > 20 * DATA_BYTES);
	assert_false(f->ring.broken);
}

static void a_record_as_large_as_the_ring(void **state)
{
	struct fixture *f = *state;

	kernel_writes(f, 1, 64);
	ring_note(&f->ring);
	assert_record(f, 1, 64);
	ring_release(&f->ring);
	kernel_writes(f, 2, DATA_BYTES);
	ring_note(&f->ring);
	assert_record(f, 2, DATA_BYTES);
	assert_null(ring_peek(&f->ring));
}

static void assert_breaks(struct fixture *f, uint16_t size, uint64_t head)
{
	struct perf_event_header header = { .type = 1, .size = size };

	memcpy(f->data, &header, sizeof(header));
	f->ring.tail = 0;
	f->ring.broken = false;
	f->page->data_head = head;
	ring_note(&f->ring);
	assert_null(ring_peek(&f->ring));
	assert_true(f->ring.broken);
	/* It stays broken, whatever comes. */
	header.size = 8;
	memcpy(f->data, &header, sizeof(header));
	assert_null(ring_peek(&f->ring));
}

static void headers_that_cannot_be_break_it(void **state)
{
	struct fixture *f = *state;

	assert_breaks(f, 0, 64);
	assert_breaks(f, 7, 64);
	assert_breaks(f, 12, 64);
	assert_breaks(f, 72, 64);
	assert_breaks(f, 0xfff8, 1 << 20);
	assert_breaks(f, 8, DATA_BYTES + 8);
	assert_breaks(f, 8, UINT64_MAX - 7); /* behind the tail */
}

static void half_a_header_is_not_there_yet(void **state)
{
	struct fixture *f = *state;

	f->page->data_head = 4;
	ring_note(&f->ring);
	assert_null(ring_peek(&f->ring));
	assert_false(f->ring.broken);
}

static void mapping_what_is_no_event_fails(void **state)
{
	struct ring ring = { 0 };

	(void)state;
	assert_true(ring_map(&ring, -1, DATA_BYTES) < 0);
	assert_null(ring.page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_up_to_the_noted_head, setup, teardown),
		cmocka_unit_test_setup_teardown(laps_with_every_size_and_place, setup, teardown),
		cmocka_unit_test_setup_teardown(a_record_as_large_as_the_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(headers_that_cannot_be_break_it, setup, teardown),
		cmocka_unit_test_setup_teardown(half_a_header_is_not_there_yet, setup, teardown),
		cmocka_unit_test(mapping_what_is_no_event_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
