// SPDX-License-Identifier: MIT
// A thread blocks on a pipe for ever; after 300 ms another one calls exit_group(): the wait ends
// with the process, not with the recording.
#include "truth.h"

static int pipe_fds[2];

static void *blocked(void *arg)
{
	char byte;

	truth_begin(arg, "doomed");
	if (read(pipe_fds[0], &byte, 1) < 0)
		truth_die("read");
	return NULL;
}

int main(void)
{
	static struct truth truth;

	if (pipe(pipe_fds))
		truth_die("pipe");
	truth_thread(blocked, &truth);
	truth_sleep_ns(300 * MS);
	truth_line("thread %d doomed blocked_min_ns=295000000 observed_max_ns=400000000 "
		   "unknown_max_ns=0",
		   truth.tid);
	_exit(0);
}
