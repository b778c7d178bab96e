/* SPDX-License-Identifier: MIT */
/* Registers and a copy of the top of a thread's user stack become the addresses of its call chain,
 * by the unwind tables of the files that are mapped. The same for the recorder, which does it as
 * samples come, and for stacks that perf copied into its file. */
#ifndef DWELL_PARSE_ELF_UNWIND_H
#define DWELL_PARSE_ELF_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/elf/addrspace.h"
#include "parse/elf/unwind_table.h"

/* The registers that unwinding on this machine starts from, as PERF_SAMPLE_REGS_USER numbers them;
 * 0 where it is not implemented. */
#if defined(__x86_64__)
#define DWELL_UNWIND_REGS_MASK	  0xff01ffull /* ax to ip, r8 to r15 */
#define DWELL_UNWIND_THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define DWELL_UNWIND_REGS_MASK	  0x1ffffffffull /* x0 to x30, sp, pc */
#define DWELL_UNWIND_THIS_MACHINE EM_AARCH64
#else
#define DWELL_UNWIND_REGS_MASK	  0ull
#define DWELL_UNWIND_THIS_MACHINE EM_NONE
#endif

enum { DWELL_UNWIND_FRAMES_MAX = 512 };

/* Where unwinding starts. */
struct dwell_unwind_start {
	uint16_t machine; /* EM_X86_64, EM_AARCH64 */
	bool swapped;	  /* the stack is in the other byte order */
	uint64_t pc;
	uint64_t registers[DWELL_UNWIND_REGISTERS]; /* by DWARF number, as far as known */
	uint64_t known;				    /* bit by number */
	const uint8_t *stack;			    /* memory from the stack pointer on; borrowed */
	uint64_t stack_bytes;
};

/* Takes the registers as perf copies them (PERF_SAMPLE_REGS_USER): mask says which they are, values
 * are popcount(mask) words without alignment. Sets all but the stack. False when they are not those
 * of a 64-bit program, or lack pc or sp. Source of their order: arch/.../uapi/asm/perf_regs.h. */
bool dwell_unwind_start_set(struct dwell_unwind_start *start, uint16_t machine, uint64_t abi,
			    uint64_t mask, const uint8_t *values, bool swapped);

enum dwell_unwind_end {
	DWELL_UNWIND_COMPLETE = 0, /* the outermost frame was reached */
	DWELL_UNWIND_TRUNCATED,	   /* the copy of the stack ends before */
	DWELL_UNWIND_DEEP,	   /* more frames than are kept */
	DWELL_UNWIND_NO_MAP,	   /* an address where nothing is mapped */
	DWELL_UNWIND_NO_INFO,	   /* no call frame information, and no frame pointer that fits */
	DWELL_UNWIND_ENDS
};

struct dwell_unwound {
	/* As in the kernel's callchains: the instruction pointer, then return addresses. Behind the
	 * frame of a signal comes one more than the interrupted instruction's address, so that one
	 * less is taken of it as of the others. */
	uint64_t addresses[DWELL_UNWIND_FRAMES_MAX];
	uint64_t cfas[DWELL_UNWIND_FRAMES_MAX]; /* of each frame that was left; 0 of the last */
	uint32_t count;
	uint8_t end; /* enum dwell_unwind_end */
};

/* The table of what is mapped in a process; NULL when it has none. Called once for each frame. */
typedef const struct dwell_unwind_table *(*dwell_unwind_table_fn)(void *user, int32_t pid,
								  const struct dwell_mapping *map);

/* Unwinds a thread of pid. A frame without call frame information is left by its frame pointer if
 * that leads up the stack and to code. Never fails: ret->end says how it ended, and there is at
 * least the first address. */
void dwell_unwind(const struct dwell_unwind_start *start, const struct dwell_addrspaces *spaces,
		  int32_t pid, dwell_unwind_table_fn table_of, void *user,
		  struct dwell_unwound *ret);

#endif
