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

static enum reloc_kind reloc_kind(uint16_t machine, uint32_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ? RELOC_SYMBOL
		       : type == R_X86_64_IRELATIVE			       ? RELOC_RESOLVER
									       : RELOC_OTHER;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ? RELOC_SYMBOL
	       : type == R_AARCH64_IRELATIVE				 ? RELOC_RESOLVER
									 : RELOC_OTHER;
}

/* The name of a relocation's target: a dynamic symbol, or for IRELATIVE the function that picks the
 * one to use, which carries its name. NULL when it has none. */
static const char *reloc_name(uint16_t machine, const GElf_Rela *rela, Elf_Data *symbols,
			      const char *names, size_t names_bytes,
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

/* Adds the slots that the relocations of a section fill. */
static int slots_gather(Elf *elf, uint16_t machine, const char *section_name,
			const struct symlist *functions, struct slots *slots)
{
	GElf_Shdr sh, symbols_sh;
	Elf_Scn *section = section_by_name(elf, section_name, &sh), *symbols_section;
	Elf_Data *data, *symbols;
	const char *names = NULL, *name;
	size_t names_bytes = 0;
	GElf_Rela rela;

	if (!section || sh.sh_type != SHT_RELA)
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
	for (int i = 0; gelf_getrela(data, i, &rela) && slots->all.count < SLOTS_MAX; i++) {
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
static bool x86_64_stub(const unsigned char *p, size_t left, uint64_t address, uint64_t *ret_slot)
{
	size_t at = 0;

	if (left >= 4 && little32(p) == 0xfa1e0ff3)
		at = 4;
	if (at < left && p[at] == 0xf2)
		at++;
	if (left - at < 6 || p[at] != 0xff || p[at + 1] != 0x25)
		return false;
	*ret_slot = address + at + 6 + (uint64_t)(int32_t)little32(p + at + 2);
	return true;
}

/* At p: [bti c] adrp x16, PAGE; ldr x17, [x16, #OFFSET]. */
static bool aarch64_stub(const unsigned char *p, size_t left, uint64_t address, uint64_t *ret_slot)
{
	uint32_t adrp, ldr;
	uint64_t pages;
	size_t at = left >= 4 && little32(p) == 0xd503245f ? 4 : 0;

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

/* Stubs begin at multiples of 8 bytes on x86-64, of an instruction elsewhere. */
static int stubs_gather(Elf *elf, uint16_t machine, const char *section_name,
			const struct slots *slots, struct symlist *stubs)
{
	size_t step = machine == EM_X86_64 ? 8 : 4;
	GElf_Shdr sh;
	Elf_Scn *section = section_by_name(elf, section_name, &sh);
	Elf_Data *data = section && sh.sh_type == SHT_PROGBITS ? elf_getdata(section, NULL) : NULL;
	const struct slot *slot;
	struct slot key = { 0 };

	if (!data || !data->d_buf || sh.sh_addr + data->d_size < sh.sh_addr)
		return 0;
	for (size_t at = 0; at < data->d_size; at += step) {
		const unsigned char *p = (const unsigned char *)data->d_buf + at;
		const struct symbol stub = { .start = sh.sh_addr + at,
					     .end = sh.sh_addr + data->d_size,
					     .flags = SYMBOL_OPEN };

		if (!(machine == EM_X86_64
			      ? x86_64_stub(p, data->d_size - at, stub.start, &key.address)
			      : aarch64_stub(p, data->d_size - at, stub.start, &key.address)))
			continue;
		slot = bsearch(&key, slots->all.data, slots->all.count, sizeof(key), slot_compare);
		if (!slot)
			continue;
		if (symlist_add(stubs, &stub))
			return -ENOMEM;
		stubs->all.data[stubs->all.count - 1].name = slot->name;
		/* The instructions after an optional landing pad would match again. */
		at += step == 4 && little32(p) == 0xd503245f ? step : 0;
	}
	return 0;
}

int plt_gather(Elf *elf, const struct symlist *functions, struct symlist *stubs)
{
	static const char *const relocs[] = { ".rela.plt", ".rela.dyn" };
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	struct slots slots = { 0 };
	GElf_Ehdr head;
	int rc = 0;

	if (!gelf_getehdr(elf, &head) ||
	    (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64))
		return 0;
	for (size_t i = 0; !rc && i < sizeof(relocs) / sizeof(*relocs); i++)
		rc = slots_gather(elf, head.e_machine, relocs[i], functions, &slots);
	if (!rc && slots.all.count) {
		qsort(slots.all.data, slots.all.count, sizeof(*slots.all.data), slot_compare);
		for (size_t i = 0; !rc && i < sizeof(sections) / sizeof(*sections); i++)
			rc = stubs_gather(elf, head.e_machine, sections[i], &slots, stubs);
	}
	dwell_array_release(&slots.all);
	return rc;
}
