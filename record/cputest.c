// SPDX-License-Identifier: MIT
/* A short sleep on each CPU becomes knowledge of it: whether tracepoints arrive while its idle task
 * is current. A CPU too busy to go idle is tested again later. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "lib/trace_format.h"
#include "parse/perf/sample.h"
#include "record/events_impl.h"

enum {
	TEST_RING_BYTES = 64 << 10,
	TEST_TRIES = 8,
	TESTS_AT_ONCE = 2, /* while it is recorded */
	TEST_SLEEP_NS = 200000,
};

/* Switches into and out of idle among the records of a test ring. */
struct idle_seen {
	uint32_t in, out;
};

static void test_read(const struct events *events, struct ring *ring, struct idle_seen *seen)
{
	const struct dwell_sched_switch *sw = &events->facts->sched_switch;
	const struct dwell_perf_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
							     PERF_SAMPLE_RAW };
	const struct perf_event_header *record;
	struct dwell_perf_layout layout;

	dwell_perf_layout_init(&layout, &attr, false);
	ring_note(ring);
	while ((record = ring_peek(ring))) {
		struct dwell_perf_sample sample = { 0 };

		if (record->type == PERF_RECORD_SAMPLE &&
		    dwell_perf_sample_decode(&layout, record + 1, record->size - sizeof(*record),
					     &sample)) {
			seen->in += !dwell_tracepoint_number(&sw->next_pid, sample.raw,
							     sample.raw_bytes);
			seen->out += !dwell_tracepoint_number(&sw->prev_pid, sample.raw,
							      sample.raw_bytes);
		}
		ring_consume(ring, record);
	}
	ring_release(ring);
}

/* Sleeps on the CPU (so that it goes idle and comes back) until both ways were seen, or only one
 * was however often. */
static int test_cpu(struct events *events, uint32_t cpu)
{
	const struct timespec nap = { 0, TEST_SLEEP_NS };
	struct perf_event_attr attr;
	struct idle_seen seen = { 0 };
	struct ring ring = { 0 };
	int fd, rc;

	event_attr_fill(events, RECORD_SWITCH, &attr);
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW;
	attr.disabled = 0;
	fd = event_open(&attr, -1, (int)cpu);
	if (fd < 0)
		return fd == -ENODEV ? 0 : fd; /* offline since */
	rc = ring_map(&ring, fd, TEST_RING_BYTES);
	for (unsigned i = 0; !rc && i < TEST_TRIES && !(seen.in && seen.out); i++) {
		nanosleep(&nap, NULL);
		test_read(events, &ring, &seen);
	}
	ring_unmap(&ring);
	close(fd);
	events->cpus[cpu].blind = seen.in && !seen.out;
	events->cpus[cpu].provisional = !seen.in && !seen.out;
	return rc;
}

/* A real-time thread that never sleeps leaves its CPU to others for a moment once a second: whoever
 * is to be there for a few naps has to be more urgent. Without the privilege it takes that long. */
static bool urgent_begin(struct sched_param *ret_param, int *ret_policy)
{
	const struct sched_param urgent = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };

	*ret_policy = sched_getscheduler(0);
	return *ret_policy >= 0 && !sched_getparam(0, ret_param) &&
	       !sched_setscheduler(0, SCHED_FIFO, &urgent);
}

/* Tests the CPUs that want() picks, at most `most` of them, in turn over the calls; each from a
 * thread that sleeps on it. */
static int test_cpus(struct events *events, bool (*want)(const struct cpu_events *cpu),
		     uint32_t most)
{
	size_t set_bytes = CPU_ALLOC_SIZE(DWELL_TRACE_CPUS_MAX);
	cpu_set_t *before = CPU_ALLOC(DWELL_TRACE_CPUS_MAX), *one = CPU_ALLOC(DWELL_TRACE_CPUS_MAX);
	struct sched_param param;
	int rc = before && one ? 0 : -ENOMEM, policy;
	bool urgent = false;

	if (!rc && sched_getaffinity(0, set_bytes, before))
		rc = -errno;
	for (uint32_t i = 0; !rc && most && i < events->cpu_count; i++) {
		uint32_t cpu = events->test_next++ % events->cpu_count;

		if (!want(&events->cpus[cpu]))
			continue;
		most--;
		if (!urgent)
			urgent = urgent_begin(&param, &policy);
		CPU_ZERO_S(set_bytes, one);
		CPU_SET_S(cpu, set_bytes, one);
		if (sched_setaffinity(0, set_bytes, one)) /* outside our cpuset: cannot test */
			continue;
		rc = test_cpu(events, cpu);
	}
	if (before && one)
		sched_setaffinity(0, set_bytes, before);
	if (urgent)
		sched_setscheduler(0, policy, &param);
	CPU_FREE(before);
	CPU_FREE(one);
	return rc;
}

static bool want_online(const struct cpu_events *cpu)
{
	return cpu->online;
}

static bool want_provisional(const struct cpu_events *cpu)
{
	return cpu->provisional && !cpu->gone;
}

int events_test_cpus(struct events *events, struct dwell_err *err)
{
	int rc = test_cpus(events, want_online, UINT32_MAX);

	return rc ? event_open_failed(err, rc, -1, "tracepoint sched:sched_switch") : 0;
}

int events_test_again(struct events *events)
{
	return test_cpus(events, want_provisional, TESTS_AT_ONCE);
}
