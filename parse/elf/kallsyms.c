// SPDX-License-Identifier: MIT
/* The text of /proc/kallsyms becomes an array of functions sorted by address, one per address.
 * Names stay in the text, which is cut at their ends. */
#include "parse/elf/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/io.h"
#include "lib/strings.h"
#include "parse/elf/alias.h"
#include "parse/elf/textcopy.h"

enum { TEXT_BYTES_MAX = 256 << 20, PAGE_BYTES = 4096 };

/* The type of a mark that ends a function and holds no code itself. */
#define TYPE_MARK 'e'

struct function {
	uint64_t start;
	uint32_t name;	 /* offset in text */
	uint32_t module; /* id in modules */
	char type;	 /* t, T, w, W or TYPE_MARK */
};

struct dwell_kallsyms {
	char *text;
	DWELL_ARRAY(struct function) functions;
	struct dwell_strings *modules; /* names; 0 = the image */
	DWELL_ARRAY(uint64_t) bases;   /* by module: its lowest function; of the image: _text */
	uint64_t text_start;
	uint32_t last_module; /* of the line before, while reading */
	bool hidden;
};

void dwell_kallsyms_free(struct dwell_kallsyms *syms)
{
	if (!syms)
		return;
	dwell_array_release(&syms->functions);
	dwell_array_release(&syms->bases);
	dwell_strings_free(syms->modules);
	free(syms->text);
	free(syms);
}

/* The id of a module, with its base lowered to start. Lines of one module stand together. */
static int module_add(struct dwell_kallsyms *syms, const char *name, uint64_t start,
		      uint32_t *ret_module)
{
	uint32_t module = syms->last_module;

	if (strcmp(name, dwell_strings_get(syms->modules, module)) != 0 &&
	    dwell_strings_add(syms->modules, name, strlen(name), &module))
		return -ENOMEM;
	if (dwell_array_reserve(&syms->bases, (uint64_t)module + 1))
		return -ENOMEM;
	syms->last_module = module;
	while (syms->bases.count <= module)
		syms->bases.data[syms->bases.count++] = UINT64_MAX;
	if (start < syms->bases.data[module])
		syms->bases.data[module] = start;
	*ret_module = module;
	return 0;
}

/* Padding before functions (__pfx_), assembler labels, and mapping symbols: no functions. */
static bool name_hidden(const char *name)
{
	return strncmp(name, "__pfx_", 6) == 0 || name[0] == '$' || strncmp(name, ".L", 2) == 0;
}

static int function_add(struct dwell_kallsyms *syms, uint64_t start, char type, char *name,
			const char *module)
{
	struct function function = { .start = start, .type = type };
	int rc;

	if (name_hidden(name))
		return 0;
	rc = module_add(syms, module, start, &function.module);
	if (rc)
		return rc;
	if (dwell_array_grow(&syms->functions))
		return -ENOMEM;
	if (!*module && strcmp(name, "_text") == 0)
		syms->text_start = start;
	if (!*module && strcmp(name, "_stext") == 0 && !syms->text_start)
		syms->text_start = start;
	if (!*module && (strcmp(name, "_etext") == 0 || strcmp(name, "_einittext") == 0))
		function.type = TYPE_MARK;
	function.name = (uint32_t)(name - syms->text);
	syms->functions.data[syms->functions.count++] = function;
	return 0;
}

/* Hex digits at *at become a number; false when there are none. */
static bool hex_take(char **at, uint64_t *ret_value)
{
	uint64_t value = 0;
	char *p = *at;

	for (;; p++) {
		unsigned char c = (unsigned char)*p;

		if (c - '0' < 10u)
			value = value << 4 | (c - '0');
		else if ((c | 0x20) - 'a' < 6u)
			value = value << 4 | ((c | 0x20) - 'a' + 10);
		else
			break;
	}
	if (p == *at)
		return false;
	*at = p;
	*ret_value = value;
	return true;
}

/* "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]", NUL-terminated; cuts it up. Lines of
 * another form are passed over. */
static int line_parse(struct dwell_kallsyms *syms, char *line, bool *ret_any)
{
	const char *module = "";
	uint64_t start;
	char *name, type;

	if (!hex_take(&line, &start) || line[0] != ' ' || !line[1] || line[2] != ' ')
		return 0;
	type = line[1];
	if (type != 't' && type != 'T' && type != 'w' && type != 'W')
		return 0;
	name = line = line + 3;
	while (*line && *line != ' ' && *line != '\t')
		line++;
	if (*line) {
		*line++ = '\0';
		line += strspn(line, " \t");
		if (*line == '[') {
			module = line + 1;
			line[strcspn(line, "]")] = '\0';
		}
	}
	if (!*name)
		return 0;
	*ret_any = true;
	return start ? function_add(syms, start, type, name, module) : 0;
}

static struct alias function_alias(const struct function *f, const char *text)
{
	return (struct alias){ .name = text + f->name,
			       .label = f->type == TYPE_MARK,
			       .local = f->type == 't',
			       .weak = f->type == 'w' || f->type == 'W' };
}

static int function_compare(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static bool function_better(const struct function *a, const struct function *b, const char *text)
{
	const struct alias first = function_alias(a, text), second = function_alias(b, text);

	return alias_compare(&first, &second) < 0;
}

/* Sorts, unless the kernel did, and keeps the best name of each address. */
static void functions_finish(struct dwell_kallsyms *syms)
{
	struct function *all = syms->functions.data;
	uint32_t count = syms->functions.count, kept = 0;

	for (uint32_t i = 1; i < count; i++) {
		if (all[i - 1].start > all[i].start) {
			qsort(all, count, sizeof(*all), function_compare);
			break;
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		if (!kept || all[kept - 1].start != all[i].start)
			all[kept++] = all[i];
		else if (function_better(&all[i], &all[kept - 1], syms->text))
			all[kept - 1] = all[i];
	}
	syms->functions.count = kept;
}

/* Reads the lines of text, which has a NUL behind its bytes and is cut up. */
static int lines_parse(struct dwell_kallsyms *syms, char *text, uint64_t bytes, bool *ret_any)
{
	char *end = text + bytes, *next;
	int rc = 0;

	for (char *line = text; !rc && line < end; line = next) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (next)
			*next++ = '\0';
		else
			next = end;
		rc = line_parse(syms, line, ret_any);
	}
	return rc;
}

/* Takes text over. */
static int text_parse(char *text, uint64_t bytes, struct dwell_kallsyms **ret_syms)
{
	struct dwell_kallsyms *syms = calloc(1, sizeof(*syms));
	bool any = false;
	int rc = -ENOMEM;

	if (!syms) {
		free(text);
		return rc;
	}
	syms->text = text;
	syms->modules = dwell_strings_new();
	if (syms->modules)
		rc = lines_parse(syms, text, bytes, &any);
	if (rc) {
		dwell_kallsyms_free(syms);
		return rc;
	}
	functions_finish(syms);
	if (syms->text_start)
		syms->bases.data[0] = syms->text_start;
	syms->hidden = any && !syms->functions.count;
	*ret_syms = syms;
	return 0;
}

int dwell_kallsyms_parse(const char *text, uint64_t bytes, struct dwell_kallsyms **ret_syms)
{
	char *copy;
	int rc = text_copy(text, bytes, TEXT_BYTES_MAX, &copy);

	return rc ? rc : text_parse(copy, bytes, ret_syms);
}

int dwell_kallsyms_read(const char *path, struct dwell_kallsyms **ret_syms, struct dwell_err *err)
{
	size_t bytes;
	char *text;
	int rc = dwell_io_read_file(path, TEXT_BYTES_MAX, &text, &bytes);

	if (!rc)
		rc = text_parse(text, bytes, ret_syms);
	return rc ? dwell_err_sys(err, rc, "cannot read kernel symbols from '%s'", path) : 0;
}

bool dwell_kallsyms_module(const struct dwell_kallsyms *syms, const char *module,
			   uint64_t *ret_base)
{
	for (uint32_t i = 1; i < syms->bases.count; i++) {
		if (strcmp(dwell_strings_get(syms->modules, i), module) != 0)
			continue;
		*ret_base = syms->bases.data[i];
		return true;
	}
	return false;
}

bool dwell_kallsyms_hidden(const struct dwell_kallsyms *syms)
{
	return syms->hidden;
}

uint64_t dwell_kallsyms_text(const struct dwell_kallsyms *syms)
{
	return syms->text_start;
}

/* Where the function at index ends: at the next one, or where that belongs to another module, at
 * the end of the page it starts in, since nothing says how far its module reaches. */
static uint64_t function_end(const struct dwell_kallsyms *syms, uint32_t index)
{
	const struct function *f = &syms->functions.data[index];
	uint64_t page_end = (f->start | (PAGE_BYTES - 1)) + 1;

	if (index + 1 >= syms->functions.count)
		return page_end > f->start ? page_end : UINT64_MAX;
	if (f[1].module != f->module && page_end < f[1].start)
		return page_end;
	return f[1].start;
}

bool dwell_kallsyms_find(const struct dwell_kallsyms *syms, uint64_t address,
			 struct dwell_kernel_symbol *ret)
{
	const struct function *f;
	uint32_t low = 0, high = syms->functions.count;
	uint64_t end;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (syms->functions.data[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || syms->functions.data[low - 1].type == TYPE_MARK)
		return false;
	f = &syms->functions.data[low - 1];
	end = function_end(syms, low - 1);
	if (address >= end)
		return false;
	*ret = (struct dwell_kernel_symbol){ .start = f->start,
					     .end = end,
					     .name = syms->text + f->name,
					     .module = dwell_strings_get(syms->modules, f->module),
					     .base = syms->bases.data[f->module] };
	return true;
}

bool dwell_kallsyms_find_name(const struct dwell_kallsyms *syms, const char *name,
			      struct dwell_kernel_symbol *ret)
{
	for (uint32_t i = 0; i < syms->functions.count; i++)
		if (syms->functions.data[i].type != TYPE_MARK &&
		    !strcmp(syms->text + syms->functions.data[i].name, name))
			return dwell_kallsyms_find(syms, syms->functions.data[i].start, ret);
	return false;
}
