// SPDX-License-Identifier: MIT
/* PLT stubs become "name@plt": the jump in each stub is decoded to the slot it reads, and the
 * relocation of that slot names the function. Neither the order nor the size of stubs matters. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/symtab.h"

/* The slots of the largest programs are some ten thousand. */
enum { SLOTS_MAX = 1 << 20 };

struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	DWELL_ARRAY(struct slot) all;
};

enum reloc_kind { RELOC_OTHER, RELOC_SYMBOL, RELOC_RESOLVER };

/* A machine whose stubs are known: how its relocations and stubs look. */
struct plt_machine {
	uint16_t machine;
	uint32_t jump_slot, glob_dat, irelative; /* relocation types; 0 = not used */
	size_t step;				 /* stubs begin at multiples of it */
	uint32_t pad; /* an instruction that may stand before a stub as its start, 0 = none */
	/* At p, with `left` bytes behind it, at an address: the slot that a stub there reads. */
	bool (*stub)(const unsigned char *p, size_t left, uint64_t address, uint64_t got,
		     uint64_t *ret_slot);
};

static enum reloc_kind reloc_kind(const struct plt_machine *machine, uint32_t type)
{
	if (type == machine->jump_slot || type == machine->glob_dat)
		return RELOC_SYMBOL;
	return machine->irelative && type == machine->irelative ? RELOC_RESOLVER : RELOC_OTHER;
}

/* The name of a relocation's target: a dynamic symbol, or for IRELATIVE the function that picks the
 * one to use, which carries its name. NULL when it has none. */
static const char *reloc_name(const struct plt_machine *machine, const GElf_Rela *rela,
			      Elf_Data *symbols, const char *names, size_t names_bytes,
			      const struct symlist *functions)
{
	enum reloc_kind kind = reloc_kind(machine, GELF_R_TYPE(rela->r_info));
	const struct symbol *resolver;
	GElf_Sym sym;

	if (kind == RELOC_RESOLVER) {
		resolver = symlist_find(functions, (uint64_t)rela->r_addend);
		return resolver && resolver->start == (uint64_t)rela->r_addend ? resolver->name
									       : NULL;
	}
	if (kind != RELOC_SYMBOL || !names || GELF_R_SYM(rela->r_info) > INT32_MAX ||
	    !gelf_getsym(symbols, (int)GELF_R_SYM(rela->r_info), &sym) ||
	    sym.st_name >= names_bytes || !names[sym.st_name])
		return NULL;
	return names + sym.st_name;
}

/* A relocation of either form; without an addend that is 0. */
static bool reloc_get(Elf_Data *data, uint32_t type, int index, GElf_Rela *ret)
{
	GElf_Rel rel;

	if (type == SHT_RELA)
		return gelf_getrela(data, index, ret) != NULL;
	if (!gelf_getrel(data, index, &rel))
		return false;
	*ret = (GElf_Rela){ rel.r_offset, rel.r_info, 0 };
	return true;
}

/* Adds the slots that the relocations of a section fill. */
static int slots_gather(Elf *elf, const struct plt_machine *machine, const char *section_name,
			const struct symlist *functions, struct slots *slots)
{
	GElf_Shdr sh, symbols_sh;
	Elf_Scn *section = section_by_name(elf, section_name, &sh), *symbols_section;
	Elf_Data *data, *symbols;
	const char *names = NULL, *name;
	size_t names_bytes = 0;
	GElf_Rela rela;

	if (!section || (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL))
		return 0;
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf)
		return 0;
	/* Static programs have IRELATIVE relocations and no symbols to go with them. */
	symbols_section = sh.sh_link ? elf_getscn(elf, sh.sh_link) : NULL;
	symbols = symbols_section && gelf_getshdr(symbols_section, &symbols_sh) &&
				  symbols_sh.sh_type == SHT_DYNSYM
			  ? elf_getdata(symbols_section, NULL)
			  : NULL;
	if (symbols && symbols->d_buf)
		names = section_strings(elf, symbols_sh.sh_link, &names_bytes);
	for (int i = 0; reloc_get(data, sh.sh_type, i, &rela) && slots->all.count < SLOTS_MAX;
	     i++) {
		name = reloc_name(machine, &rela, symbols, names, names_bytes, functions);
		if (!name)
			continue;
		if (dwell_array_grow(&slots->all))
			return -ENOMEM;
		slots->all.data[slots->all.count++] = (struct slot){ rela.r_offset, name };
	}
	return 0;
}

static int slot_compare(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static uint32_t little32(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* At p, with `left` bytes behind it: [endbr64] [bnd] jmp *disp(%rip). The jump through a lazy
 * binding header reads a slot that no relocation fills. */
static bool x86_64_stub(const unsigned char *p, size_t left, uint64_t address, uint64_t got,
			uint64_t *ret_slot)
{
	size_t at = 0;

	(void)got;
	if (left >= 4 && little32(p) == 0xfa1e0ff3)
		at = 4;
	if (at < left && p[at] == 0xf2)
		at++;
	if (left - at < 6 || p[at] != 0xff || p[at + 1] != 0x25)
		return false;
	*ret_slot = address + at + 6 + (uint64_t)(int32_t)little32(p + at + 2);
	return true;
}

enum { AARCH64_BTI = (int)0xd503245f, ARM_THUMB_BX_PC = 0x46c04778 };

/* At p: [bti c] adrp x16, PAGE; ldr x17, [x16, #OFFSET]. */
static bool aarch64_stub(const unsigned char *p, size_t left, uint64_t address, uint64_t got,
			 uint64_t *ret_slot)
{
	uint32_t adrp, ldr;
	uint64_t pages;
	size_t at = left >= 4 && little32(p) == AARCH64_BTI ? 4 : 0;

	(void)got;
	if (left - at < 8)
		return false;
	adrp = little32(p + at);
	ldr = little32(p + at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return false;
	pages = (adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	if (pages & 1 << 20)
		pages |= ~0ull << 21;
	*ret_slot = ((address + at) & ~0xfffull) + (pages << 12) + (ldr >> 10 & 0xfff) * 8;
	return true;
}

/* At p: [endbr32] jmp *slot, or in code that may be anywhere jmp *disp(%ebx), with the address of
 * .got.plt in ebx. */
static bool i386_stub(const unsigned char *p, size_t left, uint64_t address, uint64_t got,
		      uint64_t *ret_slot)
{
	size_t at = left >= 4 && little32(p) == 0xfb1e0ff3 ? 4 : 0;

	(void)address;
	if (left - at < 6 || p[at] != 0xff || (p[at + 1] != 0x25 && p[at + 1] != 0xa3))
		return false;
	*ret_slot = (uint32_t)(little32(p + at + 2) + (p[at + 1] == 0xa3 ? got : 0));
	return true;
}

/* An immediate of an ARM data instruction: 8 bits, turned right by twice 4 bits. */
static uint32_t arm_immediate(uint32_t instruction)
{
	uint32_t value = instruction & 0xff, turn = (instruction >> 8 & 15) * 2;

	return turn ? value >> turn | value << (32 - turn) : value;
}

/* At p: [bx pc; nop in Thumb] add ip, pc, #A; add ip, ip, #B; ldr pc, [ip, #C]!. */
static bool arm_stub(const unsigned char *p, size_t left, uint64_t address, uint64_t got,
		     uint64_t *ret_slot)
{
	size_t at = left >= 4 && little32(p) == ARM_THUMB_BX_PC ? 4 : 0;
	uint32_t first, second, load;

	(void)got;
	if (left - at < 12)
		return false;
	first = little32(p + at);
	second = little32(p + at + 4);
	load = little32(p + at + 8);
	if (first >> 12 != 0xe28fc || second >> 12 != 0xe28cc || load >> 12 != 0xe5bcf)
		return false;
	*ret_slot = (uint32_t)(address + at + 8 + arm_immediate(first) + arm_immediate(second) +
			       (load & 0xfff));
	return true;
}

static const struct plt_machine machines[] = {
	{ EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, 8, 0, x86_64_stub },
	{ EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, 0, 8, 0, i386_stub },
	{ EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, 4,
	  (uint32_t)AARCH64_BTI, aarch64_stub },
	{ EM_ARM, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, 0, 4, ARM_THUMB_BX_PC, arm_stub },
};

static int stubs_gather(Elf *elf, const struct plt_machine *machine, const char *section_name,
			uint64_t got, const struct slots *slots, struct symlist *stubs)
{
	GElf_Shdr sh;
	Elf_Scn *section = section_by_name(elf, section_name, &sh);
	Elf_Data *data = section && sh.sh_type == SHT_PROGBITS ? elf_getdata(section, NULL) : NULL;
	const struct slot *slot;
	struct slot key = { 0 };

	if (!data || !data->d_buf || sh.sh_addr + data->d_size < sh.sh_addr)
		return 0;
	for (size_t at = 0; at < data->d_size; at += machine->step) {
		const unsigned char *p = (const unsigned char *)data->d_buf + at;
		const struct symbol stub = { .start = sh.sh_addr + at,
					     .end = sh.sh_addr + data->d_size,
					     .flags = SYMBOL_OPEN };

		if (!machine->stub(p, data->d_size - at, stub.start, got, &key.address))
			continue;
		slot = bsearch(&key, slots->all.data, slots->all.count, sizeof(key), slot_compare);
		if (!slot)
			continue;
		if (symlist_add(stubs, &stub))
			return -ENOMEM;
		stubs->all.data[stubs->all.count - 1].name = slot->name;
		/* The instructions after an optional landing pad would match again. */
		at += machine->pad && little32(p) == machine->pad ? machine->step : 0;
	}
	return 0;
}

/* The machine of a file if its stubs can be read; NULL otherwise. Instructions are read low byte
 * first, as all of them are there but on big-endian ARM. */
static const struct plt_machine *machine_of(Elf *elf)
{
	GElf_Ehdr head;

	if (!gelf_getehdr(elf, &head))
		return NULL;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == head.e_machine)
			return head.e_machine == EM_ARM && head.e_ident[EI_DATA] != ELFDATA2LSB
				       ? NULL
				       : &machines[i];
	return NULL;
}

int plt_gather(Elf *elf, const struct symlist *functions, struct symlist *stubs)
{
	static const char *const relocs[] = { ".rela.plt", ".rela.dyn", ".rel.plt", ".rel.dyn" };
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	const struct plt_machine *machine = machine_of(elf);
	struct slots slots = { 0 };
	GElf_Shdr got = { 0 };
	int rc = 0;

	if (!machine)
		return 0;
	if (!section_by_name(elf, ".got.plt", &got) && !section_by_name(elf, ".got", &got))
		got.sh_addr = 0;
	for (size_t i = 0; !rc && i < sizeof(relocs) / sizeof(*relocs); i++)
		rc = slots_gather(elf, machine, relocs[i], functions, &slots);
	if (!rc && slots.all.count) {
		qsort(slots.all.data, slots.all.count, sizeof(*slots.all.data), slot_compare);
		for (size_t i = 0; !rc && i < sizeof(sections) / sizeof(*sections); i++)
			rc = stubs_gather(elf, machine, sections[i], got.sh_addr, &slots, stubs);
	}
	dwell_array_release(&slots.all);
	return rc;
}
