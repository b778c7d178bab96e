// SPDX-License-Identifier: MIT
/* Tests of record/identify.c, record/targets.c and record/snapshot.c on the one process whose /proc
 * a test knows: this one. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "parse/elf/buildid.h"
#include "tests/synth/rings.h"
#include "tests/unit/jitmake.h"

static int32_t own_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

/* A sample of this process at the address; with its mappings as /proc has them. */
static void sample_here(struct rings *r, uint64_t time_ns, uint64_t address)
{
	CHAIN(r, USER, address);
	clock_sample(r, 0, time_ns, getpid());
	pass(r);
}

/* What is learnt from here on has to be told besides. */
static void trace_so_far(struct rings *r)
{
	assert_int_equal(trace_writer_flush(r->rec.writer, UINT64_MAX, NULL), 0);
}

static const struct dwell_file *file_named(struct dwell_source *source, const char *path)
{
	const struct dwell_stacks *stacks = dwell_source_stacks(source);

	for (uint32_t i = 0; i < dwell_stacks_file_count(stacks); i++) {
		const struct dwell_file *file = dwell_stacks_file(stacks, i);

		if (!strcmp(dwell_strings_get(dwell_source_strings(source), file->path), path))
			return file;
	}
	return NULL;
}

static void a_file_that_runs_gets_its_build_id(void **state)
{
	uint8_t build_id[DWELL_BUILD_ID_MAX];
	const struct dwell_file *file;
	struct rings *r = *state;
	char path[4096] = "";
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), bytes;

	assert_true(fd >= 0 && readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	bytes = dwell_build_id_read(fd, build_id);
	close(fd);
	if (bytes <= 0)
		skip(); /* linked without one */
	target(r, getpid());
	assert_int_equal(dwell_addrspaces_read_proc(r->rec.spaces, "/proc", getpid(), NULL), 0);
	trace_so_far(r);
	sample_here(r, 1000, (uint64_t)(uintptr_t)&own_tid);
	rings_read(r);
	file = file_named(r->reading.source, path);
	assert_non_null(file);
	assert_int_equal(file->build_id_bytes, bytes);
	assert_memory_equal(file->build_id, build_id, (size_t)bytes);
}

/* What stands at the name now is another file. */
static void a_file_that_was_replaced_gets_none(void **state)
{
	struct dwell_mmap map = { .pid = getpid(),
				  .start = 0x10000,
				  .bytes = 0x1000,
				  .inode = 1u << 31,
				  .path = "/proc/self/exe" };
	const struct dwell_file *file;
	struct rings *r = *state;
	char path[4096] = "";

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	map.path = path;
	target(r, getpid());
	assert_int_equal(dwell_addrspaces_map(r->rec.spaces, &map), 0);
	sample_here(r, 1000, 0x10100);
	sample_here(r, 1100, 0x10200);
	assert_int_equal(r->rec.identify.tries.data[r->rec.identify.tries.count - 1].count, 1);
	rings_read(r);
	file = file_named(r->reading.source, path);
	assert_non_null(file);
	assert_int_equal(file->build_id_bytes, 0);
}

/* The first sight of a process, in a sample of it: its mappings are read. */
static void a_process_never_heard_of_is_read_from_proc(void **state)
{
	struct rings *r = *state;
	char path[4096] = "";

	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	r->config.all = true;
	sample_here(r, 1000, (uint64_t)(uintptr_t)&own_tid);
	assert_true(dwell_addrspaces_known(r->rec.spaces, getpid()));
	rings_read(r);
	assert_int_equal(r->reading.lines.count, 1);
	assert_non_null(strstr(r->reading.lines.data[0], path));
}

static void perf_map_write(char path[64], const char *text)
{
	FILE *file;

	snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* The name of the frame at an address, where memory is used again of that epoch. */
static const char *symbol_of(struct rings *r, uint64_t address, uint64_t epoch)
{
	const struct dwell_stacks *stacks = dwell_source_stacks(r->reading.source);

	for (uint32_t i = 0; i < dwell_stacks_frame_count(stacks); i++) {
		const struct dwell_frame *frame = dwell_stacks_frame(stacks, i);

		if (frame->offset == address &&
		    dwell_stacks_file(stacks, frame->file)->inode_generation == epoch)
			return dwell_strings_get(dwell_source_strings(r->reading.source),
						 frame->symbol);
	}
	return NULL;
}

static const char *symbol_at(struct rings *r, uint64_t address)
{
	return symbol_of(r, address, 0);
}

static void code_made_at_run_time_gets_its_names(void **state)
{
	struct rings *r = *state;
	struct jitcode *jit = &r->rec.identify.jit;
	char path[64];

	target(r, getpid());
	target(r, A);
	mapped(r, getpid(), 0x10000, "//anon");
	mapped(r, A, 0x20000, "//anon");
	sample_here(r, 1000, 0x10100);
	sample_here(r, 1010, 0x10200);
	sample_here(r, 1020, 0x10300);
	sample_here(r, 1030, 0x10100);
	CHAIN(r, USER, 0x20100);
	clock_sample(r, 0, 1100, A);
	pass(r);
	assert_int_equal(jit->frames.count, 4);
	trace_so_far(r);
	perf_map_write(path, "10100 80 first\n10200 80 second\n");
	assert_int_equal(jitcode_name(jit, getpid()), 0);
	assert_int_equal(jit->frames.count, 1);
	assert_int_equal(jit->frames.data[0].pid, A);
	unlink(path);
	assert_int_equal(jitcode_name(jit, -1), 0); /* there is no map of A */
	assert_int_equal(jit->frames.count, 0);
	rings_read(r);
	assert_string_equal(symbol_at(r, 0x10100), "first");
	assert_string_equal(symbol_at(r, 0x10200), "second");
	assert_string_equal(symbol_at(r, 0x10300), "");
	assert_string_equal(symbol_at(r, 0x20100), "");
}

/* Before it is gone, its map is read; and the map of all that is left at the end. */
static void the_names_of_a_process_that_ends(void **state)
{
	struct rings *r = *state;
	struct jitcode *jit = &r->rec.identify.jit;
	char path[64];

	target(r, getpid());
	mapped(r, getpid(), 0x10000, "//anon");
	sample_here(r, 1000, 0x10100);
	perf_map_write(path, "10100 80 early\n");
	exits(r, 0, 1100, getpid());
	pass(r);
	assert_int_equal(jit->frames.count, 0);
	sample_here(r, 1200, 0x10200);
	perf_map_write(path, "10100 80 other\n10200 80 late\n");
	assert_int_equal(jitcode_name(jit, -1), 0);
	assert_int_equal(jit->frames.count, 0);
	unlink(path);
	rings_read(r);
	assert_string_equal(symbol_at(r, 0x10100), "early");
	assert_string_equal(symbol_at(r, 0x10200), "late");
}

/* A process takes its map with it: what was held open is read. */
static void a_map_that_is_gone_with_its_process(void **state)
{
	struct rings *r = *state;
	char path[64];

	target(r, getpid());
	mapped(r, getpid(), 0x10000, "//anon");
	perf_map_write(path, "10100 80 held\n");
	sample_here(r, 1000, 0x10100);
	unlink(path);
	exits(r, 0, 1100, getpid());
	pass(r);
	rings_read(r);
	assert_string_equal(symbol_at(r, 0x10100), "held");
}

/* What lay there before this process had its pid, or comes from before the recording of a process
 * that is gone, is not its map. */
static void a_map_of_an_earlier_process(void **state)
{
	const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	struct rings *r = *state;
	char path[64];
	FILE *file;

	target(r, getpid());
	target(r, A);
	mapped(r, getpid(), 0x10000, "//anon");
	mapped(r, A, 0x20000, "//anon");
	perf_map_write(path, "10100 80 stale\n");
	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	sample_here(r, 1000, 0x10100);
	assert_int_equal(jitcode_name(&r->rec.identify.jit, getpid()), 0);
	unlink(path);
	for (unsigned round = 0; round < 2; round++) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", A);
		unlink(path);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs("20100 80 stale\n20200 80 fresh\n", file);
		fclose(file);
		if (!round)
			assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
		CHAIN(r, USER, 0x20100 + 0x100 * round);
		clock_sample(r, 0, 1100 + round, A);
		pass(r);
		assert_int_equal(jitcode_name(&r->rec.identify.jit, A), 0);
		unlink(path);
	}
	rings_read(r);
	assert_string_equal(symbol_at(r, 0x10100), "");
	assert_string_equal(symbol_at(r, 0x20100), "");
	assert_string_equal(symbol_at(r, 0x20200), "fresh");
}

static void dump_write(int fd, struct jitmake *make)
{
	assert_int_equal(write(fd, make->bytes, make->used), make->used);
	make->used = 0;
}

/* Memory that is used again has another name from then on; what a dump tells last names what was
 * met before it was told. */
static void code_over_time(void **state)
{
	static struct jitmake make;
	struct rings *r = *state;
	char path[] = "/tmp/dwell-test-dump-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	target(r, getpid());
	mapped(r, getpid(), 0x10000, "//anon");
	assert_int_equal(jitcode_dump(&r->rec.identify.jit, getpid(), dup(fd)), 0);
	jitmake_begin(&make, false, 0);
	jitmake_load(&make, 1000, 0x10100, 0x80, "first");
	jitmake_load(&make, 1200, 0x10100, 0x40, "second");
	dump_write(fd, &make);
	sample_here(r, 1100, 0x10110);
	sample_here(r, 1250, 0x10110);
	sample_here(r, 1260, 0x10150);
	sample_here(r, 1270, 0x10300);
	jitmake_load(&make, 1265, 0x10300, 0x40, "told later");
	jitmake_move(&make, 1300, 0x10100, 0x10300, 0x40);
	dump_write(fd, &make);
	sample_here(r, 1400, 0x10300);
	close(fd);
	exits(r, 0, 1500, getpid());
	pass(r);
	assert_int_equal(r->rec.identify.jit.dumps, 0);
	rings_read(r);
	assert_string_equal(symbol_of(r, 0x10110, 0), "first");
	assert_string_equal(symbol_of(r, 0x10110, 1), "second");
	assert_string_equal(symbol_of(r, 0x10150, 0), "first");
	assert_string_equal(symbol_of(r, 0x10300, 0), "told later");
	assert_string_equal(symbol_of(r, 0x10300, 1), "second");
}

/* Of a stranger, or no dump at all: it is counted and that is all. */
static void dumps_that_are_none(void **state)
{
	struct rings *r = *state;
	struct jitcode *jit = &r->rec.identify.jit;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), pipe_fds[2];

	target(r, getpid());
	mapped(r, getpid(), 0x10000, "//anon");
	assert_int_equal(jitcode_dump(jit, getpid(), -ENOENT), 0);
	assert_int_equal(pipe(pipe_fds), 0);
	close(pipe_fds[1]);
	assert_int_equal(jitcode_dump(jit, getpid(), pipe_fds[0]), 0);
	assert_int_equal(jit->dumps_unread, 2);
	assert_int_equal(jitcode_dump(jit, getpid(), fd), 0);
	sample_here(r, 1000, 0x10100);
	assert_int_equal(jit->dumps_unread, 3);
	assert_int_equal(jit->dumps, 0);
	assert_int_equal(jitcode_name(jit, -1), 0);
}

/* --- targets */

static void assert_own_thread(struct dwell_source *source, bool observed)
{
	uint32_t index = dwell_threads_find(dwell_source_threads(source), getpid());
	const struct dwell_thread *thread;
	struct proc_stat stat;

	assert_int_not_equal(index, DWELL_THREAD_NONE);
	thread = dwell_threads_get(dwell_source_threads(source), index);
	assert_int_equal(proc_read_stat(getpid(), getpid(), &stat), 0);
	assert_int_equal(thread->pid, getpid());
	assert_int_equal(thread->uid, geteuid());
	assert_int_equal(thread->ns_pid, getpid());
	assert_int_equal(thread->observed, observed);
	assert_false(thread->kernel);
	assert_string_equal(dwell_strings_get(dwell_source_strings(source), thread->comm),
			    stat.comm);
}

/* A second thread of this process, asleep until it is told to end. */
struct sleeper {
	pthread_t thread;
	pthread_mutex_t lock;
	_Atomic int32_t tid;
};

static void *sleeper_run(void *user)
{
	struct sleeper *sleeper = user;

	sleeper->tid = own_tid();
	pthread_mutex_lock(&sleeper->lock);
	pthread_mutex_unlock(&sleeper->lock);
	return NULL;
}

static void sleeper_start(struct sleeper *sleeper)
{
	struct proc_stat stat = { 0 };

	pthread_mutex_init(&sleeper->lock, NULL);
	pthread_mutex_lock(&sleeper->lock);
	sleeper->tid = 0;
	assert_int_equal(pthread_create(&sleeper->thread, NULL, sleeper_run, sleeper), 0);
	while (!sleeper->tid || proc_read_stat(getpid(), sleeper->tid, &stat) || stat.state != 'S')
		usleep(1000);
}

static void sleeper_stop(struct sleeper *sleeper)
{
	pthread_mutex_unlock(&sleeper->lock);
	pthread_join(sleeper->thread, NULL);
	pthread_mutex_destroy(&sleeper->lock);
}

static void the_threads_of_a_process(void **state)
{
	int32_t pid = getpid();
	struct rings *r = *state;
	const struct dwell_threads *threads;
	struct sleeper sleeper;

	sleeper_start(&sleeper);
	assert_int_equal(dwell_array_grow(&r->config.pids), 0);
	r->config.pids.data[r->config.pids.count++] = pid;
	assert_int_equal(targets_collect(&r->rec, NULL), 0);
	assert_int_equal(r->rec.tids.observed_alive, 2);
	assert_int_equal(tids_slot(&r->rec.tids, (uint32_t)sleeper.tid)->pid, pid);
	assert_true(tids_slot(&r->rec.tids, (uint32_t)pid)->observed);
	assert_true(dwell_addrspaces_known(r->rec.spaces, pid));
	/* Those already known stay as they are. */
	tids_slot(&r->rec.tids, (uint32_t)pid)->exec_ns = 5;
	assert_int_equal(targets_collect(&r->rec, NULL), 0);
	assert_int_equal(tids_slot(&r->rec.tids, (uint32_t)pid)->exec_ns, 5);
	sleeper_stop(&sleeper);
	dwell_array_release(&r->config.pids);
	rings_read(r);
	assert_own_thread(r->reading.source, true);
	/* The recording had begun: nothing is known of them before. */
	threads = dwell_source_threads(r->reading.source);
	assert_true(dwell_threads_get(threads, dwell_threads_find(threads, pid))->joined_ns >
		    r->rec.start_ns);
}

/* Births were lost: what targets bore is found in /proc, a child's child, too. */
static void offspring_of_targets(void **state)
{
	struct rings *r = *state;
	int pipe_fds[2];
	pid_t child, grandchild = 0;

	assert_int_equal(pipe(pipe_fds), 0);
	child = fork();
	if (child == 0) {
		grandchild = fork();
		if (grandchild && write(pipe_fds[1], &grandchild, sizeof(grandchild)) < 0)
			_exit(1);
		pause();
	}
	assert_int_equal(read(pipe_fds[0], &grandchild, sizeof(grandchild)), sizeof(grandchild));
	assert_int_equal(targets_add(&r->rec, getpid(), getpid()), 0);
	r->config.inherit = false;
	assert_int_equal(targets_collect_offspring(&r->rec), 0);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	r->config.inherit = true;
	assert_int_equal(targets_collect_offspring(&r->rec), 0);
	kill(grandchild, SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	assert_int_equal(r->rec.tids.observed_alive, 3);
	assert_true(tids_slot(&r->rec.tids, (uint32_t)child)->observed);
	assert_true(tids_slot(&r->rec.tids, (uint32_t)grandchild)->observed);
}

static void targets_that_do_not_exist(void **state)
{
	struct rings *r = *state;
	struct dwell_err err = { 0 };
	int rc;

	r->rec.start_ns = 0; /* once it runs, targets may end */
	assert_int_equal(dwell_array_grow(&r->config.pids), 0);
	r->config.pids.data[r->config.pids.count++] = A;
	rc = targets_collect(&r->rec, &err);
	dwell_array_release(&r->config.pids);
	assert_int_equal(rc, -ESRCH);
	assert_string_equal(err.msg, "there is no process 4000010");
	err = (struct dwell_err){ 0 };
	assert_int_equal(dwell_array_grow(&r->config.tids), 0);
	r->config.tids.data[r->config.tids.count++] = A1;
	rc = targets_collect(&r->rec, &err);
	dwell_array_release(&r->config.tids);
	assert_int_equal(rc, -ESRCH);
	assert_string_equal(err.msg, "there is no thread 4000011");
}

static void one_thread(void **state)
{
	struct rings *r = *state;
	int rc;

	assert_int_equal(dwell_array_grow(&r->config.tids), 0);
	r->config.tids.data[r->config.tids.count++] = own_tid();
	rc = targets_collect(&r->rec, NULL);
	dwell_array_release(&r->config.tids);
	assert_int_equal(rc, 0);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	assert_false(r->rec.refilter);
	/* Later on, one that the filter hides asks for another filter. */
	r->rec.filtering = true;
	assert_int_equal(targets_add(&r->rec, A, A1), 0);
	assert_true(dwell_addrspaces_known(r->rec.spaces, A)); /* as having nothing */
	assert_true(r->rec.refilter);
}

static void threads_of_one_user(void **state)
{
	struct rings *r = *state;

	assert_true(targets_want(&r->rec, getpid()));
	assert_true(targets_want(&r->rec, A));
	r->config.uid = geteuid();
	assert_true(targets_want(&r->rec, getpid()));
	assert_false(targets_want(&r->rec, A));
	r->config.uid = (int64_t)geteuid() + 1;
	assert_false(targets_want(&r->rec, getpid()));
	/* Named by an event, it is known but not observed. */
	r->config.all = true;
	assert_int_equal(targets_declare(&r->rec, 1000, (uint32_t)getpid(), getpid(), NULL), 0);
	assert_int_equal(r->rec.tids.observed_alive, 0);
	clock_sample(r, 0, 1100, getpid()); /* brings the declaration into the trace */
	pass(r);
	rings_read(r);
	assert_own_thread(r->reading.source, false);
}

/* --- snapshots */

/* How many lines have both; the last of them. */
static uint32_t lines_with(const struct rings *r, const char *first, const char *second,
			   const char **ret_line)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < r->reading.lines.count; i++) {
		const char *line = r->reading.lines.data[i];

		if (!strstr(line, first) || !strstr(line, second))
			continue;
		*ret_line = line;
		count++;
	}
	return count;
}

static void states_at_the_start_and_at_the_end(void **state)
{
	struct rings *r = *state;
	struct proc_schedstat stat;
	struct sleeper sleeper;
	char own[64], other[64], counts[64];
	const char *line = NULL;

	target(r, getpid());
	target(r, A); /* gone */
	sleeper_start(&sleeper);
	assert_int_equal(targets_add(&r->rec, getpid(), sleeper.tid), 0);
	assert_int_equal(snapshot_start(&r->rec), 0);
	assert_int_equal(snapshot_stop(&r->rec), 0);
	if (proc_read_schedstat(getpid(), sleeper.tid, &stat))
		stat.switches_in = 0; /* this kernel does not count */
	snprintf(own, sizeof(own), " state %d.1 R ", (int)getpid());
	snprintf(other, sizeof(other), " state %d.1 S ", (int)sleeper.tid);
	sleeper_stop(&sleeper);
	rings_read(r);
	assert_int_equal(r->reading.lines.count, 4);
	assert_int_equal(lines_with(r, own, " start ", &line), 1);
	assert_int_equal(lines_with(r, own, " stop ", &line), 1);
	assert_int_equal(lines_with(r, other, " start ", &line), 1);
	assert_int_equal(lines_with(r, other, " stop ", &line), 1);
	if (!stat.switches_in)
		return;
	/* Who sleeps is not switched in between two readings. */
	assert_int_equal(lines_with(r, other, " start stable counted ", &line), 1);
	snprintf(counts, sizeof(counts), "counted %llu %llu %llu ", (unsigned long long)stat.run_ns,
		 (unsigned long long)stat.wait_ns, (unsigned long long)stat.switches_in);
	assert_non_null(strstr(line, counts));
}

static void counts_after_a_loss(void **state)
{
	struct rings *r = *state;
	struct proc_schedstat stat;
	char line[64];

	if (proc_read_schedstat(getpid(), getpid(), &stat))
		skip(); /* this kernel does not count */
	target(r, getpid());
	target(r, A);
	r->rec.recount = true;
	assert_int_equal(snapshot_counts(&r->rec), 0);
	assert_false(r->rec.recount);
	rings_read(r);
	assert_int_equal(r->reading.lines.count, 1);
	snprintf(line, sizeof(line), " count %d.1 ", (int)getpid());
	assert_non_null(strstr(r->reading.lines.data[0], line));
	assert_true(strtoull(strrchr(r->reading.lines.data[0], ' '), NULL, 10) >= stat.switches_in);
}

static void tids_to_come_are_covered_across_the_wrap(void **state)
{
	struct rings *r = *state;
	uint32_t low[4096];

	r->rec.pid_max = 32768;
	tidfilter_build(&r->rec.filter, NULL, 0, 29000);
	assert_false(targets_next_covered(&r->rec, 26000));
	assert_true(targets_next_covered(&r->rec, 30000));
	assert_false(targets_next_covered(&r->rec, 31000));
	for (uint32_t i = 0; i < 4096; i++)
		low[i] = 300 + i;
	tidfilter_build(&r->rec.filter, low, 4096, 29000);
	assert_true(targets_next_covered(&r->rec, 31000));
}

static void targets_that_are_gone_end(void **state)
{
	struct rings *r = *state;

	assert_int_equal(tids_begin(&r->rec.tids, A, A, true), 0);
	assert_int_equal(tids_begin(&r->rec.tids, A1, A, true), 0);
	targets_prune(&r->rec);
	assert_int_equal(r->rec.tids.observed_alive, 2);
	/* What it did last was not read yet at the first look. */
	switches(r, 0, 1000, A, S, IDLE);
	pass(r);
	targets_prune(&r->rec);
	assert_int_equal(r->rec.tids.observed_alive, 0);
	assert_int_equal(tids_begin(&r->rec.tids, (uint32_t)getpid(), getpid(), true), 0);
	targets_prune(&r->rec);
	targets_prune(&r->rec);
	assert_int_equal(r->rec.tids.observed_alive, 1);
	assert_trace(r, "1000 0 switch 4000010.1 S >0.1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RINGS_TEST(a_file_that_runs_gets_its_build_id),
		RINGS_TEST(a_file_that_was_replaced_gets_none),
		RINGS_TEST(a_process_never_heard_of_is_read_from_proc),
		RINGS_TEST(code_made_at_run_time_gets_its_names),
		RINGS_TEST(the_names_of_a_process_that_ends),
		RINGS_TEST(a_map_that_is_gone_with_its_process),
		RINGS_TEST(a_map_of_an_earlier_process),
		RINGS_TEST(code_over_time),
		RINGS_TEST(dumps_that_are_none),
		RINGS_TEST(the_threads_of_a_process),
		RINGS_TEST(offspring_of_targets),
		RINGS_TEST(targets_that_do_not_exist),
		RINGS_TEST(one_thread),
		RINGS_TEST(threads_of_one_user),
		RINGS_TEST(states_at_the_start_and_at_the_end),
		RINGS_TEST(counts_after_a_loss),
		RINGS_TEST(tids_to_come_are_covered_across_the_wrap),
		RINGS_TEST(targets_that_are_gone_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
