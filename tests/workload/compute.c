// SPDX-License-Identifier: MIT
// A thread computes for 800 ms of CPU time and waits for nothing: all of it is on-CPU, except what
// others take from it.
#include "truth.h"

static void *computer(void *arg)
{
	truth_begin(arg, "computer");
	truth_spin_ns(800 * MS);
	truth_end(arg);
	return NULL;
}

int main(void)
{
	struct truth truth;

	pthread_join(truth_thread(computer, &truth), NULL);
	truth_print(&truth, "on_cpu_min_ns=800000000 blocked_max_ns=0 unknown_max_ns=0");
	return 0;
}
