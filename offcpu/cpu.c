// SPDX-License-Identifier: MIT
/* Switches on one CPU become the moves of two threads and the CPU's own books: the next of one
 * switch is the prev of the following one, and what breaks that chain was missed. */
#include "offcpu/slot.h"

#include <string.h>

enum { CPUS_MAX = 1 << 16 };

static void cpu_init(struct dwell_timeline *tl, struct cpu *cpu, uint32_t index)
{
	*cpu = (struct cpu){ .since_ns = tl->start_ns,
			     .evidence_ns = tl->start_ns,
			     .index = index,
			     .current = CPU_UNKNOWN,
			     .prev = DWELL_THREAD_NONE };
}

struct cpu *cpu_get(struct dwell_timeline *tl, uint32_t index)
{
	if (index < tl->cpus.count)
		return &tl->cpus.data[index];
	if (index >= CPUS_MAX) {
		cpu_init(tl, &tl->nowhere, DWELL_CPU_NONE);
		return &tl->nowhere;
	}
	if (dwell_array_reserve(&tl->cpus, (uint64_t)index + 1)) {
		if (!tl->rc)
			tl->rc = -ENOMEM;
		return NULL;
	}
	while (tl->cpus.count <= index) {
		cpu_init(tl, &tl->cpus.data[tl->cpus.count], tl->cpus.count);
		tl->cpus.count++;
	}
	return &tl->cpus.data[index];
}

void cpu_book(struct cpu *cpu, uint64_t time_ns)
{
	uint64_t ns;

	if (time_ns <= cpu->since_ns)
		return;
	ns = time_ns - cpu->since_ns;
	if (cpu->current == CPU_UNKNOWN || cpu->current == CPU_OTHER)
		cpu->account.unknown_ns += ns;
	else if (cpu->current == DWELL_THREAD_IDLE)
		cpu->account.idle_ns += ns;
	else
		cpu->account.busy_ns += ns;
	cpu->since_ns = time_ns;
}

static void cpu_set(struct cpu *cpu, uint32_t current, uint64_t time_ns)
{
	cpu_book(cpu, time_ns);
	cpu->current = current;
	cpu->in_due = false;
	if (cpu->evidence_ns < time_ns)
		cpu->evidence_ns = time_ns;
}

static bool cpu_counts(struct dwell_timeline *tl, uint32_t thread)
{
	return thread < CPU_UNKNOWN && slot_get(tl, thread);
}

/* The thread that runs here as far as known, if it is accounted for. */
static struct slot *cpu_runner(struct dwell_timeline *tl, const struct cpu *cpu)
{
	struct slot *slot = cpu->current < CPU_UNKNOWN ? slot_get(tl, cpu->current) : NULL;

	return slot && slot->state == SLOT_ON && slot->cpu == cpu->index ? slot : NULL;
}

/* Did nobody run here of whom an event ever told that he runs? Some kernels keep all of what
 * happens while certain threads are current from the rings: then a switch was not told, and whoever
 * shows up next contradicts nothing. */
static bool cpu_unheard(struct dwell_timeline *tl, const struct cpu *cpu)
{
	const struct slot *slot = cpu_runner(tl, cpu);

	return !slot || !slot->heard;
}

/* Current cannot be current any more, though nothing told of its leaving: it is known to have run
 * until it was last seen here. */
static void cpu_lose(struct dwell_timeline *tl, struct cpu *cpu)
{
	uint64_t from_ns = cpu->evidence_ns > cpu->since_ns ? cpu->evidence_ns : cpu->since_ns;
	struct slot *slot;

	if (cpu->in_due && cpu->current < CPU_UNKNOWN) /* the switch before told of its coming */
		slot_in(tl, cpu->current, cpu, cpu->since_ns, DWELL_WITNESS_TRACEPOINT);
	slot = cpu_runner(tl, cpu);
	cpu_book(cpu, from_ns);
	cpu->current = CPU_OTHER;
	cpu->in_due = false;
	if (!slot)
		return;
	/* Where a thread's own events end with its EXIT, no switch-out follows. */
	if (slot->exit_ns != UINT64_MAX && !(slot->lost && slot->lost_ns < from_ns)) {
		slot_end(tl, slot, slot->exit_ns > from_ns ? slot->exit_ns : from_ns);
		return;
	}
	slot_unproven(tl, !slot->heard);
	if (slot->lost && slot->lost_ns < from_ns)
		slot_settle_gaps(tl, slot);
	else
		slot_unknown(tl, slot, from_ns, DWELL_UNKNOWN_MISSED);
}

/* A switch of the thread on another CPU that still waits for its records happened before. */
static void cpu_settle_pending(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu)
{
	struct slot *slot = slot_get(tl, thread);
	uint32_t index;

	if (!slot || !slot->pending_cpu || slot->pending_cpu - 1 == cpu->index)
		return;
	index = slot->pending_cpu - 1;
	slot->pending_cpu = 0;
	if (tl->cpus.data[index].pending_prev == thread ||
	    tl->cpus.data[index].pending_next == thread)
		cpu_flush(tl, &tl->cpus.data[index]);
}

/* A thread shows up on cpu: if it is thought to run elsewhere, that must be over. */
static void cpu_settle(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu)
{
	struct slot *slot;
	struct cpu *old;

	cpu_settle_pending(tl, thread, cpu);
	slot = slot_get(tl, thread);
	if (!slot || slot->state != SLOT_ON || slot->cpu == cpu->index)
		return;
	old = slot->cpu < tl->cpus.count ? &tl->cpus.data[slot->cpu] : NULL;
	if (slot->lost) {
		slot_settle_gaps(tl, slot);
	} else if (old && old->current == thread) {
		old->account.breaks++;
		cpu_lose(tl, old);
	} else {
		tl->stats.contradictions++;
		slot_unknown(tl, slot, slot->evidence_ns, DWELL_UNKNOWN_MISSED);
	}
}

/* thread leaves cpu. Afterwards current is OTHER until somebody is known to follow. */
static void cpu_out(struct dwell_timeline *tl, struct cpu *cpu, uint32_t thread,
		    struct slot_out *out)
{
	cpu_settle(tl, thread, cpu);
	out->unheard = cpu_unheard(tl, cpu);
	if (cpu->current == thread) {
		if (cpu->in_due) /* its SWITCH_IN was lost: the switch before tells when */
			slot_in(tl, thread, cpu, cpu->since_ns, DWELL_WITNESS_TRACEPOINT);
	} else if (cpu->current == CPU_UNKNOWN) {
		if (slot_adopt(tl, thread, cpu))
			cpu->current = thread;
	} else {
		if (tl->all_threads || cpu_counts(tl, thread) || cpu_counts(tl, cpu->current))
			cpu->account.breaks++;
		cpu_lose(tl, cpu);
	}
	slot_out(tl, thread, cpu, out);
	cpu_set(cpu, CPU_OTHER, out->time_ns);
	cpu->prev = thread;
}

static void cpu_in(struct dwell_timeline *tl, struct cpu *cpu, uint32_t thread, uint64_t time_ns,
		   enum dwell_witness witness)
{
	cpu_settle(tl, thread, cpu);
	if (cpu->in_due && cpu->current == thread) {
		/* The switch itself, from one record to the other, is booked to who comes. */
		cpu->in_due = false;
		cpu->evidence_ns = time_ns;
	} else {
		if (cpu->current < CPU_UNKNOWN) {
			if (tl->all_threads || cpu_counts(tl, cpu->current))
				cpu->account.breaks++;
			cpu_lose(tl, cpu);
		}
		cpu_set(cpu, thread, time_ns);
	}
	slot_in(tl, thread, cpu, time_ns, witness);
}

/* The records of the pending switch did not come: what is left of it is the tracepoint. */
static void cpu_flush_out(struct dwell_timeline *tl, struct cpu *cpu)
{
	cpu->pending = false;
	cpu_out(tl, cpu, cpu->pending_prev, &cpu->pending_out);
	cpu->current = cpu->pending_next;
	cpu->in_due = true;
}

void cpu_flush(struct dwell_timeline *tl, struct cpu *cpu)
{
	if (!cpu->pending)
		return;
	cpu_flush_out(tl, cpu);
	cpu_in(tl, cpu, cpu->pending_next, cpu->pending_out.time_ns, DWELL_WITNESS_TRACEPOINT);
}

static void cpu_note_pending(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu)
{
	struct slot *slot;

	cpu_settle_pending(tl, thread, cpu);
	slot = slot_get(tl, thread);
	if (slot && cpu->index != DWELL_CPU_NONE)
		slot->pending_cpu = cpu->index + 1;
}

void cpu_switch(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct cpu *cpu = cpu_get(tl, event->cpu);

	if (!cpu)
		return;
	cpu_flush(tl, cpu);
	cpu->pending = true;
	cpu->pending_prev = event->thread;
	cpu->pending_next = event->u.sw.next;
	cpu->pending_out = (struct slot_out){
		.time_ns = time_ns,
		.stack = event->stack,
		.state = event->u.sw.prev_state,
		.witness = DWELL_WITNESS_TRACEPOINT,
		.to_idle = event->u.sw.next == DWELL_THREAD_IDLE,
	};
	if (cpu->witness != DWELL_WITNESS_RECORD && cpu->witness != DWELL_WITNESS_BOTH) {
		cpu_flush(tl, cpu);
		return;
	}
	cpu_note_pending(tl, event->thread, cpu);
	cpu_note_pending(tl, event->u.sw.next, cpu);
}

void cpu_record_out(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct cpu *cpu = cpu_get(tl, event->cpu);
	uint32_t thread = event->thread, next = event->u.rec.other;
	struct slot_out out = {
		.time_ns = time_ns,
		.stack = event->stack,
		.state = event->u.rec.preempted ? DWELL_TASK_RUNNING : DWELL_TASK_OTHER,
		.witness = DWELL_WITNESS_RECORD,
		.to_idle = next == DWELL_THREAD_IDLE,
	};

	if (!cpu || cpu->witness == DWELL_WITNESS_TRACEPOINT)
		return;
	if (thread == DWELL_THREAD_NONE) /* the last switch of a dying task has no tid */
		thread = cpu->pending ? cpu->pending_prev : cpu->current;
	if (thread >= CPU_UNKNOWN)
		return;
	if (cpu->pending && cpu->pending_prev == thread) {
		cpu->pending = false;
		next = cpu->pending_next;
		out.state = cpu->pending_out.state;
		out.to_idle = cpu->pending_out.to_idle;
		if (cpu->pending_out.stack)
			out.stack = cpu->pending_out.stack;
	}
	cpu_flush(tl, cpu);
	cpu_out(tl, cpu, thread, &out);
	if (next < CPU_UNKNOWN) {
		cpu->current = next;
		cpu->in_due = true;
	}
}

void cpu_record_in(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct cpu *cpu = cpu_get(tl, event->cpu);

	if (!cpu || cpu->witness == DWELL_WITNESS_TRACEPOINT || event->thread >= CPU_UNKNOWN)
		return;
	if (cpu->pending)
		cpu_flush_out(tl, cpu);
	cpu_in(tl, cpu, event->thread, time_ns, DWELL_WITNESS_RECORD);
}

void cpu_sample(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	uint32_t thread = event->thread;
	struct cpu *cpu;
	bool unheard;

	if (event->cpu == DWELL_CPU_NONE || thread >= CPU_UNKNOWN)
		return;
	cpu = cpu_get(tl, event->cpu);
	/* In the midst of a switch, a sample taken in an NMI still names the one who leaves, or
	 * already the one who comes. */
	if (!cpu || cpu->in_due || cpu->pending)
		return;
	if (thread == cpu->current) {
		if (cpu->evidence_ns < time_ns)
			cpu->evidence_ns = time_ns;
		return;
	}
	if (thread == cpu->prev || (thread == DWELL_THREAD_IDLE && cpu->current != CPU_UNKNOWN))
		return;
	cpu_settle(tl, thread, cpu);
	unheard = cpu_unheard(tl, cpu);
	if (cpu->current == CPU_UNKNOWN) {
		if (slot_adopt(tl, thread, cpu)) {
			cpu->current = thread;
			cpu->evidence_ns = time_ns;
			return;
		}
	} else {
		if (!tl->all_threads && !cpu_counts(tl, thread) && !cpu_counts(tl, cpu->current))
			return;
		cpu->account.breaks++;
		cpu_lose(tl, cpu);
	}
	cpu_set(cpu, thread, time_ns);
	slot_appear(tl, thread, cpu, time_ns, unheard);
}

void cpu_known(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct cpu *cpu = event->cpu == DWELL_CPU_NONE ? NULL : cpu_get(tl, event->cpu);
	struct slot *slot;

	if (!cpu)
		return;
	cpu_flush(tl, cpu);
	cpu->witness = event->u.cpu.witness;
	if (event->u.cpu.online == !cpu->offline)
		return;
	cpu->offline = !event->u.cpu.online;
	slot = cpu_runner(tl, cpu);
	if (slot && !slot->lost)
		slot_unknown(tl, slot, time_ns, DWELL_UNKNOWN_OFFLINE);
	cpu_set(cpu, cpu->offline ? CPU_OTHER : CPU_UNKNOWN, time_ns);
	cpu->prev = DWELL_THREAD_NONE;
}

/* Numbers a gap. Older ones that began no earlier need not be told from it any more: each is taken
 * out once at most, so a hostile order costs no more than a good one. */
static void gap_add(struct dwell_timeline *tl, uint64_t from_ns, uint64_t to_ns)
{
	if (dwell_array_grow(&tl->gaps)) {
		if (!tl->rc)
			tl->rc = -ENOMEM;
		return;
	}
	while (tl->gaps.count && tl->gaps.data[tl->gaps.count - 1].from_ns >= from_ns)
		tl->gaps.count--;
	tl->gaps.data[tl->gaps.count++] = (struct gap){ from_ns, tl->gap_count++ };
	if (tl->gap_end_ns < to_ns)
		tl->gap_end_ns = to_ns;
}

static void cpu_gap_on(struct dwell_timeline *tl, struct cpu *cpu, uint64_t from_ns,
		       uint64_t time_ns)
{
	struct slot *slot;

	cpu_flush(tl, cpu);
	slot = cpu_runner(tl, cpu);
	if (from_ns < cpu->since_ns)
		from_ns = cpu->since_ns;
	if (from_ns < cpu->evidence_ns && cpu->evidence_ns <= time_ns)
		from_ns = cpu->evidence_ns;
	if (slot && !cpu->in_due && !slot->lost) {
		slot->lost = true;
		slot->lost_ns = from_ns;
	}
	cpu_set(cpu, CPU_OTHER, from_ns);
	cpu_set(cpu, CPU_UNKNOWN, time_ns);
	cpu->prev = DWELL_THREAD_NONE;
	cpu->gap = tl->gap_count;
}

void cpu_gap(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	uint64_t from_ns = event->u.gap.from_ns;
	struct cpu *cpu;

	if (from_ns < tl->start_ns)
		from_ns = tl->start_ns;
	if (from_ns > time_ns)
		from_ns = time_ns;
	tl->stats.gaps++;
	tl->stats.lost += event->u.gap.lost;
	/* A switch that waits for its records happened before the loss. */
	for (uint32_t i = 0; event->cpu == DWELL_CPU_NONE && i < tl->cpus.count; i++)
		cpu_flush(tl, &tl->cpus.data[i]);
	cpu = event->cpu == DWELL_CPU_NONE ? NULL : cpu_get(tl, event->cpu);
	if (cpu)
		cpu_flush(tl, cpu);
	gap_add(tl, from_ns, time_ns);
	if (cpu)
		cpu_gap_on(tl, cpu, from_ns, time_ns);
	for (uint32_t i = 0; event->cpu == DWELL_CPU_NONE && i < tl->cpus.count; i++)
		cpu_gap_on(tl, &tl->cpus.data[i], from_ns, time_ns);
}
