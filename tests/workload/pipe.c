// SPDX-License-Identifier: MIT
// Two threads pass one byte to and fro over pipes, 20,000 times (or argv[1]) on any CPU, or on CPU
// argv[2]: many switches, so that an error of microseconds in each would show.
#include "truth.h"

static int there[2], back[2], rounds = 20000;

static void pass(int from, int to, int first)
{
	char byte = 'x';

	for (int i = 0; i < rounds; i++) {
		if (first && write(to, &byte, 1) != 1)
			truth_die("write");
		if (read(from, &byte, 1) != 1)
			truth_die("read");
		if (!first && write(to, &byte, 1) != 1)
			truth_die("write");
	}
}

static void *ping(void *arg)
{
	truth_begin(arg, "ping");
	pass(back[0], there[1], 1);
	truth_end(arg);
	return NULL;
}

static void *pong(void *arg)
{
	truth_begin(arg, "pong");
	pass(there[0], back[1], 0);
	truth_end(arg);
	return NULL;
}

int main(int argc, char **argv)
{
	struct truth a, b;
	pthread_t x, y;

	if (argc > 1)
		rounds = atoi(argv[1]);
	if (argc > 2)
		truth_pin(atoi(argv[2]));
	if (pipe(there) || pipe(back))
		truth_die("pipe");
	x = truth_thread(ping, &a);
	y = truth_thread(pong, &b);
	pthread_join(x, NULL);
	pthread_join(y, NULL);
	truth_print(&a, "unknown_max_ns=0");
	truth_print(&b, "unknown_max_ns=0");
	return 0;
}
