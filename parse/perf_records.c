// SPDX-License-Identifier: MIT
/* Records of the kernel become events: samples by what their event is for, the others as mappings,
 * names, births, deaths, switches and losses. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/text.h"
#include "parse/perf_impl.h"

enum {
	CPUS_MAX = 1 << 16,
	MISC_CPUMODE = 7, /* PERF_RECORD_MISC_CPUMODE_MASK */
	MISC_MMAP_DATA = 1 << 13,
	MISC_MMAP_BUILD_ID = 1 << 14,
	KSYMBOL_UNREGISTER = 1,
};

#define CONTEXT_USER_DEFERRED ((uint64_t)-640) /* a cookie follows; newer than some headers */

static int thread_seen(struct perf_source *perf, uint32_t thread)
{
	if (dwell_array_reserve(&perf->seen, (uint64_t)thread + 1))
		return -ENOMEM;
	while (perf->seen.count <= thread)
		perf->seen.data[perf->seen.count++] = false;
	perf->seen.data[thread] = true;
	return 0;
}

/* A record names the thread: see perf_thread() for what follows. */
static int thread_named(struct dwell_source *source, uint32_t thread, bool target)
{
	struct perf_source *perf = source->format;

	if (thread != DWELL_THREAD_IDLE && (source->info.all_threads ? perf->timed : target))
		dwell_threads_get(source->threads, thread)->observed = true;
	return perf->timed ? thread_seen(perf, thread) : 0;
}

int perf_thread(struct dwell_source *source, int32_t pid, int32_t tid, bool may_be_dead,
		bool target, uint32_t *ret_index)
{
	int rc = 0;

	*ret_index = may_be_dead ? dwell_threads_find(source->threads, tid) : DWELL_THREAD_NONE;
	if (*ret_index == DWELL_THREAD_NONE)
		rc = dwell_threads_need(source->threads, pid, tid, ret_index);
	else if (*ret_index != DWELL_THREAD_IDLE &&
		 dwell_threads_get(source->threads, *ret_index)->pid < 0)
		dwell_threads_get(source->threads, *ret_index)->pid = pid;
	return rc ? rc : thread_named(source, *ret_index, target);
}

int perf_cpu_of(struct perf_source *perf, uint32_t cpu, struct perf_cpu **ret_cpu)
{
	static const struct perf_cpu fresh = { .running = DWELL_THREAD_NONE,
					       .left = DWELL_THREAD_NONE };

	if (cpu >= CPUS_MAX) { /* of several CPUs: who runs there is not one thread */
		perf->nowhere.running = perf->nowhere.left = DWELL_THREAD_NONE;
		*ret_cpu = &perf->nowhere;
		return 0;
	}
	if (dwell_array_reserve(&perf->cpus, (uint64_t)cpu + 1))
		return -ENOMEM;
	while (perf->cpus.count <= cpu)
		perf->cpus.data[perf->cpus.count++] = fresh;
	*ret_cpu = &perf->cpus.data[cpu];
	return 0;
}

int perf_thread_leaving(struct dwell_source *source, const struct perf_cpu *cpu, int32_t pid,
			int32_t tid, bool is_record, uint32_t *ret_index)
{
	uint32_t known = source_leaving(source, is_record ? cpu->left : DWELL_THREAD_NONE,
					cpu->running, tid);

	if (known == DWELL_THREAD_NONE)
		return perf_thread(source, pid, tid, is_record, true, ret_index);
	*ret_index = known;
	return thread_named(source, known, true);
}

/* The chain has a user part, or there is none to be had. */
static bool has_user_part(const struct dwell_perf_sample *sample)
{
	for (uint64_t i = 0; i < sample->chain_count; i++)
		if (sample->chain[i] == (uint64_t)PERF_CONTEXT_USER)
			return true;
	return !sample->user_stack;
}

/* A chain that ends in a cookie gets the user part that came later. *chain and *count then are
 * those of perf->joined. */
static int chain_join(struct perf_source *perf, uint32_t tid, const uint64_t **chain,
		      uint64_t *count)
{
	uint64_t kept = *count - 2, *joined = perf->joined;
	int64_t came;

	if (kept > PERF_JOINED_MAX / 2)
		kept = PERF_JOINED_MAX / 2;
	memcpy(joined, *chain, kept * sizeof(*joined));
	joined[kept] = (uint64_t)PERF_CONTEXT_USER;
	came = dwell_perf_data_deferred(perf->data, (*chain)[*count - 1], tid, joined + kept + 1,
					(uint32_t)(PERF_JOINED_MAX - kept - 1), NULL);
	if (came < 0)
		return (int)came;
	*chain = joined;
	*count = came ? kept + 1 + (uint64_t)came : kept;
	return 0;
}

int perf_stack(struct dwell_source *source, const struct dwell_perf_record *record,
	       const struct dwell_perf_sample *sample, enum dwell_callchain_part part,
	       uint32_t *ret_stack)
{
	struct perf_source *perf = source->format;
	unsigned cpumode = record->misc & MISC_CPUMODE;
	uint64_t count = sample->chain_count, alone[2];
	const uint64_t *chain = sample->chain;
	int32_t pid = (int32_t)sample->pid;
	uint32_t root = 0;
	int rc;

	if (count >= 2 && chain[count - 2] == CONTEXT_USER_DEFERRED) {
		rc = chain_join(perf, sample->tid, &chain, &count);
		if (rc)
			return rc;
	}
	/* A dying thread's last samples name no process. */
	if (pid <= 0)
		pid = dwell_threads_get(source->threads, perf->event.thread)->pid;
	if (!count && sample->ip &&
	    (cpumode == PERF_RECORD_MISC_KERNEL || cpumode == PERF_RECORD_MISC_USER)) {
		alone[0] = cpumode == PERF_RECORD_MISC_KERNEL ? (uint64_t)PERF_CONTEXT_KERNEL
							      : (uint64_t)PERF_CONTEXT_USER;
		alone[1] = sample->ip;
		chain = alone;
		count = 2;
	}
	if (part == DWELL_CALLCHAIN_ALL && !has_user_part(sample)) {
		const struct dwell_perf_event *event =
			dwell_perf_data_event(perf->data, record->event);

		if (perf_unwind(perf, &event->layout, sample, pid, &chain, &count, &root))
			part = DWELL_CALLCHAIN_UNWOUND;
	}
	return dwell_callchain_stack(perf->chains, pid, chain, count, part, root, ret_stack);
}

/* A sample that may say who runs. That of a dying thread has tid -1: who runs is known by then. */
static int sample_thread(struct dwell_source *source, const struct perf_cpu *cpu,
			 const struct dwell_perf_sample *sample, uint32_t *ret_thread)
{
	if ((int32_t)sample->tid >= 0)
		return perf_thread(source, (int32_t)sample->pid, (int32_t)sample->tid, true, true,
				   ret_thread);
	if (cpu->running != DWELL_THREAD_NONE) {
		*ret_thread = cpu->running;
		return 0;
	}
	return dwell_threads_need(source->threads, -1, -1, ret_thread);
}

static uint64_t weight_of(const struct dwell_event_desc *desc, const struct perf_source *perf,
			  const struct dwell_perf_record *record,
			  const struct dwell_perf_sample *sample)
{
	static const uint64_t ns_per_s = 1000000000;

	if (desc->is_wait || dwell_perf_data_event(perf->data, record->event)->layout.sample_type &
				     PERF_SAMPLE_PERIOD)
		return sample->period;
	if (desc->period)
		return desc->period;
	return desc->unit == DWELL_UNIT_NS && desc->freq_hz ? ns_per_s / desc->freq_hz : 1;
}

static int take_plain_sample(struct dwell_source *source, const struct dwell_perf_record *record,
			     const struct dwell_perf_sample *sample, uint8_t role)
{
	struct perf_source *perf = source->format;
	struct dwell_event *event = &perf->event;
	struct perf_cpu *cpu;
	uint32_t path;
	int rc = perf_cpu_of(perf, event->cpu, &cpu);

	/* Taken in the midst of a switch, it may still name who left. */
	if (!rc && cpu->left != dwell_threads_find(source->threads, (int32_t)sample->tid))
		rc = source_exec_seen(source, event->cpu, cpu->running, (int32_t)sample->tid,
				      DWELL_SIGHT_RUNS);
	if (!rc)
		rc = sample_thread(source, cpu, sample, &event->thread);
	if (!rc)
		rc = perf_stack(source, record, sample, DWELL_CALLCHAIN_ALL, &event->stack);
	if (rc)
		return rc;
	event->kind = DWELL_EVENT_SAMPLE;
	event->u.sample.event = record->event;
	event->u.sample.weight =
		weight_of(&source->events.data[record->event], perf, record, sample);
	if (event->u.sample.weight > SOURCE_WEIGHT_MAX) {
		perf->bad_samples++;
		return 1;
	}
	if (role == PERF_ROLE_STACK) {
		cpu->stack = event->stack;
		cpu->stack_tid = sample->tid;
	}
	path = sample->cgroup ? dwell_idmap_find(&perf->cgroups, sample->cgroup) : 0;
	if (path)
		dwell_threads_get(source->threads, event->thread)->cgroup = path;
	if (sample->group_count) {
		perf_group_begin(perf, &dwell_perf_data_event(perf->data, record->event)->layout,
				 sample);
		return perf_group_next(perf);
	}
	return 0;
}

/* The raw form of offcpu-time (perf 7): two ids, the wait's ns, and a callchain behind its count.
 * Which id is the process depends on who wrote it: the thread table knows. */
static int take_raw_wait(struct dwell_source *source, const struct dwell_perf_record *record,
			 struct dwell_perf_sample *sample)
{
	enum { FIXED_WORDS = 3, IPS_MAX = 128 };
	struct perf_source *perf = source->format;
	uint64_t words[FIXED_WORDS + IPS_MAX] = { 0 };
	uint32_t bytes = sample->raw_bytes, known;
	int32_t ids[2];

	if (bytes > sizeof(words))
		bytes = sizeof(words);
	memcpy(words, sample->raw, bytes);
	memcpy(ids, sample->raw, bytes < sizeof(ids) ? 0 : sizeof(ids));
	if (bytes < FIXED_WORDS * sizeof(*words))
		return 1;
	for (uint32_t i = 0; perf->info->swapped && i < bytes / sizeof(*words); i++)
		words[i] = __builtin_bswap64(words[i]);
	for (unsigned i = 0; perf->info->swapped && i < 2; i++)
		ids[i] = (int32_t)__builtin_bswap32((uint32_t)ids[i]);
	known = dwell_threads_find(source->threads, ids[0]);
	if (known == DWELL_THREAD_NONE ||
	    dwell_threads_get(source->threads, known)->pid != ids[1]) {
		int32_t first = ids[0];

		ids[0] = ids[1];
		ids[1] = first;
	}
	sample->tid = (uint32_t)ids[0];
	sample->pid = (uint32_t)ids[1];
	sample->period = words[1];
	sample->chain = words + FIXED_WORDS;
	sample->chain_count = bytes / sizeof(*words) - FIXED_WORDS;
	if (sample->chain_count > words[2])
		sample->chain_count = words[2];
	sample->ip = 0;
	return take_plain_sample(source, record, sample, PERF_ROLE_OFF_CPU);
}

/* What was summed up while recording stands at the end, with stamps that are no times. */
static int take_wait(struct dwell_source *source, const struct dwell_perf_record *record,
		     struct dwell_perf_sample *sample)
{
	static const uint64_t aggregate_ns = 0xffffffff00000000; /* and up: the first form's */
	struct perf_source *perf = source->format;

	if (!record->timed || record->time_ns >= aggregate_ns)
		perf->event.time_ns = perf->info->end_ns;
	perf->event.cpu = DWELL_CPU_NONE;
	if (sample->raw_bytes && !sample->chain_count)
		return take_raw_wait(source, record, sample);
	return take_plain_sample(source, record, sample, PERF_ROLE_OFF_CPU);
}

int perf_take_sample(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	const struct dwell_perf_event *desc = dwell_perf_data_event(perf->data, record->event);
	struct dwell_perf_sample sample = { .cpu = DWELL_CPU_NONE };
	uint8_t role = perf->roles.data[record->event];

	if (!dwell_perf_sample_decode(&desc->layout, record->payload, record->bytes, &sample)) {
		perf->bad_samples++;
		return 1;
	}
	perf->event.cpu = sample.cpu < CPUS_MAX ? sample.cpu : DWELL_CPU_NONE;
	switch (role) {
	case PERF_ROLE_SWITCH:
		return perf_sched_switch(source, record, &sample);
	case PERF_ROLE_WAKING:
		return perf_sched_waking(source, record, &sample, &perf->waking,
					 DWELL_EVENT_WAKING);
	case PERF_ROLE_WAKEUP_NEW:
		return perf_sched_waking(source, record, &sample, &perf->wakeup_new,
					 DWELL_EVENT_WAKEUP_NEW);
	case PERF_ROLE_OFF_CPU:
		return take_wait(source, record, &sample);
	default:
		return take_plain_sample(source, record, &sample, role);
	}
}

/* Fixed fields of records, as the kernel lays them out behind the header. */
struct mmap_fields {
	int32_t pid, tid;
	uint64_t start, bytes, pgoff;
};

struct mmap2_fields {
	struct mmap_fields map;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		} inode;
		struct {
			uint8_t bytes, reserved[3], id[20];
		} build_id;
	} u;
	uint32_t prot, flags;
};

struct task_fields {
	int32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

/* The build id that the file's table has for a path. */
static const struct dwell_perf_build_id *build_id_of(struct dwell_source *source, const char *path)
{
	struct perf_source *perf = source->format;
	uint32_t id, index;

	if (!perf->build_ids.count || dwell_strings_add(source->strings, path, strlen(path), &id))
		return NULL;
	index = dwell_idmap_find(&perf->build_ids, id);
	return index ? dwell_perf_data_build_id(perf->data, index - 1) : NULL;
}

/* The image's mapping is named after its reference symbol too, its build id's entry is not. */
static int kernel_map(struct dwell_source *source, const struct mmap_fields *fields,
		      const char *path, const uint8_t *build_id, uint8_t build_id_bytes)
{
	static const char image[] = "[kernel.kallsyms]";
	struct perf_source *perf = source->format;
	const struct dwell_perf_build_id *told = !build_id && !strncmp(path, image, strlen(image))
							 ? build_id_of(source, image)
							 : NULL;
	const char *reference;
	char text[32];
	int rc;

	if (told) {
		build_id = told->id;
		build_id_bytes = told->bytes;
	}
	rc = perf_kernel_map(&perf->kernel, fields->start, fields->bytes, fields->pgoff, path,
			     build_id, build_id_bytes, &reference);
	if (rc || !reference)
		return rc;
	snprintf(text, sizeof(text), "%" PRIx64, fields->pgoff);
	rc = source_fact_set_text(source, "kernel.text", text);
	if (!rc)
		rc = source_fact_set_text(source, "kernel.text_symbol", reference);
	return rc == -EBADMSG ? 0 : rc;
}

static int take_map(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	unsigned cpumode = record->misc & MISC_CPUMODE;
	bool has_build_id = record->type == PERF_RECORD_MMAP2 && record->misc & MISC_MMAP_BUILD_ID;
	uint32_t fixed = record->type == PERF_RECORD_MMAP2 ? sizeof(struct mmap2_fields)
							   : sizeof(struct mmap_fields);
	const char *path = (const char *)record->payload + fixed;
	const struct dwell_perf_build_id *told = build_id_of(source, path);
	struct mmap2_fields fields = { 0 };
	struct dwell_mmap map;

	memcpy(&fields, record->payload, fixed);
	map = (struct dwell_mmap){
		.pid = fields.map.pid,
		.start = fields.map.start,
		.bytes = fields.map.bytes,
		.file_offset = fields.map.pgoff,
		.path = path,
		.build_id = told ? told->id : NULL,
		.build_id_bytes = told ? told->bytes : 0,
	};
	if (has_build_id) {
		map.build_id = fields.u.build_id.id;
		map.build_id_bytes = fields.u.build_id.bytes;
		if (map.build_id_bytes > sizeof(fields.u.build_id.id))
			map.build_id = NULL;
	} else {
		map.dev_major = fields.u.inode.major;
		map.dev_minor = fields.u.inode.minor;
		map.inode = fields.u.inode.inode;
	}
	if (cpumode == PERF_RECORD_MISC_KERNEL)
		return kernel_map(source, &fields.map, path, map.build_id, map.build_id_bytes);
	if (map.pid < 0 || cpumode > PERF_RECORD_MISC_USER || record->misc & MISC_MMAP_DATA ||
	    (record->type == PERF_RECORD_MMAP2 && !(fields.prot & PROT_EXEC)))
		return 0;
	return dwell_addrspaces_map(perf->spaces, &map);
}

static int take_comm(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	bool exec = record->misc & PERF_RECORD_MISC_COMM_EXEC && record->timed;
	const char *name = (const char *)record->payload + 8;
	struct perf_cpu *cpu;
	char comm[32];
	int32_t ids[2];
	uint32_t id;
	int rc = perf_cpu_of(perf, perf->event.cpu, &cpu);

	memcpy(ids, record->payload, sizeof(ids));
	if (!rc && exec)
		rc = source_exec_seen(source, perf->event.cpu, cpu->running, ids[1],
				      DWELL_SIGHT_EXECS);
	if (!rc && exec)
		rc = dwell_addrspaces_exec(perf->spaces, ids[0]);
	dwell_printable(comm, sizeof(comm), name);
	if (!rc)
		rc = dwell_strings_add(source->strings, comm, strlen(comm), &id);
	if (!rc)
		rc = perf_thread(source, ids[0], ids[1], record->timed, true, &perf->event.thread);
	if (!rc && exec)
		rc = source_exec_life(source, record->time_ns, &perf->event.thread);
	if (!rc && exec)
		rc = thread_named(source, perf->event.thread, true);
	if (rc || perf->event.thread == DWELL_THREAD_IDLE)
		return rc ? rc : 1;
	dwell_threads_get(source->threads, perf->event.thread)->comm = id;
	perf->event.kind = DWELL_EVENT_COMM;
	perf->event.u.comm.comm = id;
	perf->event.u.comm.exec = exec;
	return record->timed ? 0 : 1;
}

/* A new life of a tid. perf lists in /proc its own threads too, and then the kernel tells of their
 * birth: one without any event so far is the same. */
static int thread_born(struct dwell_source *source, const struct task_fields *task,
		       uint64_t time_ns, uint32_t *ret_thread)
{
	struct perf_source *perf = source->format;
	uint32_t known = dwell_threads_find(source->threads, task->tid);
	int rc = 0;

	if (known != DWELL_THREAD_NONE &&
	    dwell_threads_get(source->threads, known)->pid == task->pid &&
	    (known >= perf->seen.count || !perf->seen.data[known]))
		dwell_threads_get(source->threads, known)->born_ns = time_ns;
	else
		rc = dwell_threads_add(source->threads, task->pid, task->tid, time_ns, &known);
	*ret_thread = known;
	return rc ? rc : thread_seen(perf, known);
}

static int take_fork(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	struct dwell_thread *child, *parent;
	struct task_fields task;
	int rc;

	memcpy(&task, record->payload, sizeof(task));
	if (task.tid <= 0)
		return 1;
	rc = dwell_addrspaces_fork(perf->spaces, task.ppid, task.pid);
	if (!rc && !record->timed) /* perf's own, of a thread that was there */
		rc = perf_thread(source, task.pid, task.tid, false, true, &perf->event.thread);
	if (rc || !record->timed)
		return rc ? rc : 1;
	rc = perf_thread(source, task.ppid, task.ptid, true, false, &perf->event.u.fork.parent);
	if (!rc)
		rc = thread_born(source, &task, record->time_ns, &perf->event.thread);
	if (rc)
		return rc;
	child = dwell_threads_get(source->threads, perf->event.thread);
	parent = dwell_threads_get(source->threads, perf->event.u.fork.parent);
	child->parent = perf->event.u.fork.parent;
	child->comm = parent->comm;
	child->cgroup = parent->cgroup;
	child->observed = true;
	perf->event.kind = DWELL_EVENT_FORK;
	return 0;
}

static int take_exit(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	struct task_fields task;
	int rc;

	memcpy(&task, record->payload, sizeof(task));
	if (task.tid <= 0 || !record->timed)
		return 1;
	perf->event.kind = DWELL_EVENT_EXIT;
	rc = perf_thread(source, task.pid, task.tid, true, true, &perf->event.thread);
	if (!rc)
		dwell_threads_get(source->threads, perf->event.thread)->exiting = true;
	return rc;
}

static int take_switch_record(struct dwell_source *source, const struct dwell_perf_record *record,
			      const struct dwell_perf_sample *trailer)
{
	struct perf_source *perf = source->format;
	struct dwell_event *event = &perf->event;
	bool out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;
	int32_t tid = (int32_t)trailer->tid, other[2] = { 0, -1 };
	struct perf_cpu *cpu;
	int rc = perf_cpu_of(perf, event->cpu, &cpu);

	if (rc)
		return rc;
	event->u.rec.other = DWELL_THREAD_NONE;
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE) {
		memcpy(other, record->payload, sizeof(other));
		if (other[1] >= 0)
			rc = perf_thread(source, other[0], other[1], !out, false,
					 &event->u.rec.other);
	}
	if (rc)
		return rc;
	if (!out) {
		event->kind = DWELL_EVENT_SWITCH_IN;
		if (tid < 0) { /* an exiting thread has no tid any more: the tracepoint told it */
			event->thread =
				cpu->left == DWELL_THREAD_NONE ? DWELL_THREAD_NONE : cpu->running;
			cpu->left = DWELL_THREAD_NONE;
			return event->thread == DWELL_THREAD_NONE ? 1 : 0;
		}
		rc = perf_thread(source, (int32_t)trailer->pid, tid, true, true, &event->thread);
		source_switched(source, DWELL_THREAD_NONE, event->thread, event->cpu);
		cpu->running = event->thread;
		cpu->left = DWELL_THREAD_NONE;
		return rc;
	}
	event->kind = DWELL_EVENT_SWITCH_OUT;
	event->u.rec.preempted = record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	if (cpu->stack_tid && cpu->stack_tid == trailer->tid)
		event->stack = cpu->stack;
	cpu->stack_tid = 0;
	if (tid < 0) {
		event->thread = cpu->left != DWELL_THREAD_NONE ? cpu->left : cpu->running;
		return event->thread == DWELL_THREAD_NONE ? 1 : 0;
	}
	if (cpu->left == DWELL_THREAD_NONE) /* no tracepoint told of it before */
		rc = source_exec_seen(source, event->cpu, cpu->running, tid, DWELL_SIGHT_RUNS);
	if (!rc)
		rc = perf_thread_leaving(source, cpu, (int32_t)trailer->pid, tid, true,
					 &event->thread);
	if (!rc && cpu->left == DWELL_THREAD_NONE)
		source_switched(source, event->thread, DWELL_THREAD_NONE, event->cpu);
	return rc;
}

static int take_lost(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	struct perf_cpu *cpu;
	uint64_t lost;
	int rc = perf_cpu_of(perf, perf->event.cpu, &cpu);

	memcpy(&lost, record->payload + 8, sizeof(lost));
	source->info.lost =
		lost < UINT64_MAX - source->info.lost ? source->info.lost + lost : UINT64_MAX;
	if (rc)
		return rc;
	cpu->running = cpu->left = DWELL_THREAD_NONE;
	perf->event.kind = DWELL_EVENT_GAP;
	perf->event.u.gap.from_ns = cpu->last_ns;
	perf->event.u.gap.lost = lost;
	return 0;
}

static int take_cgroup(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	const char *path = (const char *)record->payload + 8;
	uint64_t id;
	uint32_t text;
	int rc = dwell_strings_add(source->strings, path, strlen(path), &text);

	memcpy(&id, record->payload, sizeof(id));
	if (!rc && text)
		rc = dwell_idmap_set(&perf->cgroups, id, text);
	return rc ? rc : 1;
}

static int take_ksymbol(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	struct {
		uint64_t start;
		uint32_t bytes;
		uint16_t type, flags;
	} symbol;
	int rc = 0;

	memcpy(&symbol, record->payload, sizeof(symbol));
	if (!(symbol.flags & KSYMBOL_UNREGISTER))
		rc = perf_kernel_symbol(&perf->kernel, symbol.start, symbol.bytes,
					(const char *)record->payload + sizeof(symbol));
	return rc ? rc : 1;
}

int perf_take_record(struct dwell_source *source, const struct dwell_perf_record *record)
{
	struct perf_source *perf = source->format;
	const struct dwell_perf_event *desc = dwell_perf_data_event(perf->data, record->event);
	struct dwell_perf_sample trailer = { .cpu = DWELL_CPU_NONE };
	int rc;

	if (!dwell_perf_trailer_decode(&desc->layout, record->payload, record->bytes, &trailer))
		return 1;
	perf->event.cpu = trailer.cpu < CPUS_MAX && record->timed ? trailer.cpu : DWELL_CPU_NONE;
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		rc = take_map(source, record);
		return rc ? rc : 1;
	case PERF_RECORD_COMM:
		return take_comm(source, record);
	case PERF_RECORD_FORK:
		return take_fork(source, record);
	case PERF_RECORD_EXIT:
		return take_exit(source, record);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return take_switch_record(source, record, &trailer);
	case PERF_RECORD_LOST:
		return take_lost(source, record);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		perf->event.kind = DWELL_EVENT_THROTTLE;
		perf->event.u.throttle.on = record->type == PERF_RECORD_THROTTLE;
		return 0;
	case PERF_RECORD_CGROUP:
		return take_cgroup(source, record);
	case PERF_RECORD_KSYMBOL:
		return take_ksymbol(source, record);
	default:
		return 1;
	}
}
