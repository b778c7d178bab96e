// SPDX-License-Identifier: MIT
/* Text of /proc becomes numbers. Formats: proc(5); comm may hold any byte, so stat is read from its
 * last parenthesis. */
#include "record/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"

enum { PATH_BYTES = 96, TEXT_BYTES = 4096, PF_KTHREAD_FLAG = 0x00200000 };

/* The inode of the first time namespace, PROC_TIME_INIT_INO (include/linux/proc_ns.h). */
#define FIRST_TIME_NAMESPACE 0xeffffffau

static int64_t task_read(int32_t pid, int32_t tid, const char *name, char *text, size_t room)
{
	char path[PATH_BYTES];
	int64_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	n = dwell_io_read_small(path, text, room);
	return n == 0 ? -ESRCH : n;
}

int proc_read_stat(int32_t pid, int32_t tid, struct proc_stat *ret)
{
	char text[TEXT_BYTES], *open, *close;
	struct proc_stat stat = { 0 };
	int64_t n = task_read(pid, tid, "stat", text, sizeof(text));
	unsigned flags = 0;

	if (n < 0)
		return (int)n;
	open = strchr(text, '(');
	close = strrchr(text, ')');
	if (!open || !close || close < open)
		return -EBADMSG;
	*close = '\0';
	dwell_printable(stat.comm, sizeof(stat.comm), open + 1);
	/* state ppid pgrp session tty tpgid flags */
	if (sscanf(close + 1, " %c %*d %*d %*d %*d %*d %u", &stat.state, &flags) < 1)
		return -EBADMSG;
	stat.kernel = flags & PF_KTHREAD_FLAG;
	*ret = stat;
	return 0;
}

/* The last number on the line that starts with key. */
static int32_t status_last(const char *text, const char *key)
{
	const char *line = strstr(text, key);
	int32_t last = 0;
	char *end;

	for (line = line ? line + strlen(key) : NULL; line && *line && *line != '\n';) {
		long number = strtol(line, &end, 10);

		if (end == line)
			break;
		last = (int32_t)number;
		line = end;
		while (*line == ' ' || *line == '\t')
			line++;
	}
	return last;
}

int proc_read_ids(int32_t pid, int32_t tid, struct proc_ids *ret)
{
	char text[TEXT_BYTES];
	int64_t n = task_read(pid, tid, "status", text, sizeof(text));
	const char *uid;

	if (n < 0)
		return (int)n;
	uid = strstr(text, "\nUid:");
	*ret = (struct proc_ids){ UINT32_MAX, status_last(text, "\nNStgid:"),
				  status_last(text, "\nNSpid:") };
	if (uid)
		sscanf(uid, " Uid: %*u %u", &ret->uid);
	return 0;
}

int proc_read_schedstat(int32_t pid, int32_t tid, struct proc_schedstat *ret)
{
	char text[128];
	struct proc_schedstat stat;
	unsigned long long run, wait, count;
	int64_t n = task_read(pid, tid, "schedstat", text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (sscanf(text, "%llu %llu %llu", &run, &wait, &count) != 3)
		return -EBADMSG;
	stat = (struct proc_schedstat){ run, wait, count };
	*ret = stat;
	return 0;
}

int proc_read_wchan(int32_t pid, int32_t tid, char *ret_text, unsigned text_bytes)
{
	int64_t n = task_read(pid, tid, "wchan", ret_text, text_bytes);

	if (n < 0 || !strcmp(ret_text, "0"))
		ret_text[0] = '\0';
	return n < 0 ? (int)n : 0;
}

void proc_read_syscall(int32_t pid, int32_t tid, struct proc_syscall *ret)
{
	char text[256];
	unsigned long long a[6];
	int number;

	*ret = (struct proc_syscall){ .number = -1 };
	if (task_read(pid, tid, "syscall", text, sizeof(text)) < 0 ||
	    sscanf(text, "%d %llx %llx %llx %llx %llx %llx", &number, &a[0], &a[1], &a[2], &a[3],
		   &a[4], &a[5]) != 7)
		return;
	ret->number = number;
	for (int i = 0; i < 6; i++)
		ret->args[i] = a[i];
}

int proc_read_stack(int32_t pid, int32_t tid, struct proc_stack_frame ret_frames[PROC_STACK_MAX])
{
	char text[TEXT_BYTES], *save = NULL;
	int64_t n = task_read(pid, tid, "stack", text, sizeof(text));
	int count = 0;

	if (n < 0)
		return n == -ESRCH ? 0 : (int)n; /* an empty file: no stack to show */
	for (char *line = strtok_r(text, "\n", &save); line && count < PROC_STACK_MAX;
	     line = strtok_r(NULL, "\n", &save)) {
		struct proc_stack_frame *frame = &ret_frames[count];
		unsigned long long offset;

		/* "[<0>] futex_wait+0x8d/0xf0" and "... [module]" */
		if (sscanf(line, "[<%*[^>]>] %127[^+]+0x%llx", frame->symbol, &offset) != 2)
			continue;
		frame->offset = offset;
		count++;
	}
	return count;
}

int proc_read_cgroup(int32_t pid, char *ret_path, unsigned path_bytes)
{
	char path[PATH_BYTES], text[TEXT_BYTES], *save = NULL;
	const char *best = NULL;
	int64_t n;
	int best_rank = 0;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	n = dwell_io_read_small(path, text, sizeof(text));
	if (n < 0)
		return (int)n;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *controllers = strchr(line, ':');
		char *where = controllers ? strchr(controllers + 1, ':') : NULL;
		int rank;

		if (!where)
			continue;
		/* The unified hierarchy has number 0; on mixed systems it may be all "/". */
		rank = !strncmp(line, "0:", 2) && strcmp(where + 1, "/") ? 3
		       : strstr(controllers, "perf_event")		 ? 2
									 : 1;
		if (rank > best_rank) {
			best_rank = rank;
			best = where + 1;
		}
	}
	if (!best)
		return -ENOENT;
	dwell_printable(ret_path, path_bytes, best);
	return 0;
}

int32_t proc_tgid_of(int32_t tid)
{
	char path[PATH_BYTES], text[TEXT_BYTES];
	int32_t tgid;
	int64_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	n = dwell_io_read_small(path, text, sizeof(text));
	if (n < 0)
		return (int32_t)n;
	tgid = status_last(text, "\nTgid:");
	return tgid > 0 ? tgid : -ESRCH;
}

int proc_read_family(int32_t tid, int32_t *ret_pid, int32_t *ret_parent_pid)
{
	char path[PATH_BYTES], text[TEXT_BYTES];
	int64_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	n = dwell_io_read_small(path, text, sizeof(text));
	if (n <= 0)
		return n < 0 ? (int)n : -ESRCH;
	*ret_pid = status_last(text, "\nTgid:");
	*ret_parent_pid = status_last(text, "\nPPid:");
	return 0;
}

int proc_each_pid(int (*fn)(void *user, int32_t pid), void *user)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			rc = fn(user, atoi(entry->d_name));
	closedir(dir);
	return rc;
}

int proc_each_tid(int32_t pid, int (*fn)(void *user, int32_t pid, int32_t tid), void *user)
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	DIR *dir;
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!rc && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			rc = fn(user, pid, atoi(entry->d_name));
	closedir(dir);
	return rc;
}

int64_t proc_number(const char *path, int64_t fallback)
{
	char text[64], *end;
	long long number;

	if (dwell_io_read_small(path, text, sizeof(text)) <= 0)
		return fallback;
	number = strtoll(text, &end, 10);
	return end == text ? fallback : number;
}

int proc_clock_offset(int64_t *ret_offset_ns)
{
	struct stat ours, next;
	long long seconds, rest_ns;
	char text[256];
	int64_t n;

	*ret_offset_ns = 0;
	if (stat("/proc/self/ns/time", &ours)) /* before Linux 5.6 */
		return errno == ENOENT ? 0 : -errno;
	if (ours.st_ino == FIRST_TIME_NAMESPACE)
		return 0;
	/* The file tells the offsets of the namespace that children get, which is ours except in a
	 * process that has just left it. */
	if (stat("/proc/self/ns/time_for_children", &next) || next.st_ino != ours.st_ino)
		return -EOPNOTSUPP;
	n = dwell_io_read_small("/proc/self/timens_offsets", text, sizeof(text));
	if (n <= 0)
		return n < 0 ? (int)n : -EOPNOTSUPP;
	if (sscanf(text, "monotonic %lld %lld", &seconds, &rest_ns) != 2)
		return -EBADMSG;
	*ret_offset_ns = -(seconds * 1000000000 + rest_ns);
	return 0;
}

int32_t proc_last_pid(void)
{
	char text[128];
	const char *last;

	if (dwell_io_read_small("/proc/loadavg", text, sizeof(text)) <= 0)
		return -1;
	last = strrchr(text, ' ');
	return last ? atoi(last + 1) : -1;
}
