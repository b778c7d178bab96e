// SPDX-License-Identifier: MIT
/* Side records become knowledge of processes: mappings for the stacks, births, names and deaths for
 * the trace. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "record/procfs.h"
#include "record/recording.h"

/* EXIT this soon after COMM by exec is the kernel ending its observation, not the thread's end. */
enum { STOPPED_AFTER_EXEC_NS = 1000000 };

/* The members of each record that stand behind the header, in file order. */
struct mmap2_body {
	uint32_t pid, tid;
	uint64_t start, bytes, file_offset;
	union {
		struct {
			uint32_t dev_major, dev_minor;
			uint64_t inode, inode_generation;
		} file;
		struct {
			uint8_t bytes, reserved[3], id[DWELL_BUILD_ID_MAX];
		} build_id; /* where the kernel could read it: its page was in memory */
	} u;
	uint32_t prot, flags;
	char path[];
};

struct ksymbol_body {
	uint64_t start;
	uint32_t bytes;
	uint16_t type, flags;
	char name[];
};

struct comm_body {
	uint32_t pid, tid;
	char comm[];
};

struct task_body {
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

/* A NUL-terminated text inside the record. */
static bool text_inside(const struct perf_event_header *record, const char *text)
{
	const char *end = (const char *)record + record->size;

	return text < end && memchr(text, '\0', (size_t)(end - text));
}

static int take_mmap2(struct recording *rec, const struct perf_event_header *record)
{
	const struct mmap2_body *body = (const void *)(record + 1);
	struct dwell_mmap map;

	if (record->size < sizeof(*record) + sizeof(*body) || !text_inside(record, body->path))
		return -EBADMSG;
	/* A process never asked about is read from /proc when a stack of it comes. */
	if (!dwell_addrspaces_known(rec->spaces, (int32_t)body->pid))
		return 0;
	map = (struct dwell_mmap){
		.pid = (int32_t)body->pid,
		.start = body->start,
		.bytes = body->bytes,
		.file_offset = body->file_offset,
		.path = body->path,
	};
	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		map.build_id = body->u.build_id.id;
		map.build_id_bytes = body->u.build_id.bytes;
	} else {
		map.dev_major = body->u.file.dev_major;
		map.dev_minor = body->u.file.dev_minor;
		map.inode = body->u.file.inode;
		map.inode_generation = body->u.file.inode_generation;
	}
	return dwell_addrspaces_map(rec->spaces, &map);
}

/* A BPF program, a trampoline or a page of probes came or went. */
static int take_ksymbol(struct recording *rec, const struct perf_event_header *record)
{
	const struct ksymbol_body *body = (const void *)(record + 1);

	if (record->size < sizeof(*record) + sizeof(*body) || !text_inside(record, body->name))
		return -EBADMSG;
	return chains_kernel_code(rec->chains, body->start, body->bytes,
				  body->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? NULL
										     : body->name);
}

static int take_comm(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
		     uint64_t time_ns)
{
	const struct comm_body *body = (const void *)(record + 1);
	bool exec = record->misc & PERF_RECORD_MISC_COMM_EXEC;
	struct tid_slot *slot;
	char comm[32];
	int rc = 0;

	if (record->size < sizeof(*record) + sizeof(*body) || !text_inside(record, body->comm))
		return -EBADMSG;
	if (exec)
		rc = jitcode_name(&rec->identify.jit, (int32_t)body->pid);
	if (!rc && exec && dwell_addrspaces_known(rec->spaces, (int32_t)body->pid))
		rc = dwell_addrspaces_exec(rec->spaces, (int32_t)body->pid);
	if (!rc && exec)
		rc = exec_comm(rec, cpu, body->pid, time_ns);
	if (rc)
		return rc;
	slot = tids_slot(&rec->tids, body->tid);
	dwell_printable(comm, sizeof(comm), body->comm);
	rc = dwell_strings_add(rec->strings, comm, strlen(comm), &slot->comm);
	if (exec)
		slot->exec_ns = time_ns;
	if (rc || !slot->declared)
		return rc;
	return trace_writer_comm(rec->writer, time_ns, (int32_t)body->tid, slot->comm, exec);
}

static int take_fork(struct recording *rec, const struct perf_event_header *record,
		     uint64_t time_ns)
{
	const struct task_body *body = (const void *)(record + 1);
	struct tid_slot *parent, *child;
	bool wanted;
	int rc = 0;

	if (record->size < sizeof(*record) + sizeof(*body))
		return -EBADMSG;
	if (body->pid != body->parent_pid)
		jitcode_born(&rec->identify.jit, (int32_t)body->pid);
	if (body->pid != body->parent_pid)
		rc = dwell_addrspaces_fork(rec->spaces, (int32_t)body->parent_pid,
					   (int32_t)body->pid);
	if (rc || !body->tid || body->tid >= TID_ALIAS) /* outside our pid namespace */
		return rc;
	parent = tids_slot(&rec->tids, body->parent_tid);
	wanted = rec->config->all ? targets_want(rec, (int32_t)body->pid)
				  : parent->observed && rec->config->inherit;
	rc = tids_begin(&rec->tids, body->tid, (int32_t)body->pid, wanted);
	if (rc)
		return rc;
	child = tids_slot(&rec->tids, body->tid);
	child->births++;
	child->comm = parent->comm;
	rec->refilter |=
		rec->filtering && rec->config->inherit && !targets_next_covered(rec, body->tid);
	if (!wanted)
		return 0;
	if (body->parent_tid && body->parent_tid < TID_ALIAS)
		rc = targets_declare(rec, time_ns, body->parent_tid, (int32_t)body->parent_pid,
				     NULL);
	if (!rc)
		rc = trace_writer_fork(rec->writer, time_ns, (int32_t)body->pid, (int32_t)body->tid,
				       (int32_t)body->parent_tid, true);
	child->declared = true;
	if (!rc && rec->pid_namespace)
		rc = dwell_idmap_set(&rec->forks, body->parent_tid, body->tid);
	return rc ? rc : targets_cover(rec, time_ns, body->tid);
}

/* Does the process still live, in spite of its EXIT record? */
static bool still_running(uint32_t pid, uint32_t tid)
{
	struct proc_stat stat;

	return !proc_read_stat((int32_t)pid, (int32_t)tid, &stat) && stat.state != 'Z' &&
	       stat.state != 'X';
}

static int take_exit(struct recording *rec, const struct perf_event_header *record,
		     uint64_t time_ns)
{
	const struct task_body *body = (const void *)(record + 1);
	struct tid_slot *slot;
	int rc = 0;

	if (record->size < sizeof(*record) + sizeof(*body))
		return -EBADMSG;
	slot = tids_slot(&rec->tids, body->tid);
	if (!slot->alive)
		return 0;
	if (body->tid == body->pid && jitcode_name(&rec->identify.jit, (int32_t)body->pid))
		return -ENOMEM;
	slot->exiting = true;
	if (slot->declared && !rec->facts.tracepoints && slot->exec_ns &&
	    time_ns - slot->exec_ns < STOPPED_AFTER_EXEC_NS && still_running(body->pid, body->tid))
		return trace_writer_stopped(rec->writer, time_ns, (int32_t)body->tid);
	if (slot->declared)
		rc = trace_writer_exit(rec->writer, time_ns, (int32_t)body->tid);
	/* Its last switch will not be told of: a thread's own events end with this record, and
	 * CPU-wide ones are not enabled before the window. */
	if (!rc && (!rec->facts.tracepoints || !rec->start_ns || time_ns < rec->start_ns) &&
	    tids_end(&rec->tids, body->tid))
		dwell_addrspaces_exit(rec->spaces, (int32_t)body->pid);
	return rc;
}

int side_record(struct recording *rec, uint32_t cpu, const struct perf_event_header *record,
		uint64_t time_ns)
{
	switch (record->type) {
	case PERF_RECORD_MMAP2:
		return take_mmap2(rec, record);
	case PERF_RECORD_COMM:
		return take_comm(rec, cpu, record, time_ns);
	case PERF_RECORD_FORK:
		return take_fork(rec, record, time_ns);
	case PERF_RECORD_EXIT:
		return take_exit(rec, record, time_ns);
	case PERF_RECORD_KSYMBOL:
		return take_ksymbol(rec, record);
	default:
		return 0;
	}
}
