/* SPDX-License-Identifier: MIT */
/* What every workload shares: a thread measures itself with counters that dwell does not use, and
 * says what a recording of it must show. verify.c compares.
 *
 * Truth is lines of words, on the file that the variable TRUTH names (appended) or on stdout:
 *   thread TID NAME key=value...    one thread; TID "-" when only its name is known
 *   group NAME COUNT key=value...   all threads of that name, summed
 * Keys: time_enabled_ns, schedstat_run_ns, schedstat_wait_ns, schedstat_switches (measured), and
 * bounds NOUN_min_ns, NOUN_max_ns of observed, on_cpu, runnable, blocked and unknown. A thread that
 * another CPU may wake gets runnable_min_ns instead of schedstat_wait_ns: schedstat's wait begins
 * when the woken CPU puts the thread on its queue. From the waking to there an idle CPU of a
 * virtual machine took 23 us on average and up to 113; what is left is 4 to 5 us a switch, as
 * within one CPU. tests/e2e/enqueue.sh measures that delay and so has the bound from both sides. */
#ifndef DWELL_TESTS_WORKLOAD_TRUTH_H
#define DWELL_TESTS_WORKLOAD_TRUTH_H

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ull

struct truth {
	const char *name;
	pid_t tid;
	int event;	    /* -1 = perf_event_open is not for us */
	uint64_t before_ns; /* on a CPU from its birth until the event counted */
	uint64_t time_enabled_ns;
	uint64_t run_ns, wait_ns, switches; /* schedstat, since the thread's birth */
};

static inline uint64_t truth_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static inline uint64_t truth_now_ns(void)
{
	return truth_clock_ns(CLOCK_MONOTONIC);
}

static bool truth_pinned; /* all threads are on one CPU */

static inline void truth_die(const char *what)
{
	fprintf(stderr, "workload: %s: %s\n", what, strerror(errno));
	exit(9);
}

static inline uint64_t truth_enabled_ns(const struct truth *truth)
{
	uint64_t values[2];

	if (truth->event < 0 || read(truth->event, values, sizeof(values)) != sizeof(values))
		return 0;
	return values[1];
}

/* Call first thing in the thread. The event counts nothing, but the kernel keeps its time: it is
 * enabled exactly while the thread is on a CPU. Opening it may take an emulated machine 20 ms. */
static inline void truth_begin(struct truth *truth, const char *name)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
	};

	*truth = (struct truth){ .name = name };
	truth->event = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	truth->before_ns = truth_clock_ns(CLOCK_THREAD_CPUTIME_ID) - truth_enabled_ns(truth);
	truth->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_NAME, name);
}

/* Call last thing in the thread. sched_yield() brings the run-queue clock's account up to date:
 * schedstat alone may be a tick old. */
static inline void truth_end(struct truth *truth)
{
	unsigned long long run, wait, switches;
	FILE *f;

	sched_yield();
	f = fopen("/proc/thread-self/schedstat", "re");
	if (f && fscanf(f, "%llu %llu %llu", &run, &wait, &switches) == 3) {
		truth->run_ns = run;
		truth->wait_ns = wait;
		truth->switches = switches;
	}
	if (f)
		fclose(f);
	truth->time_enabled_ns = truth_enabled_ns(truth);
	if (truth->time_enabled_ns)
		truth->time_enabled_ns += truth->before_ns;
	if (truth->event >= 0)
		close(truth->event);
	truth->event = -1;
}

/* Appends one line in one write, so that processes do not mix theirs. */
__attribute__((format(printf, 1, 2))) static inline void truth_line(const char *fmt, ...)
{
	const char *path = getenv("TRUTH");
	FILE *f = path ? fopen(path, "ae") : stdout;
	char line[1024];
	va_list args;

	if (!f)
		truth_die(path);
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	fprintf(f, "%s\n", line);
	fflush(f);
	if (f != stdout)
		fclose(f);
}

/* Prints a thread's measured values and the bounds in `claims`. After truth_end(), by any thread.
 */
static inline void truth_print(const struct truth *truth, const char *claims)
{
	char measured[256] = "";
	int used = 0;

	if (truth->time_enabled_ns)
		used = snprintf(measured, sizeof(measured), " time_enabled_ns=%llu",
				(unsigned long long)truth->time_enabled_ns);
	if (truth->switches)
		snprintf(measured + used, sizeof(measured) - (size_t)used,
			 " schedstat_run_ns=%llu %s=%llu schedstat_switches=%llu",
			 (unsigned long long)truth->run_ns,
			 truth_pinned ? "schedstat_wait_ns" : "runnable_min_ns",
			 (unsigned long long)truth->wait_ns, (unsigned long long)truth->switches);
	truth_line("thread %d %s%s %s", truth->tid, truth->name, measured, claims);
}

static inline void truth_sleep_ns(uint64_t ns)
{
	struct timespec left = { (time_t)(ns / 1000000000ull), (long)(ns % 1000000000ull) };

	while (nanosleep(&left, &left) && errno == EINTR)
		continue;
}

/* Runs until this thread has used that much more CPU time. */
static inline void truth_spin_ns(uint64_t ns)
{
	uint64_t until = truth_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (truth_clock_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		continue;
}

/* Before the first thread is made. */
static inline void truth_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		truth_die("sched_setaffinity");
	truth_pinned = true;
}

static inline pthread_t truth_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, fn, arg);
	if (errno)
		truth_die("pthread_create");
	return thread;
}

#endif
