// SPDX-License-Identifier: MIT
// A thread that is not the leader execs: it goes on under the leader's tid, and the leader is gone.
// What runs afterwards (argv[1] "after") must be one thread, blocked for its 200 ms. Of argv[1]
// processes (100), one every few ms, each does so: on any CPU, before and after the leader's end.
#include "truth.h"

#include <stdatomic.h>
#include <sys/wait.h>

enum { PROCESSES = 100 };

static char *self;
static atomic_bool all_there; /* no thread can be made any more once one execs */

static void *execer(void *arg)
{
	prctl(PR_SET_NAME, "execer");
	truth_spin_ns(MS);
	truth_sleep_ns(2 * MS);
	while (!atomic_load(&all_there))
		truth_sleep_ns(MS);
	execl("/proc/self/exe", self, "after", NULL);
	truth_die("exec");
	return arg;
}

static void *sleeper(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int after(void)
{
	prctl(PR_SET_NAME, "after-exec");
	truth_sleep_ns(200 * MS);
	truth_line("thread %d after-exec observed_min_ns=200000000 observed_max_ns=600000000 "
		   "blocked_min_ns=200000000 unknown_max_ns=0",
		   getpid());
	return 0;
}

int main(int argc, char **argv)
{
	int processes = argc > 1 ? atoi(argv[1]) : PROCESSES;

	if (argc > 1 && !strcmp(argv[1], "after"))
		return after();
	self = argv[0];
	for (int i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			truth_die("fork");
		if (!pid) {
			truth_thread(sleeper, NULL);
			truth_thread(execer, NULL);
			truth_thread(execer, NULL); /* the first one ends the other */
			atomic_store(&all_there, true);
			sleeper(NULL);
		}
		truth_sleep_ns(5 * MS);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
