// SPDX-License-Identifier: MIT
// A storm of processes: 150 children each exec this program again (argv[1] "child"), sleep 2 ms and
// exit. Every child must be found, blocked for its sleep at least.
#include <sys/wait.h>

#include "truth.h"

enum { CHILDREN = 150, AT_ONCE = 10 };

static int child(void)
{
	prctl(PR_SET_NAME, "storm-child");
	truth_sleep_ns(2 * MS);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return child();
	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (pid < 0)
			truth_die("fork");
		if (!pid) {
			execl("/proc/self/exe", argv[0], "child", NULL);
			_exit(127);
		}
		if (i >= AT_ONCE)
			wait(NULL);
	}
	while (wait(NULL) > 0)
		continue;
	truth_line("group storm-child %d blocked_min_ns=%llu unknown_max_ns=0", CHILDREN,
		   CHILDREN * 2 * MS);
	return 0;
}
