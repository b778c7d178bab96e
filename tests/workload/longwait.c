// SPDX-License-Identifier: MIT
// One thread computes while another waits 15 s (or argv[1]) on a semaphore that nobody posts: a
// shorter recording must show it blocked for all of its window, although it never switches.
#include <semaphore.h>

#include "truth.h"

static sem_t never;
static int seconds = 15;

__attribute__((noinline)) static void wait_long(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	while (sem_timedwait(&never, &until) && errno == EINTR)
		continue;
}

static void *waiter(void *arg)
{
	prctl(PR_SET_NAME, "longwaiter");
	wait_long();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1)
		seconds = atoi(argv[1]);
	sem_init(&never, 0, 0);
	thread = truth_thread(waiter, NULL);
	prctl(PR_SET_NAME, "longmain");
	truth_line("thread - longwaiter blocked_share_min=0.999");
	pthread_join(thread, NULL);
	return 0;
}
