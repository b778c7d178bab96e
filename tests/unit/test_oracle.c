// SPDX-License-Identifier: MIT
/* Seeded worlds of CPUs and threads become events and, ns by ns, what every thread truly did; the
 * timeline must find the truth where nothing was lost, and claim nothing false where it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lib/hash.h"
#include "offcpu/timeline.h"

enum {
	START = 1000,
	SPAN = 24000,
	THREADS = 64,
	CPUS = 4,
	EVENTS = 8000,
	SEEDS = 400,
	SWITCH_NS = 40, /* between the witnesses of one switch, at most */
	/* Truth and findings, one byte a ns: what << 4 | detail. */
	ON = 0x10,
	RUNNABLE = 0x20,
	BLOCKED = 0x30,
	UNKNOWN = 0x40,
	WHAT = 0xf0,
};

struct sim_thread {
	uint32_t index;
	uint8_t code; /* what it does, as far as an observer can tell */
	uint64_t since;
	int cpu;       /* -1 = off */
	bool runnable; /* off, and may be picked */
	bool dead, exiting, born;
	bool early;   /* woken before it left: runnable, but BLOCKED to an observer without
		       * its switch-in */
	bool useless; /* a waking came while it ran */
	bool waking_lost, odd_waking;
	bool told;     /* its state before its first switch-in can be told */
	uint8_t sleep; /* the state it sleeps in */
	uint64_t first_in, exit_ns, died_ns, ins, run;
	uint8_t at_start;
};

struct sim {
	uint64_t rng, now, end;
	bool seeded;
	int cpus, threads;
	struct dwell_threads *table;
	struct sim_thread thread[THREADS]; /* [i] has index i + 1 */
	int current[CPUS];		   /* thread, -1 = idle */
	bool blind[CPUS];
	uint8_t witness[CPUS];
	bool moved[CPUS]; /* a switch was seen there */
	struct dwell_event event[EVENTS];
	int events;
	uint8_t truth[THREADS][START + SPAN], got[THREADS][START + SPAN];
	uint64_t gap_from, gap_to; /* the gap, if it was told of late */
	uint64_t unknown_ns, last_end[THREADS + 1];
	int bad;
};

static uint32_t roll(struct sim *sim, uint32_t below)
{
	sim->rng = dwell_hash_u64(sim->rng + 0x51ed27);
	return (uint32_t)(sim->rng >> 33) % below;
}

static uint64_t step(struct sim *sim)
{
	sim->now += 1 + roll(sim, 20);
	return sim->now;
}

static struct dwell_event *put(struct sim *sim, int kind, int cpu, uint32_t thread)
{
	struct dwell_event *event = &sim->event[sim->events++];

	assert_true(sim->events < EVENTS);
	*event = (struct dwell_event){
		.kind = (uint8_t)kind, .time_ns = sim->now, .cpu = (uint32_t)cpu, .thread = thread
	};
	return event;
}

static void become(struct sim *sim, struct sim_thread *t, uint8_t code)
{
	memset(&sim->truth[t - sim->thread][t->since], t->code, sim->now - t->since);
	if (t->code == ON)
		t->run += sim->now - t->since;
	t->code = code;
	t->since = sim->now;
}

static uint32_t index_of(int thread)
{
	return thread < 0 ? DWELL_THREAD_IDLE : (uint32_t)thread + 1;
}

static int add_thread(struct sim *sim, uint64_t born_ns)
{
	int i = sim->threads++;
	struct sim_thread *t = &sim->thread[i];

	assert_int_equal(dwell_threads_add(sim->table, 100, 100 + i, born_ns, &t->index), 0);
	assert_int_equal(t->index, i + 1);
	dwell_threads_get(sim->table, t->index)->observed = true;
	t->since = sim->now;
	t->cpu = -1;
	t->born = born_ns != 0;
	t->first_in = UINT64_MAX;
	t->exit_ns = t->died_ns = UINT64_MAX;
	return i;
}

static void leave(struct sim *sim, struct sim_thread *t, bool to_idle, bool record_only)
{
	t->cpu = -1;
	if (t->exiting) {
		become(sim, t, 0);
		t->dead = true;
		t->died_ns = sim->now;
		return;
	}
	if (t->early) {
		become(sim, t, RUNNABLE | DWELL_RUNNABLE_WOKEN);
		t->runnable = true;
		return;
	}
	if (!t->sleep) {
		become(sim, t,
		       RUNNABLE | (to_idle ? DWELL_RUNNABLE_THROTTLED : DWELL_RUNNABLE_PREEMPTED));
		t->runnable = true;
		t->useless = false;
		return;
	}
	become(sim, t, BLOCKED | (record_only ? DWELL_TASK_OTHER : t->sleep));
}

static void enter(struct sim *sim, struct sim_thread *t, int cpu)
{
	become(sim, t, ON);
	t->cpu = cpu;
	t->runnable = t->early = t->useless = false;
	t->ins++;
	if (t->first_in == UINT64_MAX)
		t->first_in = sim->now;
}

/* One switch on a CPU, with what its witnesses say of it. */
static void do_switch(struct sim *sim, int cpu)
{
	int prev = sim->current[cpu], next = -1, tries = 4;
	struct sim_thread *p = prev < 0 ? NULL : &sim->thread[prev];
	uint8_t witness = sim->witness[cpu], state = DWELL_TASK_RUNNING;
	struct dwell_event *e;

	while (next < 0 && tries--) {
		int i = (int)roll(sim, (uint32_t)sim->threads);

		if (sim->thread[i].runnable)
			next = i;
	}
	if (prev < 0 && next < 0)
		return;
	if (p) {
		p->sleep = roll(sim, 3) ? 1 + (uint8_t)roll(sim, 2) : DWELL_TASK_RUNNING;
		if (!p->exiting && p->sleep && witness != DWELL_WITNESS_RECORD && !roll(sim, 8)) {
			step(sim); /* the waking overtakes the switch-out */
			e = put(sim, DWELL_EVENT_WAKING, cpu, p->index);
			e->u.wake.waker = DWELL_THREAD_NONE;
			e->u.wake.context = DWELL_CONTEXT_SOFTIRQ;
			p->early = p->odd_waking = true;
		}
		state = p->exiting ? DWELL_TASK_ZOMBIE : p->sleep;
	}
	step(sim);
	if (witness != DWELL_WITNESS_RECORD && !(prev < 0 && sim->blind[cpu])) {
		e = put(sim, DWELL_EVENT_SWITCH, cpu, index_of(prev));
		e->u.sw.next = index_of(next);
		e->u.sw.prev_state = state;
		e->stack = 7;
	}
	if (witness != DWELL_WITNESS_TRACEPOINT) {
		step(sim);
		e = put(sim, DWELL_EVENT_SWITCH_OUT, cpu, index_of(prev));
		e->u.rec.preempted = state == DWELL_TASK_RUNNING;
		e->u.rec.other = index_of(next);
	}
	if (p)
		leave(sim, p, next < 0, witness == DWELL_WITNESS_RECORD);
	if (witness != DWELL_WITNESS_TRACEPOINT) {
		step(sim);
		put(sim, DWELL_EVENT_SWITCH_IN, cpu, index_of(next))->u.rec.other = index_of(prev);
	}
	if (next >= 0)
		enter(sim, &sim->thread[next], cpu);
	sim->current[cpu] = next;
	sim->moved[cpu] = true;
}

static void do_wake(struct sim *sim, int cpu)
{
	struct sim_thread *t = &sim->thread[roll(sim, (uint32_t)sim->threads)];
	bool hidden = sim->witness[cpu] == DWELL_WITNESS_RECORD ||
		      (sim->current[cpu] < 0 && sim->blind[cpu]);
	struct dwell_event *e;

	if (t->dead || t->runnable || (t->cpu < 0 && hidden && t->useless))
		return;
	step(sim);
	if (t->cpu >= 0) { /* it runs: the waking changes nothing */
		if (hidden || sim->current[cpu] < 0 || t->exiting)
			return;
		t->useless = t->odd_waking = true;
	}
	if (hidden) {
		t->runnable = t->waking_lost = true;
		return;
	}
	e = put(sim, DWELL_EVENT_WAKING, cpu, t->index);
	e->u.wake.context =
		sim->current[cpu] < 0 || !roll(sim, 3) ? DWELL_CONTEXT_HARDIRQ : DWELL_CONTEXT_TASK;
	e->u.wake.waker = index_of(sim->current[cpu]);
	if (!roll(sim, 5)) {
		sim->event[sim->events] = *e;
		sim->events++;
	}
	if (t->cpu >= 0)
		return;
	if (t->first_in == UINT64_MAX)
		t->told = true;
	t->useless = false;
	t->runnable = true;
	become(sim, t, RUNNABLE | DWELL_RUNNABLE_WOKEN);
}

static void do_fork(struct sim *sim, int cpu)
{
	int parent = sim->current[cpu], child;

	if (parent < 0 || sim->threads == THREADS)
		return;
	step(sim);
	child = add_thread(sim, sim->now);
	put(sim, DWELL_EVENT_FORK, cpu, index_of(child))->u.fork.parent = index_of(parent);
	sim->thread[child].code = RUNNABLE | DWELL_RUNNABLE_NEW;
	sim->thread[child].runnable = true;
	step(sim);
	put(sim, DWELL_EVENT_WAKEUP_NEW, cpu, index_of(child))->u.wake.waker = index_of(parent);
}

static void do_act(struct sim *sim)
{
	int cpu = (int)roll(sim, (uint32_t)sim->cpus), current = sim->current[cpu];
	uint32_t act = roll(sim, 20);

	if (act < 9) {
		do_switch(sim, cpu);
	} else if (act < 15) {
		do_wake(sim, cpu);
	} else if (act < 18) {
		if (current < 0)
			return;
		step(sim);
		put(sim, DWELL_EVENT_SAMPLE, cpu, index_of(current))->u.sample.weight = 1;
		sim->thread[current].told |= !sim->moved[cpu];
	} else if (act == 18) {
		do_fork(sim, cpu);
	} else if (current >= 0 && !sim->thread[current].exiting && !roll(sim, 3)) {
		step(sim);
		put(sim, DWELL_EVENT_EXIT, cpu, index_of(current));
		sim->thread[current].exiting = true;
		sim->thread[current].exit_ns = sim->now;
	}
}

static void put_reading(struct sim *sim, struct sim_thread *t, int phase)
{
	struct dwell_event *e;

	if (t->dead)
		return;
	step(sim);
	if (t->code == ON) /* the sum so far */
		t->run += sim->now - t->since;
	e = put(sim, DWELL_EVENT_STATE, -1, t->index);
	e->u.state.phase = (uint8_t)phase;
	e->u.state.stable = e->u.state.counted = true;
	e->u.state.state = t->cpu >= 0 || t->runnable ? DWELL_TASK_RUNNING : t->sleep;
	e->u.state.run_ns = t->run;
	e->u.state.switches_in = (t->born ? 0 : 40) + t->ins;
	if (t->code == ON)
		t->run -= sim->now - t->since;
}

static void begin(struct sim *sim, int shape)
{
	sim->now = START;
	sim->cpus = 1 + (int)roll(sim, CPUS);
	sim->seeded = roll(sim, 2);
	sim->table = dwell_threads_new();
	for (int c = 0; c < sim->cpus; c++) {
		struct dwell_event *e = put(sim, DWELL_EVENT_CPU, c, DWELL_THREAD_NONE);

		sim->witness[c] = shape == 0	 ? DWELL_WITNESS_TRACEPOINT
				  : shape == 1	 ? DWELL_WITNESS_RECORD
				  : roll(sim, 2) ? DWELL_WITNESS_BOTH
						 : DWELL_WITNESS_TRACEPOINT;
		if (shape == 3)
			sim->witness[c] = DWELL_WITNESS_TRACEPOINT;
		sim->blind[c] =
			shape == 3 || (sim->witness[c] == DWELL_WITNESS_BOTH && roll(sim, 2));
		sim->current[c] = -1;
		e->u.cpu.witness = sim->witness[c];
		e->u.cpu.online = true;
	}
	for (int n = 2 + (int)roll(sim, 8); n--;) {
		struct sim_thread *t = &sim->thread[add_thread(sim, 0)];
		int cpu = (int)roll(sim, (uint32_t)sim->cpus);

		t->sleep = 1 + (uint8_t)roll(sim, 2);
		if (sim->current[cpu] < 0 && roll(sim, 2)) {
			sim->current[cpu] = (int)(t - sim->thread);
			t->cpu = cpu;
			t->code = ON;
			t->ins = 1;
		} else if (roll(sim, 2)) {
			t->runnable = true;
			t->code = RUNNABLE | DWELL_RUNNABLE_START;
		} else {
			t->code = BLOCKED | (sim->seeded ? t->sleep : DWELL_TASK_OTHER);
		}
		t->at_start = t->code & WHAT;
	}
	for (int i = 0; sim->seeded && i < sim->threads; i++)
		put_reading(sim, &sim->thread[i], DWELL_PHASE_START);
}

static void play(struct sim *sim, int shape, int acts)
{
	begin(sim, shape);
	while (acts-- && sim->now < START + SPAN - 3000)
		do_act(sim);
	for (int i = 0; sim->seeded && i < sim->threads; i++)
		put_reading(sim, &sim->thread[i], DWELL_PHASE_STOP);
	step(sim);
	sim->end = sim->now;
	for (int i = 0; i < sim->threads; i++) {
		struct sim_thread *t = &sim->thread[i];

		/* Without its switch-in or a reading, an early waking proves nothing. */
		if (!sim->seeded && t->early && t->cpu < 0)
			t->code = BLOCKED | t->sleep;
		if (!t->dead)
			become(sim, t, 0);
	}
}

static int on_interval(void *user, const struct dwell_interval *in)
{
	static const uint8_t what[DWELL_STATES] = { ON, RUNNABLE, BLOCKED, UNKNOWN };
	struct sim *sim = user;

	assert_true(in->start_ns < in->end_ns);
	assert_true(!sim->last_end[in->thread] || sim->last_end[in->thread] == in->start_ns);
	sim->last_end[in->thread] = in->end_ns;
	memset(&sim->got[in->thread - 1][in->start_ns], what[in->state] | in->detail,
	       in->end_ns - in->start_ns);
	if (in->state == DWELL_STATE_UNKNOWN)
		sim->unknown_ns += in->end_ns - in->start_ns;
	return 0;
}

static struct dwell_timeline *join(struct sim *sim)
{
	struct dwell_timeline_ops ops = { .interval = on_interval };
	struct dwell_timeline *tl = dwell_timeline_new(sim->table, START, true, &ops, sim);
	struct dwell_err err = { 0 };

	for (int i = 0; i < sim->events; i++)
		assert_int_equal(dwell_timeline_feed(tl, &sim->event[i]), 0);
	assert_int_equal(dwell_timeline_finish(tl, sim->end), 0);
	if (dwell_timeline_check(tl, &err))
		fail_msg("%s", err.msg);
	return tl;
}

static void complain(const struct sim *sim, uint64_t seed, int i, uint64_t ns, const char *what)
{
	fail_msg("seed %llu, thread %d, at %llu of %llu: truth %02x, found %02x: %s",
		 (unsigned long long)seed, i + 1, (unsigned long long)ns,
		 (unsigned long long)sim->end, sim->truth[i][ns], sim->got[i][ns], what);
}

static void check_exact(const struct sim *sim, uint64_t seed)
{
	for (int i = 0; i < sim->threads; i++) {
		const struct sim_thread *t = &sim->thread[i];
		/* A death without its last switch is taken to be when it was announced. */
		uint64_t end = t->exiting && !t->dead ? t->exit_ns : sim->end;
		bool told = t->told && t->first_in != UINT64_MAX;

		told |= t->at_start == ON && (t->told || t->ins > 1 || t->code != ON);
		for (uint64_t ns = START; ns < end; ns++) {
			if (sim->got[i][ns] == sim->truth[i][ns])
				continue;
			if (sim->got[i][ns] == (UNKNOWN | DWELL_UNKNOWN_NEVER_SEEN) &&
			    !sim->seeded && !t->born && !told && ns < t->first_in)
				continue;
			complain(sim, seed, i, ns, "not the truth");
		}
	}
}

static bool soon(const uint8_t *truth, uint8_t what)
{
	for (int ns = 1; ns <= SWITCH_NS; ns++)
		if ((truth[ns] & WHAT) == what)
			return true;
	return false;
}

/* What other CPUs' events said within a gap that was told of late cannot be taken back. */
static bool said_too_early(const struct sim *sim, const uint8_t *got, uint64_t ns)
{
	uint8_t what = got[ns];

	while (ns < sim->gap_from && (got[ns] == what || (got[ns] & WHAT) == RUNNABLE))
		ns++; /* a waking said what was before it, too */
	return ns >= sim->gap_from && ns < sim->gap_to;
}

/* Nothing false may be said. With `silent` (switches that no witness saw and no gap told of) the
 * open end of a thread may lie, as nothing contradicted it yet, and so may its beginning: who
 * leaves a CPU first is taken to have been there from the start. */
static void check_sound(const struct sim *sim, uint64_t seed, bool silent)
{
	for (int i = 0; i < sim->threads; i++) {
		const struct sim_thread *t = &sim->thread[i];
		uint64_t end = t->exiting && !t->dead ? t->exit_ns : sim->end, open, ns = START;

		for (open = end; silent && open > START; open--)
			if (sim->got[i][open - 1] != sim->got[i][end - 1])
				break;
		while (silent && ns < open && sim->got[i][ns] == sim->got[i][START])
			ns++;
		for (; ns < (silent ? open : end); ns++) {
			uint8_t got = sim->got[i][ns] & WHAT, truth = sim->truth[i][ns] & WHAT;

			if (!got && ns >= t->exit_ns) /* its last switch was lost */
				continue;
			if (got == UNKNOWN || got == truth)
				continue;
			if (got == BLOCKED && truth == RUNNABLE && (t->waking_lost || t->early))
				continue;
			if (said_too_early(sim, sim->got[i], ns))
				continue;
			/* A waking before the first switch-out may be taken for an early one. */
			if (silent && got == RUNNABLE && truth == BLOCKED)
				continue;
			/* Without a switch to hold them against, wakings of running threads
			 * look like those of sleepers. */
			if ((got == RUNNABLE || (silent && got == BLOCKED)) && t->odd_waking)
				continue;
			/* Where the records of a switch were lost, the tracepoint tells its
			 * time, which is a little earlier. */
			if (soon(sim->truth[i] + ns, got))
				continue;
			complain(sim, seed, i, ns, "a false claim");
		}
	}
}

static struct sim *sim_new(uint64_t seed)
{
	struct sim *sim = calloc(1, sizeof(*sim));

	sim->rng = seed * 7919 + 1;
	return sim;
}

static void sim_free(struct sim *sim, struct dwell_timeline *tl)
{
	dwell_timeline_free(tl);
	dwell_threads_free(sim->table);
	free(sim);
}

/* Tracepoints alone, records alone, and CPUs with both, blind ones among them. */
static void test_exact(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim *sim = sim_new(seed);
		struct dwell_timeline *tl;

		play(sim, (int)(seed % 3), 60 + (int)roll(sim, 300));
		tl = join(sim);
		check_exact(sim, seed);
		assert_int_equal(dwell_timeline_stats(tl)->contradictions, 0);
		assert_int_equal(dwell_timeline_stats(tl)->chain_breaks, 0);
		assert_int_equal(dwell_timeline_stats(tl)->late_events, 0);
		sim_free(sim, tl);
	}
}

/* Blind CPUs without records: switch-ins vanish, and no gap is told of. */
static void test_silent_loss(void **state)
{
	uint64_t missed = 0;

	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim *sim = sim_new(seed);
		struct dwell_timeline *tl;

		play(sim, 3, 60 + (int)roll(sim, 300));
		tl = join(sim);
		check_sound(sim, seed, true);
		missed += dwell_timeline_stats(tl)->missed_switches;
		sim_free(sim, tl);
	}
	assert_true(missed > SEEDS);
}

static bool event_can_be_lost(const struct dwell_event *e, int cpu)
{
	return e->cpu == (uint32_t)cpu && e->kind != DWELL_EVENT_FORK &&
	       e->kind != DWELL_EVENT_EXIT && e->kind != DWELL_EVENT_CPU &&
	       e->kind != DWELL_EVENT_STATE;
}

/* True switch-ins of a thread among the first `until` events. */
static uint64_t ins_before(const struct dwell_event *events, int until, uint32_t thread,
			   const uint8_t *witness)
{
	uint64_t ins = 0;

	for (int i = 0; i < until; i++) {
		const struct dwell_event *e = &events[i];

		if (e->kind == DWELL_EVENT_SWITCH)
			ins += e->u.sw.next == thread &&
			       witness[e->cpu] == DWELL_WITNESS_TRACEPOINT;
		else
			ins += e->kind == DWELL_EVENT_SWITCH_IN && e->thread == thread;
	}
	return ins;
}

/* Loses a stretch of one CPU's events, tells of it (early: when it begins, else when it is over),
 * and reads every thread's count after it. Returns whether anything was lost. */
static bool lose(struct sim *sim, int cpu, int from, int to, bool early)
{
	static struct dwell_event kept[EVENTS];
	uint64_t gap_from = START, gap_to = 0, lost = 0;
	int n = 0, after = 0, before = 0;

	for (int i = 0; i < sim->events; i++) {
		const struct dwell_event *e = &sim->event[i];
		bool drop = i >= from && i < to && event_can_be_lost(e, cpu);

		if (drop) {
			gap_to = e->time_ns;
			lost++;
			after = i + 1;
			if (e->kind == DWELL_EVENT_WAKING && e->thread)
				sim->thread[e->thread - 1].waking_lost = true;
		} else if (i < from && e->cpu == (uint32_t)cpu) {
			gap_from = e->time_ns;
			before = i + 1;
		}
	}
	if (!lost)
		return false;
	sim->gap_from = gap_from;
	sim->gap_to = early ? gap_from : gap_to;
	for (int i = 0; i <= sim->events; i++) {
		if (i == (early ? before : after))
			kept[n++] = (struct dwell_event){
				.kind = DWELL_EVENT_GAP,
				.time_ns = gap_to,
				.cpu = (uint32_t)cpu,
				.thread = DWELL_THREAD_NONE,
				.u.gap = { gap_from, lost },
			};
		if (i == after) {
			for (int t = 0; t < sim->threads; t++) {
				struct sim_thread *thread = &sim->thread[t];
				uint64_t born =
					dwell_threads_get(sim->table, thread->index)->born_ns;

				if (born > gap_to || thread->died_ns <= gap_to)
					continue;
				kept[n++] = (struct dwell_event){
					.kind = DWELL_EVENT_COUNT,
					.time_ns = gap_to,
					.cpu = DWELL_CPU_NONE,
					.thread = thread->index,
					.u.count.switches_in =
						(thread->born ? 0 : 40) + (thread->at_start == ON) +
						ins_before(sim->event, after, thread->index,
							   sim->witness),
				};
			}
		}
		if (i < sim->events &&
		    !(i >= from && i < to && event_can_be_lost(&sim->event[i], cpu)))
			kept[n++] = sim->event[i];
	}
	assert_true(n < EVENTS);
	memcpy(sim->event, kept, (size_t)n * sizeof(*kept));
	sim->events = n;
	return true;
}

static void test_loss(void **state)
{
	uint64_t kept_ns = 0, unknown_ns = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 2 * SEEDS; seed++) {
		struct sim *sim = sim_new(seed);
		struct dwell_timeline *tl;
		int from, length, cpu;

		play(sim, (int)(seed / 2 % 3), 120 + (int)roll(sim, 240));
		cpu = (int)roll(sim, (uint32_t)sim->cpus);
		from = (int)roll(sim, (uint32_t)sim->events);
		length = 1 + (int)roll(sim, 60);
		if (!lose(sim, cpu, from, from + length < sim->events ? from + length : sim->events,
			  seed & 1)) {
			sim_free(sim, NULL);
			continue;
		}
		tl = join(sim);
		check_sound(sim, seed, false);
		assert_int_equal(dwell_timeline_stats(tl)->gaps, 1);
		unknown_ns += sim->unknown_ns;
		for (int i = 0; i < sim->threads; i++)
			kept_ns += dwell_timeline_account(tl, (uint32_t)i + 1)
					   ->ns[DWELL_STATE_BLOCKED];
		sim_free(sim, tl);
	}
	assert_true(unknown_ns > 0 && kept_ns > 0);
}

/* No stream, however absurd, may break the laws: random events with random members. */
static void test_absurd(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sim *sim = sim_new(seed);

		sim->table = dwell_threads_new();
		sim->now = START;
		for (int i = 0; i < 10; i++)
			add_thread(sim, roll(sim, 3) ? 0 : START + 100 * (uint64_t)i);
		for (int n = 0; n < 1000; n++) {
			struct dwell_event *e;

			sim->now += roll(sim, 12);
			e = put(sim, 1 + (int)roll(sim, DWELL_EVENT_KINDS), (int)roll(sim, 4) - 1,
				roll(sim, 12));
			for (size_t b = 0; b < sizeof(e->u); b++)
				((uint8_t *)&e->u)[b] = !roll(sim, 3);
			if (e->kind == DWELL_EVENT_GAP) {
				e->u.gap.from_ns = sim->now - roll(sim, 300);
			} else if (e->kind == DWELL_EVENT_SWITCH) {
				e->u.sw.next = roll(sim, 11);
				e->u.sw.prev_state = (uint8_t)roll(sim, DWELL_TASK_STATES);
			} else if (e->kind == DWELL_EVENT_CPU) {
				e->u.cpu.witness = (uint8_t)roll(sim, 4);
			} else if (e->kind == DWELL_EVENT_STATE) {
				e->u.state.state = (uint8_t)roll(sim, DWELL_TASK_STATES);
				e->u.state.switches_in = roll(sim, 5);
			} else if (e->kind == DWELL_EVENT_COUNT) {
				e->u.count.switches_in = roll(sim, 5);
			}
			e->time_ns += roll(sim, 4) ? 0 : roll(sim, 50);
		}
		sim->end = sim->now;
		sim_free(sim, join(sim));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_silent_loss),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_absurd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
