// SPDX-License-Identifier: MIT
/* A configuration becomes a finished trace: the order of opening, reading /proc and enabling here
 * is what makes the window's edges exact (Documentation/design.md, "The window"). */
#include "record/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/io.h"
#include "record/command.h"
#include "record/cpuwatch.h"
#include "record/names.h"
#include "record/procfs.h"
#include "record/recording.h"
#include "record/trace_facts.h"

enum {
	WAIT_MS = 100,	      /* the longest time between two looks at the rings */
	FLUSH_NS = 250000000, /* what a killed recorder loses at most */
	PROGRESS_NS = 1000000000,
	RETUNE_NS = 1000000000,
	PASSED_OVER_MAX = 2000, /* events of others that are worth a new filter */
	REFILTER_SPACING = 50,	/* of which the making may take one part in so many */
	FINAL_PASSES = 3,
};

/* The inode of the first pid namespace, PROC_PID_INIT_INO (include/linux/proc_ns.h). */
#define FIRST_PID_NAMESPACE 0xeffffffcu

struct session {
	struct recording rec;
	struct command command;
	const struct session_ops *ops;
	struct pollfd *fds;
	uint32_t fd_count;
	int exit_fd; /* tells of the command's end; -1 = none */
	uint64_t flushed_ns, progress_ns, retuned_ns;
	uint64_t refiltered_ns, refilter_cost_ns;
	uint64_t cpu_before_ns;
};

static uint64_t cpu_used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

static void files_limit_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* /proc may be of another pid namespace (unshare --pid without --mount-proc): then it tells of
 * strangers under our targets' pids. */
static int proc_check(struct dwell_err *err)
{
	char self[32] = "";

	if (readlink("/proc/self", self, sizeof(self) - 1) > 0 && atoi(self) == getpid())
		return 0;
	return dwell_err_set(
		err, -ENOENT,
		"/proc is missing, or of another pid namespace than this process: mount "
		"it here (`mount -t proc proc /proc`; unshare has --mount-proc)");
}

static bool in_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino != FIRST_PID_NAMESPACE;
}

/* Without tracepoints single tasks can be followed, the whole system cannot. */
static int level_check(struct session *s, struct dwell_err *err)
{
	const struct record_config *config = s->rec.config;
	const struct record_facts *facts = &s->rec.facts;
	char line[768], why[256];

	if (facts->tracepoints)
		return 0;
	if (config->all || config->cpus)
		return dwell_err_set(err, -EPERM, "cannot record the whole system: %s",
				     facts->why_not);
	snprintf(line, sizeof(line), "recording without wakers: %.*s", (int)sizeof(facts->why_not),
		 facts->why_not);
	s->ops->notice(s->ops->user, line);
	if (!facts->kernel_chains && config->callchains) {
		events_explain(-EPERM, 1, why, sizeof(why));
		snprintf(line, sizeof(line), "recording without stacks of waits: %s", why);
		s->ops->notice(s->ops->user, line);
	}
	return 0;
}

/* -v: by which means it is recorded. */
static void means_tell(const struct session *s)
{
	const struct events *events = &s->rec.events;
	unsigned online = 0, recorded = 0;
	char line[128];

	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		online += events->cpus[cpu].online;
		recorded += events->cpus[cpu].blind || events->cpus[cpu].provisional;
	}
	snprintf(line, sizeof(line), "%u CPUs, %llu kB of buffer each, %s", online,
		 (unsigned long long)events->ring_bytes >> 10,
		 s->rec.facts.tracepoints ? "tracepoints" : "switch records");
	s->ops->notice(s->ops->user, line);
	if (!recorded)
		return;
	snprintf(
		line, sizeof(line),
		"switch records as well on %u of them: tracepoints may not arrive there while idle",
		recorded);
	s->ops->notice(s->ops->user, line);
}

static int tables_open(struct session *s, struct dwell_err *err)
{
	struct recording *rec = &s->rec;

	rec->strings = dwell_strings_new();
	rec->stacks = dwell_stacks_new();
	if (!rec->strings || !rec->stacks || tids_init(&rec->tids))
		return dwell_err_sys(err, -ENOMEM, "cannot start");
	rec->spaces = dwell_addrspaces_new(rec->strings, rec->stacks);
	rec->cpus = calloc(rec->events.cpu_count, sizeof(*rec->cpus));
	if (!rec->spaces || !rec->cpus)
		return dwell_err_sys(err, -ENOMEM, "cannot start");
	identify_init(&rec->identify, rec->strings, rec->stacks);
	dwell_addrspaces_watch(rec->spaces, identify_mapped, &rec->identify);
	return chains_new(rec->strings, rec->stacks, rec->spaces, &rec->identify, "/proc/kallsyms",
			  rec->config->stack_bytes != 0, &rec->chains, err);
}

/* Opens all events of a privileged recording, in the order that leaves no hole: mappings are
 * followed before /proc is read, and events run before states are read. */
static int open_tracepoints(struct session *s, struct dwell_err *err)
{
	struct recording *rec = &s->rec;
	int rc = events_open_side(&rec->events, err);

	if (!rc)
		rc = targets_collect(rec, err);
	if (!rc && s->command.pid)
		rc = targets_add(rec, s->command.pid, s->command.pid);
	if (rc)
		return rc;
	if (!rec->config->all && !rec->pid_namespace) {
		rc = targets_filter(rec, &rec->filter);
		if (rc)
			return rc;
		rec->filtering = true;
	}
	return events_open_cpu_wide(&rec->events, rec->filtering ? &rec->filter : NULL, err);
}

static int open_tasks(struct session *s, struct dwell_err *err)
{
	int rc = targets_collect(&s->rec, err);

	if (!rc && s->command.pid)
		rc = targets_add(&s->rec, s->command.pid, s->command.pid);
	if (rc && s->rec.err.code && !err->code)
		*err = s->rec.err;
	return rc;
}

static int poll_table(struct session *s)
{
	const struct events *events = &s->rec.events;

	free(s->fds);
	s->fd_count = 0;
	s->fds = calloc(2 * (size_t)events->cpu_count + 1, sizeof(*s->fds));
	if (!s->fds)
		return -ENOMEM;
	for (uint32_t i = 0; i < events->fds.count; i++) {
		const struct event_fd *e = &events->fds.data[i];

		if (e->event == RECORD_SIDE || e->fd == events->cpus[e->cpu].owner_fd)
			s->fds[s->fd_count++] = (struct pollfd){ .fd = e->fd, .events = POLLIN };
	}
	if (s->exit_fd >= 0)
		s->fds[s->fd_count++] = (struct pollfd){ .fd = s->exit_fd, .events = POLLIN };
	return 0;
}

/* Waits for records, the command's end, a signal, or a moment before until_ns (0 = no limit). */
static void session_wait(struct session *s, uint64_t until_ns)
{
	uint64_t now_ns = recording_now_ns(&s->rec), left_ms;
	int wait_ms = WAIT_MS;

	if (until_ns) {
		left_ms = until_ns > now_ns ? (until_ns - now_ns) / 1000000 : 0;
		wait_ms = left_ms < WAIT_MS ? (int)left_ms : WAIT_MS;
	}
	poll(s->fds, s->fd_count, wait_ms);
}

/* Side records were lost: what they told is read again. */
static int rescan(struct session *s)
{
	struct recording *rec = &s->rec;
	uint32_t count;
	const uint32_t *tids = tids_sorted(&rec->tids, &count);
	int rc;

	rec->rescan = false; /* a loss meanwhile asks again */
	for (uint32_t i = 0; i < count; i++) {
		int32_t pid = (int32_t)tids[i];

		if (tids_slot(&rec->tids, tids[i])->pid == pid)
			dwell_addrspaces_read_proc(rec->spaces, "/proc", pid, NULL);
	}
	rc = loss_reread(rec);
	/* Without tracepoints a thread whose birth was lost has inherited its events: it gets no
	 * second ones. */
	if (rc || !rec->facts.tracepoints)
		return rc;
	rc = targets_collect(rec, &rec->err);
	return rc ? rc : targets_collect_offspring(rec);
}

/* Newcomers pass the filter until it is made anew: is that worth it, at a bounded part of our time?
 */
static bool passing_too_much(const struct session *s, uint64_t now_ns)
{
	return s->rec.passed_over > PASSED_OVER_MAX &&
	       now_ns - s->refiltered_ns > REFILTER_SPACING * s->refilter_cost_ns;
}

/* CPUs too busy to be tested at the start have SWITCH records; those found whole now need them no
 * more. A few at a time: each test takes this thread there, and some milliseconds. */
static int settle_provisional(struct session *s)
{
	struct events *events = &s->rec.events;
	bool were[DWELL_TRACE_CPUS_MAX];
	bool any = false;
	int rc = 0;

	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
		any |= were[cpu] = events->cpus[cpu].provisional;
	if (any)
		rc = events_test_again(events);
	for (uint32_t cpu = 0; any && !rc && cpu < events->cpu_count; cpu++) {
		if (!were[cpu] || events->cpus[cpu].provisional || events->cpus[cpu].blind)
			continue;
		events_drop_records(events, cpu);
		rc = trace_writer_cpu(s->rec.writer, recording_now_ns(&s->rec), cpu,
				      DWELL_WITNESS_TRACEPOINT, true);
	}
	return rc;
}

static int cpus_watch(struct session *s, uint64_t now_ns)
{
	struct recording *rec = &s->rec;
	static const char *const said[] = {
		[CPU_WENT] = "went offline: what it does until it is recorded again is unknown",
		[CPU_CAME] = "came online: it is recorded from now on",
		[CPU_WENT | CPU_CAME] = "was offline for a moment: what it did then is unknown",
		[CPU_UNSEEN] = "came online: what targets do there is unknown",
	};
	char line[96];
	unsigned news;
	bool came = false;
	int rc = 0;

	events_look_up(&rec->events); /* without sysfs none counts as up, and none comes */
	for (uint32_t cpu = 0; !rc && cpu < rec->events.cpu_count; cpu++) {
		rc = cpu_watch(rec, cpu, s->retuned_ns, now_ns, &news);
		if (rc || !news)
			continue;
		came |= news & CPU_CAME;
		rec->events.cpus[cpu].away = true;
		snprintf(line, sizeof(line), "CPU %u %s", cpu, said[news]);
		s->ops->notice(s->ops->user, line);
	}
	return rc || !came ? rc : poll_table(s);
}

/* What is looked after once a second, or as soon as a pass asked for it. */
static int session_tend(struct session *s, uint64_t now_ns)
{
	struct recording *rec = &s->rec;
	bool second = now_ns - s->retuned_ns >= RETUNE_NS;
	int rc = 0;

	if (second)
		rc = cpus_watch(s, now_ns);
	if (!rc && rec->rescan && second)
		rc = rescan(s);
	if (!rc && second && rec->config->cgroup)
		rc = targets_collect(rec, &rec->err);
	if (!rc && rec->filtering && (rec->refilter || passing_too_much(s, now_ns))) {
		rc = targets_refilter(rec);
		s->refiltered_ns = recording_now_ns(rec);
		s->refilter_cost_ns = s->refiltered_ns - now_ns;
	}
	if (!rc && second)
		rc = settle_provisional(s);
	if (second && !rec->config->all)
		targets_prune(rec);
	if (!rc && rec->recount && second)
		rc = snapshot_counts(rec);
	if (second)
		s->retuned_ns = now_ns;
	if (!rc && (trace_writer_full(rec->writer) || now_ns - s->flushed_ns >= FLUSH_NS)) {
		s->flushed_ns = now_ns;
		rc = trace_writer_flush(rec->writer, recording_horizon_ns(rec), &rec->err);
	}
	return rc;
}

static void session_progress(struct session *s, uint64_t now_ns)
{
	struct session_progress p;

	if (!s->ops->progress || now_ns - s->progress_ns < PROGRESS_NS)
		return;
	s->progress_ns = now_ns;
	p = (struct session_progress){
		.elapsed_ns = now_ns - s->rec.start_ns,
		.records = s->rec.records,
		.lost = s->rec.lost,
		.bytes = trace_writer_bytes(s->rec.writer),
		.threads = s->rec.tids.observed_alive,
	};
	s->ops->progress(s->ops->user, &p);
}

/* Is there a reason to end the recording? */
static bool session_over(struct session *s, uint64_t now_ns, uint64_t until_ns)
{
	const struct record_config *config = s->rec.config;

	if (s->ops->stop(s->ops->user) || (until_ns && now_ns >= until_ns))
		return true;
	if (s->command.pid)
		if (command_poll(&s->command))
			return true;
	if (config->max_bytes && trace_writer_bytes(s->rec.writer) >= config->max_bytes) {
		s->ops->notice(s->ops->user, "the trace has reached --max-size; stopped");
		return true;
	}
	if (!config->all && !s->command.pid && !config->cgroup && !s->rec.tids.observed_alive) {
		s->ops->notice(s->ops->user, "all targets have ended; stopped");
		return true;
	}
	return false;
}

/* -D: the command runs, mappings and births are followed, and nothing else yet. */
static int session_delay(struct session *s)
{
	uint64_t until_ns = recording_now_ns(&s->rec) + s->rec.config->delay_ns;
	int rc = 0;

	while (!rc && s->rec.config->delay_ns && recording_now_ns(&s->rec) < until_ns &&
	       !s->ops->stop(s->ops->user) && !command_poll(&s->command)) {
		session_wait(s, until_ns);
		rc = intake_pass(&s->rec);
	}
	return rc;
}

static int session_start(struct session *s, struct dwell_err *err)
{
	struct recording *rec = &s->rec;
	bool delayed = rec->config->delay_ns > 0;
	int rc = poll_table(s);

	if (!rc)
		rc = trace_writer_open(rec->writer, rec->config->output, err);
	if (!rc && delayed && s->command.pid)
		rc = command_go(&s->command, rec->config->command[0], rec->pid_namespace, err);
	if (!rc)
		rc = session_delay(s);
	if (!rc)
		rc = events_enable(&rec->events, err);
	if (rc)
		return dwell_err_sys(err, rc, "cannot start");
	rec->start_ns = recording_now_ns(rec);
	rec->until_ns = rec->config->duration_ns ? rec->start_ns + rec->config->duration_ns : 0;
	s->cpu_before_ns = cpu_used_ns();
	s->flushed_ns = s->retuned_ns = rec->start_ns;
	for (uint32_t cpu = 0; cpu < rec->events.cpu_count; cpu++)
		events_ran_ns(&rec->events, cpu); /* from here on */
	rc = trace_facts_window(rec);
	if (!rc)
		rc = intake_pass(rec);
	if (!rc && !delayed && s->command.pid)
		rc = command_go(&s->command, rec->config->command[0], rec->pid_namespace, err);
	if (!rc)
		rc = snapshot_start(rec);
	/* From here on a killed recorder leaves a file that can be read. */
	return rc ? rc : trace_writer_flush(rec->writer, recording_horizon_ns(rec), &rec->err);
}

static int session_loop(struct session *s)
{
	struct recording *rec = &s->rec;
	uint64_t until_ns = snapshot_due_ns(rec), now_ns = recording_now_ns(rec);
	int rc = 0;

	while (!rc && !session_over(s, now_ns, until_ns)) {
		session_wait(s, until_ns);
		rc = intake_pass(rec);
		now_ns = recording_now_ns(rec);
		if (!rc)
			rc = session_tend(s, now_ns);
		session_progress(s, now_ns);
	}
	return rc;
}

static int symbol_named(void *user, uint32_t frame)
{
	return trace_writer_symbol(user, frame);
}

/* Closes the window and writes the rest. After a failure whatever still can be written is. */
static int session_finish(struct session *s, int failed)
{
	struct recording *rec = &s->rec;
	bool in_time = rec->until_ns && recording_now_ns(rec) >= snapshot_due_ns(rec);
	int rc = failed ? failed : intake_pass(rec), rc_finish;
	uint64_t cpu_ns;

	if (!rc && rec->rescan)
		rc = rescan(s);
	if (!rc)
		rc = cpus_watch(s, recording_now_ns(rec));
	if (!rc)
		rc = snapshot_stop(rec);
	/* The readings may have taken less than was set aside for them. */
	while (!rc && in_time && !s->ops->stop(s->ops->user) &&
	       recording_now_ns(rec) < rec->until_ns) {
		session_wait(s, rec->until_ns);
		rc = intake_pass(rec);
	}
	rec->end_ns = recording_now_ns(rec);
	events_disable(&rec->events);
	for (int i = 0; !rc && i < FINAL_PASSES; i++)
		rc = intake_pass(rec);
	if (!rc)
		rc = loss_last(rec);
	if (!rc && rec->recount)
		rc = snapshot_counts(rec);
	cpu_ns = cpu_used_ns() - s->cpu_before_ns; /* what follows takes nothing off the window */
	if (!rc)
		rc = chains_finish(rec->chains, symbol_named, rec->writer);
	if (!rc)
		rc = jitcode_name(&rec->identify.jit, -1);
	if (!rc)
		rc = names_store(rec);
	/* The last block repeats only what is known last: everything else goes before it. */
	rc_finish = trace_writer_flush(rec->writer, UINT64_MAX, &rec->err);
	if (!rc_finish)
		rc_finish = trace_facts_coverage(rec);
	if (!rc_finish)
		rc_finish = trace_facts_end(rec, cpu_ns);
	if (!rc_finish)
		rc_finish = trace_writer_finish(rec->writer, &rec->err);
	return rc ? rc : rc_finish;
}

static void session_release(struct session *s)
{
	struct recording *rec = &s->rec;

	trace_writer_close(rec->writer);
	events_release(&rec->events);
	chains_free(rec->chains);
	identify_release(&rec->identify);
	dwell_addrspaces_free(rec->spaces);
	dwell_stacks_free(rec->stacks);
	dwell_strings_free(rec->strings);
	dwell_idmap_release(&rec->own_tids);
	dwell_idmap_release(&rec->forks);
	dwell_array_release(&rec->uncovered);
	tids_release(&rec->tids);
	merge_release(&rec->merge);
	record_facts_release(&rec->facts);
	free(rec->cpus);
	free(s->fds);
	if (s->exit_fd >= 0)
		close(s->exit_fd);
}

static int session_open(struct session *s, struct dwell_err *err)
{
	struct recording *rec = &s->rec;
	char path[PATH_MAX];
	int rc;

	rc = proc_check(err);
	if (rc)
		return rc;
	rec->own_pid = getpid();
	rec->pid_namespace = in_pid_namespace();
	rec->pid_max = proc_number("/proc/sys/kernel/pid_max", 32768);
	rc = proc_clock_offset(&rec->clock_offset_ns);
	if (rc)
		return dwell_err_sys(err, rc, "cannot tell this time namespace's clock");
	rc = record_facts_read(&rec->facts, err);
	if (!rc)
		rc = level_check(s, err);
	if (!rc && rec->config->command) {
		rc = command_find(rec->config->command[0], path);
		if (rc)
			dwell_err_sys(err, rc, "cannot run '%s'", rec->config->command[0]);
	}
	if (!rc)
		rc = events_init(&rec->events, rec->config, &rec->facts, err);
	if (!rc)
		rc = tables_open(s, err);
	if (!rc && rec->facts.tracepoints)
		rc = events_test_cpus(&rec->events, err);
	if (!rc && rec->config->verbose)
		means_tell(s);
	if (!rc && rec->config->command)
		rc = command_fork(&s->command, rec->config->command,
				  (struct command_setup){ rec->config->ignored_int,
							  !strcmp(rec->config->output, "-") },
				  err);
#ifdef SYS_pidfd_open
	if (!rc && s->command.pid)
		s->exit_fd = (int)syscall(SYS_pidfd_open, s->command.pid, 0); /* Linux 5.3 */
#endif
	files_limit_raise(); /* for us, not for the command */
	if (!rc)
		rc = trace_writer_new(rec->events.cpu_count, rec->strings, rec->stacks,
				      &rec->writer, err);
	if (!rc) {
		rec->identify.writer = rec->identify.jit.writer = rec->writer;
		rc = trace_facts_begin(rec);
		if (rc)
			dwell_err_sys(err, rc, "cannot write '%s'", rec->config->output);
	}
	return rc;
}

static void command_end(struct session *s)
{
	char line[128];

	command_stop(&s->command);
	if (!s->command.pid || s->command.ended)
		return;
	snprintf(line, sizeof(line),
		 "the command, process %d, did not end when it was asked to (SIGTERM): it goes on",
		 s->command.pid);
	s->ops->notice(s->ops->user, line);
}

int session_run(const struct record_config *config, const struct session_ops *ops,
		struct session_result *ret_result, struct dwell_err *err)
{
	struct session *s = calloc(1, sizeof(*s));
	int rc, rc_finish;

	*ret_result = (struct session_result){ 0 };
	if (!s)
		return dwell_err_sys(err, -ENOMEM, "cannot start");
	s->rec.config = config;
	s->ops = ops;
	s->exit_fd = -1;
	rc = session_open(s, err);
	if (!rc)
		rc = s->rec.facts.tracepoints ? open_tracepoints(s, err) : open_tasks(s, err);
	if (!rc)
		rc = session_start(s, err);
	if (!rc)
		rc = session_loop(s);
	if (s->rec.start_ns) {
		rc_finish = session_finish(s, rc);
		rc = rc ? rc : rc_finish;
		ret_result->recorded = true;
		ret_result->lost = s->rec.lost;
	}
	if (rc && s->rec.err.code && !err->code)
		*err = s->rec.err;
	if (rc)
		dwell_err_sys(err, rc, "cannot record");
	command_end(s);
	ret_result->command_status = s->command.status;
	session_release(s);
	free(s);
	return rc;
}
