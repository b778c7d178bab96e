/* SPDX-License-Identifier: MIT */
/* A recording over rings in plain memory: records as the kernel lays them out become what the
 * intake makes of them, read back from the trace as lines. No perf event is opened. For unit tests;
 * failures are assertions. */
#ifndef DWELL_TESTS_SYNTH_RINGS_H
#define DWELL_TESTS_SYNTH_RINGS_H

#include <linux/perf_event.h>
#include <sys/mman.h>

#include "record/recording.h"
#include "tests/synth/formats.h"
#include "tests/synth/reading.h"
#include "tests/synth/recorder.h"

/* Threads of A and B, of tids that no process of this machine has. The last digit of a tid tells a
 * thread's place in its process, 0 = the leader. */
enum {
	IDLE = 0,
	A = 4000010,
	A1,
	A2,
	B = 4000020,
	B1,
	C = 4000030,
	GONE = -1, /* as records name a thread on its last steps */
	RINGS_CPUS = 3,
	RING_DATA_BYTES = 4096,
	START_NS = 100,
	ID_SWITCH = 372, /* as in formats.h */
	ID_WAKING = 375,
	ID_NEW = 376,
	HARDIRQ = 0x08,
	SOFTIRQ = 0x10,
};

/* prev_state as in formats.h. */
enum { R = 0, S = 1, D = 2, X = 0x10, Z = 0x20, PREEMPTED = 0x100 };

#define USER	    ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL	    ((uint64_t)PERF_CONTEXT_KERNEL)
#define KERNEL_TEXT UINT64_C(0xffffffff81000000)
#define SCHEDULE    (KERNEL_TEXT + 0x100)
#define WAKE_UP	    (KERNEL_TEXT + 0x200)
#define INTERRUPT   (KERNEL_TEXT + 0x300)
#define SOFTIRQS    (KERNEL_TEXT + 0x400)
#define SYSCALL	    (KERNEL_TEXT + 0x500)

static const char rings_symbols[] = "ffffffff81000000 T _text\n"
				    "ffffffff81000100 T schedule\n"
				    "ffffffff81000200 T try_to_wake_up\n"
				    "ffffffff81000300 T asm_sysvec_apic_timer_interrupt\n"
				    "ffffffff81000400 T handle_softirqs\n"
				    "ffffffff81000500 T do_syscall_64\n"
				    "ffffffff81001000 T _etext\n";

struct rings {
	struct recording rec;
	struct record_config config;
	struct recorder out; /* its tables and its writer are the recording's */
	struct reading reading;
	char symbols[64];
	const uint64_t *chain; /* of the next sample */
	uint64_t chain_count;
};

/* Tids of this machine are leaders'. */
static inline int32_t process_of(int32_t tid)
{
	return tid >= A ? tid - tid % 10 : tid;
}

static inline void rings_map(struct ring *ring)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *memory = mmap(NULL, page_bytes + RING_DATA_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	assert_int_equal(ring_wrap(ring, (void *)memory, memory + page_bytes, RING_DATA_BYTES), 0);
}

static inline void rings_facts(struct record_facts *facts, bool tracepoints)
{
	*facts = (struct record_facts){ .tracepoints = tracepoints, .kernel_chains = true };
	assert_int_equal(dwell_sched_switch_parse(switch_6, &facts->sched_switch, NULL), 0);
	assert_int_equal(dwell_sched_waking_parse(waking_6, "sched_waking", &facts->waking, NULL),
			 0);
	facts->wakeup_new = facts->waking;
	facts->wakeup_new.id = ID_NEW;
}

static inline void rings_kallsyms(struct rings *r)
{
	FILE *file;

	snprintf(r->symbols, sizeof(r->symbols), "/tmp/dwell-test-%d.syms", (int)getpid());
	file = fopen(r->symbols, "w");
	assert_non_null(file);
	fputs(rings_symbols, file);
	fclose(file);
}

/* Threads by tid, without tracepoints if so told; tests change r->config and r->rec after it. */
static inline struct rings *rings_new(bool tracepoints)
{
	struct rings *r = calloc(1, sizeof(*r));
	struct recording *rec;

	assert_non_null(r);
	rec = &r->rec;
	r->config = (struct record_config){
		.callchains = true, .wakers = true, .inherit = true, .freq_hz = 99, .uid = -1
	};
	rec->config = &r->config;
	rings_facts(&rec->facts, tracepoints);
	rec->events = (struct events){ .config = &r->config,
				       .facts = &rec->facts,
				       .cpu_count = RINGS_CPUS };
	events_layout_init(&rec->events);
	rec->events.cpus = calloc(RINGS_CPUS, sizeof(*rec->events.cpus));
	rec->cpus = calloc(RINGS_CPUS, sizeof(*rec->cpus));
	assert_true(rec->events.cpus && rec->cpus);
	for (uint32_t cpu = 0; cpu < RINGS_CPUS; cpu++) {
		rec->events.cpus[cpu].owner_fd = -1;
		rec->events.cpus[cpu].records = !tracepoints;
		rings_map(&rec->events.cpus[cpu].main);
		if (tracepoints)
			rings_map(&rec->events.cpus[cpu].side);
	}
	assert_int_equal(recorder_open(&r->out, RINGS_CPUS), 0);
	assert_int_equal(recorder_begin(&r->out, START_NS), 0);
	rec->strings = r->out.strings;
	rec->stacks = r->out.stacks;
	rec->writer = r->out.writer;
	rec->spaces = dwell_addrspaces_new(rec->strings, rec->stacks);
	assert_non_null(rec->spaces);
	assert_int_equal(tids_init(&rec->tids), 0);
	identify_init(&rec->identify, rec->strings, rec->stacks);
	rec->identify.writer = rec->identify.jit.writer = rec->writer;
	dwell_addrspaces_watch(rec->spaces, identify_mapped, &rec->identify);
	rings_kallsyms(r);
	assert_int_equal(chains_new(rec->strings, rec->stacks, rec->spaces, &rec->identify,
				    r->symbols, false, &rec->chains, NULL),
			 0);
	rec->start_ns = START_NS;
	return r;
}

static inline void rings_free(struct rings *r)
{
	struct recording *rec = &r->rec;

	reading_release(&r->reading);
	free((void *)(uintptr_t)r->reading.input.data);
	events_release(&rec->events);
	chains_free(rec->chains);
	identify_release(&rec->identify);
	dwell_addrspaces_free(rec->spaces);
	dwell_idmap_release(&rec->own_tids);
	dwell_idmap_release(&rec->forks);
	dwell_array_release(&rec->uncovered);
	tids_release(&rec->tids);
	merge_release(&rec->merge);
	free(rec->cpus);
	recorder_release(&r->out);
	unlink(r->symbols);
	free(r);
}

static inline int rings_setup(void **state)
{
	*state = rings_new(true);
	return 0;
}

static inline int rings_setup_tasks(void **state)
{
	*state = rings_new(false);
	return 0;
}

static inline int rings_teardown(void **state)
{
	rings_free(*state);
	return 0;
}

#define RINGS_TEST(name) cmocka_unit_test_setup_teardown(name, rings_setup, rings_teardown)
#define TASKS_TEST(name) cmocka_unit_test_setup_teardown(name, rings_setup_tasks, rings_teardown)

/* --- what is known before the first record */

static inline void target(struct rings *r, int32_t tid)
{
	struct recording *rec = &r->rec;

	if (!dwell_addrspaces_known(rec->spaces, process_of(tid)))
		assert_int_equal(dwell_addrspaces_exec(rec->spaces, process_of(tid)), 0);
	assert_int_equal(tids_begin(&rec->tids, (uint32_t)tid, process_of(tid), true), 0);
	assert_int_equal(targets_declare(rec, START_NS, (uint32_t)tid, process_of(tid), "target"),
			 0);
}

static inline void mapped(struct rings *r, int32_t pid, uint64_t start, const char *path)
{
	struct dwell_mmap map = {
		.pid = pid, .start = start, .bytes = 0x1000, .inode = 7, .path = path
	};

	assert_int_equal(dwell_addrspaces_map(r->rec.spaces, &map), 0);
}

/* --- what the kernel does */

/* A record of `bytes` bytes of body, a multiple of 8, at the ring's head. */
static inline void ring_put(struct ring *ring, uint32_t type, uint16_t misc, const void *body,
			    size_t bytes)
{
	struct perf_event_header header = { type, misc, (uint16_t)(sizeof(header) + bytes) };
	uint64_t head = ring->page->data_head;

	assert_int_equal(bytes % 8, 0);
	assert_true(head + header.size - ring->page->data_tail <= ring->data_bytes);
	for (size_t i = 0; i < header.size; i++)
		ring->data[(head + i) % ring->data_bytes] =
			i < sizeof(header) ? ((const uint8_t *)&header)[i]
					   : ((const uint8_t *)body)[i - sizeof(header)];
	ring->page->data_head = head + header.size;
}

static inline struct ring *ring_main(struct rings *r, uint32_t cpu)
{
	return &r->rec.events.cpus[cpu].main;
}

/* Without tracepoints everything comes in one ring. */
static inline struct ring *ring_side(struct rings *r, uint32_t cpu)
{
	struct cpu_events *c = &r->rec.events.cpus[cpu];

	return c->side.page ? &c->side : &c->main;
}

/* A record that is no sample: its body, then who and when. */
static inline void trailed(struct ring *ring, uint32_t type, uint16_t misc, const void *body,
			   size_t bytes, int32_t tid, uint64_t time_ns)
{
	uint8_t record[512] = { 0 };
	size_t padded = (bytes + 7) / 8 * 8;
	int32_t ids[2] = { process_of(tid), tid };

	assert_true(padded + 16 <= sizeof(record));
	memcpy(record, body, bytes);
	memcpy(record + padded, ids, sizeof(ids));
	memcpy(record + padded + 8, &time_ns, sizeof(time_ns));
	ring_put(ring, type, misc, record, padded + 16);
}

/* The next sample's callchain. */
#define CHAIN(r, ...)                                    \
	((r)->chain = (const uint64_t[]){ __VA_ARGS__ }, \
	 (r)->chain_count = sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* With the raw bytes of a tracepoint or, without tracepoints, a period. */
static inline void sample(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t pid, int32_t tid,
			  const void *raw, uint32_t raw_bytes, uint64_t period)
{
	uint64_t body[512] = { 0 };
	uint32_t at = 2;

	assert_true(r->chain_count < 400 && raw_bytes < 256);
	memcpy(body, (const int32_t[]){ pid, tid }, 8);
	body[1] = time_ns;
	if (!r->rec.facts.tracepoints)
		body[at++] = period;
	body[at++] = r->chain_count;
	if (r->chain_count)
		memcpy(body + at, r->chain, r->chain_count * 8);
	at += (uint32_t)r->chain_count;
	if (r->rec.facts.tracepoints) { /* size and bytes together fill words */
		uint32_t words = (4 + raw_bytes + 7) / 8, size = words * 8 - 4;

		memcpy(body + at, &size, 4);
		memcpy((uint8_t *)(body + at) + 4, raw, raw_bytes);
		at += words;
	}
	ring_put(ring_main(r, cpu), PERF_RECORD_SAMPLE, 0, body, at * 8);
	r->chain = NULL;
	r->chain_count = 0;
}

struct raw_switch {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t common_pid;
	char prev_comm[16];
	int32_t prev, prev_prio;
	int64_t prev_state;
	char next_comm[16];
	int32_t next, next_prio;
};

/* sched_switch as one pid namespace's sample names its thread and the tracepoint both. */
static inline void switch_named(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid,
				int32_t prev, int64_t state, int32_t next)
{
	struct raw_switch raw = { .type = ID_SWITCH,
				  .common_pid = prev,
				  .prev_comm = "previous",
				  .prev = prev,
				  .prev_state = state,
				  .next_comm = "next",
				  .next = next };

	sample(r, cpu, time_ns, process_of(tid), tid, &raw, sizeof(raw), 0);
}

static inline void switches(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t prev,
			    int64_t state, int32_t next)
{
	switch_named(r, cpu, time_ns, prev, prev, state, next);
}

struct raw_waking {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t waker;
	char comm[16];
	int32_t woken, prio, target_cpu;
};

static inline void waking_named(struct rings *r, uint32_t cpu, uint64_t time_ns, uint16_t type,
				int32_t tid, int32_t waker, uint8_t flags, int32_t woken)
{
	struct raw_waking raw = { .type = type,
				  .flags = flags,
				  .waker = waker,
				  .comm = "woken",
				  .woken = woken,
				  .target_cpu = 1 };

	sample(r, cpu, time_ns, process_of(tid), tid, &raw, sizeof(raw), 0);
}

static inline void wakes(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t waker,
			 uint8_t flags, int32_t woken)
{
	waking_named(r, cpu, time_ns, ID_WAKING, waker, waker, flags, woken);
}

/* cpu-clock: four bytes of padding where a tracepoint has its own. */
static inline void clock_sample(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid)
{
	sample(r, cpu, time_ns, process_of(tid), tid, "\0\0\0", 4, 10101010);
}

/* context-switches, ahead of the switch-out's record. */
static inline void stack_sample(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid)
{
	sample(r, cpu, time_ns, process_of(tid), tid, "", 0, 1);
}

static inline void switch_record(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid,
				 uint16_t misc)
{
	trailed(ring_main(r, cpu), PERF_RECORD_SWITCH_CPU_WIDE, misc, (int32_t[2]){ 0 }, 8, tid,
		time_ns);
}

static inline void comes(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid)
{
	switch_record(r, cpu, time_ns, tid, 0);
}

static inline void leaves(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid)
{
	switch_record(r, cpu, time_ns, tid, PERF_RECORD_MISC_SWITCH_OUT);
}

static inline void loses(struct ring *ring, uint64_t time_ns, uint64_t lost)
{
	trailed(ring, PERF_RECORD_LOST, 0, (uint64_t[]){ 5, lost }, 16, IDLE, time_ns);
}

static inline void task_record(struct rings *r, uint32_t cpu, uint64_t time_ns, uint32_t type,
			       int32_t parent, int32_t tid)
{
	const struct {
		int32_t pid, parent_pid, tid, parent_tid;
		uint64_t time_ns;
	} body = { process_of(tid), process_of(parent), tid, parent, time_ns };

	trailed(ring_side(r, cpu), type, 0, &body, sizeof(body), parent, time_ns);
}

static inline void forks(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t parent,
			 int32_t tid)
{
	task_record(r, cpu, time_ns, PERF_RECORD_FORK, parent, tid);
}

static inline void exits(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid)
{
	task_record(r, cpu, time_ns, PERF_RECORD_EXIT, tid, tid);
}

static inline void names_itself(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid,
				uint16_t misc, const char *comm)
{
	struct {
		int32_t pid, tid;
		char comm[16];
	} body = { process_of(tid), tid, "" };

	snprintf(body.comm, sizeof(body.comm), "%s", comm);
	trailed(ring_side(r, cpu), PERF_RECORD_COMM, misc, &body, 8 + strlen(comm) + 1, tid,
		time_ns);
}

static inline void execs(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid,
			 const char *comm)
{
	names_itself(r, cpu, time_ns, tid, PERF_RECORD_MISC_COMM_EXEC, comm);
}

static inline void maps(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid,
			uint64_t start, const char *path)
{
	struct {
		int32_t pid, tid;
		uint64_t start, bytes, file_offset;
		uint32_t dev_major, dev_minor;
		uint64_t inode, inode_generation;
		uint32_t prot, flags;
		char path[64];
	} body = { .pid = process_of(tid),
		   .tid = tid,
		   .start = start,
		   .bytes = 0x1000,
		   .inode = 7,
		   .prot = PROT_READ | PROT_EXEC };

	snprintf(body.path, sizeof(body.path), "%s", path);
	trailed(ring_side(r, cpu), PERF_RECORD_MMAP2, 0, &body,
		(size_t)(body.path - (char *)&body) + strlen(path) + 1, tid, time_ns);
}

/* The same of a file of which the kernel tells the build id: 20 bytes of that value. */
static inline void maps_identified(struct rings *r, uint32_t cpu, uint64_t time_ns, int32_t tid,
				   uint64_t start, const char *path, uint8_t build_id)
{
	struct {
		int32_t pid, tid;
		uint64_t start, bytes, file_offset;
		uint8_t build_id_bytes, reserved[3], build_id[20];
		uint32_t prot, flags;
		char path[64];
	} body = { .pid = process_of(tid),
		   .tid = tid,
		   .start = start,
		   .bytes = 0x1000,
		   .build_id_bytes = sizeof(body.build_id),
		   .prot = PROT_READ | PROT_EXEC };

	memset(body.build_id, build_id, sizeof(body.build_id));
	snprintf(body.path, sizeof(body.path), "%s", path);
	trailed(ring_side(r, cpu), PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, &body,
		(size_t)(body.path - (char *)&body) + strlen(path) + 1, tid, time_ns);
}

/* Kernel code of 0x100 bytes comes or goes. */
static inline void kernel_code(struct rings *r, uint32_t cpu, uint64_t time_ns, uint64_t start,
			       bool goes, const char *name)
{
	struct {
		uint64_t start;
		uint32_t bytes;
		uint16_t type, flags;
		char name[64];
	} body = { .start = start,
		   .bytes = 0x100,
		   .type = PERF_RECORD_KSYMBOL_TYPE_BPF,
		   .flags = goes ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0 };

	snprintf(body.name, sizeof(body.name), "%s", name);
	trailed(ring_side(r, cpu), PERF_RECORD_KSYMBOL, 0, &body,
		(size_t)(body.name - (char *)&body) + strlen(name) + 1, 0, time_ns);
}

/* --- what the recorder makes of it */

static inline void pass(struct rings *r)
{
	int rc = intake_pass(&r->rec);

	if (rc)
		print_message("%s\n", r->rec.err.msg);
	assert_int_equal(rc, 0);
}

/* Finishes the trace and reads it: once per test. */
static inline void rings_read(struct rings *r)
{
	char *data;
	size_t count;

	assert_int_equal(trace_writer_finish(r->rec.writer, &r->rec.err), 0);
	slurp(r->out.path, &data, &count);
	read_memory(&r->reading, data, count);
	assert_int_equal(r->reading.rc, 0);
	assert_true(r->reading.info.finished);
}

/* The trace's events as lines must be these. Once per test. */
static inline void assert_trace(struct rings *r, const char *expected)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	bool same;

	assert_non_null(out);
	rings_read(r);
	for (uint32_t i = 0; i < r->reading.lines.count; i++)
		fprintf(out, "%s\n", r->reading.lines.data[i]);
	fclose(out);
	same = strcmp(text, expected) == 0;
	if (!same)
		print_message("--- expected\n%s--- read\n%s", expected, text);
	free(text);
	assert_true(same);
}

#endif
