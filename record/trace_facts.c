// SPDX-License-Identifier: MIT
/* What is known of a recording becomes facts, tables and coverage in its trace. */
#include "record/trace_facts.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "lib/io.h"

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The three clocks at one moment, as "PREFIX.monotonic_ns" and so on. */
static int facts_clock(struct trace_writer *w, const struct recording *rec, const char *prefix)
{
	const struct {
		const char *name;
		uint64_t ns;
	} clocks[] = { { "monotonic", recording_now_ns(rec) },
		       { "realtime", clock_ns(CLOCK_REALTIME) },
		       { "boottime", clock_ns(CLOCK_BOOTTIME) } };
	char key[64];
	int rc = 0;

	for (unsigned i = 0; !rc && i < sizeof(clocks) / sizeof(*clocks); i++) {
		snprintf(key, sizeof(key), "%s.%s_ns", prefix, clocks[i].name);
		rc = trace_writer_info_u64(w, key, clocks[i].ns);
	}
	return rc;
}

static int facts_write(struct recording *rec)
{
	const struct record_config *config = rec->config;
	struct trace_writer *w = rec->writer;
	const struct record_facts *facts = &rec->facts;
	char boot[64] = "", key[128];
	struct utsname uts;
	int rc = 0;

	uname(&uts);
	if (dwell_io_read_small("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) > 0)
		boot[strcspn(boot, "\n")] = '\0';
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "dwell.version", DWELL_VERSION },
		{ "host.name", uts.nodename },
		{ "kernel.release", uts.release },
		{ "arch", uts.machine },
		{ "boot.id", boot },
		{ "command", config->command_line },
		{ "level", facts->tracepoints ? "tracepoints" : "records" },
		{ "level.missing", facts->why_not },
		{ "kernel.symbols", chains_kernel_hidden(rec->chains) ? "hidden" : "read" },
	};
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
		{ "cpus", rec->events.cpu_count },
		{ "rate.hz", config->freq_hz },
		{ "ring.bytes", rec->events.ring_bytes },
		{ "mode.all_threads",
		  config->all && config->uid < 0 && !config->cpus && !rec->pid_namespace },
		{ "mode.switches", 1 },
		{ "mode.wakings", facts->tracepoints && config->wakers },
		{ "mode.callchains", config->callchains },
		{ "mode.stack_bytes", config->stack_bytes },
		{ "mode.pid_namespace", rec->pid_namespace },
	};
	for (unsigned i = 0; !rc && i < sizeof(texts) / sizeof(*texts); i++)
		rc = trace_writer_info(w, texts[i].key, texts[i].value);
	for (unsigned i = 0; !rc && i < sizeof(numbers) / sizeof(*numbers); i++)
		rc = trace_writer_info_u64(w, numbers[i].key, numbers[i].value);
	if (!rc && config->cpus)
		rc = trace_writer_info(w, "mode.cpus", config->cpus);
	for (uint32_t i = 0; !rc && i < config->labels.count; i++) {
		snprintf(key, sizeof(key), "label.%s", config->labels.data[i].key);
		rc = trace_writer_info(w, key, config->labels.data[i].value);
	}
	return rc;
}

static int event_table_write(struct recording *rec)
{
	const struct record_config *config = rec->config;
	const struct record_facts *facts = &rec->facts;
	const struct {
		enum record_event event;
		bool wanted;
		const char *name, *format;
	} rows[] = {
		{ RECORD_CLOCK, true, "cpu-clock", "" },
		{ RECORD_SWITCH, facts->tracepoints, "sched:sched_switch", facts->switch_format },
		{ RECORD_WAKING, facts->tracepoints && config->wakers, "sched:sched_waking",
		  facts->waking_format },
		{ RECORD_WAKEUP_NEW, facts->tracepoints && config->wakers, "sched:sched_wakeup_new",
		  facts->wakeup_new_format },
		{ RECORD_STACKS, !facts->tracepoints && facts->kernel_chains, "context-switches",
		  "" },
	};
	uint32_t next = 0;
	int rc = 0;

	for (unsigned i = 0; !rc && i < sizeof(rows) / sizeof(*rows); i++) {
		bool clock = rows[i].event == RECORD_CLOCK;
		uint64_t period = !clock ? 1 : config->freq_hz ? 1000000000u / config->freq_hz : 0;

		rec->event_index[rows[i].event] = UINT32_MAX;
		if (!rows[i].wanted)
			continue;
		rec->event_index[rows[i].event] = next++;
		rc = trace_writer_event(rec->writer, rows[i].name, rows[i].format, clock, period,
					clock ? config->freq_hz : 0);
	}
	return rc;
}

static int cpu_table_write(struct recording *rec)
{
	int rc = 0;

	for (uint32_t cpu = 0; !rc && cpu < rec->events.cpu_count; cpu++) {
		const struct cpu_events *c = &rec->events.cpus[cpu];
		enum dwell_witness witness = !rec->facts.tracepoints ? DWELL_WITNESS_RECORD
					     : c->records	     ? DWELL_WITNESS_BOTH
								     : DWELL_WITNESS_TRACEPOINT;

		if (c->online)
			rc = trace_writer_cpu(rec->writer, rec->start_ns, cpu, witness, true);
	}
	return rc;
}

int trace_facts_begin(struct recording *rec)
{
	int rc = facts_write(rec);

	return rc ? rc : event_table_write(rec);
}

int trace_facts_window(struct recording *rec)
{
	int rc = trace_writer_info_u64(rec->writer, "window.start_ns", rec->start_ns);

	if (!rc)
		rc = facts_clock(rec->writer, rec, "clock");
	return rc ? rc : cpu_table_write(rec);
}

int trace_facts_coverage(struct recording *rec)
{
	uint64_t dropped = 0;
	int rc = 0;

	for (uint32_t cpu = 0; !rc && cpu < rec->events.cpu_count; cpu++) {
		const struct cpu_events *c = &rec->events.cpus[cpu];

		for (unsigned e = 0; !rc && c->online && e < RECORD_RECORDS; e++) {
			const struct event_count *n = &c->counts[e];
			uint64_t kernel;

			if (rec->event_index[e] == UINT32_MAX)
				continue;
			/* A clock counts ns; its samples are expected one a period. */
			kernel = e != RECORD_CLOCK ? n->kernel
				 : rec->config->freq_hz
					 ? n->kernel / (1000000000u / rec->config->freq_hz)
					 : 0;
			rc = trace_writer_coverage(rec->writer, rec->event_index[e], cpu, kernel,
						   n->parsed, n->lost,
						   c->blind && e == RECORD_SWITCH);
			if (e == RECORD_WAKING && n->kernel > n->parsed + n->lost)
				dropped += n->kernel - n->parsed - n->lost;
		}
	}
	return rc ? rc : trace_writer_info_u64(rec->writer, "wakings.dropped", dropped);
}

int trace_facts_loss(struct recording *rec)
{
	const struct side_loss *loss = &rec->side_loss;
	int rc = trace_writer_info_u64(rec->writer, "side.lost", loss->records);

	if (!rc && loss->records)
		rc = trace_writer_info_u64(rec->writer, "side.lost_from_ns", loss->from_ns);
	if (!rc && loss->records)
		rc = trace_writer_info_u64(rec->writer, "side.lost_to_ns", loss->to_ns);
	return rc;
}

/* "1,3": the CPUs that went or came meanwhile; as many as fit. */
static int facts_away(struct recording *rec)
{
	char list[256] = "";
	size_t used = 0;

	for (uint32_t cpu = 0; cpu < rec->events.cpu_count && used < sizeof(list) - 16; cpu++)
		if (rec->events.cpus[cpu].away)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%u",
						 used ? "," : "", cpu);
	return used ? trace_writer_info(rec->writer, "cpus.away", list) : 0;
}

/* How the copied user stacks ended. */
static int facts_stacks(struct recording *rec)
{
	const struct dwell_unwinder_stats *stats = chains_unwound(rec->chains);
	struct dwell_unwinder_count counts[DWELL_UNWINDER_COUNTS];
	int rc = 0;

	if (!stats)
		return 0;
	dwell_unwinder_counts(stats, counts);
	for (unsigned i = 0; !rc && i < DWELL_UNWINDER_COUNTS; i++)
		if (counts[i].count)
			rc = trace_writer_info_u64(rec->writer, counts[i].fact, counts[i].count);
	return rc;
}

int trace_facts_end(struct recording *rec, uint64_t cpu_ns)
{
	const struct dwell_callchain_stats *chains = chains_stats(rec->chains);
	const struct {
		const char *key;
		uint64_t value;
		bool unless_zero;
	} numbers[] = {
		{ "window.end_ns", rec->end_ns, false },
		{ "recorder.cpu_ns", cpu_ns, false },
		{ "records", rec->records, false },
		{ "records.lost", rec->lost, false },
		{ "chains.truncated", chains->truncated, false },
		{ "chains.junk_cut", chains->junk_cut, false },
		{ "mappings.left_out", dwell_addrspaces_left_out(rec->spaces), true },
		{ "frames.unnamed", rec->frames_unnamed, true },
		{ "threads.foreign", rec->foreign, true },
		{ "maps.unread", rec->identify.jit.maps_unread, true },
		{ "dumps.unread", rec->identify.jit.dumps_unread, true },
		{ "dumps.late", rec->identify.jit.late, true },
	};
	int rc = facts_clock(rec->writer, rec, "clock.end");

	if (!rc)
		rc = facts_away(rec);
	if (!rc)
		rc = facts_stacks(rec);
	if (!rc)
		rc = trace_facts_loss(rec);
	for (unsigned i = 0; !rc && i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i].value || !numbers[i].unless_zero)
			rc = trace_writer_info_u64(rec->writer, numbers[i].key, numbers[i].value);
	return rc;
}
