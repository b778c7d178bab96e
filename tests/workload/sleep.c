// SPDX-License-Identifier: MIT
// One thread sleeps 100 times 5 ms: the requested time is the least that it was blocked, the time
// around its calls the most.
#include "truth.h"

static uint64_t slept_ns;

static void *sleeper(void *arg)
{
	truth_begin(arg, "sleeper");
	for (int i = 0; i < 100; i++) {
		uint64_t begin = truth_now_ns();

		truth_sleep_ns(5 * MS);
		slept_ns += truth_now_ns() - begin;
	}
	truth_end(arg);
	return NULL;
}

int main(void)
{
	struct truth truth;
	char claims[128];

	pthread_join(truth_thread(sleeper, &truth), NULL);
	snprintf(claims, sizeof(claims), "blocked_min_ns=%llu blocked_max_ns=%llu unknown_max_ns=0",
		 100 * 5 * MS, (unsigned long long)slept_ns);
	truth_print(&truth, claims);
	return 0;
}
