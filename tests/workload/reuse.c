// SPDX-License-Identifier: MIT
// Three threads live one after the other under the same tid (chosen through ns_last_pid, so root
// only): three lives with a name each, not one thread.
#include <fcntl.h>

#include "truth.h"

enum { LIVES = 3, ATTEMPTS = 200 };

static const char *const names[LIVES] = { "life-1", "life-2", "life-3" };
static struct truth truths[LIVES];

static void *life(void *arg)
{
	struct truth *truth = arg;

	truth_begin(truth, names[truth - truths]);
	truth_sleep_ns(20 * MS);
	truth_end(truth);
	return NULL;
}

/* Makes the next thread get `tid`, unless somebody else is faster. */
static void aim(pid_t tid)
{
	char text[16];
	int bytes = snprintf(text, sizeof(text), "%d", tid - 1);
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, (size_t)bytes) != bytes)
		truth_die("ns_last_pid");
	close(fd);
}

int main(void)
{
	for (int i = 0, attempt = 0; i < LIVES; attempt++) {
		if (attempt == ATTEMPTS)
			truth_die("the same tid was not to be had");
		if (i)
			aim(truths[0].tid);
		pthread_join(truth_thread(life, &truths[i]), NULL);
		/* It gives its tid back before its last switch, and where it is preempted in
		 * between both lives have one tid at one time: no event tells which of them runs.
		 */
		truth_sleep_ns(10 * MS);
		if (truths[i].tid == truths[0].tid)
			i++;
	}
	for (int i = 0; i < LIVES; i++)
		truth_print(&truths[i], "blocked_min_ns=20000000 observed_max_ns=200000000 "
					"unknown_max_ns=0");
	return 0;
}
