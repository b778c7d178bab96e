// SPDX-License-Identifier: MIT
// A thread that is not the leader execs: it goes on under the leader's tid, and the leader is gone.
// What runs afterwards (argv[1] "after") must be one thread, blocked for its 200 ms.
#include "truth.h"

static char *self;

static void *execer(void *arg)
{
	prctl(PR_SET_NAME, "execer");
	truth_sleep_ns(100 * MS);
	execl("/proc/self/exe", self, "after", NULL);
	truth_die("exec");
	return arg;
}

static int after(void)
{
	prctl(PR_SET_NAME, "after-exec");
	truth_sleep_ns(200 * MS);
	truth_line("thread %d after-exec blocked_min_ns=200000000 observed_max_ns=600000000",
		   getpid());
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return after();
	self = argv[0];
	truth_thread(execer, NULL);
	for (;;)
		pause();
}
