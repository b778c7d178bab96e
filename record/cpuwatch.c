// SPDX-License-Identifier: MIT
/* A CPU that was taken offline becomes a gap that lasts: its events are dead for good, and when it
 * is back threads run there unseen. Those whose count of switches proves that they did not keep
 * their waits. */
#include "record/cpuwatch.h"

int cpu_watch(struct recording *rec, uint32_t cpu, uint64_t since_ns, uint64_t now_ns,
	      bool *ret_went)
{
	struct cpu_events *events = &rec->events.cpus[cpu];
	struct cpu_intake *intake = &rec->cpus[cpu];
	struct trace_record gap = { .time_ns = since_ns, .kind = DWELL_REC_GAP, .value = now_ns };
	bool went;
	int rc;

	*ret_went = false;
	if (!events->online || (!events->gone && events_running(&rec->events, cpu)))
		return 0;
	went = !events->gone;
	events->gone = true;
	if (gap.time_ns < intake->last_ns) /* so long it was there */
		gap.time_ns = intake->last_ns < now_ns ? intake->last_ns : now_ns;
	rec->loss_ns = intake->last_ns = now_ns;
	rec->recount = true;
	intake->chained = false;
	intake->pending_stack = 0;
	rc = trace_writer_put(rec->writer, cpu, &gap);
	if (!rc && went)
		rc = trace_writer_cpu(rec->writer, now_ns, cpu, DWELL_WITNESS_NONE, false);
	*ret_went = went;
	return rc;
}
