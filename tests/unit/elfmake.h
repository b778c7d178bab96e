/* SPDX-License-Identifier: MIT */
/* Makes small 64-bit ELF files in memory for tests: sections and symbols become a file whose one
 * executable segment maps file offset o at address o + ELFMAKE_BIAS. */
#ifndef DWELL_TESTS_UNIT_ELFMAKE_H
#define DWELL_TESTS_UNIT_ELFMAKE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ELFMAKE_BIAS = 0x7000, ELFMAKE_TEXT = 0x1000, ELFMAKE_ROOM = 0x4000, ELFMAKE_SECTIONS = 16 };

struct elfmake {
	unsigned char bytes[ELFMAKE_ROOM];
	size_t used;
	Elf64_Shdr sections[ELFMAKE_SECTIONS];
	uint32_t section_count;
	char names[1024]; /* of sections and symbols alike */
	uint32_t names_used;
};

/* A file of a machine with a .text of so many bytes at file offset ELFMAKE_TEXT (section 1), and a
 * build id of 20 times `id` unless that is 0. */
static inline void elfmake_begin(struct elfmake *make, uint16_t machine, size_t text_bytes,
				 uint8_t id)
{
	Elf64_Ehdr head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = machine,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(head),
			    .e_ehsize = sizeof(head),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = id ? 2 : 1,
			    .e_shentsize = sizeof(Elf64_Shdr) };
	struct {
		Elf64_Phdr load, note;
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[20];
	} front = { .load = { .p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_filesz = ELFMAKE_ROOM,
			      .p_memsz = ELFMAKE_ROOM,
			      .p_vaddr = ELFMAKE_BIAS },
		    .note = { .p_type = PT_NOTE,
			      .p_offset = sizeof(head) + 2 * sizeof(Elf64_Phdr),
			      .p_filesz = sizeof(Elf64_Nhdr) + 24,
			      .p_align = 4 },
		    .head = { 4, 20, NT_GNU_BUILD_ID },
		    .name = "GNU" };

	memset(make, 0, sizeof(*make));
	memset(front.id, id, sizeof(front.id));
	memcpy(make->bytes, &head, sizeof(head));
	memcpy(make->bytes + sizeof(head), &front, sizeof(front));
	make->names_used = 1;
	make->section_count = 2;
	make->used = ELFMAKE_TEXT + text_bytes;
	make->sections[1] = (Elf64_Shdr){ .sh_name = 1,
					  .sh_type = SHT_PROGBITS,
					  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					  .sh_addr = ELFMAKE_TEXT + ELFMAKE_BIAS,
					  .sh_offset = ELFMAKE_TEXT,
					  .sh_size = text_bytes };
	memcpy(make->names + 1, ".text", 6);
	make->names_used = 7;
}

static inline uint32_t elfmake_name(struct elfmake *make, const char *name)
{
	uint32_t at = make->names_used;

	memcpy(make->names + at, name, strlen(name) + 1);
	make->names_used += (uint32_t)strlen(name) + 1;
	return at;
}

/* Adds a section; its index. Its header may still be changed in make->sections. */
static inline uint32_t elfmake_section(struct elfmake *make, const char *name, uint32_t type,
				       uint64_t flags, const void *data, size_t count)
{
	make->used = (make->used + 15) & ~(size_t)15;
	memcpy(make->bytes + make->used, data, count);
	make->sections[make->section_count] =
		(Elf64_Shdr){ .sh_name = elfmake_name(make, name),
			      .sh_type = type,
			      .sh_flags = flags,
			      .sh_addr = flags & SHF_ALLOC ? make->used + ELFMAKE_BIAS : 0,
			      .sh_offset = make->used,
			      .sh_size = count };
	make->used += count;
	return make->section_count++;
}

/* Adds .symtab or .dynsym; the null symbol is not among those given. Names are set with
 * elfmake_name() and live in the section that elfmake_end() adds last. */
static inline uint32_t elfmake_symbols(struct elfmake *make, uint32_t type,
				       const Elf64_Sym *symbols, uint32_t count)
{
	Elf64_Sym all[32] = { 0 };

	memcpy(all + 1, symbols, count * sizeof(*symbols));
	return elfmake_section(make, type == SHT_SYMTAB ? ".symtab" : ".dynsym", type, 0, all,
			       (count + 1) * sizeof(*symbols));
}

/* A symbol in section 1 at an offset in it. */
static inline Elf64_Sym elfmake_symbol(struct elfmake *make, const char *name, uint64_t at,
				       uint64_t bytes, unsigned bind, unsigned type)
{
	return (Elf64_Sym){ .st_name = elfmake_name(make, name),
			    .st_info = ELF64_ST_INFO(bind, type),
			    .st_shndx = 1,
			    .st_value = ELFMAKE_TEXT + ELFMAKE_BIAS + at,
			    .st_size = bytes };
}

/* Adds the names and the section headers: the file is make->bytes, make->used of them. */
static inline void elfmake_end(struct elfmake *make)
{
	uint32_t names_at = elfmake_name(make, ".strtab");
	uint32_t index = elfmake_section(make, "", SHT_STRTAB, 0, make->names, make->names_used);
	Elf64_Ehdr head;

	make->sections[index].sh_name = names_at;
	for (uint32_t i = 1; i < index; i++) {
		uint32_t type = make->sections[i].sh_type;

		if (type != SHT_SYMTAB && type != SHT_DYNSYM)
			continue;
		make->sections[i].sh_link = index;
		make->sections[i].sh_entsize = sizeof(Elf64_Sym);
	}
	memcpy(&head, make->bytes, sizeof(head));
	make->used = (make->used + 15) & ~(size_t)15;
	head.e_shoff = make->used;
	head.e_shnum = (uint16_t)make->section_count;
	head.e_shstrndx = (uint16_t)index;
	memcpy(make->bytes, &head, sizeof(head));
	memcpy(make->bytes + make->used, make->sections,
	       make->section_count * sizeof(*make->sections));
	make->used += make->section_count * sizeof(*make->sections);
}

#endif
