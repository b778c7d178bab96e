// SPDX-License-Identifier: MIT
// Makes code at run time and tells of it as compilers do. `jit dump`: one place in memory is first
// jit_first, then jit_second, each for 300 ms of CPU time, by a jit-PID.dump in the current
// directory. `jit map`: mapped_code for 300 ms, by /tmp/perf-PID.map.
#include <fcntl.h>
#include <sys/mman.h>

#include "truth.h"

enum { SPIN_MS = 300, PAGE = 4096 };

/* Counts its argument down to 0. */
static const uint8_t code[] = {
#if defined(__x86_64__)
	0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3
#elif defined(__aarch64__)
	0x00, 0x04, 0x00, 0xf1, 0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6
#else
#error "no code for this machine"
#endif
};

static void put(int fd, const void *bytes, size_t count)
{
	if (write(fd, bytes, count) != (ssize_t)count)
		truth_die("write");
}

static uint64_t cpu_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000 * MS + (uint64_t)used.tv_nsec;
}

static void spin(uint8_t *memory)
{
	uint64_t until_ns = cpu_ns() + SPIN_MS * MS;
	void (*count_down)(uint64_t) = (void (*)(uint64_t))(uintptr_t)memory;

	while (cpu_ns() < until_ns)
		count_down(1000000);
}

/* The mapping is how the kernel tells of the file. */
static int dump_begin(void)
{
	const uint32_t head[] = { 0x4a695444, 1, 40, 0, 0, (uint32_t)getpid() };
	const uint64_t more[] = { truth_now_ns(), 0 };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	fd = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
	if (fd < 0)
		truth_die(path);
	put(fd, head, sizeof(head));
	put(fd, more, sizeof(more));
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		truth_die("mmap of a dump");
	return fd;
}

static void dump_load(int fd, const uint8_t *memory, const char *name)
{
	const uint32_t head[] = { 0, (uint32_t)(56 + strlen(name) + 1 + sizeof(code)) };
	const uint64_t now_ns = truth_now_ns();
	const uint32_t ids[] = { (uint32_t)getpid(), (uint32_t)getpid() };
	const uint64_t place[] = { (uintptr_t)memory, (uintptr_t)memory, sizeof(code), 0 };

	put(fd, head, sizeof(head));
	put(fd, &now_ns, sizeof(now_ns));
	put(fd, ids, sizeof(ids));
	put(fd, place, sizeof(place));
	put(fd, name, strlen(name) + 1);
	put(fd, code, sizeof(code));
}

static void map_write(const uint8_t *memory)
{
	char path[64], line[128];
	int fd, bytes;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	bytes = snprintf(line, sizeof(line), "%llx %zx mapped_code\n",
			 (unsigned long long)(uintptr_t)memory, sizeof(code));
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0)
		truth_die(path);
	put(fd, line, (size_t)bytes);
	close(fd);
}

int main(int argc, char **argv)
{
	uint8_t *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		truth_die("mmap");
	memcpy(memory, code, sizeof(code));
	__builtin___clear_cache((char *)memory, (char *)memory + sizeof(code));
	if (argc > 1 && !strcmp(argv[1], "map")) {
		map_write(memory);
		spin(memory);
	} else {
		int fd = dump_begin();

		dump_load(fd, memory, "jit_first");
		spin(memory);
		dump_load(fd, memory, "jit_second");
		spin(memory);
	}
	return 0;
}
