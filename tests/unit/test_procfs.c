// SPDX-License-Identifier: MIT
/* Tests of record/procfs.c, cgroups.c and command.c on this process and children of it: names of
 * any bytes, threads and processes that are gone, commands that cannot run. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/cgroups.h"
#include "record/command.h"
#include "record/procfs.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void this_process(void **state)
{
	int32_t pid = getpid();
	struct proc_schedstat sched;
	struct proc_stat stat;
	struct proc_ids ids;
	char text[256];

	(void)state;
	assert_int_equal(proc_read_stat(pid, pid, &stat), 0);
	assert_int_equal(stat.state, 'R');
	assert_false(stat.kernel);
	assert_int_equal(proc_read_ids(pid, pid, &ids), 0);
	assert_int_equal(ids.uid, geteuid());
	assert_int_equal(ids.ns_pid, pid);
	assert_int_equal(ids.ns_tid, pid);
	if (proc_read_schedstat(pid, pid, &sched) == 0)
		assert_true(sched.switches_in > 0);
	assert_int_equal(proc_tgid_of(pid), pid);
	if (proc_read_wchan(pid, pid, text, sizeof(text)) == 0)
		assert_string_equal(text, "");
	assert_true(proc_last_pid() > 0);
	assert_true(proc_number("/proc/sys/kernel/pid_max", -5) >= pid);
	assert_int_equal(proc_number("/proc/not-there", -5), -5);
	assert_int_equal(proc_number("/proc/self/comm", -5), -5);
}

/* A child in a time namespace of its own, 1,000 s and a bit ahead: the exit status tells. */
static int clock_in_namespace(void)
{
	int fd, status = 9;
	int64_t offset_ns;
	pid_t pid;

	if (unshare(CLONE_NEWTIME))
		return 77;
	fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || dprintf(fd, "monotonic 1000 5\n") < 0)
		return 77;
	close(fd);
	pid = fork();
	if (pid == 0)
		_exit(proc_clock_offset(&offset_ns) ? 2 : offset_ns != -1000000000005);
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

static void clock_of_a_time_namespace(void **state)
{
	int64_t offset_ns = 1;
	int status = 9;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0)
		_exit(clock_in_namespace());
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(proc_clock_offset(&offset_ns), 0);
	assert_int_equal(offset_ns, 0);
}

static void names_of_any_bytes(void **state)
{
	static const struct {
		const char *name, *shown;
	} names[] = { { "a b", "a b" },	  { ") R 1 (", ") R 1 (" },
		      { "((((", "((((" }, { "x\ny\x1b[m", "x?y?[m" },
		      { "", "" },	  { "15-bytes-of-it.", "15-bytes-of-it." } };
	int32_t pid = getpid();
	char old[17] = "";

	(void)state;
	prctl(PR_GET_NAME, old);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct proc_stat stat;

		assert_int_equal(prctl(PR_SET_NAME, names[i].name), 0);
		assert_int_equal(proc_read_stat(pid, pid, &stat), 0);
		assert_string_equal(stat.comm, names[i].shown);
		assert_int_equal(stat.state, 'R');
	}
	prctl(PR_SET_NAME, old);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		for (;;)
			pause();
	}
	for (int i = 0; i < 1000; i++) {
		struct proc_stat stat;

		if (proc_read_stat(pid, pid, &stat) == 0 && stat.state == 'S')
			break;
		usleep(1000);
	}
	return pid;
}

static void reap(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void a_child_that_sleeps(void **state)
{
	struct proc_stack_frame frames[PROC_STACK_MAX];
	struct proc_syscall call;
	pid_t pid = sleeper();
	char text[256];
	int count;

	(void)state;
	proc_read_syscall(pid, pid, &call);
	/* Not every kernel or user may see it. */
	if (call.number != -1) {
#ifdef SYS_pause
		assert_int_equal(call.number, SYS_pause);
#else
		assert_int_equal(call.number, SYS_ppoll);
#endif
	}
	count = proc_read_stack(pid, pid, frames);
	for (int i = 0; i < count; i++) {
		assert_true(frames[i].symbol[0] && !strchr(frames[i].symbol, '+'));
		assert_true(frames[i].offset > 0);
	}
	assert_true(count >= 0 || count == -EACCES || count == -EPERM || count == -ENOENT);
	assert_true(proc_read_wchan(pid, pid, text, 4) <= 0);
	assert_true(strlen(text) < 4);
	reap(pid);
}

static void what_is_gone_is_told(void **state)
{
	pid_t pid = sleeper();
	struct proc_stack_frame frames[PROC_STACK_MAX];
	struct proc_schedstat sched = { 77, 77, 77 };
	struct proc_stat stat = { .state = '7' };
	struct proc_syscall call;
	struct proc_ids ids = { .uid = 77 };
	char text[64];

	(void)state;
	reap(pid);
	assert_int_equal(proc_read_stat(pid, pid, &stat), -ENOENT);
	assert_int_equal(proc_read_ids(pid, pid, &ids), -ENOENT);
	assert_int_equal(proc_read_schedstat(pid, pid, &sched), -ENOENT);
	assert_true(stat.state == '7' && ids.uid == 77 && sched.run_ns == 77);
	assert_int_equal(proc_read_wchan(pid, pid, text, sizeof(text)), -ENOENT);
	assert_string_equal(text, "");
	assert_true(proc_read_stack(pid, pid, frames) <= 0);
	proc_read_syscall(pid, pid, &call);
	assert_int_equal(call.number, -1);
	assert_int_equal(proc_tgid_of(pid), -ENOENT);
	assert_int_equal(proc_read_cgroup(pid, text, sizeof(text)), -ENOENT);
}

struct search {
	int32_t pid, found;
};

static int find_pid(void *user, int32_t pid)
{
	struct search *search = user;

	search->found += pid == search->pid;
	return 0;
}

static int find_tid(void *user, int32_t pid, int32_t tid)
{
	struct search *search = user;

	assert_int_equal(pid, search->pid);
	search->found++;
	return tid == pid ? 55 : 0;
}

static int stop_at_once(void *user, int32_t pid)
{
	++*(int *)user;
	return pid > 0 ? 42 : 0;
}

static void walks_find_this_process(void **state)
{
	struct search search = { getpid(), 0 };
	int calls = 0;

	(void)state;
	assert_int_equal(proc_each_pid(find_pid, &search), 0);
	assert_int_equal(search.found, 1);
	assert_int_equal(proc_each_pid(stop_at_once, &calls), 42);
	assert_int_equal(calls, 1);
	search.found = 0;
	assert_int_equal(proc_each_tid(getpid(), find_tid, &search), 55);
	assert_true(search.found >= 1);
	assert_int_equal(proc_each_tid(INT32_MAX, find_tid, &search), -ENOENT);
}

static void cgroups_by_name(void **state)
{
	static const char *const bad[] = { "",
					   "abc",
					   "/not-there",
					   "../../etc",
					   "/../../etc",
					   "/sys/fs/cgroup/../../../etc",
					   "0123456789abcdef",
					   "/etc" };
	char folder[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct dwell_err err = { 0 };

		assert_int_equal(cgroups_find("/proc/self/mountinfo", bad[i], folder,
					      sizeof(folder), &err),
				 -ENOENT);
		assert_non_null(strstr(err.msg, "cgroup"));
	}
}

static void file_make(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void cgroup_make(const char *root, const char *path)
{
	char folder[512];

	snprintf(folder, sizeof(folder), "%s/%s", root, path);
	assert_int_equal(mkdir(folder, 0700), 0);
	strcat(folder, "/cgroup.procs");
	file_make(folder, "");
}

/* The name is looked for at every place that is mounted, whatever it is called. */
static void cgroups_where_mounted(void **state)
{
	static const struct {
		const char *name, *folder; /* NULL = not there */
	} cases[] = {
		{ "web", "two x/web" },	       /* both have it: the unified hierarchy first */
		{ "/slice/web", "two x/web" }, /* as /proc tells it, its root taken off */
		{ "/slicer/web", NULL },       /* another root */
		{ "db", "perf/db" },	       /* of v1 the one of perf_event */
		{ "0123456789ab", "two x/web/docker-0123456789abcdef.scope" },
		{ "plain", "cpu/plain" },
		{ "other", NULL },
	};
	char root[] = "/tmp/dwell-cgroups-XXXXXX", text[2048], file[64], folder[4096], want[256];
	char absolute[256];

	(void)state;
	assert_non_null(mkdtemp(root));
	for (const char *const *at =
		     (const char *const[]){ "two x", "two x/web", "perf", "perf/web", "perf/db",
					    "cpu", "cpu/db", "cpu/plain", "none", "none/other",
					    NULL };
	     *at; at++)
		cgroup_make(root, *at);
	cgroup_make(root, "two x/web/docker-0123456789abcdef.scope");
	snprintf(text, sizeof(text),
		 "1 0 0:1 / %s/cpu rw - cgroup cgroup rw,cpu\n"
		 "2 0 0:2 / %s/perf rw shared:3 - cgroup cgroup rw,perf_event\n"
		 "3 0 0:3 /slice %s/two\\040x rw master:1 - cgroup2 cgroup2 rw\n"
		 "4 0 0:4 / %s/none rw - tmpfs tmpfs rw\nodd\n5 - -\n",
		 root, root, root, root);
	snprintf(file, sizeof(file), "%s/mountinfo", root);
	file_make(file, text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int rc = cgroups_find(file, cases[i].name, folder, sizeof(folder), NULL);

		assert_int_equal(rc, cases[i].folder ? 0 : -ENOENT);
		snprintf(want, sizeof(want), "%s/%s", root, cases[i].folder ? cases[i].folder : "");
		if (!rc)
			assert_string_equal(folder, want);
	}
	snprintf(absolute, sizeof(absolute), "%s/cpu/db", root);
	assert_int_equal(cgroups_find(file, absolute, folder, sizeof(folder), NULL), 0);
	assert_string_equal(folder, absolute);
	snprintf(absolute, sizeof(absolute), "%s/none/other", root);
	assert_int_equal(cgroups_find(file, absolute, folder, sizeof(folder), NULL), -ENOENT);
	snprintf(text, sizeof(text), "rm -rf %s", root);
	assert_int_equal(system(text), 0);
	assert_int_equal(cgroups_find(file, "web", folder, sizeof(folder), NULL), -ENOENT);
}

/* Words apart by '|' become an argv in static memory. */
static char **words(const char *line)
{
	static char text[128], *argv[8];
	char *rest = text;
	int count = 0;

	snprintf(text, sizeof(text), "%s", line);
	while (rest)
		argv[count++] = strsep(&rest, "|");
	argv[count] = NULL;
	return argv;
}

static void run(char **argv, int *ret_status, struct dwell_err *err)
{
	struct command command;
	int rc;

	assert_int_equal(command_fork(&command, argv, (struct command_setup){ 0 }, err), 0);
	assert_false(command_poll(&command));
	rc = command_go(&command, argv[0], false, err);
	for (int i = 0; i < 5000 && !command_poll(&command); i++)
		usleep(1000);
	assert_true(command.ended && command_poll(&command));
	command_stop(&command);
	*ret_status = command.status;
	assert_int_equal(rc, err->code);
}

static void commands_pass_their_status_on(void **state)
{
	struct dwell_err err = { 0 };
	int status;

	(void)state;
	run(words("sh|-c|exit 7"), &status, &err);
	assert_int_equal(status, 7);
	run(words("sh|-c|kill -9 $$"), &status, &err);
	assert_int_equal(status, 128 + 9);
	assert_int_equal(err.code, 0);
	run(words("/not/there"), &status, &err);
	assert_int_equal(status, 127);
	assert_string_equal(err.msg, "cannot run '/not/there': No such file or directory");
	err = (struct dwell_err){ 0 };
	run(words("/"), &status, &err);
	assert_int_equal(status, 126);
	assert_int_equal(err.code, -EACCES);
}

static void commands_are_checked_first(void **state)
{
	char path[PATH_MAX] = "";

	(void)state;
	assert_int_equal(command_find("sh", path), 0);
	assert_true(path[0] == '/' && access(path, X_OK) == 0);
	assert_int_equal(command_find("/bin/sh", path), 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(command_find("dwell-no-such-command", path), -ENOENT);
	assert_int_equal(command_find("/etc/passwd", path), -EACCES);
	assert_int_equal(command_find("/tmp", path), -EACCES);
	assert_string_equal(path, "/bin/sh");
}

static void a_command_that_runs_on_is_stopped(void **state)
{
	char **argv = words("sleep|1000");
	struct dwell_err err = { 0 };
	struct command command;

	(void)state;
	assert_int_equal(command_fork(&command, argv, (struct command_setup){ 0 }, &err), 0);
	assert_int_equal(command_go(&command, argv[0], true, &err), 0);
	command_stop(&command);
	assert_true(command.ended);
	assert_int_equal(command.status, 128 + SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process),
		cmocka_unit_test(clock_of_a_time_namespace),
		cmocka_unit_test(names_of_any_bytes),
		cmocka_unit_test(a_child_that_sleeps),
		cmocka_unit_test(what_is_gone_is_told),
		cmocka_unit_test(walks_find_this_process),
		cmocka_unit_test(cgroups_by_name),
		cmocka_unit_test(cgroups_where_mounted),
		cmocka_unit_test(commands_pass_their_status_on),
		cmocka_unit_test(commands_are_checked_first),
		cmocka_unit_test(a_command_that_runs_on_is_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
