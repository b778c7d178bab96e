// SPDX-License-Identifier: MIT
// argv[1] threads that sleep, and switch every second or so; until it is killed. Tells on standard
// output when all are there.
#include "truth.h"

static void *sleeper(void *arg)
{
	uint64_t index = (uint64_t)(uintptr_t)arg;

	for (;;)
		truth_sleep_ns(500 * MS + index % 1000 * MS);
	return arg;
}

int main(int argc, char **argv)
{
	uint64_t threads = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32 << 10);
	for (uint64_t i = 0; i < threads; i++) {
		errno = pthread_create(&thread, &small, sleeper, (void *)(uintptr_t)i);
		if (errno)
			truth_die("pthread_create");
	}
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
