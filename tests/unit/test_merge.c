// SPDX-License-Identifier: MIT
/* Tests of record/merge.c and of what the intake makes of rings that lost, wrapped or broke:
 * records of all rings in time order, gaps where something is missing, a stop where nothing can be
 * right. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/synth/rings.h"

static void merge_all(struct rings *r, uint64_t before_ns)
{
	merge_start(&r->rec.merge, before_ns);
	for (uint32_t cpu = 0; cpu < RINGS_CPUS; cpu++) {
		ring_note(ring_main(r, cpu));
		ring_note(ring_side(r, cpu));
		assert_int_equal(merge_add(&r->rec.merge, ring_main(r, cpu), cpu, false), 0);
		assert_int_equal(merge_add(&r->rec.merge, ring_side(r, cpu), cpu, true), 0);
	}
}

static void assert_next(struct rings *r, uint64_t time_ns, uint32_t cpu, bool side)
{
	const struct merge_head *head = merge_peek(&r->rec.merge);

	assert_non_null(head);
	assert_int_equal(head->time_ns, time_ns);
	assert_int_equal(head->cpu, cpu);
	assert_int_equal(head->side, side);
	merge_pop(&r->rec.merge);
}

static void the_earliest_of_all_first(void **state)
{
	struct rings *r = *state;

	comes(r, 2, 1000, A);
	clock_sample(r, 0, 1100, A);
	exits(r, 1, 1100, A); /* at one time: what is known first */
	comes(r, 1, 1100, A);
	forks(r, 2, 1050, A, B);
	clock_sample(r, 0, 1300, A);
	clock_sample(r, 0, 1200, A); /* behind its elder: a nested interrupt's */
	exits(r, 1, 1250, A);
	merge_all(r, UINT64_MAX);
	assert_next(r, 1000, 2, false);
	assert_next(r, 1050, 2, true);
	assert_next(r, 1100, 1, true);
	assert_next(r, 1100, 0, false);
	assert_next(r, 1100, 1, false);
	assert_next(r, 1250, 1, true);
	assert_next(r, 1300, 0, false);
	assert_next(r, 1200, 0, false);
	assert_null(merge_peek(&r->rec.merge));
}

static void records_from_before_ns_on_wait(void **state)
{
	struct rings *r = *state;

	clock_sample(r, 0, 1000, A);
	clock_sample(r, 0, 1100, A);
	clock_sample(r, 1, 1100, A);
	clock_sample(r, 1, 1050, A); /* does not overtake in its ring */
	merge_all(r, 1100);
	assert_next(r, 1000, 0, false);
	assert_null(merge_peek(&r->rec.merge));
	merge_all(r, 1101);
	assert_next(r, 1100, 0, false);
	assert_next(r, 1100, 1, false);
	assert_next(r, 1050, 1, false);
	assert_null(merge_peek(&r->rec.merge));
}

/* The writing CPU gets its room back in steps, and all of it at the end. */
static void room_goes_back_in_steps(void **state)
{
	struct rings *r = *state;
	const struct ring *ring = ring_main(r, 0);
	uint64_t bytes;

	comes(r, 0, 1000, A);
	bytes = ring->page->data_head;
	for (uint32_t i = 1; i < 100; i++)
		comes(r, 0, 1000 + i, A);
	merge_all(r, UINT64_MAX);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(ring->page->data_tail, i < 64 ? 0 : 64 * bytes);
		assert_next(r, 1000 + i, 0, false);
	}
	assert_int_equal(ring->page->data_tail, 100 * bytes);
}

static void lapped_rings(void **state)
{
	char expected[16384] = "";
	size_t used = 0;
	struct rings *r = *state;

	target(r, A);
	for (uint32_t lap = 0; lap < 10; lap++) {
		for (uint32_t i = 0; i < 9; i++) {
			uint64_t time_ns = 1000 + 100 * lap + 10 * i;

			switches(r, 1, time_ns, IDLE, R, A);
			switches(r, 1, time_ns + 5, A, S, IDLE);
			names_itself(r, 2, time_ns + 7, A, 0, "nine");
			used += (size_t)snprintf(expected + used, sizeof(expected) - used,
						 "%llu 1 switch 0.1 R >4000010.1\n"
						 "%llu 1 switch 4000010.1 S >0.1\n"
						 "%llu -1 comm 4000010.1 nine\n",
						 (unsigned long long)time_ns,
						 (unsigned long long)time_ns + 5,
						 (unsigned long long)time_ns + 7);
		}
		pass(r);
	}
	assert_true(ring_main(r, 1)->page->data_head > 4 * RING_DATA_BYTES);
	assert_int_equal(ring_main(r, 1)->page->data_tail, ring_main(r, 1)->page->data_head);
	assert_int_equal(r->rec.records, 270);
	assert_trace(r, expected);
}

/* Between the last record before and the LOST record. */
static void losses_are_gaps(void **state)
{
	struct rings *r = *state;

	target(r, A);
	loses(ring_main(r, 1), 1050, 3);
	switches(r, 0, 1000, IDLE, R, A);
	loses(ring_main(r, 0), 1200, 7);
	switches(r, 0, 1300, A, S, IDLE);
	pass(r);
	assert_true(r->rec.recount);
	assert_false(r->rec.rescan);
	assert_int_equal(r->rec.lost, 10);
	assert_int_equal(r->rec.loss_ns, 1200);
	assert_trace(r, "1050 1 gap none from 100 3\n"
			"1000 0 switch 0.1 R >4000010.1\n"
			"1200 0 gap none from 1000 7\n"
			"1300 0 switch 4000010.1 S >0.1\n");
}

/* What the loss hid is no sign of an idle task that hides tracepoints. */
static void a_loss_breaks_no_chain(void **state)
{
	struct rings *r = *state;

	r->config.all = true;
	switches(r, 0, 1000, IDLE, R, A);
	loses(ring_main(r, 0), 1100, 1);
	switches(r, 0, 1200, B, S, IDLE);
	pass(r);
	assert_int_equal(r->rec.cpus[0].breaks, 0);
	r->config.all = false;
	target(r, A);
	switches(r, 1, 1300, A, S, IDLE);
	loses(ring_main(r, 1), 1400, 1);
	switches(r, 1, 1500, A, S, IDLE);
	pass(r);
	assert_int_equal(r->rec.cpus[1].breaks, 0);
	switches(r, 1, 1600, A, S, IDLE);
	pass(r);
	assert_int_equal(r->rec.cpus[1].breaks, 1);
}

static void losses_at_the_windows_end(void **state)
{
	struct rings *r = *state;

	r->rec.end_ns = 1500;
	clock_sample(r, 0, 1400, A);
	loses(ring_main(r, 0), 1600, 7); /* the gap began inside */
	clock_sample(r, 1, 1550, A);
	loses(ring_main(r, 1), 1600, 7); /* and this one did not */
	loses(ring_side(r, 2), 1600, 1);
	pass(r);
	assert_int_equal(r->rec.lost, 8);
	assert_true(r->rec.recount);
	assert_trace(r, "1500 0 gap none from 1400 7\n");
}

static void lost_side_records_ask_for_proc(void **state)
{
	struct rings *r = *state;

	loses(ring_side(r, 2), 1000, 3);
	pass(r);
	assert_true(r->rec.rescan);
	assert_false(r->rec.recount);
	assert_int_equal(r->rec.lost, 3);
	assert_trace(r, "");
}

/* The number and the time of it go into the trace; a tail's loss is known by the kernel's count. */
static void lost_side_records_are_told(void **state)
{
	struct rings *r = *state;

	forks(r, 2, 1000, A, B);
	loses(ring_side(r, 2), 1200, 3);
	forks(r, 1, 1300, A, B1);
	pass(r);
	assert_int_equal(r->rec.side_loss.records, 3);
	assert_int_equal(r->rec.side_loss.from_ns, 1000);
	assert_int_equal(r->rec.side_loss.to_ns, 1200);
	r->rec.end_ns = 1500;
	r->rec.events.cpus[1].counts[RECORD_SIDE] = (struct event_count){ 0, 0, 4, true };
	r->rec.events.cpus[2].counts[RECORD_SIDE] = (struct event_count){ 0, 0, 3, true };
	assert_int_equal(loss_last(&r->rec), 0);
	assert_int_equal(r->rec.side_loss.records, 7);
	assert_int_equal(r->rec.side_loss.to_ns, 1500);
	assert_int_equal(r->rec.lost, 7);
}

/* FORK and COMM of B were lost: who bore it wakes it, and its switch-out has its name. */
static void what_other_records_tell_is_learnt(void **state)
{
	struct rings *r = *state;

	target(r, A);
	switches(r, 0, 1000, IDLE, R, A);
	waking_named(r, 0, 1100, ID_NEW, A, A, 0, B);
	switches(r, 0, 1200, A, S, B);
	switches(r, 0, 1300, B, S, IDLE);
	loses(ring_side(r, 0), 1400, 2);
	switches(r, 0, 1500, IDLE, R, B);
	switches(r, 0, 1600, B, S, IDLE); /* named as before */
	pass(r);
	assert_int_equal(tids_slot(&r->rec.tids, B)->pid, B);
	assert_trace(r, "1000 0 switch 0.1 R >4000010.1\n"
			"1100 -1 fork 4000020.1 of 4000010.1\n"
			"1100 0 new 4000020.1 by 4000010.1 0 at 1\n"
			"1200 -1 comm 4000010.1 previous\n"
			"1200 0 switch 4000010.1 S >4000020.1\n"
			"1300 -1 comm 4000020.1 previous\n"
			"1300 0 switch 4000020.1 S >0.1\n"
			"1500 0 switch 0.1 R >4000020.1\n"
			"1600 0 switch 4000020.1 S >0.1\n");
}

/* A ring that is full to the end has no LOST record for what did not fit any more: the kernel's
 * counts tell. */
static void losses_that_no_record_tells_of(void **state)
{
	struct rings *r = *state;
	struct cpu_events *cpus = r->rec.events.cpus;

	target(r, A);
	switches(r, 0, 1000, IDLE, R, A);
	loses(ring_main(r, 0), 1200, 7);
	switches(r, 0, 1300, A, S, IDLE);
	switches(r, 1, 1400, IDLE, R, A);
	switches(r, 2, 1600, IDLE, R, A);
	r->rec.end_ns = 1500;
	pass(r);
	cpus[0].counts[RECORD_SWITCH] = (struct event_count){ 12, 2, 9, true };
	cpus[0].counts[RECORD_CLOCK] = (struct event_count){ 1000000, 0, 1, true };
	cpus[1].counts[RECORD_SWITCH] = (struct event_count){ 5, 1, 0, false }; /* Linux 5.x */
	cpus[1].counts[RECORD_WAKING] = (struct event_count){ 9, 1, 0, false };
	cpus[2].counts[RECORD_SWITCH].lost = 4; /* after the window */
	r->rec.recount = false;
	assert_int_equal(loss_last(&r->rec), 0);
	assert_int_equal(r->rec.lost, 7 + 3 + 4);
	assert_true(r->rec.recount);
	assert_trace(r, "1000 0 switch 0.1 R >4000010.1\n"
			"1200 0 gap none from 1000 7\n"
			"1300 0 switch 4000010.1 S >0.1\n"
			"1500 0 gap none from 1300 3\n"
			"1400 1 switch 0.1 R >4000010.1\n"
			"1500 1 gap none from 1400 4\n");
}

/* Without tracepoints both share a ring. */
static void a_lost_record_may_be_of_any_kind(void **state)
{
	struct rings *r = *state;

	loses(ring_main(r, 0), 1000, 2);
	pass(r);
	assert_true(r->rec.recount && r->rec.rescan);
	assert_trace(r, "1000 0 gap none from 100 2\n");
}

/* The clock's events own the ring there: what did not fit is counted on them. */
static void losses_of_tasks_that_no_record_tells_of(void **state)
{
	struct rings *r = *state;

	target(r, A);
	comes(r, 0, 1000, A);
	r->rec.end_ns = 1500;
	pass(r);
	r->rec.events.cpus[0].counts[RECORD_CLOCK] = (struct event_count){ 1000000, 0, 9, true };
	assert_int_equal(loss_last(&r->rec), 0);
	assert_int_equal(r->rec.lost, 9);
	assert_true(r->rec.recount);
	assert_trace(r, "1000 0 in 4000010.1 none\n"
			"1500 0 gap none from 1000 9\n");
}

static void assert_fails(struct rings *r, int rc, const char *message)
{
	assert_int_equal(intake_pass(&r->rec), rc);
	assert_int_equal(r->rec.err.code, rc);
	assert_string_equal(r->rec.err.msg, message);
}

static void a_header_that_cannot_be_ends_the_recording(void **state)
{
	struct rings *r = *state;
	const uint64_t half = 4;

	target(r, A);
	switches(r, 1, 1000, IDLE, R, A);
	switches(r, 2, 1100, A, S, IDLE);
	ring_put(ring_main(r, 1), PERF_RECORD_SAMPLE, 0, &half, 8);
	ring_main(r, 1)->data[ring_main(r, 1)->page->data_head - 10] = 12; /* its size */
	assert_fails(r, -EBADMSG, "the ring buffer of CPU 1 is corrupt");
	/* What came before it is good. */
	assert_trace(r, "1000 1 switch 0.1 R >4000010.1\n"
			"1100 2 switch 4000010.1 S >0.1\n");
}

static void a_side_ring_breaks_alike(void **state)
{
	struct rings *r = *state;

	exits(r, 2, 1000, A);
	((struct perf_event_header *)(void *)ring_side(r, 2)->data)->size = 0;
	assert_fails(r, -EBADMSG, "the ring buffer of CPU 2 is corrupt");
}

static void a_sample_too_short_for_its_layout(void **state)
{
	struct rings *r = *state;
	const uint64_t body[3] = { 0, 1000, 1u << 20 };

	ring_put(ring_main(r, 0), PERF_RECORD_SAMPLE, 0, body, sizeof(body));
	assert_fails(r, -EBADMSG, "the kernel's sample does not have the layout asked for");
}

static void a_switch_record_without_a_trailer(void **state)
{
	struct rings *r = *state;

	r->rec.start_ns = 0; /* else it would be from before the window */
	ring_put(ring_main(r, 0), PERF_RECORD_SWITCH, 0, "", 0);
	assert_int_equal(intake_pass(&r->rec), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RINGS_TEST(the_earliest_of_all_first),
		RINGS_TEST(records_from_before_ns_on_wait),
		RINGS_TEST(room_goes_back_in_steps),
		RINGS_TEST(lapped_rings),
		RINGS_TEST(losses_are_gaps),
		RINGS_TEST(a_loss_breaks_no_chain),
		RINGS_TEST(losses_at_the_windows_end),
		RINGS_TEST(lost_side_records_ask_for_proc),
		RINGS_TEST(lost_side_records_are_told),
		RINGS_TEST(what_other_records_tell_is_learnt),
		RINGS_TEST(losses_that_no_record_tells_of),
		TASKS_TEST(a_lost_record_may_be_of_any_kind),
		TASKS_TEST(losses_of_tasks_that_no_record_tells_of),
		RINGS_TEST(a_header_that_cannot_be_ends_the_recording),
		RINGS_TEST(a_side_ring_breaks_alike),
		RINGS_TEST(a_sample_too_short_for_its_layout),
		RINGS_TEST(a_switch_record_without_a_trailer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
