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
#include "parse/perf/sample.h"
#include "record/procfs.h"
#include "record/ringsize.h"

int event_open(struct perf_event_attr *attr, int32_t tid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL && (attr->read_format & PERF_FORMAT_LOST)) {
		attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST; /* before Linux 6.0 */
		fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

/* Sample types of the records in the rings. */
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
	const struct dwell_perf_attr attr = { .sample_type = main_sample_type(events) };

	dwell_perf_layout_init(&events->layout, &attr, false);
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
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(events->ring_bytes / 4),
		.exclude_kernel = !facts->kernel_chains,
		.exclude_hv = 1,
	};
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
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
		attr->wakeup_watermark = SIDE_RING_BYTES / 4;
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

void events_explain(int code, char *text, uint32_t text_bytes)
{
	int64_t paranoid = proc_number("/proc/sys/kernel/perf_event_paranoid", 2);

	if (code == -EACCES || code == -EPERM)
		snprintf(text, text_bytes,
			 "kernel.perf_event_paranoid is %lld; run as root, give the capability "
			 "CAP_PERFMON, or set 'sysctl kernel.perf_event_paranoid=-1'",
			 (long long)paranoid);
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

int event_open_failed(struct dwell_err *err, int code, const char *what)
{
	char why[256];

	events_explain(code, why, sizeof(why));
	return dwell_err_set(err, code, "cannot open %s: %s", what, why);
}

/* Walks a list such as "0-3,8". 0, or -EINVAL when it is none. */
static int cpu_list_each(const char *list, uint32_t limit, void (*fn)(struct events *, uint32_t),
			 struct events *events)
{
	while (*list && *list != '\n') {
		char *end;
		unsigned long low = strtoul(list, &end, 10), high = low;

		if (end == list)
			return -EINVAL;
		if (*end == '-') {
			list = end + 1;
			high = strtoul(list, &end, 10);
			if (end == list)
				return -EINVAL;
		}
		if (high < low || high >= limit || (*end && *end != ',' && *end != '\n'))
			return -EINVAL;
		for (; low <= high; low++)
			fn(events, (uint32_t)low);
		list = *end == ',' ? end + 1 : end;
	}
	return 0;
}

static void cpu_online(struct events *events, uint32_t cpu)
{
	events->cpus[cpu].online = true;
	if (cpu >= events->cpu_count)
		events->cpu_count = cpu + 1;
}

static void cpu_wanted(struct events *events, uint32_t cpu)
{
	events->cpus[cpu].records = true; /* borrowed as a mark until all are read */
}

int events_init(struct events *events, const struct record_config *config,
		const struct record_facts *facts, struct dwell_err *err)
{
	char online[4096];
	uint32_t wanted = 0;

	*events = (struct events){ .config = config, .facts = facts };
	events_layout_init(events);
	events->cpus = calloc(DWELL_TRACE_CPUS_MAX, sizeof(*events->cpus));
	if (!events->cpus)
		return dwell_err_sys(err, -ENOMEM, "cannot start");
	if (dwell_io_read_small("/sys/devices/system/cpu/online", online, sizeof(online)) <= 0)
		snprintf(online, sizeof(online), "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	if (cpu_list_each(online, DWELL_TRACE_CPUS_MAX, cpu_online, events) || !events->cpu_count)
		return dwell_err_set(err, -EINVAL, "cannot read the list of CPUs");
	if (config->cpus && cpu_list_each(config->cpus, events->cpu_count, cpu_wanted, events))
		return dwell_err_set(err, -EINVAL, "'%s' is not a list of this machine's CPUs",
				     config->cpus);
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		struct cpu_events *c = &events->cpus[cpu];

		c->owner_fd = -1;
		c->online &= !config->cpus || c->records;
		c->records = false;
		wanted += c->online;
	}
	if (!wanted)
		return dwell_err_set(err, -EINVAL, "none of the CPUs '%s' is online", config->cpus);
	events->ring_bytes = ring_bytes_choose(config->ring_bytes, wanted,
					       facts->tracepoints ? SIDE_RING_BYTES : 0);
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

int events_open_side(struct events *events, struct dwell_err *err)
{
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		struct cpu_events *c = &events->cpus[cpu];
		uint64_t bytes = SIDE_RING_BYTES;
		struct perf_event_attr attr;
		int fd, rc;

		if (!c->online)
			continue;
		event_attr_fill(events, RECORD_SIDE, &attr);
		attr.disabled = 0;
		fd = event_open(&attr, -1, (int)cpu);
		if (fd == -ENODEV) {
			c->online = false;
			continue;
		}
		if (fd < 0)
			return event_open_failed(err, fd, "the mapping events");
		rc = fd_keep(events, fd, RECORD_SIDE, cpu);
		if (!rc)
			rc = ring_map_fitting(&c->side, fd, &bytes);
		if (rc)
			return event_open_failed(err, rc, "a ring buffer");
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

int events_open_cpu_wide(struct events *events, const struct tidfilter *filter,
			 struct dwell_err *err)
{
	for (uint32_t cpu = 0; cpu < events->cpu_count; cpu++) {
		int rc;

		if (!events->cpus[cpu].online)
			continue;
		rc = cpu_event_add(events, cpu, RECORD_CLOCK, NULL);
		if (!rc)
			rc = cpu_events_filtered(events, cpu, filter);
		if (!rc && (events->cpus[cpu].blind || events->cpus[cpu].provisional)) {
			rc = cpu_event_add(events, cpu, RECORD_RECORDS, NULL);
			events->cpus[cpu].records = true;
		}
		if (rc)
			return event_open_failed(err, rc, "the scheduler's events");
	}
	return 0;
}

int events_add_records(struct events *events, uint32_t cpu, struct dwell_err *err)
{
	int rc = cpu_event_add(events, cpu, RECORD_RECORDS, NULL);

	if (!rc && ioctl(events->fds.data[events->fds.count - 1].fd, PERF_EVENT_IOC_ENABLE, 0))
		rc = -errno;
	if (rc)
		return event_open_failed(err, rc, "switch records");
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
		return event_open_failed(err, code, "events of the target");
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

/* Adds the kernel's count and loss of a descriptor to the CPU's totals. */
static void fd_count(struct events *events, const struct event_fd *e)
{
	uint64_t values[3] = { 0, 0, 0 }; /* value, time enabled, lost */
	struct event_count *count = &events->cpus[e->cpu].counts[e->event];

	if (read(e->fd, values, sizeof(values)) < (ssize_t)sizeof(values[0]))
		return;
	count->kernel += values[0];
	count->lost += values[2];
}

bool events_running(struct events *events, uint32_t cpu)
{
	uint64_t values[3] = { 0, 0, 0 }; /* value, time enabled, lost */
	struct cpu_events *c = &events->cpus[cpu];
	bool running;

	if (read(c->owner_fd, values, sizeof(values)) < (ssize_t)(2 * sizeof(values[0])))
		return true;
	running = values[1] > c->enabled_ns;
	c->enabled_ns = values[1];
	return running;
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
	return rc ? event_open_failed(err, rc, "the scheduler's events again") : 0;
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
			return event_open_failed(err, -errno, "an event (enable)");
	return 0;
}

void events_disable(struct events *events)
{
	for (uint32_t i = 0; i < events->fds.count; i++)
		ioctl(events->fds.data[i].fd, PERF_EVENT_IOC_DISABLE, 0);
	for (uint32_t i = 0; i < events->fds.count; i++)
		fd_count(events, &events->fds.data[i]);
}
