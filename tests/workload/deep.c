// SPDX-License-Identifier: MIT
/* Sleeps and computes at the end of a known path that goes through libc, a recursion, alloca and a
 * signal handler, without frame pointers: what must be found on its stacks is in the scripts. */
#include <alloca.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 60, DEPTH = 12, SPINS = 400000 };

static volatile unsigned sink;

__attribute__((noinline)) static void deep_spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * i;
}

__attribute__((noinline)) static void deep_sleep(void)
{
	const struct timespec nap = { 0, 1000000 };

	nanosleep(&nap, NULL);
	deep_spin(SPINS);
}

static void deep_handler(int number)
{
	(void)number;
	deep_sleep();
	sink++;
}

static int deep_compare(const void *a, const void *b)
{
	deep_spin(SPINS);
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void deep_sort(unsigned bytes)
{
	int values[] = { 2, 1 };
	char *room = alloca(bytes);

	memset(room, 1, bytes);
	qsort(values, 2, sizeof(*values), deep_compare);
	sink += (unsigned)(values[0] + room[bytes - 1]);
	raise(SIGUSR1);
}

__attribute__((noinline)) static void deep_recurse(unsigned depth)
{
	if (depth)
		deep_recurse(depth - 1);
	else
		deep_sort(100 + sink % 8);
	sink++;
}

int main(void)
{
	signal(SIGUSR1, deep_handler);
	for (unsigned i = 0; i < ROUNDS; i++)
		deep_recurse(DEPTH);
	return 0;
}
