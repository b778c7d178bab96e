// SPDX-License-Identifier: MIT
// A process fills a pipe that nobody reads and hangs in write() until it is killed: a recording
// that begins later sees no event of it, and must show it blocked all the same.
#include "truth.h"

__attribute__((noinline)) static void fill_pipe(int fd)
{
	static char block[4096];

	while (write(fd, block, sizeof(block)) > 0)
		continue;
}

int main(void)
{
	int fds[2];

	if (pipe(fds))
		truth_die("pipe");
	prctl(PR_SET_NAME, "hung");
	truth_line("thread %d hung blocked_share_min=0.999 on_cpu_max_ns=0", getpid());
	fill_pipe(fds[1]);
	return 0;
}
