// SPDX-License-Identifier: MIT
/* Tests of symbol lists and PLT stubs, on small ELF files made here: which symbol is shown for
 * which file offset, and that headers which lie do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "parse/elf/image.h"
#include "parse/elf/symtab.h"
#include "tests/unit/elfmake.h"

static struct symtab *load(const struct elfmake *make)
{
	struct image image = { .fd = -1 }, debug = { .fd = -1 };
	struct symtab *table;

	assert_int_equal(image_open_memory(make->bytes, make->used, &image.elf), 0);
	assert_int_equal(symtab_load(&image, &debug, &table), 0);
	return table;
}

/* What is at an offset in .text; NULL = nothing. */
static void assert_at(const struct symtab *table, uint64_t at, const char *name)
{
	bool plt;
	const struct symbol *symbol = symtab_find(table, ELFMAKE_TEXT + at, &plt);

	if (!name) {
		assert_null(symbol);
		return;
	}
	assert_non_null(symbol);
	assert_string_equal(symbol->name, name);
	assert_false(plt);
}

static struct symtab *load_symbols(struct elfmake *make, const Elf64_Sym *symbols, uint32_t count)
{
	elfmake_symbols(make, SHT_SYMTAB, symbols, count);
	elfmake_end(make);
	return load(make);
}

static void ranges_and_gaps(void **state)
{
	static struct elfmake make;
	struct symtab *table;

	(void)state;
	elfmake_begin(&make, EM_X86_64, 0x100, 0);
	{
		const Elf64_Sym symbols[] = {
			elfmake_symbol(&make, "second", 0x20, 0x10, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "first", 0x10, 0x08, STB_LOCAL, STT_FUNC),
			elfmake_symbol(&make, "open", 0x40, 0, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "picked", 0x60, 4, STB_GLOBAL, STT_GNU_IFUNC),
			elfmake_symbol(&make, "last", 0xf0, 0, STB_GLOBAL, STT_FUNC),
		};

		table = load_symbols(&make, symbols, 5);
	}
	assert_at(table, 0x0f, NULL);
	assert_at(table, 0x10, "first");
	assert_at(table, 0x17, "first");
	assert_at(table, 0x18, NULL);
	assert_at(table, 0x20, "second");
	assert_at(table, 0x30, NULL);
	assert_at(table, 0x40, "open");
	assert_at(table, 0x5f, "open");
	assert_at(table, 0x60, "picked");
	assert_at(table, 0x64, NULL);
	assert_at(table, 0xff, "last");
	assert_at(table, 0x100, NULL); /* not past the end of its section */
	assert_at(table, UINT64_MAX - ELFMAKE_TEXT, NULL);
	symtab_free(table);
}

static void only_code_counts(void **state)
{
	static struct elfmake make;
	struct symtab *table;

	(void)state;
	elfmake_begin(&make, EM_AARCH64, 0x100, 0);
	{
		Elf64_Sym symbols[] = {
			elfmake_symbol(&make, "code", 0, 0, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "object", 0x10, 8, STB_GLOBAL, STT_OBJECT),
			elfmake_symbol(&make, "$x", 0x20, 0, STB_LOCAL, STT_NOTYPE),
			elfmake_symbol(&make, "$d.12", 0x28, 0, STB_LOCAL, STT_NOTYPE),
			elfmake_symbol(&make, ".L77", 0x30, 0, STB_LOCAL, STT_NOTYPE),
			elfmake_symbol(&make, "hidden_label", 0x40, 0, STB_GLOBAL, STT_NOTYPE),
			elfmake_symbol(&make, "undefined", 0x50, 8, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "absolute", 0x60, 8, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "before", -8ull, 0, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "behind", 0x100, 0, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "", 0x70, 8, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "$dollar", 0x80, 0, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "label", 0x90, 0, STB_LOCAL, STT_NOTYPE),
		};

		symbols[5].st_other = STV_HIDDEN;
		symbols[6].st_shndx = SHN_UNDEF;
		symbols[7].st_shndx = SHN_ABS;
		table = load_symbols(&make, symbols, 13);
	}
	for (uint64_t at = 0; at < 0x80; at++)
		assert_at(table, at, "code");
	assert_at(table, 0x80, "$dollar");
	assert_at(table, 0x90, "label");
	symtab_free(table);
}

static void aliases_and_nesting(void **state)
{
	static struct elfmake make;
	struct symtab *table;

	(void)state;
	elfmake_begin(&make, EM_X86_64, 0x100, 0);
	{
		const Elf64_Sym symbols[] = {
			elfmake_symbol(&make, "__libc_write", 0, 0x10, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "write", 0, 0x10, STB_WEAK, STT_FUNC),
			elfmake_symbol(&make, "aaaa", 0, 0x10, STB_LOCAL, STT_FUNC),
			elfmake_symbol(&make, "a", 0, 0, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "b", 0, 0x10, STB_GLOBAL, STT_NOTYPE),
			elfmake_symbol(&make, "outer", 0x20, 0x80, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "inner", 0x30, 0x10, STB_LOCAL, STT_FUNC),
			elfmake_symbol(&make, "innermost", 0x34, 0x04, STB_LOCAL, STT_FUNC),
			elfmake_symbol(&make, "label_inside", 0x50, 0, STB_LOCAL, STT_NOTYPE),
			elfmake_symbol(&make, "short", 0x60, 0x08, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "shorter", 0x60, 0x04, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "crosses", 0x90, 0x20, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "endless", 0xe0, UINT64_MAX, STB_GLOBAL, STT_FUNC),
		};

		table = load_symbols(&make, symbols, 13);
	}
	assert_at(table, 0x00, "write");
	assert_at(table, 0x10, NULL);
	assert_at(table, 0x20, "outer");
	assert_at(table, 0x30, "inner");
	assert_at(table, 0x34, "innermost");
	assert_at(table, 0x38, "inner");
	assert_at(table, 0x40, "outer");
	assert_at(table, 0x50, "outer");
	assert_at(table, 0x60, "shorter");
	assert_at(table, 0x64, "short");
	assert_at(table, 0x68, "outer");
	assert_at(table, 0x90, "crosses");
	assert_at(table, 0xa0, "crosses");
	assert_at(table, 0xb0, NULL);
	assert_at(table, 0xff, "endless");
	assert_at(table, 0x100, NULL);
	symtab_free(table);
}

/* Many functions nested and side by side against a search through all of them. */
static void innermost_of_many(void **state)
{
	enum { COUNT = 400 };
	static const char name[] = "f";
	struct symlist list = { 0 };
	uint64_t starts[COUNT], ends[COUNT];
	uint32_t seed = 7;

	(void)state;
	for (uint32_t i = 0; i < COUNT; i++) {
		seed = seed * 1103515245 + 12345;
		starts[i] = i * 10;
		ends[i] = starts[i] + 1 + (seed >> 16) % 100;
		assert_int_equal(symlist_add(&list, &(struct symbol){ .start = starts[i],
								      .end = ends[i],
								      .name = name }),
				 0);
	}
	symlist_finish(&list);
	for (uint64_t address = 0; address < COUNT * 10 + 100; address++) {
		const struct symbol *found = symlist_find(&list, address);
		uint32_t best = COUNT;

		for (uint32_t i = 0; i < COUNT; i++)
			if (starts[i] <= address && address < ends[i])
				best = i;
		assert_int_equal(found ? found->start : UINT64_MAX,
				 best < COUNT ? starts[best] : UINT64_MAX);
	}
	dwell_array_release(&list.all);
}

/* Both tables, with names only one of them has. */
static void tables_are_merged(void **state)
{
	static struct elfmake make;
	struct symtab *table;

	(void)state;
	elfmake_begin(&make, EM_X86_64, 0x100, 0);
	{
		const Elf64_Sym a = elfmake_symbol(&make, "a", 0, 8, STB_LOCAL, STT_FUNC);
		const Elf64_Sym b = elfmake_symbol(&make, "b", 8, 8, STB_GLOBAL, STT_FUNC);

		elfmake_symbols(&make, SHT_DYNSYM, &b, 1);
		table = load_symbols(&make, &a, 1);
	}
	assert_at(table, 4, "a");
	assert_at(table, 12, "b");
	symtab_free(table);
}

static void put32(unsigned char *p, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(value >> 8 * i);
}

static void assert_stub(const struct symtab *table, uint64_t file_offset, const char *name)
{
	bool plt = false;
	const struct symbol *symbol = symtab_find(table, file_offset, &plt);

	if (!name) {
		assert_null(symbol);
		return;
	}
	assert_non_null(symbol);
	assert_string_equal(symbol->name, name);
	assert_true(plt);
}

/* Slots are at 0x20000 + 8 * i; 0 to 2 belong to the linker. Relocations stand in no order. */
static void add_relocs(struct elfmake *make, uint32_t jump, uint32_t data, uint32_t irelative)
{
	const Elf64_Sym symbols[] = {
		{ .st_name = elfmake_name(make, "puts") },
		{ .st_name = elfmake_name(make, "exit") },
		{ .st_name = elfmake_name(make, "free") },
	};
	const Elf64_Rela plt[] = {
		{ 0x20000 + 8 * 4, ELF64_R_INFO(2ull, jump), 0 },
		{ 0x20000 + 8 * 3, ELF64_R_INFO(1ull, jump), 0 },
		{ 0x20000 + 8 * 5, ELF64_R_INFO(0ull, irelative),
		  ELFMAKE_BIAS + ELFMAKE_TEXT + 0x10 },
		{ 0x20000 + 8 * 7, ELF64_R_INFO(99ull, jump), 0 },
	};
	const Elf64_Rela dyn[] = { { 0x20000 + 8 * 6, ELF64_R_INFO(3ull, data), 0 } };
	const Elf64_Sym code = elfmake_symbol(make, "memcpy", 0x10, 8, STB_GLOBAL, STT_GNU_IFUNC);
	uint32_t dynsym = elfmake_symbols(make, SHT_DYNSYM, symbols, 3), index;

	elfmake_symbols(make, SHT_SYMTAB, &code, 1);
	index = elfmake_section(make, ".rela.plt", SHT_RELA, SHF_ALLOC, plt, sizeof(plt));
	make->sections[index].sh_link = dynsym;
	make->sections[index].sh_entsize = sizeof(Elf64_Rela);
	index = elfmake_section(make, ".rela.dyn", SHT_RELA, SHF_ALLOC, dyn, sizeof(dyn));
	make->sections[index].sh_link = dynsym;
	make->sections[index].sh_entsize = sizeof(Elf64_Rela);
}

/* jmp *slot(%rip) at offset `at` of a section that starts at address. */
static void put_jump(unsigned char *code, size_t at, uint64_t address, unsigned slot)
{
	code[at] = 0xff;
	code[at + 1] = 0x25;
	put32(code + at + 2, (uint32_t)(0x20000 + 8 * slot - (address + at + 6)));
}

static void plt_x86_64(void **state)
{
	static struct elfmake make;
	struct symtab *table;
	unsigned char plt[64] = { 0 }, sec[32] = { 0 }, got[16] = { 0 };
	uint32_t sections[3];
	uint64_t address;

	(void)state;
	elfmake_begin(&make, EM_X86_64, 0x40, 0);
	add_relocs(&make, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE);
	address = ((make.used + 15) & ~(size_t)15) + ELFMAKE_BIAS;
	plt[0] = 0xff; /* push: the header of lazy binding */
	plt[1] = 0x35;
	put_jump(plt, 6, address, 2);
	put_jump(plt, 16, address, 3);
	put_jump(plt, 32, address, 7);
	put_jump(plt, 48, address, 5);
	sections[0] =
		elfmake_section(&make, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, plt, 64);
	address = ((make.used + 15) & ~(size_t)15) + ELFMAKE_BIAS;
	put32(sec, 0xfa1e0ff3);
	put_jump(sec, 4, address, 4);
	put32(sec + 16, 0xfa1e0ff3);
	sec[20] = 0xf2;
	put_jump(sec, 21, address, 3);
	sections[1] = elfmake_section(&make, ".plt.sec", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				      sec, 32);
	address = ((make.used + 15) & ~(size_t)15) + ELFMAKE_BIAS;
	put_jump(got, 0, address, 6);
	put_jump(got, 8, address, 3);
	sections[2] = elfmake_section(&make, ".plt.got", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				      got, 16);
	elfmake_end(&make);
	table = load(&make);
	assert_stub(table, make.sections[sections[0]].sh_offset + 8, NULL);
	assert_stub(table, make.sections[sections[0]].sh_offset + 16, "puts");
	assert_stub(table, make.sections[sections[0]].sh_offset + 31, "puts");
	assert_stub(table, make.sections[sections[0]].sh_offset + 48, "memcpy");
	assert_stub(table, make.sections[sections[0]].sh_offset + 63, "memcpy");
	assert_stub(table, make.sections[sections[1]].sh_offset, "exit");
	assert_stub(table, make.sections[sections[1]].sh_offset + 20, "puts");
	assert_stub(table, make.sections[sections[2]].sh_offset + 7, "free");
	assert_stub(table, make.sections[sections[2]].sh_offset + 8, "puts");
	assert_stub(table, make.sections[sections[2]].sh_offset + 16, NULL);
	symtab_free(table);
}

/* adrp x16; ldr x17, [x16, #]; add; br x17, at offset `at` of a section that starts at address. */
static void put_adrp(unsigned char *code, size_t at, uint64_t address, unsigned slot)
{
	uint64_t target = 0x20000 + 8 * slot;
	uint32_t pages = (uint32_t)((target >> 12) - ((address + at) >> 12));

	put32(code + at, 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
	put32(code + at + 4, 0xf9400211 | (uint32_t)(target & 0xfff) / 8 << 10);
	put32(code + at + 8, 0x91000210);
	put32(code + at + 12, 0xd61f0220);
}

static void plt_aarch64(void **state)
{
	static struct elfmake make;
	struct symtab *table;
	unsigned char plt[32 + 16 + 24 + 16] = { 0 };
	uint32_t index;
	uint64_t address, offset;

	(void)state;
	elfmake_begin(&make, EM_AARCH64, 0x40, 0);
	add_relocs(&make, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE);
	address = ((make.used + 15) & ~(size_t)15) + ELFMAKE_BIAS;
	put32(plt, 0xa9bf7bf0);
	put_adrp(plt, 4, address, 2);
	put_adrp(plt, 32, address, 3);
	put32(plt + 48, 0xd503245f); /* bti c */
	put_adrp(plt, 52, address, 4);
	put_adrp(plt, 72, address, 5);
	index = elfmake_section(&make, ".plt", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, plt,
				sizeof(plt));
	elfmake_end(&make);
	table = load(&make);
	offset = make.sections[index].sh_offset;
	assert_stub(table, offset + 4, NULL);
	assert_stub(table, offset + 32, "puts");
	assert_stub(table, offset + 47, "puts");
	assert_stub(table, offset + 48, "exit");
	assert_stub(table, offset + 52, "exit");
	assert_stub(table, offset + 71, "exit");
	assert_stub(table, offset + 72, "memcpy");
	symtab_free(table);
}

/* Every byte of the headers, set to extremes: to survive is the test, under sanitizers most. */
static void lying_headers(void **state)
{
	static struct elfmake make, bad;
	static const unsigned char values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct symtab *table;
	bool plt;

	(void)state;
	elfmake_begin(&make, EM_X86_64, 0x40, 0x11);
	add_relocs(&make, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE);
	elfmake_end(&make);
	for (size_t at = 0; at < make.used; at++) {
		if (at == 0x100)
			at = ELFMAKE_TEXT + 0x40;
		for (size_t v = 0; v < sizeof(values); v++) {
			struct image image = { .fd = -1 }, debug = { .fd = -1 };

			bad = make;
			bad.bytes[at] = values[v];
			if (image_open_memory(bad.bytes, bad.used, &image.elf))
				continue;
			assert_int_equal(symtab_load(&image, &debug, &table), 0);
			symtab_find(table, ELFMAKE_TEXT + 0x12, &plt);
			symtab_free(table);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_and_gaps),     cmocka_unit_test(only_code_counts),
		cmocka_unit_test(aliases_and_nesting), cmocka_unit_test(innermost_of_many),
		cmocka_unit_test(tables_are_merged),   cmocka_unit_test(plt_x86_64),
		cmocka_unit_test(plt_aarch64),	       cmocka_unit_test(lying_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
