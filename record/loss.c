// SPDX-License-Identifier: MIT
/* What the kernel had no room for becomes gaps, counts and the time of it in the trace, and what of
 * it other records or /proc still tell is learnt from there. */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "record/procfs.h"
#include "record/recording.h"
#include "record/trace_facts.h"

/* A ring with less room than one part in so many may have had none for the next record: mappings
 * carry a path of up to a page. */
enum { SIDE_FULL_PART = 8 };

/* The body of PERF_RECORD_LOST. */
struct lost_body {
	uint64_t id, lost;
};

static bool lost_read(const struct perf_event_header *record, struct lost_body *body)
{
	*body = (struct lost_body){ 0 };
	if (record->size < sizeof(*record) + sizeof(*body))
		return false;
	memcpy(body, record + 1, sizeof(*body));
	return true;
}

/* Something between the last record and this one is missing: of the part inside the window. */
int loss_main(struct recording *rec, uint32_t cpu, const struct perf_event_header *header,
	      uint64_t time_ns)
{
	struct cpu_intake *c = &rec->cpus[cpu];
	struct trace_record record = { .kind = DWELL_REC_GAP };
	struct lost_body body;

	lost_read(header, &body);
	c->told_lost += body.lost;
	record.time_ns = c->last_ns ? c->last_ns : rec->start_ns;
	if (rec->end_ns && time_ns > rec->end_ns) {
		if (record.time_ns >= rec->end_ns)
			return 0;
		time_ns = rec->end_ns;
	}
	record.value = time_ns;
	if (record.time_ns > time_ns)
		record.time_ns = time_ns;
	record.lost = body.lost;
	rec->lost += body.lost;
	rec->loss_ns = time_ns;
	rec->recount = true;
	rec->rescan |= !rec->facts.tracepoints; /* side records come in this ring, too */
	c->chained = false;
	c->pending_stack = 0;
	return trace_writer_put(rec->writer, cpu, &record);
}

/* `lost` records of a side ring are lost by now, the last of them before to_ns: how many of that
 * are news? */
static void side_note(struct recording *rec, uint32_t cpu, uint64_t lost, uint64_t to_ns)
{
	struct cpu_intake *c = &rec->cpus[cpu];
	struct side_loss *loss = &rec->side_loss;
	uint64_t from_ns = c->side_ns > rec->start_ns ? c->side_ns : rec->start_ns;

	if (rec->end_ns && to_ns > rec->end_ns)
		to_ns = rec->end_ns;
	if (from_ns > to_ns)
		from_ns = to_ns;
	if (!loss->records || from_ns < loss->from_ns)
		loss->from_ns = from_ns;
	if (to_ns > loss->to_ns)
		loss->to_ns = to_ns;
	if (lost <= c->side_lost)
		return;
	loss->records += lost - c->side_lost;
	rec->lost += lost - c->side_lost;
	c->side_lost = lost;
	rec->rescan = rec->names_doubted = true;
}

int loss_side(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
	      uint64_t time_ns)
{
	struct lost_body body;

	if (!lost_read(record, &body))
		return -EBADMSG;
	rec->cpus[cpu].side_told += body.lost;
	rec->rescan = rec->names_doubted = true; /* also when it was noticed before */
	side_note(rec, cpu, rec->cpus[cpu].side_told, time_ns);
	return 0;
}

/* The time of the ring's last record: what was lost came behind it. */
static uint64_t side_last_ns(const struct ring *ring)
{
	uint64_t at = (ring->head - sizeof(uint64_t)) & (ring->data_bytes - 1), time_ns;

	memcpy(&time_ns, ring->data + at, sizeof(time_ns));
	return time_ns;
}

void loss_look(struct recording *rec, uint32_t cpu)
{
	const struct ring *ring = &rec->events.cpus[cpu].side;
	uint64_t used = ring->head - ring->tail, lost;

	if (used > ring->data_bytes || ring->data_bytes - used >= ring->data_bytes / SIDE_FULL_PART)
		return;
	lost = events_side_lost(&rec->events, cpu);
	if (lost <= rec->cpus[cpu].side_lost)
		return;
	rec->cpus[cpu].side_ns = side_last_ns(ring);
	side_note(rec, cpu, lost, rec->pass_ns);
}

/* The kernel tells of a loss in front of the next record that finds room: if none came, only the
 * counts of the events do. Where it has none of lost records, switches that were counted and not
 * read are lost ones; wakings may be counted and never delivered. */
static uint64_t lost_untold(const struct recording *rec, uint32_t cpu)
{
	const struct event_count *counts = rec->events.cpus[cpu].counts;
	const struct event_count *switches = &counts[RECORD_SWITCH];
	uint64_t lost = 0;

	for (unsigned e = 0; e < RECORD_SIDE; e++)
		lost += counts[e].lost;
	if (!switches->counts_lost && switches->kernel > switches->parsed)
		lost = switches->kernel - switches->parsed;
	return lost > rec->cpus[cpu].told_lost ? lost - rec->cpus[cpu].told_lost : 0;
}

int loss_last(struct recording *rec)
{
	int rc = 0;

	for (uint32_t cpu = 0; !rc && cpu < rec->events.cpu_count; cpu++) {
		const struct event_count *side = &rec->events.cpus[cpu].counts[RECORD_SIDE];
		struct trace_record gap = { .time_ns = rec->cpus[cpu].last_ns,
					    .kind = DWELL_REC_GAP,
					    .value = rec->end_ns,
					    .lost = lost_untold(rec, cpu) };

		if (side->lost > rec->cpus[cpu].side_lost && rec->cpus[cpu].side_ns < rec->end_ns)
			side_note(rec, cpu, side->lost, rec->end_ns);
		if (gap.time_ns < rec->start_ns)
			gap.time_ns = rec->start_ns;
		if (!gap.lost || gap.time_ns >= rec->end_ns)
			continue;
		rec->lost += gap.lost;
		rec->recount = true;
		rc = trace_writer_put(rec->writer, cpu, &gap);
	}
	return rc;
}

int loss_birth(struct recording *rec, uint64_t time_ns, uint32_t parent, uint32_t child)
{
	struct tid_slot *slot = tids_slot(&rec->tids, child);
	struct tid_slot *bore = tids_slot(&rec->tids, parent);
	int32_t pid;
	int rc;

	if (rec->pid_namespace || !parent || !child || (slot->alive && !slot->exiting))
		return 0;
	pid = proc_tgid_of((int32_t)child);
	if (rec->config->all ? !targets_want(rec, (int32_t)child)
			     : !bore->observed || !rec->config->inherit)
		return 0;
	rc = tids_begin(&rec->tids, child, pid > 0 ? pid : 0, true);
	if (!rc)
		rc = targets_declare(rec, time_ns, parent, 0, NULL);
	if (!rc)
		rc = trace_writer_fork(rec->writer, time_ns, pid > 0 ? pid : -1, (int32_t)child,
				       (int32_t)parent, true);
	slot->births++;
	slot->comm = bore->comm;
	slot->declared = true;
	return rc;
}

static int name_learn(struct recording *rec, uint64_t time_ns, uint32_t tid, const char *comm)
{
	struct tid_slot *slot = tids_slot(&rec->tids, tid);
	uint32_t string;
	int rc;

	/* The kernel's own threads are called otherwise in /proc than in events. */
	if (!*comm || slot->kernel)
		return 0;
	rc = dwell_strings_add(rec->strings, comm, (uint32_t)strlen(comm), &string);
	if (rc || string == slot->comm)
		return rc;
	slot->comm = string;
	return trace_writer_comm(rec->writer, time_ns, (int32_t)tid, string, false);
}

static int pid_learn(struct recording *rec, uint64_t time_ns, uint32_t tid, int32_t pid)
{
	tids_learn(&rec->tids, tid, pid);
	tids_slot(&rec->tids, tid)->declared = false;
	return targets_declare(rec, time_ns, tid, pid, NULL);
}

int loss_learn(struct recording *rec, uint32_t cpu, const struct dwell_perf_sample *sample,
	       const char *comm)
{
	const struct cpu_intake *c = &rec->cpus[cpu];
	bool leaving = sample->tid >= TID_ALIAS; /* -1: on its last steps */
	uint32_t tid = leaving ? c->current : sample->tid;
	const struct tid_slot *slot = tids_slot(&rec->tids, tid);
	int rc = 0;

	if (!tid || tid >= TID_ALIAS || !slot->alive || !slot->declared ||
	    (leaving && (!c->chained || c->births != slot->births)))
		return 0;
	if (slot->pid <= 0 && (int32_t)sample->pid > 0)
		rc = pid_learn(rec, sample->time_ns, tid, (int32_t)sample->pid);
	if (!rc && comm)
		rc = name_learn(rec, sample->time_ns, tid, comm);
	return rc;
}

int loss_reread(struct recording *rec)
{
	uint64_t now_ns = recording_now_ns(rec);
	uint32_t count;
	const uint32_t *tids = tids_sorted(&rec->tids, &count);
	int rc = 0;

	for (uint32_t i = 0; !rc && rec->names_doubted && i < count; i++) {
		const struct tid_slot *slot = tids_slot(&rec->tids, tids[i]);
		int32_t pid = slot->pid > 0 || tids[i] >= TID_ALIAS
				      ? slot->pid
				      : proc_tgid_of((int32_t)tids[i]);
		struct proc_stat stat;

		if (pid <= 0 || !slot->declared || proc_read_stat(pid, (int32_t)tids[i], &stat))
			continue;
		if (slot->pid <= 0)
			rc = pid_learn(rec, now_ns, tids[i], pid);
		if (!rc)
			rc = name_learn(rec, now_ns, tids[i], stat.comm);
	}
	rec->names_doubted = false;
	/* A recorder that is killed leaves them, too; seldom, since a reader takes so many only. */
	if (rc || rec->side_loss.records < 2 * rec->side_loss.written)
		return rc;
	rec->side_loss.written = rec->side_loss.records;
	return trace_facts_loss(rec);
}
