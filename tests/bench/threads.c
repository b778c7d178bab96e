// SPDX-License-Identifier: MIT
// What creating and joining a thread costs while somebody records this process: waits for a line on
// stdin, then creates argv[1] threads one after the other and prints nanoseconds for each.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void *nothing(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 20000;
	pthread_t thread;
	uint64_t begin;

	if (getchar() == EOF)
		return 1;
	begin = now_ns();
	for (int i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
			return 1;
	printf("%.0f\n", (double)(now_ns() - begin) / count);
	return 0;
}
