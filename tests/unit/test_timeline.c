// SPDX-License-Identifier: MIT
/* Each rule of the join as a short stream of events, and the intervals that must come of it,
 * written as text: "O0-10 BS10-20 Rw20-25" = on CPU, blocked (S), runnable (woken). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "offcpu/timeline.h"

enum {
	T0 = 1000, /* the window's start; times in the tests count from here */
	THREADS = 8,
	R = DWELL_TASK_RUNNING,
	S = DWELL_TASK_INTERRUPTIBLE,
	D = DWELL_TASK_UNINTERRUPTIBLE,
	Z = DWELL_TASK_ZOMBIE,
	TP = DWELL_WITNESS_TRACEPOINT,
	REC = DWELL_WITNESS_RECORD,
	BOTH = DWELL_WITNESS_BOTH,
};

struct world {
	struct dwell_threads *threads;
	struct dwell_timeline *tl;
	char text[THREADS][600];
	struct dwell_interval last[THREADS][4]; /* by state: the latest */
	int ended[THREADS], samples, stop_with;
	uint32_t sample_comm;
};

static int on_interval(void *user, const struct dwell_interval *in)
{
	static const char runnable[] = "pwnts", unknown[] = "nlmso";
	struct world *w = user;
	char *text = w->text[in->thread], what[3] = { "ORBU"[in->state], 0, 0 };
	size_t used = strlen(text);

	if (in->state == DWELL_STATE_RUNNABLE)
		what[1] = runnable[in->detail];
	else if (in->state == DWELL_STATE_BLOCKED)
		what[1] = dwell_task_state_letter(in->detail);
	else if (in->state == DWELL_STATE_UNKNOWN)
		what[1] = unknown[in->detail];
	snprintf(text + used, sizeof(w->text[0]) - used, "%s%s%s%d-%d%s", used ? " " : "",
		 in->censored_start ? "<" : "", what, (int)(in->start_ns - T0),
		 (int)(in->end_ns - T0), in->censored_end ? ">" : "");
	w->last[in->thread][in->state] = *in;
	return w->stop_with;
}

static int on_sample(void *user, const struct dwell_event *event, uint32_t comm)
{
	struct world *w = user;

	(void)event;
	w->samples++;
	w->sample_comm = comm;
	return 0;
}

static int on_end(void *user, uint32_t thread)
{
	((struct world *)user)->ended[thread]++;
	return 0;
}

/* Threads 1..5 exist and are observed, 6 is not. */
static void world_init(struct world *w, bool all)
{
	struct dwell_timeline_ops ops = { on_interval, on_sample, on_end };
	uint32_t index;

	memset(w, 0, sizeof(*w));
	w->threads = dwell_threads_new();
	for (uint32_t i = 1; i <= 6; i++) {
		assert_int_equal(dwell_threads_add(w->threads, 10, 10 + (int)i, 0, &index), 0);
		dwell_threads_get(w->threads, index)->observed = i < 6;
		dwell_threads_get(w->threads, index)->comm = 1;
	}
	w->tl = dwell_timeline_new(w->threads, T0, all, &ops, w);
	assert_non_null(w->tl);
}

static void feed(struct world *w, int kind, int time, int cpu, uint32_t thread,
		 struct dwell_event event)
{
	event.kind = (uint8_t)kind;
	event.time_ns = (uint64_t)(T0 + time);
	event.cpu = (uint32_t)cpu;
	event.thread = thread;
	assert_int_equal(dwell_timeline_feed(w->tl, &event), w->stop_with);
}

#define EVENT(...) ((struct dwell_event){ __VA_ARGS__ })

static void sw(struct world *w, int time, int cpu, uint32_t prev, int state, uint32_t next)
{
	feed(w, DWELL_EVENT_SWITCH, time, cpu, prev,
	     EVENT(.stack = 70 + prev, .u.sw = { next, (uint8_t)state, false }));
}

static void in(struct world *w, int time, int cpu, uint32_t thread)
{
	feed(w, DWELL_EVENT_SWITCH_IN, time, cpu, thread, EVENT(.u.rec.other = DWELL_THREAD_NONE));
}

static void out(struct world *w, int time, int cpu, uint32_t thread, bool preempted)
{
	feed(w, DWELL_EVENT_SWITCH_OUT, time, cpu, thread,
	     EVENT(.u.rec = { preempted, DWELL_THREAD_NONE }));
}

static void wake(struct world *w, int time, uint32_t thread, uint32_t waker)
{
	feed(w, DWELL_EVENT_WAKING, time, 0, thread,
	     EVENT(.stack = 90, .u.wake = { .waker = waker }));
}

static void sample(struct world *w, int time, int cpu, uint32_t thread)
{
	feed(w, DWELL_EVENT_SAMPLE, time, cpu, thread, EVENT(.u.sample = { 0, 1 }));
}

static void gap(struct world *w, int from, int to, int cpu)
{
	feed(w, DWELL_EVENT_GAP, to, cpu, DWELL_THREAD_NONE,
	     EVENT(.u.gap = { (uint64_t)(T0 + from), 3 }));
}

static void count(struct world *w, int time, uint32_t thread, uint64_t switches)
{
	feed(w, DWELL_EVENT_COUNT, time, -1, thread, EVENT(.u.count = { switches }));
}

static void reading(struct world *w, int time, uint32_t thread, int phase, int state,
		    uint64_t switches, uint64_t run)
{
	feed(w, DWELL_EVENT_STATE, time, -1, thread,
	     EVENT(.stack = 50 + thread, .u.state = { .state = (uint8_t)state,
						      .phase = (uint8_t)phase,
						      .stable = true,
						      .counted = true,
						      .switches_in = switches,
						      .run_ns = run }));
}

static void cpu(struct world *w, int time, int index, int witness, bool online)
{
	feed(w, DWELL_EVENT_CPU, time, index, DWELL_THREAD_NONE,
	     EVENT(.u.cpu = { (uint8_t)witness, online }));
}

static void finish(struct world *w, int time)
{
	struct dwell_err err = { 0 };

	assert_int_equal(dwell_timeline_finish(w->tl, (uint64_t)(T0 + time)), 0);
	if (dwell_timeline_check(w->tl, &err))
		fail_msg("%s", err.msg);
}

static void expect(struct world *w, uint32_t thread, const char *text)
{
	assert_string_equal(w->text[thread], text);
}

static void release(struct world *w)
{
	dwell_timeline_free(w->tl);
	dwell_threads_free(w->threads);
}

static void test_wait_and_waking(void **state)
{
	struct world w;
	const struct dwell_account *a;

	(void)state;
	world_init(&w, true);
	sw(&w, 10, 0, 1, S, 2);
	wake(&w, 20, 1, 2);
	sw(&w, 30, 0, 2, R, 1);
	sw(&w, 40, 0, 1, R, 0);
	finish(&w, 50);
	expect(&w, 1, "<O0-10 BS10-20 Rw20-30 O30-40 Rt40-50>"); /* R to idle: a quota */
	expect(&w, 2, "<Un0-10 O10-30 Rp30-50>");
	expect(&w, 3, "<Un0-50>");
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].stack, 71);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].origin, DWELL_ORIGIN_SWITCH);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].waker, 2);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].waker_stack, 90);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].witness, TP);
	assert_int_equal(w.last[2][DWELL_STATE_RUNNABLE].waker, DWELL_THREAD_NONE);
	a = dwell_timeline_account(w.tl, 1);
	assert_int_equal(a->observed_ns, 50);
	assert_int_equal(a->switches_voluntary, 1);
	assert_int_equal(a->switches_involuntary, 1);
	assert_int_equal(a->switches_in, 1);
	assert_int_equal(a->longest_blocked_ns, 10);
	assert_int_equal(dwell_timeline_stats(w.tl)->waits, 1);
	assert_int_equal(dwell_timeline_stats(w.tl)->waits_with_waking, 1);
	assert_int_equal(dwell_timeline_cpu(w.tl, 0)->busy_ns, 40);
	assert_int_equal(dwell_timeline_cpu(w.tl, 0)->idle_ns, 10);
	assert_int_equal(dwell_timeline_cpu(w.tl, 0)->unknown_ns, 0);
	release(&w);
}

static void test_start(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	reading(&w, 1, 1, DWELL_PHASE_START, D, 5, 0);
	reading(&w, 2, 2, DWELL_PHASE_START, R, 5, 10);
	reading(&w, 3, 3, DWELL_PHASE_START, R, 5, 10);
	reading(&w, 4, 5, DWELL_PHASE_START, R, 5, 10);
	sw(&w, 20, 0, 2, S, 3);
	wake(&w, 25, 4, 3); /* never seen before: it was blocked until now */
	sw(&w, 30, 0, 3, S, 4);
	reading(&w, 90, 1, DWELL_PHASE_STOP, D, 5, 0);
	reading(&w, 91, 5, DWELL_PHASE_STOP, R, 5, 60); /* ran all the time, and never switched */
	finish(&w, 100);
	expect(&w, 1, "<BD0-100>"); /* hung for the whole window, with a stack read late */
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].stack, 51);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].origin, DWELL_ORIGIN_LATE);
	expect(&w, 2, "<O0-20 BS20-100>");
	expect(&w, 3, "<Rs0-20 O20-30 BS30-100>");
	expect(&w, 4, "<B?0-25 Rw25-30 O30-100>");
	expect(&w, 5, "<O0-100>");
	release(&w);
}

static void test_early_useless_and_duplicate_wakings(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 10, 0, 2, S, 1);
	wake(&w, 18, 1, 2); /* overtakes the switch-out */
	sw(&w, 20, 0, 1, S, 0);
	sw(&w, 30, 0, 0, R, 1);
	wake(&w, 35, 1, 2); /* it runs: counts for nothing */
	sw(&w, 40, 0, 1, S, 0);
	wake(&w, 50, 1, 2);
	wake(&w, 50, 1, 2);
	sw(&w, 60, 0, 0, R, 1);
	finish(&w, 70);
	expect(&w, 1, "<Un0-10 O10-20 Rw20-30 O30-40 BS40-50 Rw50-60 O60-70>");
	assert_int_equal(dwell_timeline_stats(w.tl)->duplicate_wakings, 1);
	assert_int_equal(dwell_timeline_stats(w.tl)->useless_wakings, 1);
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 0);
	release(&w);
}

static void test_interrupt_waker(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 10, 0, 1, S, 2);
	feed(&w, DWELL_EVENT_WAKING, 20, 0, 1,
	     EVENT(.stack = 91, .u.wake = { .waker = 2, .context = DWELL_CONTEXT_HARDIRQ }));
	finish(&w, 30);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].waker, DWELL_THREAD_NONE);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].waker_context, DWELL_CONTEXT_HARDIRQ);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].waker_stack, 91);
	release(&w);
}

static void test_two_witnesses(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	cpu(&w, 0, 0, BOTH, true);
	sw(&w, 10, 0, 1, S, 0);
	out(&w, 12, 0, 1, false);
	in(&w, 14, 0, 0);
	wake(&w, 20, 1, 2);
	out(&w, 30, 0, 0, false); /* blind: no tracepoint out of idle */
	in(&w, 33, 0, 1);
	sw(&w, 40, 0, 1, R, 2); /* its SWITCH_OUT is lost */
	in(&w, 44, 0, 2);
	sw(&w, 50, 0, 2, D, 0); /* both records are lost */
	sw(&w, 60, 0, 0, R, 1);
	out(&w, 61, 0, 0, false);
	in(&w, 62, 0, 1);
	finish(&w, 70);
	expect(&w, 1, "<O0-12 BS12-20 Rw20-33 O33-40 Rp40-62 O62-70>");
	expect(&w, 2, "<Un0-44 O44-50 BD50-70>");
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].witness, REC);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].stack, 71);
	assert_int_equal(w.last[1][DWELL_STATE_RUNNABLE].witness, BOTH);
	assert_int_equal(dwell_timeline_stats(w.tl)->chain_breaks, 0);
	release(&w);
}

static void test_records_alone(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, false);
	cpu(&w, 0, 0, REC, true);
	in(&w, 10, 0, 1);
	out(&w, 20, 0, 1, false);
	in(&w, 30, 0, 1);
	out(&w, 40, 0, 1, true);
	finish(&w, 50);
	expect(&w, 1, "<Un0-10 O10-20 B?20-30 O30-40 Rp40-50>");
	release(&w);
}

/* A blind CPU without records, as in an ordinary perf.data: what was missed is unknown. */
static void test_missed_switches(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 10, 0, 1, S, 0);
	wake(&w, 20, 1, 2);
	sw(&w, 30, 0, 1, S, 0); /* its switch-in was missed: unknown since the waking */
	wake(&w, 40, 1, 2);
	wake(&w, 50, 1, 2); /* again: it ran and slept in between */
	sw(&w, 60, 0, 0, R, 1);
	sample(&w, 65, 0, 1);
	sw(&w, 70, 0, 2, S, 1); /* 2 for 1: somebody's switch was missed */
	finish(&w, 80);
	expect(&w, 1, "<O0-10 BS10-20 Um20-30 BS30-40 Um40-50 Rw50-60 O60-65 Um65-70 O70-80>");
	expect(&w, 2, "<Um0-70 BS70-80>");
	release(&w);
}

static void test_migration_and_idle(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 5, 1, 0, R, 2);
	sw(&w, 10, 0, 1, S, 0);
	wake(&w, 20, 1, 2);
	sw(&w, 30, 1, 2, R, 1);
	finish(&w, 40);
	expect(&w, 1, "<O0-10 BS10-20 Rw20-30 O30-40>");
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].cpu, 0);
	assert_int_equal(w.last[1][DWELL_STATE_ON_CPU].cpu, 1);
	assert_string_equal(w.text[0], ""); /* idle waits for nothing */
	assert_int_equal(dwell_timeline_cpu(w.tl, 1)->idle_ns, 5);
	release(&w);
}

static void test_fork_and_exit(void **state)
{
	struct world w;
	uint32_t child;

	(void)state;
	world_init(&w, true);
	sw(&w, 5, 0, 0, R, 1);
	assert_int_equal(dwell_threads_add(w.threads, 10, 17, T0 + 10, &child), 0);
	assert_int_equal(child, 7);
	dwell_threads_get(w.threads, child)->observed = true;
	feed(&w, DWELL_EVENT_FORK, 10, 0, child, EVENT(.u.fork.parent = 1));
	feed(&w, DWELL_EVENT_WAKEUP_NEW, 11, 0, child, EVENT(.stack = 92, .u.wake.waker = 1));
	sw(&w, 20, 0, 1, R, child);
	feed(&w, DWELL_EVENT_EXIT, 25, 0, child, EVENT(0));
	sw(&w, 30, 0, child, Z, 1);
	sw(&w, 40, 0, 1, S, child); /* the dead do not come back */
	finish(&w, 50);
	expect(&w, child, "Rn10-20 O20-30");
	assert_int_equal(w.ended[child], 1);
	assert_int_equal(w.last[child][DWELL_STATE_RUNNABLE].waker, 1);
	assert_int_equal(w.last[child][DWELL_STATE_RUNNABLE].waker_stack, 92);
	assert_int_equal(dwell_timeline_account(w.tl, child)->observed_ns, 20);
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 1);
	release(&w);
}

/* A delayed recording hears of births before its window: what the child does by then is not told.
 */
static void test_born_before_the_window(void **state)
{
	struct world w;
	uint32_t child;

	(void)state;
	world_init(&w, true);
	assert_int_equal(dwell_threads_add(w.threads, 10, 17, T0 - 10, &child), 0);
	dwell_threads_get(w.threads, child)->observed = true;
	feed(&w, DWELL_EVENT_FORK, -10, 0, child, EVENT(.u.fork.parent = 1));
	reading(&w, 1, child, DWELL_PHASE_START, S, 5, 0);
	wake(&w, 20, child, 1);
	sw(&w, 30, 0, 1, R, child);
	finish(&w, 50);
	expect(&w, child, "<BS0-20 Rw20-30 O30-50>");
	release(&w);
}

/* With some CPUs recorded only, a thread that may run on the others is known while it runs on ours.
 */
static void test_roaming(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, false);
	dwell_threads_get(w.threads, 1)->roams = true;
	dwell_threads_get(w.threads, 2)->roams = true;
	dwell_threads_get(w.threads, 3)->roams = true;
	reading(&w, 1, 2, DWELL_PHASE_START, S, 5, 0);
	reading(&w, 1, 3, DWELL_PHASE_START, S, 5, 0);
	sw(&w, 10, 0, 0, R, 1);
	sw(&w, 20, 0, 1, S, 4);
	wake(&w, 30, 1, 4);
	sw(&w, 40, 0, 4, S, 1);
	sw(&w, 45, 0, 1, R, 0);
	reading(&w, 48, 2, DWELL_PHASE_STOP, S, 5, 0); /* it ran nowhere */
	reading(&w, 48, 3, DWELL_PHASE_STOP, S, 6, 0); /* it ran elsewhere */
	finish(&w, 50);
	expect(&w, 1, "<Un0-10 O10-20 Uo20-40 O40-45 Uo45-50>");
	expect(&w, 2, "<BS0-50>");
	expect(&w, 3, "<BS0-1 Uo1-50>");
	expect(&w, 4, "<Un0-20 O20-40 BS40-50>");
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 0);
	release(&w);
}

static void test_exit_without_last_switch(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, false);
	cpu(&w, 0, 0, REC, true);
	in(&w, 10, 0, 1);
	feed(&w, DWELL_EVENT_EXIT, 25, 0, 1, EVENT(0));
	finish(&w, 50);
	expect(&w, 1, "<Un0-10 O10-25");
	assert_int_equal(w.ended[1], 1);
	release(&w);
}

static void test_stopped_and_offline(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 5, 0, 0, R, 1);
	sw(&w, 6, 1, 0, R, 2);
	feed(&w, DWELL_EVENT_STOPPED, 10, 0, 1, EVENT(0));
	wake(&w, 15, 1, 2);
	sw(&w, 20, 0, 1, Z, 0);
	cpu(&w, 30, 1, TP, false);
	cpu(&w, 35, 1, TP, true);
	sw(&w, 40, 1, 2, S, 0); /* on since the CPU came back */
	finish(&w, 50);
	expect(&w, 1, "<Un0-5 O5-10 Us10-20");
	expect(&w, 2, "<Un0-6 O6-30 Uo30-35 O35-40 BS40-50>");
	assert_int_equal(dwell_timeline_cpu(w.tl, 1)->unknown_ns, 5);
	release(&w);
}

/* Born outside the recorder's filter: what it does is not told, and a lone sample proves nothing.
 */
static void test_born_unheard(void **state)
{
	struct dwell_thread *thread;
	struct world w;

	(void)state;
	world_init(&w, false);
	for (uint32_t i = 1; i <= 2; i++) {
		dwell_threads_get(w.threads, i)->born_ns = T0 + 10;
		feed(&w, DWELL_EVENT_FORK, 10, -1, i, EVENT(.u.fork.parent = 3));
		feed(&w, DWELL_EVENT_STOPPED, 10, -1, i, EVENT(0));
	}
	sample(&w, 12, 0, 1);
	sample(&w, 14, 1, 2);
	feed(&w, DWELL_EVENT_EXIT, 20, 0, 1, EVENT(0)); /* before the next filter */
	thread = dwell_threads_get(w.threads, 2);
	thread->joined_ns = T0 + 30;
	count(&w, 31, 2, 7);
	sw(&w, 35, 1, 2, S, 0);
	sw(&w, 40, 1, 0, R, 2);
	sw(&w, 45, 1, 2, Z, 0);
	finish(&w, 50);
	expect(&w, 1, "Us10-20");
	expect(&w, 2, "Us10-35 BS35-40 O40-45");
	assert_int_equal(dwell_timeline_account(w.tl, 2)->switches_in, 1);
	release(&w);
}

static void test_loss(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	for (uint32_t i = 1; i <= 5; i++)
		reading(&w, 1, i, DWELL_PHASE_START, i == 1 || i == 4 ? R : S, 5, 0);
	sw(&w, 10, 0, 1, S, 2); /* 2 was woken unseen; it sleeps until now */
	sw(&w, 11, 1, 4, R, 0);
	sw(&w, 12, 1, 0, R, 4);
	gap(&w, 20, 40, 0);
	count(&w, 41, 1, 5); /* untouched: keeps its wait */
	count(&w, 42, 3, 6); /* ran in the gap */
	wake(&w, 50, 1, 4);
	sw(&w, 60, 0, 2, S, 1);
	sw(&w, 70, 1, 4, S, 0); /* its CPU lost nothing */
	wake(&w, 75, 5, 2);	/* not counted: unknown since the gap began */
	finish(&w, 80);
	expect(&w, 1, "<O0-10 BS10-50 Rw50-60 O60-80>");
	expect(&w, 2, "<BS0-10 O10-20 Ul20-40 O40-60 BS60-80>");
	expect(&w, 3, "<BS0-20 Ul20-80>");
	expect(&w, 4, "<O0-11 Rt11-12 O12-70 BS70-80>");
	expect(&w, 5, "<BS0-20 Ul20-80>");
	assert_int_equal(dwell_timeline_cpu(w.tl, 0)->unknown_ns, 20);
	assert_int_equal(dwell_timeline_stats(w.tl)->gaps, 1);
	assert_int_equal(dwell_timeline_stats(w.tl)->lost, 3);
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 0);
	release(&w);
}

/* Who ran when events were lost, did not switch in since, and leaves that CPU: it never left. */
static void test_loss_running(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	reading(&w, 1, 1, DWELL_PHASE_START, R, 5, 0);
	sw(&w, 5, 0, 1, R, 0);
	sw(&w, 6, 0, 0, R, 1);
	gap(&w, 20, 40, 0);
	count(&w, 41, 1, 6);
	sw(&w, 60, 0, 1, S, 0);
	wake(&w, 65, 1, 2);
	sw(&w, 66, 0, 0, R, 1);
	gap(&w, 70, 80, 0);
	count(&w, 81, 1, 9); /* this time it did; from now on 9 is the base */
	sw(&w, 85, 0, 1, S, 0);
	gap(&w, 86, 88, 0);
	count(&w, 89, 1, 9);
	finish(&w, 90);
	expect(&w, 1, "<O0-5 Rt5-6 O6-60 BS60-65 Rw65-66 O66-70 Ul70-80 O80-85 BS85-90>");
	release(&w);
}

/* Gaps of another CPU in whatever order: a thread that answers late is unknown since the earliest
 * that it has not answered for. */
static void test_loss_order(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	for (uint32_t i = 1; i <= 3; i++)
		reading(&w, 1, i, DWELL_PHASE_START, S, 5, 0);
	gap(&w, 20, 40, 1);
	count(&w, 41, 1, 5);
	gap(&w, 50, 60, 1);
	gap(&w, 45, 61, 1); /* began before the one that was told of first */
	gap(&w, 55, 62, 1);
	count(&w, 63, 2, 6);
	gap(&w, 70, 75, 1);
	wake(&w, 80, 1, 2);  /* answered for the first gap only */
	count(&w, 81, 3, 5); /* answered for all */
	finish(&w, 90);
	expect(&w, 1, "<BS0-45 Ul45-90>");
	expect(&w, 2, "<BS0-20 Ul20-90>");
	expect(&w, 3, "<BS0-90>");
	release(&w);
}

/* Each gap began before the one that was told of before it: this takes no longer than good order
 * does (it took an hour). */
/* The kernel counts more switch-ins than events told of, and no gap explains it. */
static void test_untold_switches(void **state)
{
	const struct dwell_timeline_stats *stats;
	struct world w;

	(void)state;
	world_init(&w, false);
	cpu(&w, 0, 0, TP, true);
	cpu(&w, 0, 1, BOTH, true);
	for (uint32_t thread = 1; thread <= 3; thread++)
		reading(&w, 1, thread, DWELL_PHASE_START, S, 5, 0);
	sw(&w, 10, 0, 6, R, 1);
	sw(&w, 20, 0, 1, S, 2);
	sw(&w, 30, 1, 6, S, 3);
	in(&w, 31, 1, 3);
	sw(&w, 40, 1, 3, S, 6);
	out(&w, 41, 1, 3, false);
	stats = dwell_timeline_stats(w.tl);
	reading(&w, 90, 1, DWELL_PHASE_STOP, S, 6, 0);
	assert_int_equal(stats->untold_switches, 0);
	reading(&w, 91, 1, DWELL_PHASE_STOP, S, 9, 0);
	assert_int_equal(stats->untold_switches, 3);
	/* On a CPU as far as events tell. */
	reading(&w, 92, 2, DWELL_PHASE_STOP, R, 8, 0);
	assert_int_equal(stats->untold_switches, 5);
	/* Where SWITCH IN is the witness, one may be on its way. */
	reading(&w, 93, 3, DWELL_PHASE_STOP, S, 7, 0);
	assert_int_equal(stats->untold_switches, 5);
	reading(&w, 94, 3, DWELL_PHASE_STOP, S, 8, 0);
	assert_int_equal(stats->untold_switches, 7);
	assert_int_equal(stats->contradictions, 0); /* one or the other */
	finish(&w, 100);
	expect(&w, 1, "<BS0-10 O10-20 BS20-90 Um90-100>");
	expect(&w, 2, "<BS0-20 Um20-100>");
	release(&w);
}

/* A thread that ran before its count was read: what it switched then is in no count. */
static void test_count_from_the_middle(void **state)
{
	const struct dwell_timeline_stats *stats;
	struct world w;

	(void)state;
	world_init(&w, false);
	cpu(&w, 0, 0, TP, true);
	sw(&w, 10, 0, 6, R, 1);
	sw(&w, 20, 0, 1, S, 6);
	reading(&w, 25, 1, DWELL_PHASE_START, S, 50, 0);
	sw(&w, 30, 0, 6, R, 1);
	sw(&w, 40, 0, 1, S, 6);
	stats = dwell_timeline_stats(w.tl);
	/* Its switch-in at 30 may have been stamped, and not counted yet, when 50 was read. */
	reading(&w, 90, 1, DWELL_PHASE_STOP, S, 52, 0);
	assert_int_equal(stats->untold_switches, 0);
	reading(&w, 91, 1, DWELL_PHASE_STOP, S, 53, 0);
	assert_int_equal(stats->untold_switches, 2);
	finish(&w, 100);
	release(&w);
}

/* A thread that became a target while the recording went on is observed since then only. */
static void test_joined(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, false);
	cpu(&w, 0, 0, TP, true);
	for (uint32_t thread = 1; thread <= 2; thread++)
		dwell_threads_get(w.threads, thread)->joined_ns = T0 + 40;
	wake(&w, 60, 1, 6);
	sw(&w, 70, 0, 6, R, 1);
	finish(&w, 100);
	expect(&w, 1, "<B?40-60 Rw60-70 O70-100>");
	expect(&w, 2, "<Un40-100>");
	release(&w);
}

/* A gap that may have hidden them explains them. */
static void test_count_after_loss(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, false);
	cpu(&w, 0, 0, TP, true);
	reading(&w, 1, 1, DWELL_PHASE_START, S, 5, 0);
	reading(&w, 1, 2, DWELL_PHASE_START, S, 5, 0);
	sw(&w, 10, 0, 6, R, 1);
	gap(&w, 20, 30, 0);
	reading(&w, 40, 1, DWELL_PHASE_STOP, S, 9, 0);
	reading(&w, 41, 2, DWELL_PHASE_STOP, S, 9, 0);
	assert_int_equal(dwell_timeline_stats(w.tl)->untold_switches, 0);
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 0);
	finish(&w, 50);
	expect(&w, 1, "<BS0-10 O10-20 Ul20-50>");
	expect(&w, 2, "<BS0-20 Ul20-50>");
	release(&w);
}

static void test_loss_hostile_order(void **state)
{
	enum { GAPS = 1000000 };
	struct world w;

	(void)state;
	world_init(&w, true);
	reading(&w, 1, 1, DWELL_PHASE_START, S, 5, 0);
	for (int i = 0; i < GAPS; i++)
		gap(&w, 2 * GAPS - i, 2 * GAPS + i, 1);
	wake(&w, 3 * GAPS, 1, 2);
	finish(&w, 3 * GAPS + 1);
	expect(&w, 1, "<BS0-1000001 Ul1000001-3000001>");
	assert_int_equal(dwell_timeline_stats(w.tl)->gaps, GAPS);
	release(&w);
}

static void test_late_events(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 10, 0, 1, S, 0);
	wake(&w, 9, 1, 2);
	finish(&w, 20);
	expect(&w, 1, "<O0-10 Rw10-20>");
	assert_int_equal(dwell_timeline_stats(w.tl)->late_events, 1);
	release(&w);
}

static void test_exec_splits_running_time(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 5, 0, 0, R, 1);
	feed(&w, DWELL_EVENT_COMM, 10, 0, 1, EVENT(.u.comm = { 2, true }));
	sample(&w, 12, 0, 1);
	assert_int_equal(w.last[1][DWELL_STATE_ON_CPU].comm, 1);
	assert_int_equal(w.sample_comm, 2);
	sw(&w, 20, 0, 1, S, 0);
	feed(&w, DWELL_EVENT_COMM, 25, 0, 1, EVENT(.u.comm = { 3, false }));
	finish(&w, 30);
	expect(&w, 1, "<Un0-5 O5-10 O10-20 BS20-30>");
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].comm, 2); /* the comm at switch-out */
	assert_int_equal(dwell_timeline_account(w.tl, 1)->samples, 1);
	release(&w);
}

/* Only targets are accounted for; switches between others are not seen, and break nothing. */
static void test_others_are_not_accounted(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, false);
	sw(&w, 10, 0, 1, S, 0);
	wake(&w, 20, 1, 6);
	sw(&w, 30, 0, 6, R, 1);
	sample(&w, 35, 1, 6);
	finish(&w, 40);
	expect(&w, 1, "<O0-10 BS10-20 Rw20-30 O30-40>");
	expect(&w, 6, "");
	assert_int_equal(w.samples, 0);
	assert_int_equal(w.last[1][DWELL_STATE_BLOCKED].waker, 6);
	assert_int_equal(dwell_timeline_stats(w.tl)->chain_breaks, 0);
	release(&w);
}

static void test_callback_stops_feeding(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	w.stop_with = 7;
	sw(&w, 10, 0, 1, S, 2);
	assert_string_equal(w.text[2], ""); /* nothing is called back after that */
	assert_int_equal(dwell_timeline_finish(w.tl, T0 + 20), 7);
	release(&w);
}

/* A waking that came while the thread ran is no end of what it waits for after it execs, though the
 * waking of that is kept from the rings. */
static void test_useless_waking_before_exec(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 10, 0, 2, S, 1);
	wake(&w, 20, 1, 3);
	feed(&w, DWELL_EVENT_COMM, 30, 0, 1, EVENT(.u.comm = { 1, true }));
	sw(&w, 40, 0, 1, S, 0);
	sw(&w, 80, 0, 0, R, 1);
	finish(&w, 90);
	expect(&w, 1, "<Un0-10 O10-40 BS40-80 O80-90>");
	release(&w);
}

/* Nothing that thread 3 does, and nobody it is switched to or from by itself, gets into the rings:
 * what follows proves switches, and contradicts nothing. Of a thread that was heard of it does. */
static void test_kept_from_the_rings(void **state)
{
	const struct dwell_timeline_stats *stats;
	struct world w;

	(void)state;
	world_init(&w, true);
	stats = dwell_timeline_stats(w.tl);
	for (uint32_t thread = 1; thread <= 3; thread++)
		reading(&w, 1, thread, DWELL_PHASE_START, S, 5, 0);
	sw(&w, 10, 0, 0, R, 1);
	sw(&w, 20, 0, 1, S, 3);
	wake(&w, 25, 2, 0);
	sw(&w, 40, 0, 2, S, 1); /* 3 left, 2 came */
	assert_int_equal(stats->missed_switches, 2);
	assert_int_equal(stats->contradictions, 0);
	sw(&w, 60, 0, 2, S, 0); /* 1 was seen to run */
	assert_int_equal(stats->contradictions, 2);
	assert_int_equal(stats->missed_switches, 2);
	finish(&w, 90);
	expect(&w, 1, "<BS0-10 O10-20 BS20-40 Um40-90>");
	expect(&w, 2, "<BS0-25 Um25-40 Um40-60 BS60-90>");
	expect(&w, 3, "<BS0-20 Um20-90>");
	release(&w);
}

/* What is told of a thread behind its end is no news of it, but not passed over in silence. */
static void test_events_behind_the_end(void **state)
{
	struct world w;

	(void)state;
	world_init(&w, true);
	sw(&w, 10, 0, 2, S, 1);
	sw(&w, 20, 0, 1, Z, 0);
	feed(&w, DWELL_EVENT_COMM, 30, 0, 1, EVENT(.u.comm = { 2, true }));
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 1);
	feed(&w, DWELL_EVENT_WAKING, 40, 0, 1, EVENT(.u.wake = { 0, DWELL_CONTEXT_IDLE, 0 }));
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 2);
	sw(&w, 50, 0, 0, R, 1);
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 3);
	sw(&w, 60, 0, 1, S, 0);
	assert_int_equal(dwell_timeline_stats(w.tl)->contradictions, 4);
	assert_int_equal(dwell_timeline_finish(w.tl, T0 + 100), 0);
	assert_int_equal(dwell_timeline_account(w.tl, 1)->observed_ns, 20);
	assert_int_equal(dwell_timeline_check(w.tl, NULL), 0);
	dwell_timeline_free(w.tl);
	dwell_threads_free(w.threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_behind_the_end),
		cmocka_unit_test(test_wait_and_waking),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_early_useless_and_duplicate_wakings),
		cmocka_unit_test(test_interrupt_waker),
		cmocka_unit_test(test_two_witnesses),
		cmocka_unit_test(test_records_alone),
		cmocka_unit_test(test_missed_switches),
		cmocka_unit_test(test_migration_and_idle),
		cmocka_unit_test(test_fork_and_exit),
		cmocka_unit_test(test_born_before_the_window),
		cmocka_unit_test(test_roaming),
		cmocka_unit_test(test_exit_without_last_switch),
		cmocka_unit_test(test_stopped_and_offline),
		cmocka_unit_test(test_born_unheard),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_loss_running),
		cmocka_unit_test(test_loss_order),
		cmocka_unit_test(test_untold_switches),
		cmocka_unit_test(test_kept_from_the_rings),
		cmocka_unit_test(test_useless_waking_before_exec),
		cmocka_unit_test(test_count_from_the_middle),
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_count_after_loss),
		cmocka_unit_test(test_loss_hostile_order),
		cmocka_unit_test(test_late_events),
		cmocka_unit_test(test_exec_splits_running_time),
		cmocka_unit_test(test_others_are_not_accounted),
		cmocka_unit_test(test_callback_stops_feeding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
