// SPDX-License-Identifier: MIT
/* Tests of symbol lists of other machines' files: 32-bit and big-endian ones, Thumb code, function
 * descriptors, and the PLT stubs of 32-bit machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <cmocka.h>

#include "parse/elf/symtab.h"
#include "tests/unit/elfconvert.h"

static unsigned char file[ELFMAKE_ROOM];

static struct symtab *load(const struct elfmake *make, bool wide, bool big)
{
	struct image image = { .fd = -1 }, debug = { .fd = -1 };
	struct symtab *table;

	assert_int_equal(image_open_memory(file, elfconvert(make, wide, big, file), &image.elf), 0);
	assert_int_equal(symtab_load(&image, &debug, &table), 0);
	return table;
}

static void assert_at(const struct symtab *table, uint64_t offset, const char *name, bool stub)
{
	bool plt = !stub;
	const struct symbol *symbol = symtab_find(table, offset, &plt);

	if (!name) {
		assert_null(symbol);
		return;
	}
	assert_non_null(symbol);
	assert_string_equal(symbol->name, name);
	assert_int_equal(plt, stub);
}

/* Every machine whose files are of the other class or byte order. */
static void classes_and_byte_orders(void **state)
{
	static const struct {
		uint16_t machine;
		bool wide, big;
		const char *mark;
	} cases[] = {
		{ EM_X86_64, true, false, ".L1" }, { EM_386, false, false, ".L1" },
		{ EM_AARCH64, true, false, "$x" }, { EM_AARCH64, true, true, "$d.1" },
		{ EM_ARM, false, false, "$t" },	   { EM_ARM, false, true, "$a" },
		{ EM_RISCV, true, false, "$d" },   { EM_RISCV, false, false, "$xrv32i2p1" },
		{ EM_PPC64, true, true, ".L1" },   { EM_PPC64, true, false, ".L1" },
		{ EM_S390, true, true, ".L1" },	   { EM_S390, false, true, ".L1" },
	};
	static struct elfmake make;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symtab *table;

		elfmake_begin(&make, cases[i].machine, 0x100, 0);
		{
			const Elf64_Sym symbols[] = {
				elfmake_symbol(&make, "one", 0x10, 0x30, STB_GLOBAL, STT_FUNC),
				elfmake_symbol(&make, cases[i].mark, 0x20, 0, STB_LOCAL,
					       STT_NOTYPE),
				elfmake_symbol(&make, "two", 0x40, 0x20, STB_LOCAL, STT_FUNC),
			};

			elfmake_symbols(&make, SHT_SYMTAB, symbols, 3);
		}
		elfmake_end(&make);
		table = load(&make, cases[i].wide, cases[i].big);
		assert_at(table, ELFMAKE_TEXT + 0x0f, NULL, false);
		assert_at(table, ELFMAKE_TEXT + 0x10, "one", false);
		assert_at(table, ELFMAKE_TEXT + 0x3f, "one", false);
		assert_at(table, ELFMAKE_TEXT + 0x40, "two", false);
		assert_at(table, ELFMAKE_TEXT + 0x60, NULL, false);
		symtab_free(table);
	}
}

/* The lowest bit of a function's address says Thumb on ARM, and nothing elsewhere. */
static void thumb(void **state)
{
	static struct elfmake make;

	(void)state;
	for (int arm = 0; arm < 2; arm++) {
		struct symtab *table;

		elfmake_begin(&make, arm ? EM_ARM : EM_386, 0x100, 0);
		{
			const Elf64_Sym symbols[] = {
				elfmake_symbol(&make, "thumb", 0x11, 0x10, STB_GLOBAL, STT_FUNC),
				elfmake_symbol(&make, "next", 0x21, 0x10, STB_GLOBAL, STT_FUNC),
			};

			elfmake_symbols(&make, SHT_SYMTAB, symbols, 2);
		}
		elfmake_end(&make);
		table = load(&make, false, false);
		assert_at(table, ELFMAKE_TEXT + 0x10, arm ? "thumb" : NULL, false);
		assert_at(table, ELFMAKE_TEXT + 0x11, "thumb", false);
		assert_at(table, ELFMAKE_TEXT + 0x20, arm ? "next" : "thumb", false);
		symtab_free(table);
	}
}

/* Symbols of the first ppc64 ABI name descriptors; the code is where those point. */
static void descriptors(void **state)
{
	static struct elfmake make;
	unsigned char opd[3 * 24] = { 0 };

	(void)state;
	for (int big = 0; big < 2; big++) {
		static const uint64_t code[] = { 0x40, 0x10, 0x5000 };
		struct symtab *table;
		uint32_t index;

		elfmake_begin(&make, EM_PPC64, 0x100, 0);
		for (int i = 0; i < 3; i++) {
			struct elfconvert c = { .to = opd + (size_t)24 * i, .big = big };

			elfconvert_put(&c, ELFMAKE_TEXT + ELFMAKE_BIAS + code[i], 8);
		}
		index = elfmake_section(&make, ".opd", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, opd,
					sizeof(opd));
		{
			Elf64_Sym symbols[] = {
				elfmake_symbol(&make, "at_40", 0, 0x10, STB_GLOBAL, STT_FUNC),
				elfmake_symbol(&make, "at_10", 24, 0x20, STB_GLOBAL, STT_FUNC),
				elfmake_symbol(&make, "nowhere", 48, 0x20, STB_GLOBAL, STT_FUNC),
				elfmake_symbol(&make, "cut", 68, 0x20, STB_GLOBAL, STT_FUNC),
			};

			for (int i = 0; i < 4; i++) {
				symbols[i].st_shndx = (uint16_t)index;
				symbols[i].st_value += make.sections[index].sh_addr -
						       (ELFMAKE_TEXT + ELFMAKE_BIAS);
			}
			elfmake_symbols(&make, SHT_SYMTAB, symbols, 4);
		}
		elfmake_end(&make);
		table = load(&make, true, big);
		assert_at(table, ELFMAKE_TEXT + 0x10, "at_10", false);
		assert_at(table, ELFMAKE_TEXT + 0x2f, "at_10", false);
		assert_at(table, ELFMAKE_TEXT + 0x30, NULL, false);
		assert_at(table, ELFMAKE_TEXT + 0x40, "at_40", false);
		assert_at(table, make.sections[index].sh_offset, NULL, false);
		symtab_free(table);
	}
}

static void put32(unsigned char *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

/* Two functions of other files, whose slots are at 0x20010 and 0x20014. */
static void add_relocs(struct elfmake *make, uint32_t jump)
{
	const Elf64_Sym symbols[] = { { .st_name = elfmake_name(make, "puts") },
				      { .st_name = elfmake_name(make, "exit") } };
	const Elf64_Rela plt[] = { { 0x20010, ELF64_R_INFO(1ull, jump), 0 },
				   { 0x20014, ELF64_R_INFO(2ull, jump), 0 } };
	uint32_t dynsym = elfmake_symbols(make, SHT_DYNSYM, symbols, 2), index;

	index = elfmake_section(make, ".rel.plt", SHT_RELA, SHF_ALLOC, plt, sizeof(plt));
	make->sections[index].sh_link = dynsym;
	make->sections[index].sh_entsize = sizeof(Elf64_Rela);
}

static void plt_i386(void **state)
{
	static struct elfmake make;
	unsigned char plt[64] = { 0xff, 0x35, 0x04, 0, 2, 0, 0xff, 0x25, 0x08, 0, 2 };
	struct symtab *table;
	uint32_t index, got;
	uint64_t offset;

	(void)state;
	elfmake_begin(&make, EM_386, 0x40, 0);
	add_relocs(&make, R_386_JMP_SLOT);
	plt[16] = plt[36] = 0xff;
	plt[17] = 0x25; /* jmp *0x20010 */
	put32(plt + 18, 0x20010);
	put32(plt + 32, 0xfb1e0ff3); /* endbr32; jmp *0x14(%ebx) */
	plt[37] = 0xa3;
	put32(plt + 38, 0x14);
	plt[48] = 0xff; /* jmp *0x20018: no such slot */
	plt[49] = 0x25;
	put32(plt + 50, 0x20018);
	index = elfmake_section(&make, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, plt,
				sizeof(plt));
	got = elfmake_section(&make, ".got.plt", SHT_PROGBITS, SHF_ALLOC, plt, 4);
	make.sections[got].sh_addr = 0x20000;
	elfmake_end(&make);
	table = load(&make, false, false);
	offset = make.sections[index].sh_offset;
	assert_at(table, offset + 6, NULL, true);
	assert_at(table, offset + 16, "puts", true);
	assert_at(table, offset + 31, "puts", true);
	assert_at(table, offset + 32, "exit", true);
	symtab_free(table);
}

/* add ip, pc, #0; add ip, ip, #PAGES; ldr pc, [ip, #REST]!, at an address, for a slot. */
static void put_arm(unsigned char *code, uint64_t address, uint32_t slot)
{
	uint32_t distance = slot - (uint32_t)(address + 8);

	put32(code, 0xe28fc600);
	put32(code + 4, 0xe28cca00 | distance >> 12);
	put32(code + 8, 0xe5bcf000 | (distance & 0xfff));
}

static void plt_arm(void **state)
{
	static struct elfmake make;
	unsigned char plt[20 + 12 + 16] = { 0 };
	struct symtab *table;
	uint64_t address, offset;
	uint32_t index;

	(void)state;
	elfmake_begin(&make, EM_ARM, 0x40, 0);
	add_relocs(&make, R_ARM_JUMP_SLOT);
	address = ((make.used + 15) & ~(size_t)15) + ELFMAKE_BIAS;
	put_arm(plt + 20, address + 20, 0x20014);
	put32(plt + 32, 0x46c04778); /* bx pc; nop */
	put_arm(plt + 36, address + 36, 0x20010);
	index = elfmake_section(&make, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, plt,
				sizeof(plt));
	elfmake_end(&make);
	table = load(&make, false, false);
	offset = make.sections[index].sh_offset;
	assert_at(table, offset, NULL, true);
	assert_at(table, offset + 20, "exit", true);
	assert_at(table, offset + 31, "exit", true);
	assert_at(table, offset + 32, "puts", true);
	assert_at(table, offset + 47, "puts", true);
	symtab_free(table);
	/* Which way round instructions are is not certain there: rather no names. */
	table = load(&make, false, true);
	assert_at(table, offset + 20, NULL, true);
	symtab_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_and_byte_orders),
		cmocka_unit_test(thumb),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(plt_i386),
		cmocka_unit_test(plt_arm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
