// SPDX-License-Identifier: MIT
// A thread touches 32 MiB of fresh memory again and again: all of its time is on-CPU, most of it in
// the kernel, and none of it may be taken for a wait.
#include <sys/mman.h>

#include "truth.h"

enum { BYTES = 32 << 20 };

static void *toucher(void *arg)
{
	truth_begin(arg, "toucher");
	for (int round = 0; round < 10; round++) {
		char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			truth_die("mmap");
		for (size_t at = 0; at < BYTES; at += 4096)
			memory[at] = 1;
		munmap(memory, BYTES);
	}
	truth_end(arg);
	return NULL;
}

int main(void)
{
	struct truth truth;

	pthread_join(truth_thread(toucher, &truth), NULL);
	truth_print(&truth, "unknown_max_ns=0");
	return 0;
}
