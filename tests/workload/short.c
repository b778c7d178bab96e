// SPDX-License-Identifier: MIT
// Thousands of threads live for a moment each (argv[1], default 3,000): every one must be found,
// and their times must add up.
#include "truth.h"

static void *brief(void *arg)
{
	truth_begin(arg, "brief");
	truth_spin_ns(20000);
	truth_end(arg);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 3000;
	struct truth sum = { 0 }, one;

	for (int i = 0; i < count; i++) {
		pthread_join(truth_thread(brief, &one), NULL);
		sum.time_enabled_ns += one.time_enabled_ns;
		sum.switches += one.switches;
	}
	truth_line("group brief %d time_enabled_ns=%llu schedstat_switches=%llu unknown_max_ns=0",
		   count, (unsigned long long)sum.time_enabled_ns,
		   (unsigned long long)sum.switches);
	return 0;
}
