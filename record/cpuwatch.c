// SPDX-License-Identifier: MIT
/* A CPU that was taken offline becomes a gap that lasts until new events are open there: the old
 * ones are dead for good. Threads whose count of switches proves that they did not run keep their
 * waits. */
#include "record/cpuwatch.h"

/* Nothing that was known of a CPU holds any more. */
static void intake_forget(struct cpu_intake *intake, uint64_t now_ns)
{
	*intake = (struct cpu_intake){ .last_ns = now_ns,
				       .alive_ns = now_ns,
				       .told_lost = intake->told_lost };
}

static int cpu_came(struct recording *rec, uint32_t cpu, unsigned *news)
{
	int rc = events_reopen(&rec->events, cpu, rec->filtering ? &rec->filter : NULL);

	if (rc) /* off again, or there is no room for it: it stays a gap */
		return 0;
	*news |= CPU_CAME;
	rec->rescan = true; /* births and mappings there were not told */
	return trace_writer_cpu(rec->writer, recording_now_ns(rec), cpu, DWELL_WITNESS_BOTH, true);
}

int cpu_watch(struct recording *rec, uint32_t cpu, uint64_t since_ns, uint64_t now_ns,
	      unsigned *ret_news)
{
	struct cpu_events *events = &rec->events.cpus[cpu];
	struct cpu_intake *intake = &rec->cpus[cpu];
	struct trace_record gap = { .time_ns = since_ns, .kind = DWELL_REC_GAP };
	uint64_t ran_ns = 0;
	unsigned news = 0;
	int rc = 0;

	*ret_news = 0;
	if (!events->wanted || (!events->online && !events->up))
		return 0;
	if (!rec->facts.tracepoints) {
		if (events->online)
			return 0;
		news = events->gone ? 0 : CPU_UNSEEN;
		events->gone = true;
	} else if (events->online && !events->gone) {
		ran_ns = events_ran_ns(&rec->events, cpu);
		if (ran_ns) {
			intake->alive_ns = ran_ns < now_ns - since_ns ? since_ns + ran_ns : now_ns;
			return 0;
		}
		news = CPU_WENT;
		events->gone = true;
		gap.time_ns =
			intake->alive_ns > intake->last_ns ? intake->alive_ns : intake->last_ns;
	}
	if (gap.time_ns < rec->start_ns)
		gap.time_ns = rec->start_ns;
	if (news & CPU_WENT)
		rc = trace_writer_cpu(rec->writer, now_ns, cpu, DWELL_WITNESS_NONE, false);
	if (!rc && events->up && rec->facts.tracepoints)
		rc = cpu_came(rec, cpu, &news);
	gap.value = news & CPU_CAME ? recording_now_ns(rec) : now_ns;
	if (gap.time_ns > gap.value)
		gap.time_ns = gap.value;
	rec->loss_ns = gap.value;
	rec->recount = true;
	intake_forget(intake, gap.value);
	if (!rc)
		rc = trace_writer_put(rec->writer, cpu, &gap);
	*ret_news = news;
	return rc;
}
