// SPDX-License-Identifier: MIT
/* Tests of inlined functions: those of this program, through the debug information alone and as
 * places of frames; and units made here, right ones and such as no compiler makes. */
#include <dwarf.h>
#include <gelf.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "parse/elf/inlines.h"
#include "parse/elf/symbols.h"
#include "tests/unit/elfmake.h"

/* Compilers may begin with code of their own, sanitizers with much of it. */
enum { OWN_BYTES = 512 };

static volatile uint64_t sink;

static inline __attribute__((always_inline)) void own_inner(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += i * n;
}

static inline __attribute__((always_inline)) void own_middle(uint64_t n)
{
	sink++;
	own_inner(n);
}

__attribute__((noinline)) static void own_outer(uint64_t n)
{
	own_middle(n);
	sink++;
}

static int first_bias(struct dl_phdr_info *info, size_t bytes, void *user)
{
	(void)bytes;
	*(uint64_t *)user = info->dlpi_addr;
	return 1;
}

/* The address of own_outer in the file. */
static uint64_t own_address(void)
{
	uint64_t bias = 0;

	own_outer(1);
	dl_iterate_phdr(first_bias, &bias);
	return (uintptr_t)own_outer - bias;
}

static void own_functions(void **state)
{
	char none[] = "";
	const struct places places = { .symfs = none, .build_id_dir = none };
	struct inline_place found[INLINES_MAX];
	struct inlines *inlines;
	struct image image;
	uint64_t at = own_address();
	bool whole = false;

	(void)state;
	assert_int_equal(image_open("/proc/self/exe", &image), 0);
	assert_int_equal(inlines_open(&image, &places, true, &inlines), 0);
	for (uint64_t end = at + OWN_BYTES; at < end && !whole; at++) {
		uint32_t count = inlines_find(inlines, at, found);

		assert_true(count >= 1 && count <= 3);
		assert_string_equal(found[0].name, "own_outer");
		assert_non_null(strstr(found[0].file, "test_inlines.c"));
		if (count < 3)
			continue;
		assert_string_equal(found[1].name, "own_middle");
		assert_string_equal(found[2].name, "own_inner");
		assert_true(found[1].line < found[0].line);
		whole = true;
	}
	assert_true(whole);
	assert_int_equal(inlines_find(inlines, 1, found), 0);
	assert_int_equal(inlines_find(inlines, UINT64_MAX, found), 0);
	inlines_free(inlines);
	image_close(&image);
}

/* How many places the frames at the start of own_outer have at most, and whether with lines. */
static uint32_t places_at_most(const struct dwell_symbols_options *options, bool *ret_lines)
{
	struct dwell_strings *strings = dwell_strings_new();
	struct dwell_stacks *stacks = dwell_stacks_new();
	struct dwell_symbols *symbols = dwell_symbols_new(strings, stacks, options);
	struct dwell_file file = { .kind = DWELL_FILE_ELF };
	uint32_t id, frame, count, most = 0;
	char path[4096];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
	GElf_Phdr ph = { 0 };
	struct image image;
	struct stat st;

	assert_true(bytes > 0 && !stat("/proc/self/exe", &st));
	file.inode = st.st_ino;
	assert_int_equal(dwell_strings_add(strings, path, (size_t)bytes, &file.path), 0);
	assert_int_equal(dwell_stacks_add_file(stacks, &file, &id), 0);
	assert_int_equal(image_open("/proc/self/exe", &image), 0);
	for (int i = 0; ph.p_type != PT_LOAD || !(ph.p_flags & PF_X); i++)
		assert_non_null(gelf_getphdr(image.elf, i, &ph));
	image_close(&image);
	*ret_lines = false;
	for (uint64_t at = own_address(), end = at + OWN_BYTES; at < end; at++) {
		const struct dwell_symbol_place *places;

		assert_int_equal(dwell_stacks_add_frame(stacks, id, at - ph.p_vaddr + ph.p_offset,
							&frame),
				 0);
		places = dwell_symbols_places(symbols, frame, &count, NULL);
		if (strcmp(places[0].name, "own_outer") != 0)
			break;
		assert_string_equal(dwell_symbols_name(symbols, frame, NULL), "own_outer");
		if (count > most)
			most = count;
		if (count == 3)
			assert_string_equal(places[2].name, "own_inner");
		*ret_lines |= places[0].file && !strcmp(places[0].file, "test_inlines.c") &&
			      places[0].line;
	}
	dwell_symbols_free(symbols);
	dwell_stacks_free(stacks);
	dwell_strings_free(strings);
	return most;
}

static void places_of_frames(void **state)
{
	bool lines;

	(void)state;
	assert_int_equal(places_at_most(&(struct dwell_symbols_options){ 0 }, &lines), 3);
	assert_false(lines);
	assert_int_equal(places_at_most(&(struct dwell_symbols_options){ .lines = true }, &lines),
			 3);
	assert_true(lines);
	assert_int_equal(
		places_at_most(&(struct dwell_symbols_options){ .no_inlines = true }, &lines), 1);
	assert_false(lines);
	assert_int_equal(places_at_most(&(struct dwell_symbols_options){ .no_inlines = true,
									 .lines = true },
					&lines),
			 1);
	assert_true(lines);
}

/* ---- units made here: DWARF 4, in little pieces */

enum abbrev { UNIT = 1, FUNCTION, CALL, ABSTRACT, INSTANCE, BLOCK, LINKED, LEAF };

static const uint8_t abbrevs[] = {
	UNIT,
	DW_TAG_compile_unit,
	DW_CHILDREN_yes,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data4,
	0,
	0,
	FUNCTION,
	DW_TAG_subprogram,
	DW_CHILDREN_yes,
	DW_AT_name,
	DW_FORM_string,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data4,
	0,
	0,
	CALL,
	DW_TAG_inlined_subroutine,
	DW_CHILDREN_yes,
	DW_AT_abstract_origin,
	DW_FORM_ref4,
	DW_AT_low_pc,
	DW_FORM_addr,
	DW_AT_high_pc,
	DW_FORM_data4,
	0,
	0,
	ABSTRACT,
	DW_TAG_subprogram,
	DW_CHILDREN_no,
	DW_AT_name,
	DW_FORM_string,
	0,
	0,
	INSTANCE,
	DW_TAG_subprogram,
	DW_CHILDREN_no,
	DW_AT_abstract_origin,
	DW_FORM_ref4,
	0,
	0,
	BLOCK,
	DW_TAG_lexical_block,
	DW_CHILDREN_yes,
	0,
	0,
	LINKED,
	DW_TAG_structure_type,
	DW_CHILDREN_yes,
	DW_AT_sibling,
	DW_FORM_ref4,
	0,
	0,
	LEAF,
	DW_TAG_base_type,
	DW_CHILDREN_no,
	0,
	0,
	0,
};

enum { TEXT = ELFMAKE_TEXT + ELFMAKE_BIAS, TEXT_BYTES = 0x100 };

struct made {
	uint8_t info[4096];
	uint32_t used;
};

static void put(struct made *made, uint64_t value, uint32_t bytes)
{
	memcpy(made->info + made->used, &value, bytes); /* of a little-endian machine */
	made->used += bytes;
}

static void put_range(struct made *made, uint64_t start, uint64_t end)
{
	put(made, TEXT + start, 8);
	put(made, end - start, 4);
}

static void unit_begin(struct made *made)
{
	*made = (struct made){ .used = 4 }; /* the length comes last */
	put(made, 4, 2);
	put(made, 0, 4);
	put(made, 8, 1);
	put(made, UNIT, 1);
	put_range(made, 0, TEXT_BYTES);
}

static void function(struct made *made, char name, uint64_t start, uint64_t end)
{
	put(made, FUNCTION, 1);
	put(made, (uint8_t)name, 2);
	put_range(made, start, end);
}

static uint32_t abstract(struct made *made, char name)
{
	uint32_t at = made->used;

	put(made, ABSTRACT, 1);
	put(made, (uint8_t)name, 2);
	return at;
}

static void call(struct made *made, uint32_t origin, uint64_t start, uint64_t end)
{
	put(made, CALL, 1);
	put(made, origin, 4);
	put_range(made, start, end);
}

static void end(struct made *made)
{
	put(made, 0, 1);
}

/* The chain at an offset of the unit's code, as letters; "" where there is none. */
static void claim_chain(struct made *made, uint64_t offset, const char *chain)
{
	char nowhere[] = "/nowhere", none[] = "", got[INLINES_MAX + 1] = "";
	const struct places places = { .symfs = nowhere, .build_id_dir = none };
	struct inline_place found[INLINES_MAX];
	struct image image = { .fd = -1 };
	struct inlines *inlines;
	static struct elfmake make;
	uint32_t bytes = made->used - 4, count;

	memcpy(made->info, &bytes, 4);
	elfmake_begin(&make, EM_X86_64, TEXT_BYTES, 0);
	elfmake_section(&make, ".debug_info", SHT_PROGBITS, 0, made->info, made->used);
	elfmake_section(&make, ".debug_abbrev", SHT_PROGBITS, 0, abbrevs, sizeof(abbrevs));
	elfmake_end(&make);
	assert_int_equal(image_open_memory(make.bytes, make.used, &image.elf), 0);
	assert_int_equal(inlines_open(&image, &places, false, &inlines), 0);
	count = inlines_find(inlines, TEXT + offset, found);
	for (uint32_t i = 0; i < count; i++)
		got[i] = found[i].name ? *found[i].name : '?';
	assert_string_equal(got, chain);
	inlines_free(inlines);
	image_close(&image);
}

static void calls_in_calls(void **state)
{
	struct made made;
	uint32_t b, c;

	(void)state;
	unit_begin(&made);
	b = abstract(&made, 'b');
	c = abstract(&made, 'c');
	function(&made, 'a', 0x10, 0x50);
	put(&made, BLOCK, 1);
	call(&made, b, 0x20, 0x40);
	call(&made, c, 0x30, 0x40); /* ends with its caller */
	end(&made);
	end(&made);
	end(&made);
	call(&made, c, 0x44, 0x48);
	end(&made);
	end(&made);
	function(&made, 'd', 0x50, 0x60);
	end(&made);
	end(&made);
	claim_chain(&made, 0x0f, "");
	claim_chain(&made, 0x10, "a");
	claim_chain(&made, 0x20, "ab");
	claim_chain(&made, 0x2f, "ab");
	claim_chain(&made, 0x30, "abc");
	claim_chain(&made, 0x3f, "abc");
	claim_chain(&made, 0x40, "a");
	claim_chain(&made, 0x44, "ac");
	claim_chain(&made, 0x4f, "a");
	claim_chain(&made, 0x50, "d");
	claim_chain(&made, 0x60, "");
}

/* The call is longer than its caller, and another function begins inside of it. */
static void ranges_not_nested(void **state)
{
	struct made made;
	uint32_t b;

	(void)state;
	unit_begin(&made);
	b = abstract(&made, 'b');
	function(&made, 'a', 0x10, 0x30);
	call(&made, b, 0x20, 0x60);
	end(&made);
	end(&made);
	function(&made, 'd', 0x50, 0x58);
	end(&made);
	end(&made);
	claim_chain(&made, 0x1f, "a");
	claim_chain(&made, 0x2f, "ab");
	claim_chain(&made, 0x4f, "ab");
	claim_chain(&made, 0x50, "d");
	claim_chain(&made, 0x58, "ab");
	claim_chain(&made, 0x60, "");
}

/* Nobody must follow such links for ever: what stands before them is told. */
static void links_back(void **state)
{
	struct made made;
	uint32_t at;

	(void)state;
	unit_begin(&made);
	function(&made, 'a', 0x10, 0x30);
	end(&made);
	at = made.used;
	put(&made, LEAF, 1);
	put(&made, LINKED, 1);
	put(&made, at, 4);
	end(&made);
	put(&made, LEAF, 1);
	end(&made);
	claim_chain(&made, 0x10, "a");

	/* The same below a tree without a link of its own, which libdw walks through. */
	unit_begin(&made);
	function(&made, 'a', 0x10, 0x30);
	end(&made);
	put(&made, BLOCK, 1);
	at = made.used;
	put(&made, BLOCK, 1);
	put(&made, LINKED, 1);
	put(&made, at, 4);
	end(&made);
	end(&made);
	end(&made);
	function(&made, 'd', 0x50, 0x58);
	end(&made);
	end(&made);
	claim_chain(&made, 0x10, "a");
}

static void origins_in_a_circle(void **state)
{
	struct made made;
	uint32_t at;

	(void)state;
	unit_begin(&made);
	at = made.used;
	put(&made, INSTANCE, 1);
	put(&made, at + 5, 4);
	put(&made, INSTANCE, 1);
	put(&made, at, 4);
	function(&made, 'a', 0x10, 0x30);
	call(&made, at, 0x20, 0x28);
	end(&made);
	call(&made, 0xffffff, 0x28, 0x30); /* of nothing at all */
	end(&made);
	end(&made);
	end(&made);
	claim_chain(&made, 0x20, "a?");
	claim_chain(&made, 0x28, "a?");
	claim_chain(&made, 0x10, "a");
}

/* Deeper than anything real: the unit is given up, the program is not. */
static void deep_trees(void **state)
{
	struct made made;

	(void)state;
	unit_begin(&made);
	function(&made, 'a', 0x10, 0x30);
	for (int i = 0; i < 3000; i++)
		put(&made, BLOCK, 1);
	claim_chain(&made, 0x10, "");
}

/* More calls in one another than are told: the outermost are. */
static void many_levels(void **state)
{
	char all[INLINES_MAX + 1];
	struct made made;
	uint32_t b;

	(void)state;
	unit_begin(&made);
	b = abstract(&made, 'b');
	function(&made, 'a', 0x10, 0x30);
	for (int i = 0; i < INLINES_MAX + 8; i++)
		call(&made, b, 0x10, 0x20);
	for (int i = 0; i < INLINES_MAX + 10; i++)
		end(&made);
	memset(all, 'b', INLINES_MAX);
	all[0] = 'a';
	all[INLINES_MAX] = '\0';
	claim_chain(&made, 0x10, all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_functions),  cmocka_unit_test(places_of_frames),
		cmocka_unit_test(calls_in_calls), cmocka_unit_test(ranges_not_nested),
		cmocka_unit_test(links_back),	  cmocka_unit_test(origins_in_a_circle),
		cmocka_unit_test(deep_trees),	  cmocka_unit_test(many_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
