// SPDX-License-Identifier: MIT
/* Records are counted, and switches followed from CPU to CPU. */
#include "parse/script_probe.h"

static int probe_switch(struct script_probe *probe, const struct script_record *r)
{
	probe->from_idle += r->prev_tid == 0;
	probe->with_periods += r->has_period && r->period != 1;
	if (r->cpu == DWELL_SCRIPT_NO_CPU) {
		probe->without_cpu++;
		return 0;
	}
	return switch_chain_add(&probe->chain, r->cpu, (uint32_t)r->prev_tid,
				(uint32_t)r->other_tid);
}

int script_probe_add(struct script_probe *probe, const struct script_chunk *chunk)
{
	probe->known += chunk->known;
	probe->unknown += chunk->unknown;
	probe->comments += chunk->comments;
	for (uint32_t i = 0; i < chunk->records.count; i++) {
		const struct script_record *r = &chunk->records.data[i];

		probe->counts[r->kind]++;
		/* Records that perf made up when it started have no time. */
		if (!probe->started && r->has_time && (r->event || r->time_ns)) {
			probe->started = true;
			probe->start_ns = r->time_ns;
		}
		if (r->kind == SCRIPT_SWITCH && probe_switch(probe, r))
			return -ENOMEM;
	}
	return 0;
}

void script_probe_release(struct script_probe *probe)
{
	switch_chain_release(&probe->chain);
}

static bool has_records(const struct script_probe *probe)
{
	return probe->counts[SCRIPT_SWITCH_IN] && probe->counts[SCRIPT_SWITCH_OUT];
}

const char *script_probe_reason(const struct script_probe *probe)
{
	if (!probe->counts[SCRIPT_SWITCH] || has_records(probe))
		return NULL;
	if (!probe->started)
		return "the text shows no times, so waits cannot be told; print it with `perf "
		       "script -F +time`";
	if (probe->without_cpu)
		return "the text shows switches without their CPUs, so waits cannot be told; "
		       "record with `perf record -a -e sched:sched_switch` or `dwell record`, and "
		       "print with `perf script -F +cpu`";
	if (probe->with_periods || (probe->from_idle && switch_chain_sampled(&probe->chain)))
		return "sched_switch was sampled, not recorded each time, so waits cannot be told; "
		       "record with `perf record -a -c 1 -e sched:sched_switch` or `dwell record`";
	if (!script_probe_all_threads(probe) &&
	    switch_chain_few(&probe->chain, probe->counts[SCRIPT_SWITCH]))
		return "too few switches are in the text to tell whether those of all threads were "
		       "recorded, so none of them are used; `perf record -a -e sched:sched_switch` "
		       "and `dwell record` record them";
	if (!script_probe_all_threads(probe))
		return "only the recorded processes' own switches were recorded, so nobody is seen "
		       "to come back and no wait has an end; record with `perf record -a -e "
		       "sched:sched_switch` or `dwell record`";
	return NULL;
}

bool script_probe_switches(const struct script_probe *probe)
{
	return (probe->counts[SCRIPT_SWITCH] && !script_probe_reason(probe)) ||
	       (has_records(probe) && probe->started);
}

bool script_probe_all_threads(const struct script_probe *probe)
{
	return probe->from_idle || switch_chain_whole(&probe->chain);
}
