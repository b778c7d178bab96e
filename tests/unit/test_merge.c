// SPDX-License-Identifier: MIT
/* Tests of record/merge.c over rings in plain memory: one time order, side rings first, nothing
 * from the pass's moment on, and all space given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/merge.h"

enum { CPUS = 5, RINGS = 2 * CPUS, DATA_BYTES = 1 << 16, RECORDS = 200 };

/* A sample or another record: the time stands third word or last. */
struct record {
	struct perf_event_header header;
	uint64_t ids, time_ns;
};

struct fixture {
	struct ring rings[RINGS]; /* main and side of each CPU */
	struct merge merge;
};

static int setup(void **state)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	for (unsigned i = 0; f && i < RINGS; i++) {
		void *memory = mmap(NULL, page_bytes + DATA_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED ||
		    ring_wrap(&f->rings[i], memory, (uint8_t *)memory + page_bytes, DATA_BYTES))
			return -1;
	}
	return f ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < RINGS; i++)
		ring_unmap(&f->rings[i]);
	merge_release(&f->merge);
	free(f);
	return 0;
}

static void kernel_writes(struct ring *ring, uint32_t type, uint64_t time_ns)
{
	struct record record = { { .type = type, .size = sizeof(record) }, 0, time_ns };

	memcpy(ring->data + ring->page->data_head % DATA_BYTES, &record, sizeof(record));
	ring->page->data_head += sizeof(record);
}

static void begin(struct fixture *f, uint64_t before_ns)
{
	merge_start(&f->merge, before_ns);
	for (uint32_t i = 0; i < RINGS; i++) {
		ring_note(&f->rings[i]);
		assert_int_equal(merge_add(&f->merge, &f->rings[i], i / 2, i % 2), 0);
	}
}

/* Takes the earliest record, which must be that one. */
static void take(struct fixture *f, uint32_t ring, uint64_t time_ns)
{
	const struct merge_head *head = merge_peek(&f->merge);

	assert_non_null(head);
	assert_int_equal(head->time_ns, time_ns);
	assert_ptr_equal(head->ring, &f->rings[ring]);
	assert_int_equal(head->cpu, ring / 2);
	assert_int_equal(head->side, ring % 2);
	merge_pop(&f->merge);
}

static void one_time_order(void **state)
{
	struct fixture *f = *state;

	kernel_writes(&f->rings[0], PERF_RECORD_SAMPLE, 10);
	kernel_writes(&f->rings[0], PERF_RECORD_SAMPLE, 40);
	kernel_writes(&f->rings[2], PERF_RECORD_SWITCH, 20);
	kernel_writes(&f->rings[3], PERF_RECORD_FORK, 20); /* known before the event */
	kernel_writes(&f->rings[4], PERF_RECORD_SAMPLE, 20);
	kernel_writes(&f->rings[5], PERF_RECORD_COMM, 30);
	kernel_writes(&f->rings[5], PERF_RECORD_EXIT, 50);
	begin(f, 50);
	kernel_writes(&f->rings[1], PERF_RECORD_FORK, 45); /* behind the noted head */
	take(f, 0, 10);
	take(f, 3, 20);
	take(f, 2, 20);
	take(f, 4, 20);
	take(f, 5, 30);
	take(f, 0, 40);
	assert_null(merge_peek(&f->merge));
	begin(f, UINT64_MAX);
	take(f, 1, 45);
	take(f, 5, 50);
	assert_null(merge_peek(&f->merge));
	for (unsigned i = 0; i < RINGS; i++)
		assert_int_equal(f->rings[i].page->data_tail, f->rings[i].page->data_head);
}

static void many_records_come_sorted_and_whole(void **state)
{
	struct fixture *f = *state;
	uint32_t seed = 1, found = 0;
	uint64_t last_ns = 0;

	for (unsigned i = 0; i < RINGS; i++) {
		uint64_t time_ns = 0;

		for (unsigned n = 0; n < RECORDS; n++) {
			seed = seed * 1664525 + 1013904223;
			time_ns += seed >> 28;
			kernel_writes(&f->rings[i], PERF_RECORD_SAMPLE, time_ns);
		}
	}
	for (uint64_t before_ns = 100; found < RINGS * RECORDS; before_ns += 100) {
		const struct merge_head *head;

		begin(f, before_ns);
		for (; (head = merge_peek(&f->merge)); merge_pop(&f->merge), found++) {
			assert_true(head->time_ns >= last_ns && head->time_ns < before_ns);
			last_ns = head->time_ns;
		}
		assert_true(before_ns < 16 * RECORDS + 100);
		last_ns = before_ns; /* nothing was left behind */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_time_order, setup, teardown),
		cmocka_unit_test_setup_teardown(many_records_come_sorted_and_whole, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
