// SPDX-License-Identifier: MIT
// A thread writes blocks with O_DIRECT (where the file system can) and makes each durable with
// fsync: blocked in the kernel's uninterruptible state for at most the time around its calls.
#include <fcntl.h>

#include "truth.h"

enum { BLOCKS = 60, BLOCK_BYTES = 65536 };

static uint64_t io_ns;
static int file;

__attribute__((noinline)) static void log_commit(const void *block)
{
	uint64_t begin = truth_now_ns();

	if (write(file, block, BLOCK_BYTES) != BLOCK_BYTES || fsync(file))
		truth_die("write");
	io_ns += truth_now_ns() - begin;
}

static void *flusher(void *arg)
{
	void *block;

	truth_begin(arg, "flusher");
	if (posix_memalign(&block, 4096, BLOCK_BYTES))
		truth_die("memory");
	memset(block, 'd', BLOCK_BYTES);
	for (int i = 0; i < BLOCKS; i++)
		log_commit(block);
	free(block);
	truth_end(arg);
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096], claims[128];
	struct truth truth;

	snprintf(path, sizeof(path), "%s/dwell-io-XXXXXX", argc > 1 ? argv[1] : "/tmp");
	file = mkstemp(path);
	if (file < 0)
		truth_die(path);
	fcntl(file, F_SETFL, O_DIRECT); /* a file system in memory refuses */
	unlink(path);
	pthread_join(truth_thread(flusher, &truth), NULL);
	snprintf(claims, sizeof(claims), "blocked_max_ns=%llu unknown_max_ns=0",
		 (unsigned long long)io_ns);
	truth_print(&truth, claims);
	return 0;
}
