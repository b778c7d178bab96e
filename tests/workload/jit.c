// SPDX-License-Identifier: MIT
/* Makes code at run time, runs it, and tells of it as compilers do: `map` by /tmp/perf-PID.map,
 * `dump` by jit-PID.dump in the current directory, where the same memory holds other code in the
 * second half. Ends at once, `dump` without its file, but lives long enough to be looked at. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPIN_NS = 300000000, SPINS = 100000, PAGE = 4096 };

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; mov %edi,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9,
				      0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };
#elif defined(__aarch64__)
/* stp x29,x30,[sp,-16]!; mov x29,sp; 1: subs w0,w0,1; b.ne 1b; ldp x29,x30,[sp],16; ret */
static const uint32_t code[] = { 0xa9bf7bfd, 0x910003fd, 0x71000400,
				 0x54ffffe1, 0xa8c17bfd, 0xd65f03c0 };
#else
static const unsigned char code[1];
#endif

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

__attribute__((noinline)) static void jit_run(void (*spin)(unsigned))
{
	uint64_t end_ns = now_ns() + SPIN_NS;

	while (now_ns() < end_ns)
		spin(SPINS);
}

static int map_tell(const void *place)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file, "%llx %zx jit_of_map\n", (unsigned long long)(uintptr_t)place, sizeof(code));
	return fclose(file);
}

static void dump_load(FILE *file, const void *place, const char *name)
{
	const struct {
		uint32_t id, bytes;
		uint64_t time_ns;
		uint32_t pid, tid;
		uint64_t vma, address, code_bytes, index;
	} load = { 0,
		   (uint32_t)(56 + strlen(name) + 1 + sizeof(code)),
		   now_ns(),
		   (uint32_t)getpid(),
		   (uint32_t)syscall(SYS_gettid),
		   (uintptr_t)place,
		   (uintptr_t)place,
		   sizeof(code),
		   0 };

	fwrite(&load, 56, 1, file);
	fwrite(name, strlen(name) + 1, 1, file);
	fwrite(code, sizeof(code), 1, file);
	fflush(file);
}

static FILE *dump_begin(char path[64])
{
	const struct {
		uint32_t magic, version, bytes, machine, pad, pid;
		uint64_t time_ns, flags;
	} head = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), now_ns(), 0 };
	FILE *file;

	snprintf(path, 64, "jit-%d.dump", (int)getpid());
	file = fopen(path, "w+");
	if (!file || fwrite(&head, sizeof(head), 1, file) != 1 || fflush(file) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) == MAP_FAILED)
		return NULL;
	return file;
}

int main(int argc, char **argv)
{
	void *place = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*spin)(unsigned);
	char path[64];
	FILE *file;

	if (place == MAP_FAILED || argc != 2 || sizeof(code) == 1)
		return 2;
	memcpy(place, code, sizeof(code));
	memcpy(&spin, &place, sizeof(spin));
	__builtin___clear_cache(place, (char *)place + sizeof(code));
	if (!strcmp(argv[1], "map")) {
		jit_run(spin);
		return map_tell(place) ? 1 : 0;
	}
	file = dump_begin(path);
	if (!file)
		return 1;
	dump_load(file, place, "jit_first");
	jit_run(spin);
	dump_load(file, place, "jit_second");
	jit_run(spin);
	unlink(path);
	return 0;
}
