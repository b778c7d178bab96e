// SPDX-License-Identifier: MIT
/* What happens to a thread becomes its intervals: each function closes the open interval in the
 * state that the new evidence proves, and opens the next. */
#include "offcpu/slot.h"

#include <string.h>

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static bool slots_reserve(struct dwell_timeline *tl, uint32_t thread)
{
	uint32_t count = dwell_threads_count(tl->threads);

	if (thread >= count)
		return false;
	if (dwell_array_reserve(&tl->slots, count)) {
		if (!tl->rc)
			tl->rc = -ENOMEM;
		return false;
	}
	memset(tl->slots.data + tl->slots.count, 0,
	       (size_t)(count - tl->slots.count) * sizeof(*tl->slots.data));
	tl->slots.count = count;
	return true;
}

static bool slot_init(struct dwell_timeline *tl, struct slot *slot, uint32_t thread)
{
	const struct dwell_thread *entry = dwell_threads_get(tl->threads, thread);

	if (!entry->observed)
		return false;
	slot->born = entry->born_ns && entry->born_ns >= tl->start_ns;
	slot->roams = entry->roams;
	slot->begin_ns = slot->born ? entry->born_ns : max_u64(tl->start_ns, entry->joined_ns);
	slot->since_ns = slot->evidence_ns = slot->begin_ns;
	slot->exit_ns = UINT64_MAX;
	slot->waking_ns = UINT64_MAX;
	slot->cpu = DWELL_CPU_NONE;
	slot->comm = slot->open_comm = entry->comm;
	slot->waker = DWELL_THREAD_NONE;
	slot->state = slot->born ? SLOT_RUNNABLE : SLOT_FRESH;
	slot->detail = slot->born ? DWELL_RUNNABLE_NEW : 0;
	slot->counted = slot->born;
	slot->gap_seen = slot->born ? tl->gap_open : 0;
	return true;
}

/* Is it observed again? What it does since then is still to be seen. */
static void slot_rejoin(const struct dwell_timeline *tl, struct slot *slot, uint32_t thread)
{
	uint64_t joined_ns = dwell_threads_get(tl->threads, thread)->joined_ns;

	if (joined_ns <= slot->since_ns) /* it was stopped then, or is over */
		return;
	slot->stopped = false;
	slot->evidence_ns = joined_ns;
}

struct slot *slot_get(struct dwell_timeline *tl, uint32_t thread)
{
	struct slot *slot;

	if (thread == DWELL_THREAD_IDLE)
		return NULL;
	if (thread >= tl->slots.count && !slots_reserve(tl, thread))
		return NULL;
	slot = &tl->slots.data[thread];
	if (slot->stopped)
		slot_rejoin(tl, slot, thread);
	return slot->state != SLOT_NONE || slot_init(tl, slot, thread) ? slot : NULL;
}

/* Events are sorted, but clocks of CPUs may differ a little: what comes stamped before the
 * thread's last change happened just after it. */
static uint64_t slot_time(struct dwell_timeline *tl, const struct slot *slot, uint64_t time_ns)
{
	if (time_ns >= slot->since_ns)
		return time_ns;
	tl->stats.late_events++;
	return slot->since_ns;
}

static void slot_account(struct slot *slot, const struct dwell_interval *interval)
{
	struct dwell_account *account = &slot->account;
	uint64_t ns = interval->end_ns - interval->start_ns;

	account->ns[interval->state] += ns;
	if (interval->state == DWELL_STATE_UNKNOWN)
		account->unknown_ns[interval->detail] += ns;
	if (interval->state == DWELL_STATE_BLOCKED && ns > account->longest_blocked_ns)
		account->longest_blocked_ns = ns;
}

/* Emits [since, end) in a state; the next interval opens there. */
static void slot_emit(struct dwell_timeline *tl, struct slot *slot, uint64_t end_ns,
		      enum dwell_state state, uint8_t detail, uint8_t witness)
{
	bool off = state == DWELL_STATE_RUNNABLE || state == DWELL_STATE_BLOCKED;
	bool woken = off && slot->woken;
	struct dwell_interval interval = {
		.start_ns = slot->since_ns,
		.end_ns = end_ns,
		.thread = (uint32_t)(slot - tl->slots.data),
		.comm = slot->open_comm,
		.cpu = state == DWELL_STATE_UNKNOWN ? DWELL_CPU_NONE : slot->cpu,
		.stack = off ? slot->stack : 0,
		.state = (uint8_t)state,
		.detail = detail,
		.origin = off ? slot->origin : DWELL_ORIGIN_NONE,
		.witness = slot->witness | witness, /* TRACEPOINT | RECORD = BOTH */
		.censored_start = slot->since_ns == slot->begin_ns && !slot->born,
		.censored_end = tl->closing && end_ns == tl->end_ns,
		.waker = woken ? slot->waker : DWELL_THREAD_NONE,
		.waker_stack = woken ? slot->waker_stack : 0,
		.waker_context = woken ? slot->waker_context : DWELL_CONTEXT_TASK,
	};

	if (end_ns > slot->since_ns) {
		slot_account(slot, &interval);
		if (!tl->rc)
			tl->rc = tl->ops.interval(tl->user, &interval);
		slot->since_ns = end_ns;
	}
	slot->open_comm = slot->comm;
	slot->witness = witness;
}

/* Closes the open interval in the state it has. */
static void slot_close(struct dwell_timeline *tl, struct slot *slot, uint64_t end_ns,
		       uint8_t witness)
{
	switch (slot->state) {
	case SLOT_ON:
		slot_emit(tl, slot, end_ns, DWELL_STATE_ON_CPU, 0, witness);
		break;
	case SLOT_RUNNABLE:
		slot_emit(tl, slot, end_ns, DWELL_STATE_RUNNABLE, slot->detail, witness);
		break;
	case SLOT_BLOCKED:
		slot->woken = false; /* an early waking that ended nothing */
		slot_emit(tl, slot, end_ns, DWELL_STATE_BLOCKED, slot->detail, witness);
		break;
	case SLOT_UNKNOWN:
		slot_emit(tl, slot, end_ns, DWELL_STATE_UNKNOWN, slot->detail, witness);
		break;
	default: /* FRESH, START */
		slot_emit(tl, slot, end_ns, DWELL_STATE_UNKNOWN, DWELL_UNKNOWN_NEVER_SEEN, witness);
	}
}

static void slot_open(struct slot *slot, enum slot_state state, uint8_t detail)
{
	slot->state = (uint8_t)state;
	slot->detail = detail;
	slot->evidence_ns = slot->since_ns;
}

static void slot_open_on(const struct dwell_timeline *tl, struct slot *slot, uint32_t cpu)
{
	slot_open(slot, SLOT_ON, 0);
	slot->cpu = cpu;
	slot->stack = 0;
	slot->origin = DWELL_ORIGIN_NONE;
	slot->lost = false;
	slot->kept_gap = 0;
	slot->gap_seen = tl->gap_open;
}

void slot_unknown(struct dwell_timeline *tl, struct slot *slot, uint64_t from_ns,
		  enum dwell_unknown why)
{
	bool known = slot->state != SLOT_UNKNOWN && slot->state != SLOT_FRESH &&
		     slot->state != SLOT_START;
	uint64_t evidence_ns = slot->evidence_ns;

	if (slot->state == SLOT_BLOCKED && slot->woken)
		from_ns = slot->since_ns; /* its next switch-in would have told: waiting or woken */
	if (slot->state != SLOT_UNKNOWN || slot->detail != why)
		slot_close(tl, slot, max_u64(from_ns, slot->since_ns), 0);
	slot_open(slot, SLOT_UNKNOWN, (uint8_t)why);
	if (!known) /* forgetting is no evidence */
		slot->evidence_ns = evidence_ns;
	slot->cpu = DWELL_CPU_NONE;
	slot->stack = 0;
	slot->woken = slot->lost = slot->counted = false;
	slot->gap_seen = tl->gap_open;
}

/* True if gaps that it has not answered for reach beyond its evidence. */
static bool slot_gaps_unseen(const struct dwell_timeline *tl, const struct slot *slot)
{
	return slot->gap_seen < tl->gap_count && tl->gap_end_ns > slot->evidence_ns;
}

/* The earliest start of the gaps that it has not answered for; there is one. */
static uint64_t slot_gaps_from(const struct dwell_timeline *tl, const struct slot *slot)
{
	uint32_t low = 0, high = tl->gaps.count - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tl->gaps.data[middle].index < slot->gap_seen)
			low = middle + 1;
		else
			high = middle;
	}
	return tl->gaps.data[low].from_ns;
}

void slot_settle_gaps(struct dwell_timeline *tl, struct slot *slot)
{
	if (slot->state == SLOT_ON && slot->cpu != DWELL_CPU_NONE) {
		/* Gaps of other CPUs cannot hide a switch-out on its own. */
		bool woken = slot->woken && slot->waking_ns >= tl->gap_end_ns;

		if (!slot->lost)
			return;
		tl->stats.useless_wakings -= woken;
		slot_unknown(tl, slot, slot->lost_ns, DWELL_UNKNOWN_LOST);
		slot->woken = woken;
	} else if (slot_gaps_unseen(tl, slot)) {
		slot_unknown(tl, slot, max_u64(slot_gaps_from(tl, slot), slot->evidence_ns),
			     DWELL_UNKNOWN_LOST);
	}
}

void slot_end(struct dwell_timeline *tl, struct slot *slot, uint64_t time_ns)
{
	slot_close(tl, slot, time_ns, 0);
	slot->state = SLOT_ENDED;
	slot->account.observed_ns = slot->since_ns - slot->begin_ns;
	if (tl->ops.thread_end && !tl->rc)
		tl->rc = tl->ops.thread_end(tl->user, (uint32_t)(slot - tl->slots.data));
}

void slot_unproven(struct dwell_timeline *tl, bool missed)
{
	if (missed)
		tl->stats.missed_switches++;
	else
		tl->stats.contradictions++;
}

/* What it did since the last evidence is unknown. */
static void slot_missed(struct dwell_timeline *tl, struct slot *slot)
{
	slot_unknown(tl, slot, slot->evidence_ns, DWELL_UNKNOWN_MISSED);
}

/* Off our CPUs it may have run on others: what it did since its last evidence is unknown. */
static void slot_roamed(struct dwell_timeline *tl, struct slot *slot)
{
	if (slot->state == SLOT_RUNNABLE || slot->state == SLOT_BLOCKED)
		slot_unknown(tl, slot, slot->evidence_ns, DWELL_UNKNOWN_OFFLINE);
}

bool slot_adopt(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu)
{
	struct slot *slot = slot_get(tl, thread);

	if (!slot || slot->stopped)
		return true;
	if (slot->state == SLOT_ON && slot->cpu == cpu->index) {
		/* It ran here when events were lost, runs here now, and was not switched in
		 * meanwhile: it never left. */
		if (slot->lost && slot->kept_gap && slot->kept_gap == cpu->gap)
			slot->lost = false;
		if (!slot->lost)
			return true;
	}
	slot_settle_gaps(tl, slot);
	if (slot->state == SLOT_START) {
		slot_open_on(tl, slot, cpu->index);
		return true;
	}
	if ((slot->state != SLOT_FRESH && slot->state != SLOT_UNKNOWN) ||
	    slot->evidence_ns > cpu->since_ns)
		return false;
	if (slot->waking_ns < cpu->since_ns)
		slot->woken = false;
	tl->stats.useless_wakings += slot->woken;
	slot_close(tl, slot, cpu->since_ns, 0);
	slot_open_on(tl, slot, cpu->index);
	return true;
}

void slot_appear(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu,
		 uint64_t time_ns, bool unheard)
{
	struct slot *slot = slot_get(tl, thread);

	if (!slot || slot->stopped)
		return;
	if (slot->state == SLOT_ENDED) {
		tl->stats.contradictions++;
		return;
	}
	time_ns = slot_time(tl, slot, time_ns);
	slot_settle_gaps(tl, slot);
	if (slot->state != SLOT_UNKNOWN && slot->state != SLOT_FRESH) {
		slot_unproven(tl, unheard);
		slot_missed(tl, slot);
	}
	slot->counted = false;
	slot->woken = false;
	slot_close(tl, slot, time_ns, 0);
	slot_open_on(tl, slot, cpu->index);
}

static void slot_count_wait(struct dwell_timeline *tl, const struct slot *slot, uint64_t end_ns,
			    bool waking)
{
	if (end_ns <= slot->since_ns)
		return;
	tl->stats.waits++;
	tl->stats.waits_with_waking += waking;
}

/* A waking takes effect: the interval before it ends, the thread is runnable. */
static void slot_wake(struct dwell_timeline *tl, struct slot *slot, uint64_t time_ns)
{
	slot->woken = true;
	if (slot->state == SLOT_BLOCKED) {
		slot_count_wait(tl, slot, time_ns, true);
		slot_emit(tl, slot, time_ns, DWELL_STATE_BLOCKED, slot->detail, 0);
	} else {
		slot_close(tl, slot, time_ns, 0);
	}
	slot_open(slot, SLOT_RUNNABLE, DWELL_RUNNABLE_WOKEN);
}

/* A thread never seen before was woken, and was not on a CPU then: so it was off since the window
 * began, and not runnable; no more is known of that wait. */
static void slot_confirm_fresh(struct dwell_timeline *tl, struct slot *slot)
{
	if (slot->detail) { /* woken twice, so it ran between */
		slot_unproven(tl, true);
		slot_missed(tl, slot);
		slot_wake(tl, slot, slot->waking_ns);
		return;
	}
	slot_count_wait(tl, slot, slot->waking_ns, true);
	slot_emit(tl, slot, slot->waking_ns, DWELL_STATE_BLOCKED, DWELL_TASK_OTHER, 0);
	slot_open(slot, SLOT_RUNNABLE, DWELL_RUNNABLE_WOKEN);
}

void slot_in(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu, uint64_t time_ns,
	     enum dwell_witness witness)
{
	struct slot *slot = slot_get(tl, thread);

	if (!slot || slot->stopped)
		return;
	if (slot->state == SLOT_ENDED) {
		tl->stats.contradictions++;
		return;
	}
	time_ns = slot_time(tl, slot, time_ns);
	slot_settle_gaps(tl, slot);
	if (slot->state == SLOT_ON) {
		slot_unproven(tl, !slot->heard);
		slot_missed(tl, slot);
	}
	slot->heard |= witness == DWELL_WITNESS_RECORD;
	if (slot->roams)
		slot_roamed(tl, slot);
	if (slot->state == SLOT_FRESH && slot->woken)
		slot_confirm_fresh(tl, slot);
	if (slot->state == SLOT_UNKNOWN && slot->woken)
		slot_wake(tl, slot, slot->waking_ns);
	if (slot->state == SLOT_START) {
		slot->woken = false;
		slot_open(slot, SLOT_RUNNABLE, DWELL_RUNNABLE_START);
	}
	if (slot->state == SLOT_BLOCKED && slot->woken) {
		/* Woken between deciding to sleep and leaving the CPU: it never was blocked. */
		tl->stats.useless_wakings--;
		slot_open(slot, SLOT_RUNNABLE, DWELL_RUNNABLE_WOKEN);
	}
	if (slot->state == SLOT_BLOCKED)
		slot_count_wait(tl, slot, time_ns, false);
	slot_close(tl, slot, time_ns, (uint8_t)witness);
	slot_open_on(tl, slot, cpu->index);
	slot->woken = false;
	slot->account.switches_in++;
}

void slot_out(struct dwell_timeline *tl, uint32_t thread, const struct cpu *cpu,
	      const struct slot_out *out)
{
	struct slot *slot = slot_get(tl, thread);
	bool dead = out->state == DWELL_TASK_DEAD || out->state == DWELL_TASK_ZOMBIE;
	uint64_t time_ns;

	if (!slot)
		return;
	if (slot->state == SLOT_ENDED) {
		tl->stats.contradictions++;
		return;
	}
	time_ns = slot_time(tl, slot, out->time_ns);
	if (slot->stopped) {
		if (dead)
			slot_end(tl, slot, time_ns);
		return;
	}
	slot_settle_gaps(tl, slot);
	slot->heard = true;
	if (slot->state != SLOT_ON && slot->state != SLOT_UNKNOWN) {
		slot_unproven(tl, out->unheard);
		slot_missed(tl, slot);
	}
	if (slot->state == SLOT_UNKNOWN)
		slot->woken = false;
	slot_close(tl, slot, time_ns, out->witness);
	slot->cpu = cpu->index;
	slot->stack = out->stack;
	slot->origin = out->stack ? DWELL_ORIGIN_SWITCH : DWELL_ORIGIN_NONE;
	slot->gap_seen = tl->gap_open;
	if (out->state == DWELL_TASK_RUNNING) {
		slot->account.switches_involuntary++;
		slot->woken = false;
		slot_open(slot, SLOT_RUNNABLE,
			  out->to_idle ? DWELL_RUNNABLE_THROTTLED : DWELL_RUNNABLE_PREEMPTED);
		if (slot->roams)
			slot_roamed(tl, slot);
		return;
	}
	slot->account.switches_voluntary++;
	slot_open(slot, SLOT_BLOCKED, out->state);
	if (dead) {
		slot_end(tl, slot, slot->since_ns);
	} else if (slot->roams) {
		slot_roamed(tl, slot);
	} else if (slot->woken && slot->waking_ns > slot->since_ns) {
		/* The record of this switch-out was lost, so the waking looked early. */
		tl->stats.useless_wakings--;
		slot_wake(tl, slot, slot->waking_ns);
	}
}

static void slot_set_waker(struct slot *slot, const struct dwell_event *event, uint64_t time_ns)
{
	slot->waking_ns = time_ns;
	slot->waker_context = event->u.wake.context;
	slot->waker = event->u.wake.context == DWELL_CONTEXT_TASK ? event->u.wake.waker
								  : DWELL_THREAD_NONE;
	slot->waker_stack = event->stack;
	slot->woken = true;
}

static bool slot_waking_again(const struct slot *slot, const struct dwell_event *event,
			      uint64_t time_ns)
{
	uint32_t waker = event->u.wake.context == DWELL_CONTEXT_TASK ? event->u.wake.waker
								     : DWELL_THREAD_NONE;

	return time_ns == slot->waking_ns && waker == slot->waker &&
	       event->u.wake.context == slot->waker_context;
}

void slot_waking(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct slot *slot = slot_get(tl, event->thread);

	if (slot && slot->state == SLOT_ENDED)
		tl->stats.contradictions++; /* the dead are not woken */
	if (!slot || slot->stopped || slot->state == SLOT_ENDED || slot->roams)
		return;
	if (slot_waking_again(slot, event, time_ns)) {
		tl->stats.duplicate_wakings++;
		return;
	}
	if (event->u.wake.context == DWELL_CONTEXT_TASK && event->u.wake.waker == event->thread) {
		tl->stats.useless_wakings++; /* it ran, and runs on */
		return;
	}
	time_ns = slot_time(tl, slot, time_ns);
	if (slot->state != SLOT_ON)
		slot_settle_gaps(tl, slot);
	switch (slot->state) {
	case SLOT_FRESH:
		slot->detail = slot->woken;
		slot_set_waker(slot, event, time_ns);
		return;
	case SLOT_UNKNOWN: /* as FRESH: the next switch tells whether it was on a CPU */
		slot_set_waker(slot, event, time_ns);
		return;
	case SLOT_ON:
	case SLOT_START:
		tl->stats.useless_wakings++;
		slot_set_waker(slot, event, time_ns);
		return;
	case SLOT_RUNNABLE:
		if (slot->detail != DWELL_RUNNABLE_WOKEN && slot->detail != DWELL_RUNNABLE_NEW) {
			tl->stats.useless_wakings++;
			return;
		}
		/* try_to_wake_up() acts on sleepers only: since its birth or first waking it must
		 * have run and gone to sleep. */
		slot_unproven(tl, true);
		slot_missed(tl, slot);
		break;
	default: /* BLOCKED */
		break;
	}
	slot_set_waker(slot, event, time_ns);
	slot_wake(tl, slot, time_ns);
}

void slot_born(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct slot *slot = slot_get(tl, event->thread);

	/* Born before the window (a delayed recording): what it does since is not told by that. */
	if (!slot || event->time_ns < tl->start_ns)
		return;
	if (slot->state == SLOT_FRESH && !slot->woken) { /* the table does not tell its birth */
		slot->born = slot->counted = true;
		slot->begin_ns = slot->since_ns = time_ns;
		slot->gap_seen = tl->gap_open;
		slot_open(slot, SLOT_RUNNABLE, DWELL_RUNNABLE_NEW);
	}
	if (slot->state != SLOT_RUNNABLE || slot->detail != DWELL_RUNNABLE_NEW)
		return;
	if (event->kind == DWELL_EVENT_WAKEUP_NEW) {
		slot_set_waker(slot, event, time_ns);
	} else {
		slot->waker = event->u.fork.parent;
		slot->woken = true;
	}
}

void slot_comm(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct slot *slot = slot_get(tl, event->thread);

	if (slot && slot->state == SLOT_ENDED && event->u.comm.exec)
		tl->stats.contradictions++; /* it lives */
	/* Whoever takes a name runs, and goes to sleep later for a reason of its own. */
	if (slot && slot->state == SLOT_ON)
		slot->woken = false;
	if (!slot || slot->state == SLOT_ENDED || slot->comm == event->u.comm.comm)
		return;
	slot->comm = event->u.comm.comm;
	/* Running time after exec belongs to the new program, and so do the samples then. */
	if (slot->state == SLOT_ON && !slot->lost)
		slot_close(tl, slot, slot_time(tl, slot, time_ns), 0);
	if (slot->evidence_ns < slot->since_ns)
		slot->evidence_ns = slot->since_ns;
	if (slot->since_ns == time_ns)
		slot->open_comm = slot->comm;
}

/* The kernel counted `more` switch-ins than there were events: are that more than may be on their
 * way? Its count goes up after the tracepoint and before SWITCH IN. */
static bool slot_untold(const struct slot *slot, uint64_t more)
{
	bool off = slot->state == SLOT_RUNNABLE || slot->state == SLOT_BLOCKED;

	return more > (uint64_t)slot->count_near + (off && (slot->witness & DWELL_WITNESS_RECORD));
}

/* Could a gap have hidden a switch-in since the last count? */
static bool slot_gap_explains(const struct dwell_timeline *tl, const struct slot *slot)
{
	return slot->state == SLOT_ON ? slot->lost : slot_gaps_unseen(tl, slot);
}

static void slot_count_base(struct slot *slot, uint64_t switches_in)
{
	slot->count_base = switches_in - slot->account.switches_in;
	slot->counted = slot->count_near = true;
}

void slot_count(struct dwell_timeline *tl, struct slot *slot, uint64_t switches_in,
		uint64_t time_ns)
{
	bool off = slot->state == SLOT_RUNNABLE || slot->state == SLOT_BLOCKED;
	uint64_t seen = slot->count_base + slot->account.switches_in;

	if (slot->counted && seen == switches_in) {
		/* Who was off did not run. Who was on may have left: its next event tells. */
		if (slot->state == SLOT_ON) {
			if (slot->lost && slot->cpu < tl->cpus.count)
				slot->kept_gap = tl->cpus.data[slot->cpu].gap;
			return;
		}
		if (off) {
			slot->gap_seen = tl->gap_open;
			slot->evidence_ns = max_u64(slot->evidence_ns, time_ns);
		}
		return;
	}
	if (slot->counted && switches_in > seen && !slot_gap_explains(tl, slot)) {
		if (slot->roams) {
			slot_roamed(tl, slot);
		} else if (slot_untold(slot, switches_in - seen)) {
			tl->stats.untold_switches += switches_in - seen;
			if (off || slot->state == SLOT_ON)
				slot_missed(tl, slot);
		} else {
			return;
		}
	}
	slot_settle_gaps(tl, slot);
	slot_count_base(slot, switches_in);
}

static void slot_seed(struct dwell_timeline *tl, struct slot *slot, const struct dwell_event *event,
		      uint64_t time_ns)
{
	if (slot->state != SLOT_FRESH || slot->woken || !event->u.state.stable ||
	    (slot->roams && event->u.state.state == DWELL_TASK_RUNNING))
		return;
	slot->count_base = event->u.state.switches_in; /* exact: nothing happened before */
	slot->counted = event->u.state.counted;
	slot->count_near = false;
	if (event->u.state.state == DWELL_TASK_RUNNING) {
		slot->run_ns = event->u.state.run_ns;
		slot->wait_ns = event->u.state.wait_ns;
		slot_open(slot, SLOT_START, 0);
		return;
	}
	slot_open(slot, SLOT_BLOCKED, event->u.state.state);
	if (event->u.state.state == DWELL_TASK_DEAD || event->u.state.state == DWELL_TASK_ZOMBIE) {
		slot_end(tl, slot, slot->since_ns); /* only its parent has not looked yet */
		return;
	}
	slot->evidence_ns = max_u64(time_ns, slot->since_ns);
	slot->stack = event->stack;
	slot->origin = event->stack ? DWELL_ORIGIN_LATE : DWELL_ORIGIN_NONE;
}

/* Runnable at the start, and nothing was heard of it: the kernel's own sums tell which kind. */
static void slot_resolve_start(const struct dwell_timeline *tl, struct slot *slot,
			       const struct dwell_event *event)
{
	bool same = slot->counted && event->u.state.counted &&
		    slot->count_base + slot->account.switches_in == event->u.state.switches_in;

	if (!same)
		return;
	if (event->u.state.run_ns > slot->run_ns) {
		slot_open_on(tl, slot, DWELL_CPU_NONE);
	} else if (event->u.state.wait_ns > slot->wait_ns ||
		   event->u.state.state == DWELL_TASK_RUNNING) {
		slot->woken = false;
		slot_open(slot, SLOT_RUNNABLE, DWELL_RUNNABLE_START);
	}
}

void slot_reading(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct slot *slot = slot_get(tl, event->thread);
	bool running = event->u.state.state == DWELL_TASK_RUNNING;

	if (!slot || slot->stopped || slot->state == SLOT_ENDED)
		return;
	if (event->u.state.phase == DWELL_PHASE_START) {
		slot_seed(tl, slot, event, time_ns);
		if (!slot->counted && event->u.state.counted && event->u.state.stable)
			slot_count_base(slot, event->u.state.switches_in);
		return;
	}
	if (slot->state == SLOT_START && !slot_gaps_unseen(tl, slot))
		slot_resolve_start(tl, slot, event);
	if (event->u.state.counted)
		slot_count(tl, slot, event->u.state.switches_in, time_ns);
	if (slot->state != SLOT_BLOCKED)
		return;
	slot->confirmed = slot->counted && event->u.state.counted && !running;
	if (running && slot->woken) {
		tl->stats.useless_wakings--;
		slot_open(slot, SLOT_RUNNABLE, DWELL_RUNNABLE_WOKEN);
	} else if (!running && event->u.state.stable && !slot->stack && event->stack) {
		slot->stack = event->stack;
		slot->origin = DWELL_ORIGIN_LATE;
	}
}

void slot_stopped(struct dwell_timeline *tl, const struct dwell_event *event, uint64_t time_ns)
{
	struct slot *slot = slot_get(tl, event->thread);

	if (!slot || slot->stopped || slot->state == SLOT_ENDED)
		return;
	slot_settle_gaps(tl, slot);
	slot_unknown(tl, slot, slot_time(tl, slot, time_ns), DWELL_UNKNOWN_STOPPED);
	slot->stopped = true;
}

/* Its last switch was not recorded (perf lets go of a dying thread before): it ended when last
 * heard of, which was when it left a CPU after announcing its exit, or then. */
static void slot_finish_exited(struct dwell_timeline *tl, struct slot *slot)
{
	if (slot->since_ns < slot->exit_ns && !slot->stopped) {
		slot_settle_gaps(tl, slot);
		if (slot->state == SLOT_RUNNABLE || slot->state == SLOT_BLOCKED) {
			slot_unproven(tl, true); /* it ran to exit */
			slot_missed(tl, slot);
		}
	}
	slot_end(tl, slot, max_u64(slot->exit_ns, slot->since_ns));
}

void slot_finish(struct dwell_timeline *tl, struct slot *slot, bool may_run)
{
	if (slot->begin_ns > tl->end_ns)
		slot->begin_ns = slot->since_ns = tl->end_ns;
	if (slot->exit_ns != UINT64_MAX) {
		slot_finish_exited(tl, slot);
		return;
	}
	if (!slot->stopped)
		slot_settle_gaps(tl, slot);
	if (slot->state == SLOT_FRESH && slot->woken && !may_run)
		slot_confirm_fresh(tl, slot);
	if (slot->roams && !slot->confirmed)
		slot_roamed(tl, slot);
	slot_close(tl, slot, tl->end_ns, 0);
	slot->account.observed_ns = tl->end_ns - slot->begin_ns;
}
