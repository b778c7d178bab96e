// SPDX-License-Identifier: MIT
/* Tests of writing and reading dwell.data: what is written comes back, from files whole, cut,
 * with changed bits, or cut short by a full disk. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/synth/reading.h"
#include "tests/synth/recorder.h"

/* Every kind of record once at least; each call is 1000 ns later. */
static void every_kind_cpu(struct recorder *rec, uint64_t t)
{
	put(rec, 0,
	    (struct trace_record){ .time_ns = t + 10, .kind = DWELL_REC_SWITCH, .other = 10 });
	put(rec, 0,
	    (struct trace_record){
		    .time_ns = t + 20, .kind = DWELL_REC_SAMPLE, .tid = 10, .stack = rec->stack });
	put(rec, 0,
	    (struct trace_record){ .time_ns = t + 30,
				   .kind = DWELL_REC_SAMPLE,
				   .tid = 11,
				   .other = 1,
				   .value = 77 });
	put(rec, 0,
	    (struct trace_record){ .time_ns = t + 40,
				   .kind = DWELL_REC_WAKING,
				   .tid = 11,
				   .other = 10,
				   .cpu = 1,
				   .stack = rec->stack });
	put(rec, 0,
	    (struct trace_record){ .time_ns = t + 50,
				   .kind = DWELL_REC_WAKING,
				   .tid = 11,
				   .other = 12,
				   .cpu = 0,
				   .state = DWELL_CONTEXT_SOFTIRQ });
	put(rec, 0,
	    (struct trace_record){ .time_ns = t + 60,
				   .kind = DWELL_REC_SWITCH,
				   .tid = 10,
				   .state = DWELL_TASK_RUNNING,
				   .preempted = true,
				   .other = 11,
				   .stack = rec->stack });
	put(rec, 0,
	    (struct trace_record){ .time_ns = t + 70,
				   .kind = DWELL_REC_SWITCH,
				   .tid = 12,
				   .state = DWELL_TASK_UNINTERRUPTIBLE });
	put(rec, 1,
	    (struct trace_record){ .time_ns = t + 15,
				   .kind = DWELL_REC_OUT,
				   .tid = 11,
				   .preempted = true,
				   .stack = rec->stack });
	put(rec, 1, (struct trace_record){ .time_ns = t + 16, .kind = DWELL_REC_IN, .tid = 12 });
	put(rec, 1, (struct trace_record){ .time_ns = t + 17, .kind = DWELL_REC_OUT, .tid = 12 });
	put(rec, 1,
	    (struct trace_record){
		    .time_ns = t + 17, .kind = DWELL_REC_GAP, .value = t + 80, .lost = 5 });
	put(rec, 1,
	    (struct trace_record){ .time_ns = t + 90,
				   .kind = DWELL_REC_WAKEUP_NEW,
				   .tid = 13,
				   .other = 12,
				   .cpu = 1 });
}

static void every_kind_side(struct recorder *rec, uint64_t t)
{
	struct trace_writer *w = rec->writer;
	struct trace_thread thread = { 10,
				       10,
				       2,
				       3,
				       string(rec, "app"),
				       string(rec, "/slice"),
				       1000,
				       DWELL_THREAD_FLAG_OBSERVED };
	struct dwell_event state = { .time_ns = t + 5, .stack = rec->stack };

	state.u.state.state = DWELL_TASK_INTERRUPTIBLE;
	state.u.state.stable = state.u.state.counted = true;
	state.u.state.run_ns = UINT64_MAX;
	state.u.state.wait_ns = 7;
	state.u.state.switches_in = 9;
	state.u.state.wchan = string(rec, "futex_wait");
	state.u.state.syscall = 202;
	for (int i = 0; i < 6; i++)
		state.u.state.args[i] = UINT64_MAX - (uint64_t)i;
	assert_int_equal(trace_writer_thread(w, t + 1, &thread), 0);
	assert_int_equal(trace_writer_cpu(w, t + 2, 1, DWELL_WITNESS_BOTH, true), 0);
	assert_int_equal(trace_writer_state(w, state.time_ns, 10, &state.u.state, state.stack), 0);
	state.time_ns = t + 95;
	state.stack = 0;
	state.u.state.phase = DWELL_PHASE_STOP;
	state.u.state.syscall = -1;
	state.u.state.stable = false;
	assert_int_equal(trace_writer_state(w, state.time_ns, 11, &state.u.state, state.stack), 0);
	assert_int_equal(trace_writer_fork(w, t + 85, 13, 13, 12, true), 0);
	assert_int_equal(trace_writer_comm(w, t + 91, 13, string(rec, "sh\n"), true), 0);
	assert_int_equal(trace_writer_cgroup(w, t + 92, 13, string(rec, "/other")), 0);
	assert_int_equal(trace_writer_count(w, t + 93, 11, 1234567), 0);
	assert_int_equal(trace_writer_throttle(w, t + 93, 1, true, 0), 0);
	assert_int_equal(trace_writer_retid(w, t + 94, 13, 14), 0);
	assert_int_equal(trace_writer_stopped(w, t + 96, 14), 0);
	assert_int_equal(trace_writer_exit(w, t + 97, 14), 0);
}

/* One round of every kind as it must read back, times less t. */
static const char *const every_kind_lines[] = {
	"2 1 cpu none 3 1",
	"5 -1 state 10.1 S start stable counted 18446744073709551615 7 9 futex_wait 202 "
	"ffffffffffffffff fffffffffffffffe fffffffffffffffd fffffffffffffffc fffffffffffffffb "
	"fffffffffffffffa |/bin/app+10|[kernel]+20",
	"10 0 switch 0.1 R >10.1",
	"15 1 out 11.1 preempted none |/bin/app+10|[kernel]+20",
	"16 1 in 12.1 none",
	"17 1 out 12.1 none",
	"80 1 gap none from 17 5",
	"20 0 sample 10.1 0 1000 |/bin/app+10|[kernel]+20",
	"30 0 sample 11.1 1 77",
	"40 0 waking 11.1 by 10.1 0 at 1 |/bin/app+10|[kernel]+20",
	"50 0 waking 11.1 by 12.1 2 at 0",
	"60 0 switch 10.1 R+ >11.1 |/bin/app+10|[kernel]+20",
	"70 0 switch 12.1 D >0.1",
	"85 -1 fork 13.1 of 12.1",
	"90 1 new 13.1 by 12.1 0 at 1",
	"91 -1 comm 13.1 sh\n exec",
	"92 -1 cgroup 13.1 /other",
	"93 -1 count 11.1 1234567",
	"93 1 throttle none 1",
	"95 -1 state 11.1 S stop counted 18446744073709551615 7 9 futex_wait -1 0 0 0 0 0 0",
	"96 -1 stopped 14.1",
	"97 -1 exit 14.1",
};

enum { EVERY_KIND_LINES = sizeof(every_kind_lines) / sizeof(*every_kind_lines) };

/* A whole recording of `rounds` rounds. The first error stands; finish is tried all the same. */
static int record_every_kind(struct recorder *rec, unsigned rounds)
{
	int rc = recorder_begin(rec, 1000), rc_finish;

	for (unsigned i = 0; !rc && i < rounds; i++) {
		every_kind_cpu(rec, 1000 * (i + 1));
		every_kind_side(rec, 1000 * (i + 1));
		rc = trace_writer_flush(rec->writer, 1000 * (i + 2), &rec->err);
	}
	dwell_stacks_set_symbol(rec->stacks, rec->frame, string(rec, "schedule"));
	assert_int_equal(
		dwell_stacks_set_places(rec->stacks, 1,
					(struct dwell_place[]){ { string(rec, "outer"), 0, 7 },
								{ string(rec, "inner"),
								  string(rec, "inner.h"), 1234 } },
					2),
		0);
	assert_int_equal(trace_writer_places(rec->writer, 1), 0);
	dwell_stacks_set_build_id(rec->stacks, rec->file, (const uint8_t *)"12345678", 8);
	assert_int_equal(trace_writer_symbol(rec->writer, rec->frame), 0);
	assert_int_equal(trace_writer_build_id(rec->writer, rec->file), 0);
	assert_int_equal(trace_writer_coverage(rec->writer, 0, 1, 100, 95, 5, true), 0);
	assert_int_equal(trace_writer_coverage(rec->writer, 1, 0, UINT64_MAX, 0, 2, false), 0);
	assert_int_equal(trace_writer_info_u64(rec->writer, "window.end_ns", 9000), 0);
	assert_int_equal(trace_writer_info(rec->writer, "label.stage", "last"), 0);
	rc_finish = trace_writer_finish(rec->writer, &rec->err);
	if (rc)
		assert_int_not_equal(rc_finish, 0);
	return rc ? rc : rc_finish;
}

static void whole_file(unsigned rounds, char **ret_bytes, size_t *ret_count)
{
	struct recorder rec;
	struct stat st;

	assert_int_equal(recorder_open(&rec, 2), 0);
	assert_int_equal(record_every_kind(&rec, rounds), 0);
	assert_int_equal(stat(rec.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	slurp(rec.path, ret_bytes, ret_count);
	assert_int_equal(trace_writer_bytes(rec.writer), *ret_count);
	recorder_release(&rec);
}

static void assert_tables(struct dwell_source *source)
{
	struct dwell_strings *strings = dwell_source_strings(source);
	struct dwell_stacks *stacks = dwell_source_stacks(source);
	struct dwell_threads *threads = dwell_source_threads(source);
	const struct dwell_event_desc *desc = dwell_source_event_desc(source, 0);
	const struct dwell_coverage *row = dwell_source_coverage(source, 0);
	const struct dwell_thread *thread =
		dwell_threads_get(threads, dwell_threads_find(threads, 10));
	const struct dwell_place *places;
	uint32_t count;

	assert_string_equal(dwell_source_fact(source, "label.stage"), "last");
	assert_null(dwell_source_fact(source, "label"));
	assert_string_equal(dwell_strings_get(strings, desc->name), "cpu-clock");
	assert_true(desc->is_clock && desc->unit == DWELL_UNIT_NS && desc->period == 1000);
	desc = dwell_source_event_desc(source, 1);
	assert_string_equal(dwell_strings_get(strings, desc->format), "name: x");
	assert_true(!desc->is_clock && desc->unit == DWELL_UNIT_COUNT && desc->freq_hz == 99);
	assert_null(dwell_source_event_desc(source, 2));
	assert_true(row->event == 0 && row->cpu == 1 && row->kernel_count == 100);
	assert_true(row->parsed == 95 && row->lost == 5 && row->blind_idle);
	assert_true(dwell_source_coverage(source, 1)->kernel_count == UINT64_MAX);
	assert_null(dwell_source_coverage(source, 2));
	assert_int_equal(dwell_stacks_file(stacks, 0)->inode, 1u << 31);
	assert_memory_equal(dwell_stacks_file(stacks, 0)->build_id, "12345678", 8);
	assert_string_equal(dwell_strings_get(strings, dwell_stacks_frame(stacks, 2)->symbol),
			    "schedule");
	places = dwell_stacks_places(stacks, 1, &count);
	assert_int_equal(count, 2);
	assert_string_equal(dwell_strings_get(strings, places[0].name), "outer");
	assert_true(places[0].file == 0 && places[0].line == 7 && places[1].line == 1234);
	assert_string_equal(dwell_strings_get(strings, places[1].name), "inner");
	assert_string_equal(dwell_strings_get(strings, places[1].file), "inner.h");
	assert_true(thread->pid == 10 && thread->ns_pid == 2 && thread->ns_tid == 3);
	assert_true(thread->uid == 1000 && thread->observed && !thread->kernel);
	assert_string_equal(dwell_strings_get(strings, thread->comm), "app");
	assert_string_equal(dwell_strings_get(strings, thread->cgroup), "/slice");
	thread = dwell_threads_get(threads, dwell_threads_find(threads, 14));
	assert_true(thread->observed && thread->born_ns == 1085);
	assert_int_equal(dwell_threads_find(threads, 13), DWELL_THREAD_NONE);
}

static void all_that_is_written_comes_back(void **state)
{
	struct reading r;
	size_t count;
	char *bytes;

	(void)state;
	whole_file(1, &bytes, &count);
	read_memory(&r, bytes, count);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.lines.count, EVERY_KIND_LINES);
	for (uint32_t i = 0; i < EVERY_KIND_LINES; i++) {
		unsigned long long time_ns = strtoull(r.lines.data[i], NULL, 10);
		const char *rest = strchr(r.lines.data[i], ' ');
		char line[512];

		if (strstr(rest, "from 1017"))
			rest = " 1 gap none from 17 5";
		snprintf(line, sizeof(line), "%llu%s", time_ns - 1000, rest);
		assert_string_equal(line, every_kind_lines[i]);
	}
	assert_tables(r.source);
	assert_true(r.info.finished && !r.info.damaged && r.info.has_switches);
	assert_int_equal(r.info.unread_bytes, 0);
	assert_int_equal(r.info.start_ns, 1000);
	assert_int_equal(r.info.end_ns, 9000);
	assert_int_equal(r.info.cpus, 2);
	assert_int_equal(r.info.lost, 7);
	assert_int_equal(r.info.late, 0);
	reading_release(&r);
	free(bytes);
}

static void cut_anywhere_it_reads_up_to_there(void **state)
{
	struct reading whole, part;
	uint32_t longest = 0;
	size_t count;
	char *bytes;

	(void)state;
	whole_file(3, &bytes, &count);
	read_memory(&whole, bytes, count);
	assert_int_equal(whole.lines.count, 3 * EVERY_KIND_LINES);
	for (size_t cut = 0; cut < count; cut++) {
		/* A copy of exactly this size: reading past it is seen by the sanitizer. */
		char *copy = malloc(cut ? cut : 1);

		assert_non_null(copy);
		memcpy(copy, bytes, cut);
		read_memory(&part, copy, cut);
		if (part.rc) {
			assert_int_equal(part.rc, -EINVAL);
			assert_int_equal(part.lines.count, 0);
		} else {
			assert_prefix(&part, &whole);
			assert_true(part.lines.count >= longest);
			longest = part.lines.count;
			assert_true(!part.info.finished && !part.info.damaged);
			assert_true(part.info.unread_bytes < cut);
			assert_true(part.info.end_ns >= part.info.start_ns);
			assert_true(part.info.end_ns <= whole.info.end_ns);
		}
		reading_release(&part);
		free(copy);
	}
	assert_int_equal(longest, whole.lines.count);
	reading_release(&whole);
	free(bytes);
}

static void no_changed_bit_goes_unseen(void **state)
{
	struct reading whole, part;
	size_t count;
	char *bytes;

	(void)state;
	whole_file(2, &bytes, &count);
	read_memory(&whole, bytes, count);
	for (size_t i = 0; i < 2 * count; i++) {
		char flip = i & 1 ? (char)(1 << (i / 2 % 8)) : (char)0xff;

		bytes[i / 2] ^= flip;
		read_memory(&part, bytes, count);
		if (!part.rc) {
			assert_prefix(&part, &whole);
			assert_true(part.info.damaged);
			assert_in_range(part.info.unread_bytes, 1, count - 64);
		}
		reading_release(&part);
		bytes[i / 2] ^= flip;
	}
	reading_release(&whole);
	free(bytes);
}

static void what_packs_too_well_is_stored(void **state)
{
	enum { LONG = 200000 };
	char *label = malloc(LONG + 1), *bytes;
	struct recorder rec;
	struct reading r;
	size_t count;

	(void)state;
	assert_non_null(label);
	memset(label, 'a', LONG);
	label[LONG] = '\0';
	assert_int_equal(recorder_open(&rec, 2), 0);
	assert_int_equal(trace_writer_info(rec.writer, "label.long", label), 0);
	assert_int_equal(recorder_begin(&rec, 5), 0);
	assert_int_equal(trace_writer_finish(rec.writer, &rec.err), 0);
	slurp(rec.path, &bytes, &count);
	recorder_release(&rec);
	read_memory(&r, bytes, count);
	assert_int_equal(r.rc, 0);
	assert_true(r.info.finished);
	assert_string_equal(dwell_source_fact(r.source, "label.long"), label);
	reading_release(&r);
	free(bytes);
	free(label);
}

/* One record of the oracle: sorted by time, then stream, then order in the stream. */
struct expected {
	uint64_t time_ns;
	uint32_t stream, order;
};

static int expected_compare(const void *a, const void *b)
{
	const struct expected *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

enum { MERGE_CPUS = 5, MERGE_RECORDS = 4000 };

/* CPUs advance at their own pace; a record may be up to a few places out of order. */
static void merge_write(struct recorder *rec, uint64_t seed, struct expected *all)
{
	uint64_t now_ns[MERGE_CPUS + 1], horizon_ns = 1000;

	for (uint32_t i = 0; i <= MERGE_CPUS; i++)
		now_ns[i] = 1000;
	for (uint32_t n = 0; n < MERGE_RECORDS; n++) {
		uint32_t s = (uint32_t)(random_next(&seed) % (MERGE_CPUS + 1));
		uint64_t jitter_ns = random_next(&seed) % 4, time_ns;

		now_ns[s] += 1 + random_next(&seed) % 3 + (random_next(&seed) % 50 == 0) * 500;
		time_ns = now_ns[s] - jitter_ns < horizon_ns ? horizon_ns : now_ns[s] - jitter_ns;
		if (now_ns[s] < time_ns)
			now_ns[s] = time_ns;
		all[n] = (struct expected){ time_ns, s, n };
		if (s)
			put(rec, s - 1,
			    (struct trace_record){ .time_ns = time_ns,
						   .kind = DWELL_REC_SAMPLE,
						   .tid = s,
						   .other = 1,
						   .value = n + 1 });
		else
			assert_int_equal(trace_writer_count(rec->writer, time_ns, 99, n + 1), 0);
		if (random_next(&seed) % 100)
			continue;
		/* The slowest CPU, or anything before it, bounds what is still to come. */
		for (uint32_t i = 0; i <= MERGE_CPUS; i++)
			if (i == 0 || now_ns[i] < time_ns)
				time_ns = now_ns[i];
		horizon_ns = time_ns - 3 > horizon_ns ? time_ns - 3 : horizon_ns;
		assert_int_equal(trace_writer_flush(rec->writer, horizon_ns, &rec->err), 0);
	}
}

static void rounds_merge_in_time_order(void **state)
{
	struct expected *all = calloc(MERGE_RECORDS, sizeof(*all));

	(void)state;
	assert_non_null(all);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		const struct dwell_event *event;
		struct dwell_source *source;
		struct recorder rec;

		assert_int_equal(recorder_open(&rec, MERGE_CPUS), 0);
		assert_int_equal(recorder_begin(&rec, 1000), 0);
		merge_write(&rec, seed * 0x9e3779b97f4a7c15, all);
		assert_int_equal(trace_writer_finish(rec.writer, &rec.err), 0);
		qsort(all, MERGE_RECORDS, sizeof(*all), expected_compare);
		assert_int_equal(dwell_source_open(rec.path, &source, &rec.err), 0);
		for (uint32_t i = 0; i < MERGE_RECORDS; i++) {
			assert_int_equal(dwell_source_next(source, &event, &rec.err), 1);
			assert_int_equal(event->time_ns, all[i].time_ns);
			assert_int_equal((uint32_t)(event->cpu + 1), all[i].stream);
			assert_int_equal(event->kind == DWELL_EVENT_COUNT
						 ? event->u.count.switches_in
						 : event->u.sample.weight,
					 all[i].order + 1);
		}
		assert_int_equal(dwell_source_next(source, &event, &rec.err), 0);
		assert_int_equal(dwell_source_info(source)->late, 0);
		assert_true(dwell_source_info(source)->finished);
		dwell_source_close(source);
		recorder_release(&rec);
	}
	free(all);
}

static void a_record_far_out_of_order_is_counted(void **state)
{
	struct recorder rec;
	struct reading r;
	size_t count;
	char *bytes;

	(void)state;
	assert_int_equal(recorder_open(&rec, 2), 0);
	assert_int_equal(recorder_begin(&rec, 10), 0);
	for (uint64_t t = 100; t < 120; t++)
		put(&rec, 0,
		    (struct trace_record){
			    .time_ns = t, .kind = DWELL_REC_IN, .tid = (uint32_t)t });
	put(&rec, 0, (struct trace_record){ .time_ns = 50, .kind = DWELL_REC_IN, .tid = 7 });
	assert_int_equal(trace_writer_finish(rec.writer, &rec.err), 0);
	slurp(rec.path, &bytes, &count);
	recorder_release(&rec);
	read_memory(&r, bytes, count);
	assert_int_equal(r.lines.count, 21);
	assert_int_equal(r.info.late, 1);
	assert_int_equal(r.info.end_ns, 119);
	for (uint32_t i = 0, t = 100; i < 21; i++) {
		char line[64];

		if (!strcmp(r.lines.data[i], "50 0 in 7.1 none"))
			continue;
		snprintf(line, sizeof(line), "%u 0 in %u.1 none", t, t);
		assert_string_equal(r.lines.data[i], line);
		t++;
	}
	reading_release(&r);
	free(bytes);
}

static void long_passes_are_spread_over_blocks(void **state)
{
	enum { MAIN = 700000, SIDE = 250000 };
	struct reading r = { 0 };
	struct recorder rec;

	(void)state;
	assert_int_equal(recorder_open(&rec, 3), 0);
	assert_int_equal(recorder_begin(&rec, 10), 0);
	for (uint32_t i = 0; i < MAIN; i++)
		put(&rec, i % 100 == 0,
		    (struct trace_record){ .time_ns = 1000 + i * 3ull,
					   .kind = DWELL_REC_SAMPLE,
					   .tid = 5 + i % 7,
					   .value = i + 1000000 });
	for (uint32_t i = 0; i < SIDE; i++)
		assert_int_equal(trace_writer_count(rec.writer, 1000 + i * 8ull, 9, UINT64_MAX), 0);
	assert_true(trace_writer_full(rec.writer));
	assert_int_equal(trace_writer_flush(rec.writer, 1000 + MAIN * 3ull, &rec.err), 0);
	assert_false(trace_writer_full(rec.writer));
	put(&rec, 2, (struct trace_record){ .time_ns = 9000000, .kind = DWELL_REC_IN, .tid = 5 });
	assert_int_equal(trace_writer_finish(rec.writer, &rec.err), 0);
	assert_int_equal(dwell_source_open(rec.path, &r.source, &r.err), 0);
	reading_events(&r, false);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.lines.count, MAIN + SIDE + 1);
	assert_true(r.info.finished && !r.info.damaged);
	assert_int_equal(r.info.late, 0);
	reading_release(&r);
	recorder_release(&rec);
}

static void file_size_limit(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_leaves_whole_blocks(void **state)
{
	struct reading whole, part;
	size_t count, part_count;
	char *bytes, *part_bytes;

	(void)state;
	whole_file(4, &bytes, &count);
	read_memory(&whole, bytes, count);
	signal(SIGXFSZ, SIG_IGN);
	for (size_t limit = 0; limit < count; limit += 29) {
		struct recorder rec;
		int rc;

		file_size_limit(limit);
		rc = recorder_open(&rec, 2);
		if (!rc)
			rc = record_every_kind(&rec, 4);
		file_size_limit(RLIM_INFINITY);
		assert_int_equal(rc, -EFBIG);
		assert_int_equal(rec.err.code, -EFBIG);
		if (rec.writer) {
			slurp(rec.path, &part_bytes, &part_count);
			assert_true(part_count <= limit);
			assert_int_equal(part_count, trace_writer_bytes(rec.writer));
			assert_memory_equal(part_bytes, bytes, part_count);
			read_memory(&part, part_bytes, part_count);
			assert_prefix(&part, &whole);
			if (!part.rc)
				assert_true(!part.info.finished && !part.info.damaged &&
					    part.info.unread_bytes == 0);
			reading_release(&part);
			free(part_bytes);
		}
		recorder_release(&rec);
	}
	signal(SIGXFSZ, SIG_DFL);
	reading_release(&whole);
	free(bytes);
}

/* No trace can be written to path: with this error, and this message unless NULL. */
static void refused(const char *path, int code, const char *message)
{
	struct dwell_strings *strings = dwell_strings_new();
	struct dwell_stacks *stacks = dwell_stacks_new();
	struct trace_writer *writer;
	struct dwell_err err = { 0 };

	assert_int_equal(trace_writer_new(1, strings, stacks, &writer, &err), 0);
	assert_int_equal(trace_writer_open(writer, path, &err), code);
	if (message)
		assert_string_equal(err.msg, message);
	trace_writer_close(writer);
	dwell_stacks_free(stacks);
	dwell_strings_free(strings);
}

static void files_are_the_recorders_own(void **state)
{
	char folder[] = "/tmp/dwell-trace-XXXXXX", path[64], other[64], *bytes;
	struct dwell_strings *strings = dwell_strings_new();
	struct dwell_stacks *stacks = dwell_stacks_new();
	struct trace_writer *writer;
	struct dwell_err err = { 0 };
	size_t count;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/a", folder);
	snprintf(other, sizeof(other), "%s/a.old", folder);
	refused("/dev/full", -ENOSPC, "cannot write '/dev/full': No space left on device");
	refused(folder, -EISDIR, NULL);
	assert_int_equal(symlink("/tmp/dwell-not-here", path), 0);
	refused(path, -ELOOP, NULL);
	assert_int_not_equal(access("/tmp/dwell-not-here", F_OK), 0);
	assert_int_equal(unlink(path), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(trace_writer_new(1, strings, stacks, &writer, &err), 0);
		assert_int_equal(trace_writer_info(writer, "n", i ? "second" : "first"), 0);
		/* The third never opens its file, so that both others stay. */
		if (i < 2) {
			assert_int_equal(trace_writer_open(writer, path, &err), 0);
			assert_int_equal(trace_writer_flush(writer, 0, &err), 0);
		}
		trace_writer_close(writer);
	}
	slurp(other, &bytes, &count);
	assert_non_null(memmem(bytes, count, "first", 5));
	free(bytes);
	slurp(path, &bytes, &count);
	assert_non_null(memmem(bytes, count, "second", 6));
	free(bytes);
	unlink(path);
	unlink(other);
	rmdir(folder);
	dwell_stacks_free(stacks);
	dwell_strings_free(strings);
}

static void other_files_are_no_traces(void **state)
{
	struct dwell_source *source = NULL;
	struct dwell_err err = { 0 };
	char path[] = "/tmp/dwell-other-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(dwell_source_open(path, &source, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "the file is empty"));
	assert_int_equal(dwell_io_write(fd, "GARBAGE\n", 8), 0);
	err = (struct dwell_err){ 0 };
	assert_int_equal(dwell_source_open(path, &source, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "not a dwell trace"));
	assert_int_equal(unlink(path), 0);
	close(fd);
	err = (struct dwell_err){ 0 };
	assert_int_equal(dwell_source_open(path, &source, &err), -ENOENT);
	assert_null(source);
}

/* A thread gives its tid back before its last switch: that one is not its successor's. */
static void who_leaves_is_who_came(void **state)
{
	static const char *const expected[] = {
		"20 0 switch",	   "40 0 switch 7.1", "41 0 out 7.1",	 "50 0 switch",
		"60 0 switch 7.2", "61 0 out 7.2",    "80 0 switch 7.3",
	};
	struct recorder rec;
	struct reading r;
	uint32_t found = 0;
	size_t count;
	char *bytes;

	(void)state;
	assert_int_equal(recorder_open(&rec, 1), 0);
	assert_int_equal(recorder_begin(&rec, 10), 0);
	for (uint64_t t = 15; t <= 35; t += 20)
		assert_int_equal(trace_writer_fork(rec.writer, t, 1, 7, 1, true), 0);
	for (uint64_t t = 20; t <= 50; t += 30) {
		put(&rec, 0,
		    (struct trace_record){ .time_ns = t, .kind = DWELL_REC_SWITCH, .other = 7 });
		put(&rec, 0,
		    (struct trace_record){ .time_ns = t == 20 ? 40 : 60,
					   .kind = DWELL_REC_SWITCH,
					   .tid = 7,
					   .state = t == 20 ? DWELL_TASK_DEAD
							    : DWELL_TASK_RUNNING });
		put(&rec, 0,
		    (struct trace_record){
			    .time_ns = t == 20 ? 41 : 61, .kind = DWELL_REC_OUT, .tid = 7 });
	}
	/* Behind a gap nobody is known to be there. */
	put(&rec, 0, (struct trace_record){ .time_ns = 70, .kind = DWELL_REC_SWITCH, .other = 7 });
	put(&rec, 0, (struct trace_record){ .time_ns = 72, .kind = DWELL_REC_GAP, .value = 75 });
	assert_int_equal(trace_writer_fork(rec.writer, 76, 1, 7, 1, true), 0);
	put(&rec, 0, (struct trace_record){ .time_ns = 80, .kind = DWELL_REC_SWITCH, .tid = 7 });
	assert_int_equal(trace_writer_finish(rec.writer, &rec.err), 0);
	slurp(rec.path, &bytes, &count);
	recorder_release(&rec);
	read_memory(&r, bytes, count);
	for (uint32_t i = 0; i < r.lines.count && found < 7; i++)
		found += !strncmp(r.lines.data[i], expected[found], strlen(expected[found]));
	assert_int_equal(found, 7);
	reading_release(&r);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_written_comes_back),
		cmocka_unit_test(cut_anywhere_it_reads_up_to_there),
		cmocka_unit_test(no_changed_bit_goes_unseen),
		cmocka_unit_test(what_packs_too_well_is_stored),
		cmocka_unit_test(rounds_merge_in_time_order),
		cmocka_unit_test(a_record_far_out_of_order_is_counted),
		cmocka_unit_test(who_leaves_is_who_came),
		cmocka_unit_test(long_passes_are_spread_over_blocks),
		cmocka_unit_test(a_full_disk_leaves_whole_blocks),
		cmocka_unit_test(files_are_the_recorders_own),
		cmocka_unit_test(other_files_are_no_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
