// SPDX-License-Identifier: MIT
/* Frames become escaped, annotated names, once each, and stacks become nodes of a prefix tree of
 * names. A stack's node is remembered, so rows that share callers pay for them once. */
#include "report/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/idmap.h"
#include "lib/text.h"
#include "report/text.h"

enum { NAME_ROOM = 4096, ANNOTATION_ROOM = 256 };

/* The names of a frame: its own function, and those inlined into it. */
struct frame_names {
	uint32_t first; /* in all */
	uint32_t count; /* 0 = not looked up */
};

struct dwell_names {
	const struct dwell_stacks *stacks;
	struct dwell_symbols *symbols;
	struct dwell_names_options options;
	struct dwell_strings *texts; /* a name's id is its text's id */
	DWELL_ARRAY(struct dwell_name) names;
	DWELL_ARRAY(struct dwell_name_node) nodes;
	DWELL_ARRAY(uint32_t) path;    /* scratch: stack nodes still to be named, leaf first */
	struct dwell_idmap children;   /* parent << 32 | name -> node */
	struct frame_names *of_frames; /* by frame id */
	DWELL_ARRAY(uint32_t) all;     /* name ids, by frame */
	uint32_t *stack_nodes;	       /* stack id -> node + 1, 0 = not known */
	uint32_t frame_count, stack_count;
};

struct dwell_names *dwell_names_new(const struct dwell_stacks *stacks,
				    struct dwell_symbols *symbols,
				    const struct dwell_names_options *options)
{
	struct dwell_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->stacks = stacks;
	names->symbols = symbols;
	names->options = *options;
	names->frame_count = dwell_stacks_frame_count(stacks);
	names->stack_count = dwell_stacks_node_count(stacks);
	names->texts = dwell_strings_new();
	names->of_frames = calloc((size_t)names->frame_count + 1, sizeof(*names->of_frames));
	names->stack_nodes = calloc((size_t)names->stack_count + 1, sizeof(uint32_t));
	if (!names->texts || !names->of_frames || !names->stack_nodes ||
	    dwell_array_grow(&names->names) || dwell_array_grow(&names->nodes)) {
		dwell_names_free(names);
		return NULL;
	}
	names->names.data[names->names.count++] = (struct dwell_name){ .text = "" };
	names->nodes.data[names->nodes.count++] = (struct dwell_name_node){ 0 };
	return names;
}

void dwell_names_free(struct dwell_names *names)
{
	if (!names)
		return;
	dwell_strings_free(names->texts);
	dwell_array_release(&names->names);
	dwell_array_release(&names->nodes);
	dwell_array_release(&names->path);
	dwell_idmap_release(&names->children);
	dwell_array_release(&names->all);
	free(names->of_frames);
	free(names->stack_nodes);
	free(names);
}

/* A space and digits at the end would be read as the weight. */
static bool ends_like_weight(const char *text, size_t bytes)
{
	size_t i = bytes;

	while (i && text[i - 1] >= '0' && text[i - 1] <= '9')
		i--;
	return i && i < bytes && text[i - 1] == ' ';
}

/* Interns the name that raw text becomes with an annotation behind it. */
static int name_add(struct dwell_names *names, const char *raw, const char *annotation,
		    struct dwell_name name, uint32_t *ret_name)
{
	char text[NAME_ROOM];
	size_t bytes = text_name(text, sizeof(text) - ANNOTATION_ROOM, raw);
	uint32_t id;
	int rc;

	for (size_t i = 0; i < bytes; i++)
		if (text[i] == ';')
			text[i] = ':';
	if (ends_like_weight(text, bytes))
		text[bytes++] = '_';
	name.plain_bytes = (uint32_t)bytes;
	strcpy(text + bytes, annotation);
	bytes += strlen(annotation);
	rc = dwell_strings_add(names->texts, text, bytes, &id);
	if (rc)
		return rc;
	if (id == names->names.count) {
		if (dwell_array_grow(&names->names))
			return -ENOMEM;
		name.text = dwell_strings_get(names->texts, id);
		name.bytes = (uint32_t)bytes;
		names->names.data[names->names.count++] = name;
	}
	*ret_name = id;
	return 0;
}

static int node_add(struct dwell_names *names, uint32_t parent, uint32_t name, uint32_t *ret_node)
{
	uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t node = dwell_idmap_find(&names->children, key);
	uint64_t bytes = (uint64_t)names->nodes.data[parent].bytes + !!parent +
			 names->names.data[name].bytes;

	if (!node) {
		node = names->nodes.count;
		if (bytes > UINT32_MAX || dwell_array_grow(&names->nodes) ||
		    dwell_idmap_set(&names->children, key, node))
			return -ENOMEM;
		names->nodes.data[names->nodes.count++] =
			(struct dwell_name_node){ parent, name, (uint32_t)bytes };
	}
	*ret_node = node;
	return 0;
}

static const struct dwell_file *file_of(const struct dwell_names *names, uint32_t frame)
{
	const struct dwell_frame *entry = dwell_stacks_frame(names->stacks, frame);

	return dwell_stacks_file(names->stacks, entry->file);
}

/* What stands behind a name: the place in the source, and what kind of code it is. */
static void annotate(const struct dwell_symbol_place *place, const char *kind,
		     char ret_text[ANNOTATION_ROOM])
{
	char file[ANNOTATION_ROOM - 32];

	if (!place->file || !place->line) {
		snprintf(ret_text, ANNOTATION_ROOM, "%s", kind);
		return;
	}
	file[dwell_text_clean(file, sizeof(file) - 1, place->file, "?")] = '\0';
	for (char *at = file; *at; at++)
		if (*at == ';')
			*at = ':';
	snprintf(ret_text, ANNOTATION_ROOM, " (%s:%u)%s", file, place->line, kind);
}

static int frame_name(struct dwell_names *names, uint32_t frame, struct frame_names *ret)
{
	const struct dwell_file *file = file_of(names, frame);
	struct dwell_name name = { .kernel = dwell_file_is_kernel(file),
				   .pseudo = file->kind == DWELL_FILE_PSEUDO };
	const char *kind = name.kernel			      ? "_[k]"
			   : file->kind == DWELL_FILE_JIT     ? "_[j]"
			   : file->kind == DWELL_FILE_INLINED ? "_[i]"
							      : "";
	const struct dwell_symbol_place *places;
	char annotation[ANNOTATION_ROOM];
	uint32_t count;
	int rc = 0;

	places = dwell_symbols_places(names->symbols, frame, &count, NULL);
	ret->first = names->all.count;
	ret->count = count;
	if (dwell_array_reserve(&names->all, (uint64_t)names->all.count + count))
		return -ENOMEM;
	for (uint32_t i = 0; i < count && !rc; i++) {
		annotate(&places[i], i ? "_[i]" : kind, annotation);
		rc = name_add(names, places[i].name, annotation, name,
			      &names->all.data[ret->first + i]);
	}
	if (!rc)
		names->all.count += count;
	return rc;
}

/* The file of a stack node's code: an inlined function's is its caller's. */
static const struct dwell_file *code_of(const struct dwell_names *names, uint32_t stack)
{
	const struct dwell_file *file;

	do {
		const struct dwell_stack_node *node = dwell_stacks_node(names->stacks, stack);

		file = file_of(names, node->frame);
		stack = node->parent;
	} while (stack && file->kind == DWELL_FILE_INLINED);
	return file;
}

/* Does the stack node's frame run in user code? Told by the file: names can lie. */
static bool is_user(const struct dwell_names *names, uint32_t stack)
{
	const struct dwell_file *file = code_of(names, stack);

	return stack && !dwell_file_is_kernel(file) && file->kind != DWELL_FILE_PSEUDO;
}

/* The node of a stack node below its parent's: that one itself where the frame is not shown. */
static int node_extend(struct dwell_names *names, uint32_t parent, uint32_t stack,
		       uint32_t *ret_node)
{
	const struct dwell_names_options *options = &names->options;
	const struct dwell_stack_node *entry = dwell_stacks_node(names->stacks, stack);
	bool kernel = dwell_file_is_kernel(code_of(names, stack));
	struct frame_names *found = &names->of_frames[entry->frame];
	struct frame_names looked_up = *found;
	int rc = 0;

	if ((kernel && options->user_only) || (is_user(names, stack) && options->kernel_only)) {
		*ret_node = parent;
		return 0;
	}
	if (options->delimited && kernel && parent && is_user(names, entry->parent)) {
		rc = dwell_names_child(names, parent, "-", &parent);
		if (rc)
			return rc;
	}
	if (!looked_up.count)
		rc = frame_name(names, entry->frame, &looked_up);
	if (rc)
		return rc;
	*found = looked_up;
	for (uint32_t i = 0; i < found->count && !rc; i++)
		rc = node_add(names, parent, names->all.data[found->first + i], &parent);
	if (!rc)
		*ret_node = parent;
	return rc;
}

int dwell_names_stack(struct dwell_names *names, uint32_t stack, uint32_t *ret_node)
{
	uint32_t node = 0, at = stack;

	if (stack >= names->stack_count)
		at = 0;
	names->path.count = 0;
	while (at && !names->stack_nodes[at]) {
		if (dwell_array_grow(&names->path))
			return -ENOMEM;
		names->path.data[names->path.count++] = at;
		at = dwell_stacks_node(names->stacks, at)->parent;
	}
	if (at)
		node = names->stack_nodes[at] - 1;
	while (names->path.count) {
		int rc;

		at = names->path.data[--names->path.count];
		rc = node_extend(names, node, at, &node);
		if (rc)
			return rc;
		names->stack_nodes[at] = node + 1;
	}
	*ret_node = node;
	return 0;
}

int dwell_names_child(struct dwell_names *names, uint32_t parent, const char *text,
		      uint32_t *ret_node)
{
	struct dwell_name name = { .pseudo = *text == '[' || !strcmp(text, "-") };
	uint32_t id;
	int rc = name_add(names, text, "", name, &id);

	return rc ? rc : node_add(names, parent, id, ret_node);
}

const struct dwell_name_node *dwell_names_node(const struct dwell_names *names, uint32_t node)
{
	return &names->nodes.data[node];
}

const struct dwell_name *dwell_names_name(const struct dwell_names *names, uint32_t name)
{
	return &names->names.data[name];
}

void dwell_names_line(const struct dwell_names *names, uint32_t node, char *dst)
{
	char *at = dst + names->nodes.data[node].bytes;

	while (node) {
		const struct dwell_name_node *entry = &names->nodes.data[node];
		const struct dwell_name *name = &names->names.data[entry->name];

		at -= name->bytes;
		memcpy(at, name->text, name->bytes);
		node = entry->parent;
		if (node)
			*--at = ';';
	}
}
