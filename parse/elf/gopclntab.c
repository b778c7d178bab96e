// SPDX-License-Identifier: MIT
/* The header tells where names and functions are; each function has an entry of its address and its
 * record's place, and ends where the next one begins. */
#include "parse/elf/gopclntab.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

enum {
	HEAD_BYTES = 8,
	FUNCTIONS_MAX = 4 << 20,
	FUNCTION_BYTES_MAX = 64 << 20,
};

/* Magic numbers, by the first Go that wrote them. */
#define GO_1_2	0xfffffffbu
#define GO_1_16 0xfffffffau
#define GO_1_18 0xfffffff0u
#define GO_1_20 0xfffffff1u

struct table {
	const uint8_t *bytes;
	uint64_t count;
	bool swapped;
	unsigned word;	    /* bytes of a pointer */
	unsigned entry;	    /* bytes of an address in entries and records: a pointer or 4 */
	uint64_t base;	    /* that those of 4 count from */
	uint64_t functions; /* entries */
	uint64_t entries_at, records_at, names_at;
};

static bool number(const struct table *table, uint64_t at, unsigned bytes, uint64_t *ret)
{
	uint32_t half;
	uint64_t whole;

	if (at > table->count || table->count - at < bytes)
		return false;
	if (bytes == sizeof(half)) {
		memcpy(&half, table->bytes + at, sizeof(half));
		*ret = table->swapped ? bswap_32(half) : half;
		return true;
	}
	memcpy(&whole, table->bytes + at, sizeof(whole));
	*ret = table->swapped ? bswap_64(whole) : whole;
	return true;
}

/* The nth word behind the magic number. */
static bool head_word(const struct table *table, unsigned n, uint64_t *ret)
{
	return number(table, HEAD_BYTES + (uint64_t)n * table->word, table->word, ret);
}

static bool head_read(struct table *table, uint64_t text)
{
	uint64_t magic;
	bool split;

	if (table->count < HEAD_BYTES || table->bytes[4] || table->bytes[5])
		return false;
	table->word = table->bytes[7];
	if (table->word != 4 && table->word != 8)
		return false;
	number(table, 0, 4, &magic);
	table->swapped = magic >> 24 != 0xff;
	number(table, 0, 4, &magic);
	if (!head_word(table, 0, &table->functions) || table->functions > FUNCTIONS_MAX)
		return false;
	table->entry = table->word;
	if (magic == GO_1_2) {
		table->entries_at = HEAD_BYTES + table->word;
		return true;
	}
	split = magic == GO_1_18 || magic == GO_1_20;
	if (!split && magic != GO_1_16)
		return false;
	/* functions, files, [text,] names, units, files, tables, records */
	if ((split && !head_word(table, 2, &table->base)) ||
	    !head_word(table, split ? 3 : 2, &table->names_at) ||
	    !head_word(table, split ? 7 : 6, &table->records_at))
		return false;
	if (split)
		table->entry = 4;
	if (split && !table->base)
		table->base = text;
	table->entries_at = table->records_at;
	return true;
}

static const char *name_of(const struct table *table, uint64_t record)
{
	uint64_t at = table->records_at + record, name;

	if (record > table->count || at > table->count ||
	    !number(table, at + table->entry, 4, &name) || name >= table->count ||
	    table->names_at > table->count - name)
		return NULL;
	name += table->names_at;
	return memchr(table->bytes + name, '\0', table->count - name)
		       ? (const char *)table->bytes + name
		       : NULL;
}

int gopclntab_read(const uint8_t *bytes, uint64_t count, uint64_t text, struct symlist *list)
{
	struct table table = { .bytes = bytes, .count = count };
	uint64_t start, record, end;

	if (!head_read(&table, text))
		return 0;
	for (uint64_t i = 0; i < table.functions; i++) {
		uint64_t at = table.entries_at + i * 2 * table.entry;
		struct symbol symbol = { 0 };

		if (at < table.entries_at || !number(&table, at, table.entry, &start) ||
		    !number(&table, at + table.entry, table.entry, &record) ||
		    !number(&table, at + 2 * table.entry, table.entry, &end))
			break;
		symbol.start = table.base + start;
		symbol.end = table.base + end;
		symbol.name = name_of(&table, record);
		if (!symbol.name || !*symbol.name || symbol.end <= symbol.start ||
		    symbol.end - symbol.start > FUNCTION_BYTES_MAX)
			continue;
		if (symlist_add(list, &symbol))
			return -ENOMEM;
	}
	return 0;
}

int gopclntab_gather(Elf *elf, struct symlist *list)
{
	GElf_Shdr sh, text = { 0 };
	Elf_Scn *section = section_by_name(elf, ".gopclntab", &sh);
	Elf_Data *data;

	if (!section)
		section = section_by_name(elf, ".data.rel.ro.gopclntab", &sh);
	data = section && sh.sh_type == SHT_PROGBITS ? elf_rawdata(section, NULL) : NULL;
	if (!data || !data->d_buf)
		return 0;
	if (!section_by_name(elf, ".text", &text))
		text.sh_addr = 0;
	return gopclntab_read(data->d_buf, data->d_size, text.sh_addr, list);
}
