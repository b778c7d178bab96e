// SPDX-License-Identifier: MIT
/* Frame by frame: the rule for the pc tells the CFA, there stand the return address and the
 * caller's frame pointer, and the CFA is the caller's stack pointer. */
#include "parse/elf/unwind.h"

#include <byteswap.h>
#include <string.h>

#include "parse/elf/cfi.h"

enum { WORD = 8 };

/* Of AArch64 addresses: what lies above may be a pointer authentication code. */
#define AARCH64_ADDRESS_MASK ((1ull << 48) - 1)

bool dwell_unwind_start_set(struct dwell_unwind_start *start, uint16_t machine, uint64_t abi,
			    uint64_t mask, const uint8_t *values, bool swapped)
{
	enum { ABI_64 = 2, PC_X86_64 = 16, PC_AARCH64 = 32, NO_DWARF = 255 };
	/* perf's numbers: ax bx cx dx si di bp sp ip, flags and segments, r8 to r15. */
	static const uint8_t x86_64[] = { 0,	    3,	      2,	1,	  4,
					  5,	    6,	      7,	16,	  NO_DWARF,
					  NO_DWARF, NO_DWARF, NO_DWARF, NO_DWARF, NO_DWARF,
					  NO_DWARF, 8,	      9,	10,	  11,
					  12,	    13,	      14,	15 };
	unsigned pc = machine == EM_X86_64 ? PC_X86_64 : PC_AARCH64;
	unsigned sp = machine == EM_X86_64 ? CFI_X86_64_RSP : CFI_AARCH64_SP;
	struct dwell_unwind_start taken = { .machine = machine, .swapped = swapped };

	if (abi != ABI_64 || (machine != EM_X86_64 && machine != EM_AARCH64))
		return false;
	for (unsigned bit = 0; bit < 64; bit++) {
		unsigned number = bit;
		uint64_t value;

		if (!(mask >> bit & 1))
			continue;
		memcpy(&value, values, sizeof(value));
		values += sizeof(value);
		if (machine == EM_X86_64)
			number = bit < sizeof(x86_64) ? x86_64[bit] : NO_DWARF;
		if (number >= DWELL_UNWIND_REGISTERS)
			continue;
		taken.registers[number] = swapped ? bswap_64(value) : value;
		taken.known |= 1ull << number;
	}
	if (!(taken.known >> pc & 1) || !(taken.known >> sp & 1))
		return false;
	taken.pc = taken.registers[pc];
	*start = taken;
	return true;
}

/* A frame on the way up. */
struct frame {
	uint64_t pc, sp, fp, link;
	bool fp_known, link_known;
	bool exact; /* pc is an instruction that was interrupted, not a return address */
	bool first;
};

struct unwinding {
	const struct dwell_unwind_start *start;
	const struct dwell_addrspaces *spaces;
	int32_t pid;
	uint64_t low, high; /* of the copied stack */
	struct frame frame;
	struct dwell_mapping map; /* of frame.pc */
};

static bool is_aarch64(const struct unwinding *u)
{
	return u->start->machine == EM_AARCH64;
}

/* A word of the copied stack; false outside of it. */
static bool load(const struct unwinding *u, uint64_t address, uint64_t *ret_value)
{
	uint64_t value;

	if (address < u->low || address >= u->high || u->high - address < WORD)
		return false;
	memcpy(&value, u->start->stack + (address - u->low), WORD);
	*ret_value = u->start->swapped ? bswap_64(value) : value;
	return true;
}

/* Why a word could not be loaded that should be there. */
static int missing(const struct unwinding *u, uint64_t address)
{
	return address >= u->low ? DWELL_UNWIND_TRUNCATED : DWELL_UNWIND_NO_INFO;
}

static bool is_code(const struct unwinding *u, uint64_t pc)
{
	return pc && dwell_addrspaces_find(u->spaces, u->pid, pc - 1);
}

static uint64_t address_of(const struct unwinding *u, uint64_t ra)
{
	return is_aarch64(u) ? ra & AARCH64_ADDRESS_MASK : ra;
}

/* A frame was left: its caller is the next. -1 = go on, else how it ends. */
static int caller_set(struct unwinding *u, uint64_t pc, uint64_t cfa, uint64_t fp, bool fp_known)
{
	u->frame = (struct frame){
		.pc = address_of(u, pc),
		.sp = cfa,
		.fp = fp,
		.fp_known = fp_known,
	};
	return u->frame.pc ? -1 : DWELL_UNWIND_COMPLETE;
}

/* By the frame pointer: the caller's and the return address stand where it points. */
static int step_by_pointer(struct unwinding *u)
{
	const struct frame *frame = &u->frame;
	uint64_t fp, ra;

	if (!frame->fp_known || !frame->fp)
		return frame->fp_known ? DWELL_UNWIND_COMPLETE : DWELL_UNWIND_NO_INFO;
	if (frame->fp % WORD || frame->fp < frame->sp)
		return DWELL_UNWIND_NO_INFO;
	if (!load(u, frame->fp, &fp) || !load(u, frame->fp + WORD, &ra))
		return DWELL_UNWIND_TRUNCATED;
	ra = address_of(u, ra);
	if (ra && !is_code(u, ra))
		return DWELL_UNWIND_NO_INFO;
	return caller_set(u, ra, frame->fp + 2 * WORD, fp, true);
}

/* Nothing is told of this code. A leaf may not have set up its frame yet: then the return address
 * is what the frame pointer does not know of, in the link register or on top of the stack. */
static int step_without_rule(struct unwinding *u)
{
	const struct frame frame = u->frame;
	int end = step_by_pointer(u);
	uint64_t ra;

	if (end < 0 || end == DWELL_UNWIND_TRUNCATED || !frame.first)
		return end;
	if (is_aarch64(u)) {
		ra = address_of(u, frame.link);
		if (frame.link_known && is_code(u, ra))
			return caller_set(u, ra, frame.sp, frame.fp, frame.fp_known);
	} else if (load(u, frame.sp, &ra) && is_code(u, ra)) {
		return caller_set(u, ra, frame.sp + WORD, frame.fp, frame.fp_known);
	}
	return end == DWELL_UNWIND_COMPLETE ? DWELL_UNWIND_NO_INFO : end;
}

/* The kernel put the interrupted registers on the stack: struct rt_sigframe, from where the stack
 * pointer stands when the handler returned. */
static int step_signal(struct unwinding *u)
{
	enum {
		X86_64_RBP =
			120, /* arch/x86/include/uapi/asm/sigcontext.h, behind 40 of ucontext */
		X86_64_RSP = 160,
		X86_64_RIP = 168,
		AARCH64_X0 =
			128 + 176 + 8, /* siginfo, ucontext up to its mcontext, fault address */
	};
	uint64_t at = u->frame.sp, fp_at, sp_at, pc_at, fp, sp, pc;
	struct frame frame = { .exact = true };

	if (is_aarch64(u)) {
		fp_at = at + AARCH64_X0 + WORD * CFI_AARCH64_X29;
		sp_at = at + AARCH64_X0 + WORD * CFI_AARCH64_SP;
		pc_at = sp_at + WORD;
		frame.link_known = load(u, at + AARCH64_X0 + WORD * CFI_AARCH64_X30, &frame.link);
	} else {
		fp_at = at + X86_64_RBP;
		sp_at = at + X86_64_RSP;
		pc_at = at + X86_64_RIP;
	}
	if (!load(u, fp_at, &fp) || !load(u, sp_at, &sp) || !load(u, pc_at, &pc))
		return DWELL_UNWIND_TRUNCATED;
	frame.pc = pc;
	frame.sp = sp;
	frame.fp = fp;
	frame.fp_known = true;
	u->frame = frame;
	return -1;
}

/* Registers but those of the frame are known only as they were when the thread stopped. */
static bool register_of(const struct unwinding *u, unsigned number, uint64_t *ret_value)
{
	if (!u->frame.first || number >= DWELL_UNWIND_REGISTERS || !(u->start->known >> number & 1))
		return false;
	*ret_value = u->start->registers[number];
	return true;
}

/* The value of the register that the CFA is counted from. */
static bool base_of(const struct unwinding *u, const struct dwell_unwind_rule *rule,
		    uint64_t *ret_base)
{
	const struct frame *frame = &u->frame;
	unsigned sp = is_aarch64(u) ? CFI_AARCH64_SP : CFI_X86_64_RSP;
	unsigned fp = is_aarch64(u) ? CFI_AARCH64_X29 : CFI_X86_64_RBP;

	if (rule->cfa_register == sp) {
		*ret_base = frame->sp;
		return true;
	}
	if (rule->cfa_register == fp) {
		*ret_base = frame->fp;
		return frame->fp_known;
	}
	return register_of(u, rule->cfa_register, ret_base);
}

static int step_cfa(struct unwinding *u, const struct dwell_unwind_rule *rule, uint64_t cfa)
{
	const struct frame frame = u->frame;
	bool fp_known = frame.fp_known && !(rule->flags & DWELL_UNWIND_FP_LOST);
	uint64_t ra = frame.link, fp = frame.fp;

	/* Only the innermost frame may have nothing on the stack. */
	if (cfa % WORD || cfa < frame.sp || (cfa == frame.sp && !frame.first && !frame.exact))
		return DWELL_UNWIND_NO_INFO;
	if (rule->flags & DWELL_UNWIND_RA_SAVED) {
		uint64_t at = cfa + (uint64_t)(int64_t)rule->ra_offset;

		if (!load(u, at, &ra))
			return missing(u, at);
	} else if (rule->flags & DWELL_UNWIND_RA_IN_REGISTER) {
		if (!register_of(u, (unsigned)rule->ra_offset, &ra))
			return DWELL_UNWIND_NO_INFO;
	} else if (!frame.link_known) {
		return DWELL_UNWIND_NO_INFO;
	}
	if (rule->flags & DWELL_UNWIND_FP_SAVED)
		fp_known = load(u, cfa + (uint64_t)(int64_t)rule->fp_offset, &fp);
	return caller_set(u, ra, cfa, fp, fp_known);
}

static int step_by_rule(struct unwinding *u, const struct dwell_unwind_rule *rule)
{
	uint64_t base;
	int end;

	switch (rule->kind) {
	case DWELL_UNWIND_CFA:
		if (!base_of(u, rule, &base))
			return DWELL_UNWIND_NO_INFO;
		end = step_cfa(u, rule, base + (uint64_t)(int64_t)rule->cfa_offset);
		u->frame.exact = end < 0 && rule->flags & DWELL_UNWIND_INTERRUPTED;
		return end;
	case DWELL_UNWIND_PLT:
		return step_cfa(u, rule,
				u->frame.sp + WORD +
					((u->frame.pc & 15) >= (uint64_t)rule->cfa_offset ? WORD
											  : 0));
	case DWELL_UNWIND_SIGNAL:
		return step_signal(u);
	case DWELL_UNWIND_END:
		return DWELL_UNWIND_COMPLETE;
	default:
		return step_without_rule(u);
	}
}

/* Leaves the frame: -1 and its caller is the frame, else how the chain ends. */
static int step(struct unwinding *u, dwell_unwind_table_fn table_of, void *user)
{
	uint64_t at = u->frame.exact ? u->frame.pc : u->frame.pc - 1;
	const struct dwell_mapping *map = dwell_addrspaces_find(u->spaces, u->pid, at);
	const struct dwell_unwind_table *table;
	const struct dwell_unwind_rule *rule;
	uint64_t offset;

	if (!map)
		return DWELL_UNWIND_NO_MAP;
	table = table_of(user, u->pid, map);
	if (!table || dwell_unwind_table_machine(table) != u->start->machine)
		return step_without_rule(u);
	offset = at - map->start + map->file_offset;
	rule = dwell_unwind_table_find(table, offset);
	/* A return to where a function begins, with none before it, is behind no call:
	 * makecontext() lets what runs on its stack end so. */
	if (rule->kind == DWELL_UNWIND_NONE && !u->frame.exact &&
	    dwell_unwind_table_find(table, offset + 1)->kind != DWELL_UNWIND_NONE)
		return DWELL_UNWIND_COMPLETE;
	return step_by_rule(u, rule);
}

void dwell_unwind(const struct dwell_unwind_start *start, const struct dwell_addrspaces *spaces,
		  int32_t pid, dwell_unwind_table_fn table_of, void *user,
		  struct dwell_unwound *ret)
{
	bool aarch64 = start->machine == EM_AARCH64;
	unsigned fp = aarch64 ? CFI_AARCH64_X29 : CFI_X86_64_RBP;
	struct unwinding u = { .start = start, .spaces = spaces, .pid = pid };
	int end = -1;

	u.frame = (struct frame){
		.pc = start->pc,
		.sp = start->registers[aarch64 ? CFI_AARCH64_SP : CFI_X86_64_RSP],
		.fp = start->registers[fp],
		.fp_known = start->known >> fp & 1,
		.link = start->registers[CFI_AARCH64_X30],
		.link_known = aarch64 && start->known >> CFI_AARCH64_X30 & 1,
		.exact = true,
		.first = true,
	};
	u.low = u.frame.sp;
	u.high = start->stack_bytes < UINT64_MAX - u.low ? u.low + start->stack_bytes : UINT64_MAX;
	ret->count = 0;
	while (end < 0) {
		uint64_t sp = u.frame.sp;

		if (ret->count == DWELL_UNWIND_FRAMES_MAX) {
			end = DWELL_UNWIND_DEEP;
			break;
		}
		ret->addresses[ret->count] = u.frame.pc + (u.frame.exact && !u.frame.first);
		end = step(&u, table_of, user);
		/* Signals go to other stacks; nothing else goes down, and only the innermost frame
		 * may have nothing on the stack. */
		if (end < 0 && !u.frame.exact &&
		    (u.frame.sp < sp || (u.frame.sp == sp && ret->count)))
			end = DWELL_UNWIND_NO_INFO;
		ret->cfas[ret->count++] = end < 0 ? u.frame.sp : 0;
	}
	ret->end = (uint8_t)end;
}
