// SPDX-License-Identifier: MIT
/* Symbols of .symtab and .dynsym become one sorted list per file, innermost function first to be
 * found. File offsets become addresses through the loadable segment that holds them. */
#include "parse/elf/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/alias.h"

enum {
	SYMBOLS_MAX = 16 << 20, /* the largest programs have some 2 Mi */
	SEGMENTS_MAX = 64,
	PARENTS_MAX = 64, /* steps outwards; nested functions are seldom more than two deep */
};

struct section {
	uint64_t start, end;
	bool text;
};

struct segment {
	uint64_t offset, bytes, address;
};

struct symtab {
	Elf *elf, *debug;
	struct segment segments[SEGMENTS_MAX]; /* executable ones */
	uint32_t segment_count;
	struct symlist functions, stubs;
};

int symlist_add(struct symlist *list, const struct symbol *symbol)
{
	if (dwell_array_grow(&list->all))
		return -ENOMEM;
	list->all.data[list->all.count++] = *symbol;
	return 0;
}

/* By start; of one start the furthest end first, symbols without a size last, and of one range the
 * best alias first. */
static int symbol_compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	const struct alias first = { a->name, a->flags & SYMBOL_LABEL, a->flags & SYMBOL_LOCAL,
				     a->flags & SYMBOL_WEAK };
	const struct alias second = { b->name, b->flags & SYMBOL_LABEL, b->flags & SYMBOL_LOCAL,
				      b->flags & SYMBOL_WEAK };

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if ((a->flags ^ b->flags) & SYMBOL_OPEN)
		return a->flags & SYMBOL_OPEN ? 1 : -1;
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return alias_compare(&first, &second);
}

/* Drops aliases, symbols without a size where one with a size starts, and labels inside functions
 * (assembler code is full of them). */
static void symlist_drop(struct symlist *list)
{
	struct symbol *all = list->all.data, *last = NULL;
	uint32_t kept = 0;
	uint64_t covered = 0;

	for (uint32_t i = 0; i < list->all.count; i++) {
		const struct symbol *s = &all[i];
		bool open = s->flags & SYMBOL_OPEN;

		if (last && last->start == s->start && (open || last->end == s->end))
			continue;
		if (open && (s->flags & SYMBOL_LABEL) && s->start < covered)
			continue;
		if (!open && s->end > covered)
			covered = s->end;
		all[kept] = *s;
		last = &all[kept++];
	}
	list->all.count = kept;
}

static void symlist_link(struct symlist *list)
{
	struct symbol *all = list->all.data;

	for (uint32_t i = 0; i < list->all.count; i++) {
		uint32_t up = i;

		if (all[i].flags & SYMBOL_OPEN && i + 1 < list->all.count &&
		    all[i + 1].start < all[i].end)
			all[i].end = all[i + 1].start;
		/* Whatever ends at or before this start holds no later address either: skipping it
		 * for good makes this loop linear over all symbols. */
		while (up && all[up - 1].end <= all[i].start)
			up = all[up - 1].parent;
		all[i].parent = up;
	}
}

void symlist_finish(struct symlist *list)
{
	if (!list->all.count)
		return;
	qsort(list->all.data, list->all.count, sizeof(*list->all.data), symbol_compare);
	symlist_drop(list);
	symlist_link(list);
}

const struct symbol *symlist_find(const struct symlist *list, uint64_t address)
{
	const struct symbol *all = list->all.data;
	uint32_t low = 0, high = list->all.count;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (all[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	for (int steps = 0; low && steps < PARENTS_MAX; steps++) {
		if (address < all[low - 1].end)
			return &all[low - 1];
		low = all[low - 1].parent;
	}
	return NULL;
}

Elf_Scn *section_by_type(Elf *elf, uint32_t type, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, ret_header) && ret_header->sh_type == type)
			break;
	return section;
}

Elf_Scn *section_by_name(Elf *elf, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;
	const char *names;
	size_t index, bytes;

	if (elf_getshdrstrndx(elf, &index))
		return NULL;
	names = section_strings(elf, index, &bytes);
	if (!names)
		return NULL;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, ret_header) && ret_header->sh_name < bytes &&
		    strcmp(names + ret_header->sh_name, name) == 0)
			break;
	return section;
}

const char *section_strings(Elf *elf, size_t index, size_t *ret_bytes)
{
	Elf_Scn *section = index ? elf_getscn(elf, index) : NULL;
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	const char *end;

	if (!data || !data->d_buf || !data->d_size)
		return NULL;
	end = memrchr(data->d_buf, '\0', data->d_size);
	if (!end)
		return NULL;
	*ret_bytes = (size_t)(end - (const char *)data->d_buf) + 1;
	return data->d_buf;
}

/* An array of all sections by index; NULL when there are none or no memory. */
static struct section *sections_read(Elf *elf, size_t *ret_count)
{
	struct section *sections;
	Elf_Scn *section = NULL;
	GElf_Shdr sh;
	size_t count;

	if (elf_getshdrnum(elf, &count) || !count)
		return NULL;
	sections = calloc(count, sizeof(*sections));
	while (sections && (section = elf_nextscn(elf, section))) {
		if (elf_ndxscn(section) >= count || !gelf_getshdr(section, &sh) ||
		    sh.sh_addr + sh.sh_size < sh.sh_addr)
			continue;
		sections[elf_ndxscn(section)] =
			(struct section){ sh.sh_addr, sh.sh_addr + sh.sh_size,
					  (sh.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) ==
						  (SHF_ALLOC | SHF_EXECINSTR) };
	}
	*ret_count = count;
	return sections;
}

/* Names that mark places for tools: ".L" labels, and on ARM and RISC-V the mapping symbols "$x",
 * "$d.12", "$xrv64i2p1". */
static bool name_is_mark(const char *name, uint16_t machine)
{
	if (strncmp(name, ".L", 2) == 0)
		return true;
	if (name[0] != '$' || !name[1] || !strchr("adtx", name[1]) ||
	    (machine != EM_AARCH64 && machine != EM_ARM && machine != EM_RISCV))
		return false;
	return !name[2] || name[2] == '.' || strncmp(name + 2, "rv", 2) == 0;
}

/* The symbol as kept: false when it is no code. */
static bool symbol_take(const GElf_Sym *sym, const char *name, const struct section *section,
			uint16_t machine, struct symbol *ret_symbol)
{
	unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	unsigned visibility = GELF_ST_VISIBILITY(sym->st_other);
	struct symbol s = { .start = sym->st_value, .end = section->end, .name = name };

	if (type == STT_NOTYPE && visibility != STV_HIDDEN && visibility != STV_INTERNAL)
		s.flags |= SYMBOL_LABEL;
	else if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return false;
	if (machine == EM_ARM)
		s.start &= ~1ull; /* marks Thumb code */
	if (!*name || !section->text || s.start < section->start || s.start >= section->end ||
	    name_is_mark(name, machine))
		return false;
	if (!sym->st_size)
		s.flags |= SYMBOL_OPEN;
	else if (sym->st_size < section->end - s.start)
		s.end = s.start + sym->st_size;
	if (bind == STB_LOCAL)
		s.flags |= SYMBOL_LOCAL;
	if (bind == STB_WEAK)
		s.flags |= SYMBOL_WEAK;
	*ret_symbol = s;
	return true;
}

/* Adds the symbols of the first section of a type. A table that is not usable adds none. */
static int symbols_gather(Elf *elf, uint32_t type, const struct section *sections,
			  size_t section_count, struct symlist *list)
{
	GElf_Ehdr head;
	GElf_Shdr sh;
	Elf_Scn *section = section_by_type(elf, type, &sh);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count, names_bytes;
	const char *names = data ? section_strings(elf, sh.sh_link, &names_bytes) : NULL;
	struct symbol symbol;
	GElf_Sym sym;

	if (!names || !data->d_buf || !gelf_getehdr(elf, &head))
		return 0;
	count = data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	if (count > SYMBOLS_MAX)
		return -E2BIG;
	for (size_t i = 1; i < count; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx >= section_count ||
		    sym.st_name >= names_bytes ||
		    !symbol_take(&sym, names + sym.st_name, &sections[sym.st_shndx], head.e_machine,
				 &symbol))
			continue;
		if (symlist_add(list, &symbol))
			return -ENOMEM;
	}
	return 0;
}

static int file_gather(Elf *elf, struct symlist *list)
{
	size_t count;
	struct section *sections = sections_read(elf, &count);
	int rc;

	if (!sections)
		return 0;
	rc = symbols_gather(elf, SHT_SYMTAB, sections, count, list);
	if (!rc)
		rc = symbols_gather(elf, SHT_DYNSYM, sections, count, list);
	free(sections);
	return rc;
}

/* Segments without execute permission are of no use: nothing sampled lies in them. */
static void segments_read(struct symtab *table)
{
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(table->elf, &count))
		return;
	for (size_t i = 0; i < count && table->segment_count < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(table->elf, (int)i, &ph))
			break;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			table->segments[table->segment_count++] =
				(struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
}

int symtab_load(Elf *elf, Elf *debug, struct symtab **ret_table)
{
	struct symtab *table = calloc(1, sizeof(*table));
	int rc;

	if (!table)
		return -ENOMEM;
	table->elf = elf;
	segments_read(table);
	rc = file_gather(elf, &table->functions);
	if (!rc && debug)
		rc = file_gather(debug, &table->functions);
	symlist_finish(&table->functions);
	if (!rc)
		rc = plt_gather(elf, &table->functions, &table->stubs);
	symlist_finish(&table->stubs);
	if (rc) {
		table->elf = NULL;
		symtab_free(table);
		return rc;
	}
	/* Everything needed has been read: the descriptors may go. */
	elf_cntl(elf, ELF_C_FDDONE);
	elf_cntl(debug, ELF_C_FDDONE);
	table->debug = debug;
	*ret_table = table;
	return 0;
}

void symtab_free(struct symtab *table)
{
	if (!table)
		return;
	dwell_array_release(&table->functions.all);
	dwell_array_release(&table->stubs.all);
	elf_end(table->elf);
	elf_end(table->debug);
	free(table);
}

const struct symbol *symtab_find(const struct symtab *table, uint64_t file_offset, bool *ret_plt)
{
	for (uint32_t i = 0; i < table->segment_count; i++) {
		const struct segment *s = &table->segments[i];
		uint64_t address = file_offset - s->offset + s->address;
		const struct symbol *symbol;

		if (file_offset - s->offset >= s->bytes)
			continue;
		symbol = symlist_find(&table->functions, address);
		*ret_plt = !symbol;
		if (!symbol)
			symbol = symlist_find(&table->stubs, address);
		if (symbol)
			return symbol;
	}
	return NULL;
}
