// SPDX-License-Identifier: MIT
// A child in a pid namespace of its own (root only), where it is process 1, starts a thread that
// sleeps: both are found by name, under tids that only the outside knows.
#include <sys/wait.h>

#include "truth.h"

static void *inner(void *arg)
{
	truth_begin(arg, "ns-inner");
	for (int i = 0; i < 20; i++)
		truth_sleep_ns(10 * MS);
	truth_end(arg);
	return NULL;
}

static int init_of_namespace(void)
{
	struct truth truth;

	prctl(PR_SET_NAME, "ns-init");
	pthread_join(truth_thread(inner, &truth), NULL);
	truth_line("thread - ns-inner time_enabled_ns=%llu schedstat_switches=%llu "
		   "blocked_min_ns=%llu unknown_max_ns=0",
		   (unsigned long long)truth.time_enabled_ns, (unsigned long long)truth.switches,
		   200 * MS);
	truth_line("thread - ns-init blocked_min_ns=%llu", 200 * MS);
	return 0;
}

int main(void)
{
	int status;
	pid_t pid;

	if (unshare(CLONE_NEWPID))
		truth_die("unshare");
	pid = fork();
	if (!pid)
		return init_of_namespace();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		truth_die("fork");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
}
