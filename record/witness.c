// SPDX-License-Identifier: MIT
/* Switches that were read become trust in a CPU's tracepoints: SWITCH records are turned on where
 * switches are missed, and off where none are. */
#include "record/recording.h"

enum {
	BREAKS_MIN = 2,	     /* missed switch-ins that turn SWITCH records on, ... */
	BREAKS_SHARE = 1000, /* ... if they are one in so many switches */
	IDLE_EXITS_MIN = 2,  /* switches out of idle that show a CPU's tracepoints to be whole */
};

/* Was a switch-in missed without a loss? Whoever leaves a CPU must have come: as next of the switch
 * before, or, where a filter hides switches in between, at some time since it left last. */
static bool switch_in_missed(const struct recording *rec, const struct cpu_intake *c, uint32_t prev)
{
	const struct tid_slot *slot = tids_slot(&rec->tids, prev);

	if (rec->config->all)
		return c->chained && c->current != prev;
	return prev && slot->observed && slot->out_ns > rec->loss_ns;
}

/* Some tasks hide tracepoints while they are current (idle tasks of a CPU above all): where that
 * costs more than now and then a switch, SWITCH records are turned on. */
static int check_breaks(struct recording *rec, uint32_t cpu, uint32_t prev)
{
	struct cpu_intake *c = &rec->cpus[cpu];
	int rc;

	c->switches++;
	if (rec->events.cpus[cpu].records || rec->pid_namespace || !switch_in_missed(rec, c, prev))
		return 0;
	c->breaks++;
	if (c->breaks < BREAKS_MIN || c->breaks * BREAKS_SHARE < c->switches)
		return 0;
	rc = events_add_records(&rec->events, cpu, &rec->err);
	return rc ? rc
		  : trace_writer_cpu(rec->writer, recording_now_ns(rec), cpu, DWELL_WITNESS_BOTH,
				     true);
}

/* A CPU that was too busy to be tested has SWITCH records until its idle task was seen to hide
 * nothing. */
static int check_provisional(struct recording *rec, uint32_t cpu, uint32_t prev)
{
	if (!rec->events.cpus[cpu].provisional || prev ||
	    ++rec->cpus[cpu].idle_exits < IDLE_EXITS_MIN)
		return 0;
	events_drop_records(&rec->events, cpu);
	return trace_writer_cpu(rec->writer, recording_now_ns(rec), cpu, DWELL_WITNESS_TRACEPOINT,
				true);
}

int witness_check(struct recording *rec, uint32_t cpu, uint32_t prev)
{
	int rc = check_breaks(rec, cpu, prev);

	return rc ? rc : check_provisional(rec, cpu, prev);
}
