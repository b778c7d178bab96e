/* SPDX-License-Identifier: MIT */
/* What /proc tells of a thread: names, ids, state, scheduler statistics, where it waits. Each
 * reader copes with a thread that ends meanwhile. */
#ifndef DWELL_RECORD_PROCFS_H
#define DWELL_RECORD_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/err.h"

struct proc_stat {
	char comm[64];
	char state;  /* the letter */
	bool kernel; /* PF_KTHREAD */
};

struct proc_ids {
	uint32_t uid;		/* effective */
	int32_t ns_pid, ns_tid; /* innermost pid namespace */
};

struct proc_schedstat {
	uint64_t run_ns, wait_ns, switches_in;
};

struct proc_syscall {
	int32_t number; /* -1 = not in a syscall, or not readable */
	uint64_t args[6];
};

enum { PROC_STACK_MAX = 64, PROC_SYMBOL_BYTES = 128 };

/* One frame of /proc/PID/task/TID/stack. */
struct proc_stack_frame {
	char symbol[PROC_SYMBOL_BYTES];
	uint64_t offset;
};

/* Each: 0 or -errno (-ENOENT, -ESRCH: gone; -EACCES: may not). */
int proc_read_stat(int32_t pid, int32_t tid, struct proc_stat *ret);
int proc_read_ids(int32_t pid, int32_t tid, struct proc_ids *ret);
int proc_read_schedstat(int32_t pid, int32_t tid, struct proc_schedstat *ret);
int proc_read_wchan(int32_t pid, int32_t tid, char *ret_text, unsigned text_bytes);
void proc_read_syscall(int32_t pid, int32_t tid, struct proc_syscall *ret);
/* The number of frames, leaf first, or -errno. */
int proc_read_stack(int32_t pid, int32_t tid, struct proc_stack_frame ret_frames[PROC_STACK_MAX]);
/* The cgroup v2 path, else the perf_event controller's, else the first. */
int proc_read_cgroup(int32_t pid, char *ret_path, unsigned path_bytes);
/* The process a thread belongs to, or -errno. */
int32_t proc_tgid_of(int32_t tid);

/* The process of a thread, and that process's parent. 0 or -errno. */
int proc_read_family(int32_t tid, int32_t *ret_pid, int32_t *ret_parent_pid);

/* Calls fn for every process (proc_each_pid) or thread of pid (proc_each_tid) until it returns
 * non-zero, which is returned. -errno when the folder cannot be read. */
int proc_each_pid(int (*fn)(void *user, int32_t pid), void *user);
int proc_each_tid(int32_t pid, int (*fn)(void *user, int32_t pid, int32_t tid), void *user);

/* A whole number in a small file such as /proc/sys/kernel/pid_max; fallback when not readable. */
int64_t proc_number(const char *path, int64_t fallback);
/* How far CLOCK_MONOTONIC of perf's records is from ours: kernel - ours, exactly. Not 0 in a time
 * namespace only. 0, or -errno: it cannot be told. */
int proc_clock_offset(int64_t *ret_offset_ns);
/* The pid given out last, in this pid namespace; -1 when not readable. */
int32_t proc_last_pid(void);

#endif
