// SPDX-License-Identifier: MIT
/* Symbols of .symtab and .dynsym become one sorted list per file, innermost function first to be
 * found. File offsets become addresses through the loadable segment that holds them. */
#include "parse/elf/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/alias.h"
#include "parse/elf/gopclntab.h"

enum {
	SYMBOLS_MAX = 16 << 20, /* the largest programs have some 2 Mi */
	SEGMENTS_MAX = 64,
	MODULE_BYTES_MAX = 1 << 30,
	PARENTS_MAX = 64, /* steps outwards; nested functions are seldom more than two deep */
};

struct section {
	uint64_t start, end;
	uint64_t bias; /* what a symbol's value counts from: 0 unless the file is relocatable */
	bool text;
};

/* The sections of one file, by index. */
struct sections {
	struct section *all;
	size_t count;
};

/* The function descriptors of ppc64's first ABI: a symbol's value is the place of one, which starts
 * with the address of the code. */
struct descriptors {
	const unsigned char *bytes;
	uint64_t start, count;
	bool little;
};

struct segment {
	uint64_t offset, bytes, address;
};

struct symtab {
	struct image image, debug;
	struct segment segments[SEGMENTS_MAX]; /* executable ones */
	uint32_t segment_count;
	struct symlist functions, stubs;
	struct descriptors descriptors;
	struct inlines *inlines; /* owned; NULL = none */
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

/* Where the kernel puts the code sections of a module: one behind the other in the order of the
 * file, without those that are for its start only (layout_sections() in kernel/module). Where other
 * machines than x86 put jump tables first, which grow at load, only .text at the start is sure. */
static bool module_place(uint16_t machine, const GElf_Shdr *sh, const char *name, uint64_t *at,
			 struct section *section)
{
	uint64_t align = sh->sh_addralign ? sh->sh_addralign : 1;
	uint64_t start = (*at + align - 1) & ~(align - 1);
	bool x86 = machine == EM_X86_64 || machine == EM_386;

	if (align & (align - 1) || start < *at || start > MODULE_BYTES_MAX ||
	    sh->sh_size > MODULE_BYTES_MAX || strncmp(name, ".init", 5) == 0)
		return false;
	if (!x86 && (*at || strcmp(name, ".text") != 0))
		return false;
	*section = (struct section){ start, start + sh->sh_size, start, true };
	*at = section->end;
	return true;
}

/* The sections of a file; none when there is no memory. */
static struct sections sections_read(Elf *elf, const GElf_Ehdr *head)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	struct sections sections = { 0 };
	Elf_Scn *section = NULL;
	size_t names_index, names_bytes;
	const char *names = NULL;
	GElf_Shdr sh;
	uint64_t at = 0;

	if (elf_getshdrnum(elf, &sections.count) || !sections.count)
		return sections;
	if (!elf_getshdrstrndx(elf, &names_index))
		names = section_strings(elf, names_index, &names_bytes);
	sections.all = calloc(sections.count, sizeof(*sections.all));
	while (sections.all && (section = elf_nextscn(elf, section))) {
		struct section *to = &sections.all[elf_ndxscn(section)];

		if (elf_ndxscn(section) >= sections.count || !gelf_getshdr(section, &sh) ||
		    sh.sh_addr + sh.sh_size < sh.sh_addr)
			continue;
		if (head->e_type != ET_REL)
			*to = (struct section){ sh.sh_addr, sh.sh_addr + sh.sh_size, 0,
						(sh.sh_flags & code) == code };
		else if ((sh.sh_flags & code) == code && names && sh.sh_name < names_bytes)
			module_place(head->e_machine, &sh, names + sh.sh_name, &at, to);
	}
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

/* The address of the code that a symbol in .opd stands for; its value unless it is there. */
static uint64_t descriptor_follow(const struct descriptors *descriptors, uint64_t value)
{
	uint64_t at = value - descriptors->start, address = 0;

	if (at >= descriptors->count || descriptors->count - at < sizeof(address))
		return value;
	for (unsigned i = 0; i < sizeof(address); i++)
		address = address << 8 | descriptors->bytes[at + (descriptors->little ? 7 - i : i)];
	return address;
}

/* The section that holds code at an address, or NULL. Programs have some five such sections. */
static const struct section *section_of(const struct sections *sections, uint64_t address)
{
	const struct section *all = sections->all;
	unsigned tried = 0;

	for (size_t i = 0; i < sections->count && tried < SEGMENTS_MAX; i++) {
		if (all[i].text && address >= all[i].start && address < all[i].end)
			return &all[i];
		tried += all[i].text;
	}
	return NULL;
}

/* What taking a symbol needs to know of its file. */
struct gather {
	uint16_t machine;
	struct sections sections;
	const struct descriptors *descriptors;
	struct symlist *list;
};

/* The symbol as kept: false when it is no code. */
static bool symbol_take(const struct gather *gather, const GElf_Sym *sym, const char *name,
			struct symbol *ret_symbol)
{
	unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	unsigned visibility = GELF_ST_VISIBILITY(sym->st_other);
	const struct section *section = &gather->sections.all[sym->st_shndx];
	struct symbol s = { .start = section->bias + sym->st_value, .name = name };

	if (type == STT_NOTYPE && visibility != STV_HIDDEN && visibility != STV_INTERNAL)
		s.flags |= SYMBOL_LABEL;
	else if (type != STT_FUNC && type != STT_GNU_IFUNC)
		return false;
	if (!*name || name_is_mark(name, gather->machine))
		return false;
	if (gather->machine == EM_ARM)
		s.start &= ~1ull; /* marks Thumb code */
	if (!section->text && gather->descriptors->count) {
		s.start = descriptor_follow(gather->descriptors, s.start);
		section = section_of(&gather->sections, s.start);
	}
	if (!section || !section->text || s.start < section->start || s.start >= section->end)
		return false;
	s.end = section->end;
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
static int symbols_gather(Elf *elf, uint32_t type, const struct gather *gather)
{
	GElf_Shdr sh;
	Elf_Scn *section = section_by_type(elf, type, &sh);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t count, names_bytes;
	const char *names = data ? section_strings(elf, sh.sh_link, &names_bytes) : NULL;
	struct symbol symbol;
	GElf_Sym sym;

	if (!names || !data->d_buf)
		return 0;
	count = data->d_size / gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	if (count > SYMBOLS_MAX)
		return -E2BIG;
	for (size_t i = 1; i < count; i++) {
		if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx >= gather->sections.count ||
		    sym.st_name >= names_bytes ||
		    !symbol_take(gather, &sym, names + sym.st_name, &symbol))
			continue;
		if (symlist_add(gather->list, &symbol))
			return -ENOMEM;
	}
	return 0;
}

static int file_gather(Elf *elf, const struct descriptors *descriptors, struct symlist *list)
{
	struct gather gather = { .descriptors = descriptors, .list = list };
	GElf_Ehdr head;
	int rc = 0;

	if (!gelf_getehdr(elf, &head))
		return 0;
	gather.machine = head.e_machine;
	gather.sections = sections_read(elf, &head);
	if (gather.sections.all) {
		rc = symbols_gather(elf, SHT_SYMTAB, &gather);
		if (!rc)
			rc = symbols_gather(elf, SHT_DYNSYM, &gather);
	}
	free(gather.sections.all);
	return rc;
}

/* Debug files have no bytes of .opd: theirs is the one of the file itself. */
static void descriptors_read(Elf *elf, struct descriptors *ret)
{
	GElf_Ehdr head;
	GElf_Shdr sh;
	Elf_Scn *section;
	Elf_Data *data;

	if (!gelf_getehdr(elf, &head) || head.e_machine != EM_PPC64)
		return;
	section = section_by_name(elf, ".opd", &sh);
	data = section && sh.sh_type == SHT_PROGBITS ? elf_rawdata(section, NULL) : NULL;
	if (data && data->d_buf)
		*ret = (struct descriptors){ data->d_buf, sh.sh_addr, data->d_size,
					     head.e_ident[EI_DATA] == ELFDATA2LSB };
}

/* Segments without execute permission are of no use: nothing sampled lies in them. A relocatable
 * file has none: its sections were laid out from 0 on. */
static void segments_read(struct symtab *table)
{
	Elf *elf = table->image.elf;
	size_t count;
	GElf_Ehdr head;
	GElf_Phdr ph;

	if (gelf_getehdr(elf, &head) && head.e_type == ET_REL) {
		table->segments[table->segment_count++] =
			(struct segment){ 0, 2ull * MODULE_BYTES_MAX, 0 };
		return;
	}
	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && table->segment_count < SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph))
			break;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X)
			table->segments[table->segment_count++] =
				(struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
}

int symtab_load(struct image *image, struct image *debug, struct symtab **ret_table)
{
	struct symtab *table = calloc(1, sizeof(*table));
	GElf_Shdr symbols;
	int rc;

	if (!table)
		return -ENOMEM;
	table->image = *image;
	table->debug = *debug;
	segments_read(table);
	descriptors_read(image->elf, &table->descriptors);
	rc = file_gather(image->elf, &table->descriptors, &table->functions);
	if (!rc && debug->elf)
		rc = file_gather(debug->elf, &table->descriptors, &table->functions);
	if (!rc && !section_by_type(image->elf, SHT_SYMTAB, &symbols) &&
	    !(debug->elf && section_by_type(debug->elf, SHT_SYMTAB, &symbols)))
		rc = gopclntab_gather(image->elf, &table->functions);
	symlist_finish(&table->functions);
	if (!rc)
		rc = plt_gather(image->elf, &table->functions, &table->stubs);
	symlist_finish(&table->stubs);
	if (rc) {
		table->image = table->debug = (struct image){ .fd = -1 };
		symtab_free(table);
		return rc;
	}
	image_finish(&table->image);
	image_finish(&table->debug);
	*image = *debug = (struct image){ .fd = -1 };
	*ret_table = table;
	return 0;
}

void symtab_free(struct symtab *table)
{
	if (!table)
		return;
	inlines_free(table->inlines);
	dwell_array_release(&table->functions.all);
	dwell_array_release(&table->stubs.all);
	image_close(&table->image);
	image_close(&table->debug);
	free(table);
}

int symtab_rebase(struct symtab *table, const char *name)
{
	Elf *elf = table->image.elf;
	GElf_Shdr sh;
	Elf_Scn *section = section_by_type(elf, SHT_SYMTAB, &sh);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	size_t names_bytes;
	const char *names = data ? section_strings(elf, sh.sh_link, &names_bytes) : NULL;
	GElf_Sym sym;

	for (int i = 1; names && data->d_buf && gelf_getsym(data, i, &sym); i++) {
		if (sym.st_name >= names_bytes || strcmp(names + sym.st_name, name) != 0)
			continue;
		table->segments[0] = (struct segment){ 0, UINT64_MAX, sym.st_value };
		table->segment_count = 1;
		return 0;
	}
	return -ENOENT;
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

void symtab_set_inlines(struct symtab *table, struct inlines *inlines)
{
	table->inlines = inlines;
}

uint32_t symtab_inlines_find(const struct symtab *table, uint64_t file_offset,
			     struct inline_place ret_places[INLINES_MAX])
{
	for (uint32_t i = 0; table->inlines && i < table->segment_count; i++) {
		const struct segment *s = &table->segments[i];
		uint32_t count = 0;

		if (file_offset - s->offset < s->bytes)
			count = inlines_find(table->inlines, file_offset - s->offset + s->address,
					     ret_places);
		if (count)
			return count;
	}
	return 0;
}
