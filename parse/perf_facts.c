// SPDX-License-Identifier: MIT
/* The description of a perf.data becomes facts, the event table, and the decision what its events
 * are good for: whether switches can be joined, and by which witness. */
#include <errno.h>
#include <string.h>

#include "parse/perf_impl.h"
#include "parse/switch_chain.h"

enum {
	CHAIN_CPUS = 1024,
	CHAIN_RECORDS = 1 << 16, /* looked at, of the file's first ones */
};

static int facts_set(struct dwell_source *source)
{
	struct perf_source *perf = source->format;
	const struct dwell_perf_data_info *info = perf->info;
	const struct {
		const char *key, *value;
	} texts[] = {
		{ "perf.version", info->version },
		{ "host.name", info->hostname },
		{ "kernel.release", info->osrelease },
		{ "arch", info->arch },
		{ "command", info->cmdline },
		{ "perf.form", info->form },
		{ "kernel.kcore_dir", info->kcore_dir },
	};
	int rc = 0;

	for (unsigned i = 0; !rc && i < sizeof(texts) / sizeof(*texts); i++)
		rc = source_fact_set_text(source, texts[i].key, texts[i].value);
	if (!rc && info->cpus_online)
		rc = source_fact_set_u64(source, "cpus", info->cpus_online);
	if (!rc && info->has_wall_clock)
		rc = source_fact_set_u64(source, "clock.realtime_ns",
					 source->info.start_ns - info->clock_ns + info->wall_ns);
	return rc;
}

static bool is_named(const struct dwell_perf_event *event, const char *name)
{
	size_t bytes = strlen(name);

	/* perf adds modifiers: "sched:sched_switch:u". */
	return !strncmp(event->name, name, bytes) &&
	       (event->name[bytes] == '\0' || event->name[bytes] == ':');
}

static const char *format_of(const struct perf_source *perf, const struct dwell_perf_event *event)
{
	const struct dwell_perf_format *format;

	for (uint32_t i = 0; (format = dwell_perf_data_format(perf->data, i)); i++)
		if (format->id == event->attr.config)
			return format->text;
	return NULL;
}

/* Every one of its occurrences was recorded: period 1, no frequency. Those of a group but its
 * leader have none and are only counted. */
static bool is_whole(const struct dwell_perf_event *event)
{
	return !(event->attr.flags & DWELL_PERF_ATTR_FREQ) && event->attr.period <= 1 &&
	       (event->attr.period || !(event->attr.read_format & PERF_FORMAT_GROUP));
}

static uint8_t software_role(const struct dwell_perf_event *event)
{
	if (is_named(event, "offcpu-time"))
		return PERF_ROLE_OFF_CPU;
	if (event->attr.type == PERF_TYPE_SOFTWARE &&
	    event->attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES && is_whole(event))
		return PERF_ROLE_STACK;
	return PERF_ROLE_SAMPLE;
}

/* A tracepoint whose format cannot be used is a sample like others. */
static uint8_t tracepoint_role(struct perf_source *perf, const struct dwell_perf_event *event,
			       bool has_waking)
{
	const char *text = format_of(perf, event);

	/* Of a sampled sched_switch at least the stack is good, for the SWITCH record behind it. */
	if (is_named(event, "sched:sched_switch") && !is_whole(event))
		return PERF_ROLE_STACK;
	if (!text || !is_whole(event))
		return PERF_ROLE_SAMPLE;
	if (is_named(event, "sched:sched_switch"))
		return dwell_sched_switch_parse(text, &perf->sched_switch, NULL) ? PERF_ROLE_SAMPLE
										 : PERF_ROLE_SWITCH;
	if (is_named(event, has_waking ? "sched:sched_waking" : "sched:sched_wakeup"))
		return dwell_sched_waking_parse(text, "sched_waking", &perf->waking, NULL)
			       ? PERF_ROLE_SAMPLE
			       : PERF_ROLE_WAKING;
	if (is_named(event, "sched:sched_wakeup_new"))
		return dwell_sched_waking_parse(text, "sched_wakeup_new", &perf->wakeup_new, NULL)
			       ? PERF_ROLE_SAMPLE
			       : PERF_ROLE_WAKEUP_NEW;
	return PERF_ROLE_SAMPLE;
}

static int desc_add(struct dwell_source *source, const struct dwell_perf_event *event, uint8_t role)
{
	struct perf_source *perf = source->format;
	struct dwell_event_desc desc = { .is_clock = dwell_perf_attr_is_clock(&event->attr) };
	const char *text = event->attr.type == PERF_TYPE_TRACEPOINT ? format_of(perf, event) : NULL;
	int rc = dwell_strings_add(source->strings, event->name, strlen(event->name), &desc.name);

	if (!rc && text)
		rc = dwell_strings_add(source->strings, text, strlen(text), &desc.format);
	if (event->attr.flags & DWELL_PERF_ATTR_FREQ)
		desc.freq_hz = event->attr.period < UINT32_MAX ? (uint32_t)event->attr.period : 0;
	else
		desc.period = event->attr.period;
	desc.is_wait = role == PERF_ROLE_OFF_CPU;
	desc.is_empty = !event->samples && !(event->attr.read_format & PERF_FORMAT_GROUP);
	if (desc.is_clock || desc.is_wait)
		desc.unit = DWELL_UNIT_NS;
	source->info.untimed |= event->samples && event->layout.time_at < 0;
	if (rc || dwell_array_grow(&source->events) || dwell_array_grow(&perf->roles))
		return -ENOMEM;
	source->events.data[source->events.count++] = desc;
	perf->roles.data[perf->roles.count++] = role;
	return 0;
}

static int events_read(struct dwell_source *source)
{
	struct perf_source *perf = source->format;
	const struct dwell_perf_event *event;
	bool has_waking = false;
	int rc = 0;

	for (uint32_t i = 0; (event = dwell_perf_data_event(perf->data, i)); i++)
		has_waking |= is_named(event, "sched:sched_waking") && is_whole(event);
	for (uint32_t i = 0; !rc && (event = dwell_perf_data_event(perf->data, i)); i++)
		rc = desc_add(source, event,
			      event->attr.type == PERF_TYPE_TRACEPOINT
				      ? tracepoint_role(perf, event, has_waking)
				      : software_role(event));
	if (perf->info->swapped) {
		dwell_sched_switch_swap(&perf->sched_switch);
		dwell_sched_waking_swap(&perf->waking);
		dwell_sched_waking_swap(&perf->wakeup_new);
	}
	return rc;
}

static bool has_role(const struct perf_source *perf, enum perf_role role)
{
	return perf->roles.count && memchr(perf->roles.data, (int)role, perf->roles.count);
}

/* 0 or -ENOMEM. */
static int chain_look(const struct perf_source *perf, const struct dwell_perf_record *record,
		      struct switch_chain *chain)
{
	const struct dwell_sched_switch *sw = &perf->sched_switch;
	const struct dwell_perf_event *event = dwell_perf_data_event(perf->data, record->event);
	struct dwell_perf_sample sample = { .cpu = CHAIN_CPUS };

	if (!dwell_perf_sample_decode(&event->layout, record->payload, record->bytes, &sample) ||
	    sample.cpu >= CHAIN_CPUS)
		return 0;
	return switch_chain_add(
		chain, sample.cpu,
		(uint32_t)dwell_tracepoint_number(&sw->prev_pid, sample.raw, sample.raw_bytes),
		(uint32_t)dwell_tracepoint_number(&sw->next_pid, sample.raw, sample.raw_bytes));
}

/* Were the switches recorded of a command and its children alone? */
static bool of_command(const struct perf_source *perf)
{
	const struct dwell_perf_event *event;

	for (uint32_t i = 0; (event = dwell_perf_data_event(perf->data, i)); i++)
		if (perf->roles.data[i] == PERF_ROLE_SWITCH &&
		    event->attr.flags & DWELL_PERF_ATTR_ENABLE_ON_EXEC)
			return true;
	return false;
}

/* Were all threads recorded, by the switches themselves? Command lines are no proof. *ret_few:
 * there are too few of them to tell. */
static int chains_whole(const struct perf_source *perf, bool *ret_whole, bool *ret_few,
			struct dwell_err *err)
{
	struct switch_chain chain = { 0 };
	struct dwell_perf_record record;
	uint32_t switches = 0;
	int rc = 0;

	*ret_whole = *ret_few = false;
	if (of_command(perf))
		return 0;
	for (uint32_t n = 0; n < CHAIN_RECORDS; n++) {
		rc = dwell_perf_data_next(perf->data, &record, err);
		if (rc <= 0)
			break;
		if (record.type != PERF_RECORD_SAMPLE ||
		    perf->roles.data[record.event] != PERF_ROLE_SWITCH)
			continue;
		switches++;
		if (chain_look(perf, &record, &chain)) {
			rc = dwell_err_sys(err, -ENOMEM, "cannot read the file");
			break;
		}
	}
	*ret_whole = switch_chain_whole(&chain);
	*ret_few = switch_chain_few(&chain, switches);
	switch_chain_release(&chain);
	return rc < 0 ? rc : dwell_perf_data_rewind(perf->data);
}

/* Scheduler events that cannot be joined: why, and what would work. */
static const char *why_no_switches(const struct perf_source *perf, bool few)
{
	const struct dwell_perf_event *event;

	for (uint32_t i = 0; (event = dwell_perf_data_event(perf->data, i)); i++) {
		if (event->attr.type == PERF_TYPE_TRACEPOINT && !format_of(perf, event) &&
		    !strncmp(event->name, "tracepoint ", strlen("tracepoint ")))
			return "the tracing data of the file are missing (it was cut, or its "
			       "recorder killed): its tracepoints cannot be read";
		if (!is_named(event, "sched:sched_switch"))
			continue;
		if (!is_whole(event))
			return "sched_switch was sampled, not recorded each time (a frequency or a "
			       "period other than 1): record with 'perf record -a -g -c 1 -e "
			       "sched:sched_switch' or 'dwell record -a'";
		if (!format_of(perf, event))
			return "the file has no format text of sched_switch (its tracing data are "
			       "missing): record with 'dwell record -a'";
		if (perf->roles.data[i] != PERF_ROLE_SWITCH)
			return "the format text of sched_switch in the file cannot be used: record "
			       "with 'dwell record -a'";
		if (few)
			return "too few switches are in the file to tell whether those of all "
			       "threads were recorded, so none of them are used; 'perf record -a -g "
			       "-e sched:sched_switch' and 'dwell record -a' record them";
		return "sched_switch was recorded per process: it tells when a thread leaves a CPU "
		       "and never when it comes back; record with 'perf record -a -g -e "
		       "sched:sched_switch', with 'perf record -p PID --switch-events', or with "
		       "'dwell record -p PID'";
	}
	return NULL;
}

/* An event of all threads has a descriptor, and so an id, for each CPU: fewer than there were CPUs
 * are what `perf record -C LIST` has. */
static bool some_cpus(const struct perf_source *perf)
{
	const struct dwell_perf_event *event;
	uint32_t ids = 0;

	for (uint32_t i = 0; (event = dwell_perf_data_event(perf->data, i)); i++)
		if (event->id_count > ids)
			ids = event->id_count;
	return ids && ids < perf->info->cpus_online;
}

/* Which witnesses there are of switches. */
static int switches_judge(struct dwell_source *source, struct dwell_err *err)
{
	struct perf_source *perf = source->format;
	const struct dwell_perf_data_info *info = perf->info;
	bool cpu_wide = info->idle_seen || info->switch_cpu_wide_seen, few = false;
	int rc;

	if (!cpu_wide && has_role(perf, PERF_ROLE_SWITCH)) {
		rc = chains_whole(perf, &cpu_wide, &few, err);
		if (rc)
			return rc;
	}
	perf->switch_records =
		info->records[PERF_RECORD_SWITCH] || info->records[PERF_RECORD_SWITCH_CPU_WIDE];
	source->info.has_switches =
		(cpu_wide && has_role(perf, PERF_ROLE_SWITCH)) || perf->switch_records;
	source->info.has_wakings = source->info.has_switches && has_role(perf, PERF_ROLE_WAKING);
	source->info.all_threads = cpu_wide && !some_cpus(perf);
	perf->witness = !perf->switch_records		   ? DWELL_WITNESS_TRACEPOINT
			: has_role(perf, PERF_ROLE_SWITCH) ? DWELL_WITNESS_BOTH
							   : DWELL_WITNESS_RECORD;
	if (!source->info.has_switches)
		source->info.no_switches_reason = why_no_switches(perf, few);
	return 0;
}

int perf_facts_read(struct dwell_source *source, struct dwell_err *err)
{
	struct perf_source *perf = source->format;
	int rc = events_read(source);

	source->info.format_name = "perf.data";
	source->info.start_ns = perf->info->start_ns;
	source->info.cpus = perf->info->cpus_seen;
	if (!rc)
		rc = facts_set(source);
	if (rc)
		return dwell_err_sys(err, rc, "cannot read the file's description");
	return switches_judge(source, err);
}
