// SPDX-License-Identifier: MIT
// Two threads spin on one CPU: each runs half of the time and is runnable for the other half;
// nobody is ever blocked.
#include "truth.h"

static struct truth truths[2];
static const char *const names[2] = { "spinner-a", "spinner-b" };

static void *spinner(void *arg)
{
	struct truth *truth = arg;

	truth_begin(truth, names[truth - truths]);
	truth_spin_ns(500 * MS);
	truth_end(truth);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	truth_pin(0);
	for (int i = 0; i < 2; i++)
		threads[i] = truth_thread(spinner, &truths[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		truth_print(&truths[i], "on_cpu_min_ns=500000000 runnable_min_ns=300000000 "
					"blocked_max_ns=0 unknown_max_ns=0");
	return 0;
}
