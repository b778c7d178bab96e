// SPDX-License-Identifier: MIT
/* A configuration becomes open perf events: one table-like function fills the attributes,
 * everything else opens, redirects, filters, enables and counts them. */
#include "record/events_impl.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/io.h"
#include "lib/trace_format.h"
#include "parse/elf/unwind.h"
#include "parse/perf/sample.h"
#include "record/cpulist.h"
#include "record/procfs.h"
#include "record/ringsize.h"

#define COPIED_SAMPLE_TYPE (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Takes back the newest thing asked for that an older kernel refuses; false: nothing is left. */
static bool attr_older(struct perf_event_attr *attr)
{
	if (attr->read_format & PERF_FORMAT_LOST) /* Linux 6.0 */
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST;
	else if (attr->build_id) /* Linux 5.12 */
		attr->build_id = 0;
	else if (attr->ksymbol) /* Linux 5.1 */
		attr->ksymbol = 0;
	else
		return false;
	return true;
}

int event_open(struct perf_event_attr *attr, int32_t tid, int cpu)
{
	int fd;

	do
		fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	while (fd < 0 && errno == EINVAL && attr_older(attr));
	return fd < 0 ? -errno : fd;
}

/* Sample types of the records in the rings. What copied stacks add comes last in a record. */
static uint64_t main_sample_type(const struct events *events)
{
	uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;

	/* Samples in the main ring are told apart by what they carry, which saves an id in each:
	 * the tracepoint's own id in RAW, or the period where there are no tracepoints. */
	type |= events->facts->tracepoints ? PERF_SAMPLE_RAW : PERF_SAMPLE_PERIOD;
	return type | (events->config->callchains ? PERF_SAMPLE_CALLCHAIN : 0);
}

void events_layout_init(struct events *events)
{
	struct dwell_perf_attr attr = { .sample_type = main_sample_type(events) };

	dwell_perf_layout_init(&events->layout, &attr, false);
	attr.sample_type |= COPIED_SAMPLE_TYPE;
	attr.regs_user = DWELL_UNWIND_REGS_MASK;
	dwell_perf_layout_init(&events->copied, &attr, false);
}

/* Where a thread was: registers and the top of its stack, for the recorder to unwind. Not of those
 * who wake: most wakings come from interrupts, and each would cost a copy. */
static bool event_copies(const struct events *events, enum record_event event)
{
	return events->config->stack_bytes &&
	       (event == RECORD_CLOCK || event == RECORD_SWITCH || event == RECORD_STACKS);
}

void event_attr_fill(const struct events *events, enum record_event event,
		     struct perf_event_attr *attr)
{
	const struct record_facts *facts = events->facts;

	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = main_sample_type(events),
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(events->ring_bytes / 4),
		.exclude_kernel = !facts->kernel_chains,
		.exclude_hv = 1,
	};
	if (event_copies(events, event)) {
		attr->sample_type |= COPIED_SAMPLE_TYPE;
		attr->sample_regs_user = DWELL_UNWIND_REGS_MASK;
		attr->sample_stack_user = events->config->stack_bytes;
	}
	switch (event) {
	case RECORD_CLOCK:
		attr->exclude_idle = 1;
		if (!events->config->freq_hz)
			break;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->sample_period = 1000000000u / events->config->freq_hz;
		break;
	case RECORD_SWITCH:
	case RECORD_WAKING:
	case RECORD_WAKEUP_NEW:
		attr->type = PERF_TYPE_TRACEPOINT;
		attr->config = event == RECORD_SWITCH	? facts->sched_switch.id
			       : event == RECORD_WAKING ? facts->waking.id
							: facts->wakeup_new.id;
		break;
	case RECORD_STACKS:
		attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		break;
	case RECORD_RECORDS:
		attr->context_switch = 1;
		break;
	default: /* RECORD_SIDE */
		attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
		attr->build_id = attr->ksymbol = 1;
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
		attr->wakeup_watermark = (uint32_t)(events->side_bytes / 4);
		break;
	}
}

static int fd_keep(struct events *events, int fd, enum record_event event, uint32_t cpu)
{
	if (dwell_array_grow(&events->fds)) {
		close(fd);
		return -ENOMEM;
	}
	events->fds.data[events->fds.count++] = (struct event_fd){ fd, (uint8_t)event, cpu };
	return 0;
}

void events_explain(int code, int enough, char *text, uint32_t text_bytes)
{
	int64_t paranoid = proc_number("/proc/sys/kernel/perf_event_paranoid", 2);

	if (code == -EACCES || code == -EPERM)
		snprintf(text, text_bytes,
			 "kernel.perf_event_paranoid is %lld; run as root, give the capability "
			 "CAP_PERFMON, or set 'sysctl kernel.perf_event_paranoid=%d'",
			 (long long)paranoid, enough);
	else if (code == -EDQUOT)
		snprintf(
			text, text_bytes,
			"ring buffers may not lock that much memory; raise 'ulimit -l' or "
			"'sysctl kernel.perf_event_mlock_kb', or give the capability CAP_IPC_LOCK");
	else if (code == -EMFILE)
		snprintf(text, text_bytes, "too many open files; raise 'ulimit -n'");
	else if (code == -ENOSYS)
		snprintf(text, text_bytes, "this kernel is built without perf events");
	else
		snprintf(text, text_bytes, "%s", strerror(-code));
}

int event_open_failed(struct dwell_err *err, int code, int enough, const char *what)
{
	char why[256];

	events_explain(code, enough, why, sizeof(why));
	return dwell_err_set(err, code, "cannot open %s: %s", what, why);
}

static void cpu_present(void *user, uint32_t cpu)
{
	struct events *events = user;

	if (cpu >= events->cpu_count)
		events->cpu_count = cpu + 1;
}

static void cpu_up(void *user, uint32_t cpu)
{
	struct events *events = user;

	cpu_present(events, cpu);
	events->cpus[cpu].up = true;
}

static void cpu_wanted(void *user, uint32_t cpu)
{
	((struct events *)user)->cpus[cpu].wanted = true;
}

int events_look_up(struct events *events)
{
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
		events->cpus[cpu].up = false;
	return cpulist_read("online", events->cpu_count, cpu_up, events);
}

/* Those that are off have a place, too: they may come while it is recorded. */
static void cpus_find(struct events *events)
{
	if (cpulist_read("online", DWELL_TRACE_CPUS_MAX, cpu_up, events))
		for (uint32_t cpu = 0; cpu < (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); cpu++)
			cpu_up(events, cpu);
	cpulist_read("present", DWELL_TRACE_CPUS_MAX, cpu_present, events);
}

int events_init(struct events *events, const struct record_config *config,
		const struct record_facts *facts, struct dwell_err *err)
{
	uint32_t online = 0;

	*events = (struct events){ .config = config, .facts = facts };
	events_layout_init(events);
	events->cpus = calloc(DWELL_TRACE_CPUS_MAX, sizeof(*events->cpus));
	if (!events->cpus)
		return dwell_err_sys(err, -ENOMEM, "cannot start");
	cpus_find(events);
	if (config->cpus && cpulist_each(config->cpus, events->cpu_count, cpu_wanted, events))
		return dwell_err_set(err, -EINVAL, "'%s' is not a list of this machine's CPUs",
				     config->cpus);
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		struct cpu_events *c = &events->cpus[cpu];

		c->owner_fd = -1;
		c->wanted |= !config->cpus;
		c->online = c->up && c->wanted;
		online += c->online;
	}
	if (!online)
		return dwell_err_set(err, -EINVAL, "none of the CPUs '%s' is online", config->cpus);
	events->side_bytes = facts->tracepoints ? ring_side_bytes_choose(online) : 0;
	events->ring_bytes =
		ring_bytes_choose(config->ring_bytes,
				  config->stack_bytes ? RING_MAX_BYTES_COPIES : RING_MAX_BYTES,
				  online, events->side_bytes);
	return 0;
}

void events_release(struct events *events)
{
	for (uint32_t i = 0; i < events->fds.count; i++)
		close(events->fds.data[i].fd);
	for (uint32_t cpu = 0; events->cpus && cpu < events->cpu_count; cpu++) {
		ring_unmap(&events->cpus[cpu].main);
		ring_unmap(&events->cpus[cpu].side);
	}
	dwell_array_release(&events->fds);
	free(events->cpus);
	*events = (struct events){ 0 };
}

bool events_roams(const struct events *events, uint32_t tid)
{
	size_t set_bytes = CPU_ALLOC_SIZE(DWELL_TRACE_CPUS_MAX);
	cpu_set_t *may = CPU_ALLOC(DWELL_TRACE_CPUS_MAX);
	bool roams = true;

	if (may && !sched_getaffinity((pid_t)tid, set_bytes, may)) {
		roams = false;
		for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++)
			roams |= CPU_ISSET_S(cpu, set_bytes, may) && !events->cpus[cpu].online;
	}
	CPU_FREE(may);
	return roams;
}

/* Maps a ring of at most *bytes, halving while memory may not be locked. -EDQUOT: not even the
 * smallest. */
static int ring_map_fitting(struct ring *ring, int fd, uint64_t *bytes)
{
	int rc;

	while ((rc = ring_map(ring, fd, *bytes)) && (rc == -EPERM || rc == -ENOMEM) &&
	       *bytes > RING_MIN_BYTES)
		*bytes /= 2;
	return rc == -EPERM ? -EDQUOT : rc;
}

static int cpu_open_side(struct events *events, uint32_t cpu)
{
	uint64_t bytes = events->side_bytes;
	struct perf_event_attr attr;
	int fd, rc;

	event_attr_fill(events, RECORD_SIDE, &attr);
	attr.disabled = 0;
	fd = event_open(&attr, -1, (int)cpu);
	if (fd < 0)
		return fd;
	rc = fd_keep(events, fd, RECORD_SIDE, cpu);
	return rc ? rc : ring_map_fitting(&events->cpus[cpu].side, fd, &bytes);
}

int events_open_side(struct events *events, struct dwell_err *err)
{
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		int rc = events->cpus[cpu].online ? cpu_open_side(events, cpu) : 0;

		if (rc == -ENODEV)
			events->cpus[cpu].online = false;
		else if (rc)
			return event_open_failed(err, rc, 0, "the mapping events");
	}
	return 0;
}

/* Opens one event on a CPU, into the CPU's main ring. */
static int cpu_event_add(struct events *events, uint32_t cpu, enum record_event event,
			 const char *filter)
{
	struct cpu_events *c = &events->cpus[cpu];
	struct perf_event_attr attr;
	int fd, rc;

	event_attr_fill(events, event, &attr);
	fd = event_open(&attr, -1, (int)cpu);
	if (fd < 0)
		return fd;
	rc = fd_keep(events, fd, event, cpu);
	if (rc)
		return rc;
	if (c->owner_fd < 0) {
		c->owner_fd = fd;
		return ring_map_fitting(&c->main, fd, &events->ring_bytes);
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->owner_fd) ||
	    (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)))
		return -errno;
	return 0;
}

/* Opens the filtered events of a CPU. */
static int cpu_events_filtered(struct events *events, uint32_t cpu, const struct tidfilter *filter)
{
	char text[TIDFILTER_TEXT_BYTES];
	int rc;

	rc = cpu_event_add(events, cpu, RECORD_SWITCH,
			   filter ? tidfilter_text(filter, "prev_pid", "next_pid", text) : NULL);
	if (rc == -ENODEV) /* offline since: the recording notices within a second */
		return 0;
	if (rc || !events->config->wakers)
		return rc;
	if (filter)
		tidfilter_text(filter, "pid", NULL, text);
	rc = cpu_event_add(events, cpu, RECORD_WAKING, filter ? text : NULL);
	return rc ? rc : cpu_event_add(events, cpu, RECORD_WAKEUP_NEW, filter ? text : NULL);
}

static int cpu_open_main(struct events *events, uint32_t cpu, const struct tidfilter *filter)
{
	struct cpu_events *c = &events->cpus[cpu];
	int rc = cpu_event_add(events, cpu, RECORD_CLOCK, NULL);

	if (!rc)
		rc = cpu_events_filtered(events, cpu, filter);
	c->records = c->blind || c->provisional;
	return rc || !c->records ? rc : cpu_event_add(events, cpu, RECORD_RECORDS, NULL);
}

int events_open_cpu_wide(struct events *events, const struct tidfilter *filter,
			 struct dwell_err *err)
{
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		int rc = events->cpus[cpu].online ? cpu_open_main(events, cpu, filter) : 0;

		if (rc == -ENODEV)
			events->cpus[cpu].gone = true;
		else if (rc)
			return event_open_failed(err, rc, -1, "the scheduler's events");
	}
	return 0;
}

int events_add_records(struct events *events, uint32_t cpu, struct dwell_err *err)
{
	int rc = cpu_event_add(events, cpu, RECORD_RECORDS, NULL);

	if (!rc && ioctl(events->fds.data[events->fds.count - 1].fd, PERF_EVENT_IOC_ENABLE, 0))
		rc = -errno;
	if (rc)
		return event_open_failed(err, rc, 0, "switch records");
	events->cpus[cpu].records = true;
	return 0;
}

/* One event of a task on one CPU; the first on each CPU owns the ring. */
static int task_event_add(struct events *events, int32_t tid, uint32_t cpu, enum record_event event)
{
	struct cpu_events *c = &events->cpus[cpu];
	struct perf_event_attr attr;
	int fd, rc;

	event_attr_fill(events, event, &attr);
	attr.inherit = events->config->inherit;
	attr.exclude_idle = 0;
	if (event == RECORD_CLOCK) { /* no ring of their own for these here */
		attr.context_switch = 1;
		attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
		attr.build_id = 1;
	}
	fd = event_open(&attr, tid, (int)cpu);
	if (fd < 0)
		return fd;
	rc = fd_keep(events, fd, event, cpu);
	if (rc)
		return rc;
	if (c->owner_fd < 0) {
		c->owner_fd = fd;
		return ring_map_fitting(&c->main, fd, &events->ring_bytes);
	}
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->owner_fd) ? -errno : 0;
}

/* One's own tasks may be observed up to paranoid 2, without the kernel's side, which then was left
 * out: so it is the task that is not ours. */
static int task_open_failed(struct dwell_err *err, int code, int32_t tid)
{
	if ((code != -EACCES && code != -EPERM) ||
	    proc_number("/proc/sys/kernel/perf_event_paranoid", 2) > 2)
		return event_open_failed(err, code, 2, "events of the target");
	return dwell_err_set(err, code,
			     "cannot open events of thread %d: it is another user's, or protected; "
			     "run as root, or give the capability CAP_PERFMON",
			     tid);
}

int events_open_task(struct events *events, int32_t tid, struct dwell_err *err)
{
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		int rc;

		if (!events->cpus[cpu].online)
			continue;
		rc = task_event_add(events, tid, cpu, RECORD_CLOCK);
		if (!rc && events->facts->kernel_chains && events->config->callchains)
			rc = task_event_add(events, tid, cpu, RECORD_STACKS);
		if (rc == -ESRCH)
			return rc;
		if (rc)
			return task_open_failed(err, rc, tid);
		events->cpus[cpu].records = true;
	}
	return 0;
}

/* What a descriptor reads, as event_attr_fill() asks for it. */
struct fd_values {
	uint64_t count, running_ns, lost;
};

/* How many of the values the kernel has: before Linux 6.0 it does not count what is lost. */
static unsigned fd_read(int fd, struct fd_values *ret)
{
	ssize_t bytes;

	*ret = (struct fd_values){ 0 };
	bytes = read(fd, ret, sizeof(*ret));
	return bytes > 0 ? (unsigned)((size_t)bytes / sizeof(ret->count)) : 0;
}

/* Adds the kernel's count and loss of a descriptor to the CPU's totals. */
static void fd_count(struct events *events, const struct event_fd *e)
{
	struct event_count *count = &events->cpus[e->cpu].counts[e->event];
	struct fd_values values;

	count->counts_lost |= fd_read(e->fd, &values) == 3;
	count->kernel += values.count;
	count->lost += values.lost;
}

uint64_t events_ran_ns(struct events *events, uint32_t cpu)
{
	struct cpu_events *c = &events->cpus[cpu];
	struct fd_values values;
	uint64_t ran_ns;

	if (fd_read(c->owner_fd, &values) < 2)
		return UINT64_MAX;
	ran_ns = values.running_ns - c->ran_ns;
	c->ran_ns = values.running_ns;
	return ran_ns;
}

uint64_t events_side_lost(const struct events *events, uint32_t cpu)
{
	uint64_t lost = events->cpus[cpu].counts[RECORD_SIDE].lost;

	for (uint32_t i = 0; i < events->fds.count; i++) {
		const struct event_fd *e = &events->fds.data[i];
		struct fd_values values;

		if (e->cpu != cpu || e->event != RECORD_SIDE)
			continue;
		fd_read(e->fd, &values);
		lost += values.lost;
	}
	return lost;
}

/* Closes a CPU's events; its rings go with them. */
static void cpu_close(struct events *events, uint32_t cpu)
{
	struct cpu_events *c = &events->cpus[cpu];
	uint32_t kept = 0;

	for (uint32_t i = 0; i < events->fds.count; i++) {
		const struct event_fd *e = &events->fds.data[i];

		if (e->cpu == cpu) {
			fd_count(events, e);
			close(e->fd);
		} else {
			events->fds.data[kept++] = *e;
		}
	}
	events->fds.count = kept;
	ring_unmap(&c->main);
	ring_unmap(&c->side);
	c->owner_fd = -1;
	c->ran_ns = 0;
}

int events_reopen(struct events *events, uint32_t cpu, const struct tidfilter *filter)
{
	struct cpu_events *c = &events->cpus[cpu];
	int rc;

	cpu_close(events, cpu);
	c->provisional = !c->blind; /* it was not tested, or long ago */
	rc = cpu_open_side(events, cpu);
	if (!rc)
		rc = cpu_open_main(events, cpu, filter);
	for (uint32_t i = 0; !rc && i < events->fds.count; i++)
		if (events->fds.data[i].cpu == cpu &&
		    ioctl(events->fds.data[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			rc = -errno;
	if (rc)
		cpu_close(events, cpu);
	c->online = true;
	c->gone = rc != 0;
	return rc;
}

static bool event_is_filtered(uint8_t event)
{
	return event == RECORD_SWITCH || event == RECORD_WAKING || event == RECORD_WAKEUP_NEW;
}

int events_refilter(struct events *events, const struct tidfilter *filter, struct dwell_err *err)
{
	uint32_t before = events->fds.count, kept = 0;
	int rc = 0;

	for (uint32_t cpu = 0; !rc && cpu < events->cpu_count; cpu++)
		if (events->cpus[cpu].online && !events->cpus[cpu].gone)
			rc = cpu_events_filtered(events, cpu, filter);
	for (uint32_t i = before; !rc && i < events->fds.count; i++)
		if (ioctl(events->fds.data[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			rc = -errno;
	/* On failure the new ones go and the old ones stay. */
	for (uint32_t i = 0; i < events->fds.count; i++) {
		const struct event_fd *e = &events->fds.data[i];
		bool old = i < before && event_is_filtered(e->event);

		if (rc ? i >= before : old) {
			ioctl(e->fd, PERF_EVENT_IOC_DISABLE, 0);
			if (!rc)
				fd_count(events, e);
			close(e->fd);
		} else {
			events->fds.data[kept++] = *e;
		}
	}
	events->fds.count = kept;
	return rc ? event_open_failed(err, rc, -1, "the scheduler's events again") : 0;
}

void events_drop_records(struct events *events, uint32_t cpu)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < events->fds.count; i++) {
		const struct event_fd *e = &events->fds.data[i];

		if (e->cpu == cpu && e->event == RECORD_RECORDS) {
			fd_count(events, e);
			close(e->fd);
		} else {
			events->fds.data[kept++] = *e;
		}
	}
	events->fds.count = kept;
	events->cpus[cpu].records = events->cpus[cpu].provisional = false;
}

int events_enable(struct events *events, struct dwell_err *err)
{
	for (uint32_t i = 0; i < events->fds.count; i++)
		if (ioctl(events->fds.data[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			return event_open_failed(err, -errno, -1, "an event (enable)");
	return 0;
}

void events_disable(struct events *events)
{
	for (uint32_t i = 0; i < events->fds.count; i++)
		ioctl(events->fds.data[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (uint32_t i = 0; i < events->fds.count; i++)
		fd_count(events, &events->fds.data[i]);
}
