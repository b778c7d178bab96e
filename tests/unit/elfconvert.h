/* SPDX-License-Identifier: MIT */
/* Turns the 64-bit little-endian ELF files of elfmake.h into another class or byte order, for tests
 * of files of other machines: headers, symbols and relocations; other sections stay as they are. */
#ifndef DWELL_TESTS_UNIT_ELFCONVERT_H
#define DWELL_TESTS_UNIT_ELFCONVERT_H

#include "tests/unit/elfmake.h"

/* Where bytes of one file go. */
struct elfconvert {
	unsigned char *to;
	bool big, wide;
};

static inline void elfconvert_put(struct elfconvert *c, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		*c->to++ = (unsigned char)(value >> 8 * (c->big ? bytes - 1 - i : i));
}

/* A number of the size of an address. */
static inline void elfconvert_word(struct elfconvert *c, uint64_t value)
{
	elfconvert_put(c, value, c->wide ? 8 : 4);
}

static inline void elfconvert_header(struct elfconvert *c, const Elf64_Ehdr *h, uint64_t shoff)
{
	memcpy(c->to, h->e_ident, EI_NIDENT);
	c->to[EI_CLASS] = c->wide ? ELFCLASS64 : ELFCLASS32;
	c->to[EI_DATA] = c->big ? ELFDATA2MSB : ELFDATA2LSB;
	c->to += EI_NIDENT;
	elfconvert_put(c, h->e_type, 2);
	elfconvert_put(c, h->e_machine, 2);
	elfconvert_put(c, h->e_version, 4);
	elfconvert_word(c, h->e_entry);
	elfconvert_word(c, c->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
	elfconvert_word(c, shoff);
	elfconvert_put(c, h->e_flags, 4);
	elfconvert_put(c, c->wide ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr), 2);
	elfconvert_put(c, c->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), 2);
	elfconvert_put(c, 1, 2); /* without the note */
	elfconvert_put(c, c->wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr), 2);
	elfconvert_put(c, h->e_shnum, 2);
	elfconvert_put(c, h->e_shstrndx, 2);
}

static inline void elfconvert_segment(struct elfconvert *c, const Elf64_Phdr *p)
{
	elfconvert_put(c, p->p_type, 4);
	if (c->wide)
		elfconvert_put(c, p->p_flags, 4);
	elfconvert_word(c, p->p_offset);
	elfconvert_word(c, p->p_vaddr);
	elfconvert_word(c, p->p_paddr);
	elfconvert_word(c, p->p_filesz);
	elfconvert_word(c, p->p_memsz);
	if (!c->wide)
		elfconvert_put(c, p->p_flags, 4);
	elfconvert_word(c, p->p_align);
}

static inline size_t elfconvert_symbols(struct elfconvert *c, const unsigned char *from,
					size_t bytes)
{
	const unsigned char *start = c->to;
	Elf64_Sym s;

	for (size_t at = 0; at + sizeof(s) <= bytes; at += sizeof(s)) {
		memcpy(&s, from + at, sizeof(s));
		elfconvert_put(c, s.st_name, 4);
		if (!c->wide) {
			elfconvert_word(c, s.st_value);
			elfconvert_word(c, s.st_size);
		}
		*c->to++ = s.st_info;
		*c->to++ = s.st_other;
		elfconvert_put(c, s.st_shndx, 2);
		if (c->wide) {
			elfconvert_word(c, s.st_value);
			elfconvert_word(c, s.st_size);
		}
	}
	return (size_t)(c->to - start);
}

static inline size_t elfconvert_rels(struct elfconvert *c, const unsigned char *from, size_t bytes,
				     bool addends)
{
	const unsigned char *start = c->to;
	Elf64_Rela r;

	for (size_t at = 0; at + sizeof(r) <= bytes; at += sizeof(r)) {
		memcpy(&r, from + at, sizeof(r));
		elfconvert_word(c, r.r_offset);
		elfconvert_word(c, c->wide ? r.r_info
					   : ELF32_R_INFO(ELF64_R_SYM(r.r_info),
							  ELF64_R_TYPE(r.r_info)));
		if (addends)
			elfconvert_word(c, (uint64_t)r.r_addend);
	}
	return (size_t)(c->to - start);
}

/* The file at make, which is finished, in another form at out (ELFMAKE_ROOM bytes): its size.
 * Relocation sections are written with addends in 64-bit files only, and renamed in type. */
static inline size_t elfconvert(const struct elfmake *make, bool wide, bool big, unsigned char *out)
{
	struct elfconvert c = { .to = out, .big = big, .wide = wide };
	size_t bytes[ELFMAKE_SECTIONS] = { 0 }, shoff = make->used;
	Elf64_Ehdr head;
	Elf64_Phdr load;

	memcpy(&head, make->bytes, sizeof(head));
	memcpy(&load, make->bytes + sizeof(head), sizeof(load));
	memset(out, 0, ELFMAKE_ROOM);
	shoff -= make->section_count * sizeof(Elf64_Shdr);
	elfconvert_header(&c, &head, shoff);
	elfconvert_segment(&c, &load);
	for (uint32_t i = 1; i < make->section_count; i++) {
		const Elf64_Shdr *s = &make->sections[i];
		const unsigned char *from = make->bytes + s->sh_offset;

		c.to = out + s->sh_offset;
		bytes[i] = s->sh_size;
		if (s->sh_type == SHT_SYMTAB || s->sh_type == SHT_DYNSYM)
			bytes[i] = elfconvert_symbols(&c, from, s->sh_size);
		else if (s->sh_type == SHT_RELA)
			bytes[i] = elfconvert_rels(&c, from, s->sh_size, wide);
		else
			memcpy(c.to, from, s->sh_size);
	}
	c.to = out + shoff;
	for (uint32_t i = 0; i < make->section_count; i++) {
		const Elf64_Shdr *s = &make->sections[i];
		bool rel = s->sh_type == SHT_RELA && !wide;
		uint64_t entry = s->sh_entsize == sizeof(Elf64_Sym) && !wide ? sizeof(Elf32_Sym)
				 : rel					     ? sizeof(Elf32_Rel)
									     : s->sh_entsize;

		elfconvert_put(&c, s->sh_name, 4);
		elfconvert_put(&c, rel ? SHT_REL : s->sh_type, 4);
		elfconvert_word(&c, s->sh_flags);
		elfconvert_word(&c, s->sh_addr);
		elfconvert_word(&c, s->sh_offset);
		elfconvert_word(&c, bytes[i]);
		elfconvert_put(&c, s->sh_link, 4);
		elfconvert_put(&c, s->sh_info, 4);
		elfconvert_word(&c, s->sh_addralign);
		elfconvert_word(&c, entry);
	}
	return (size_t)(c.to - out);
}

#endif
