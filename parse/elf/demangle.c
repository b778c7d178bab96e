// SPDX-License-Identifier: MIT
/* Mangled C++ and Rust names become readable ones through libiberty. Its output comes in pieces,
 * so that a name made to expand without end is given up instead. */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "parse/elf/symbols.h"

/* Names made by compilers seldom reach the first and never the second. libiberty's own limit on
 * recursion would refuse C++ names over 1,024 bytes; the length bounds the recursion as well. */
enum { MANGLED_BYTES_MAX = 4096, READABLE_BYTES_MAX = 16 << 10 };

struct output {
	jmp_buf give_up;
	size_t bytes;
	char text[READABLE_BYTES_MAX];
};

/* libiberty knows no way to stop it: substitutions of substitutions double the output each time,
 * so the only way out of a hostile name is a jump. Its C++ half holds no memory meanwhile, and the
 * Rust half at most one decoded identifier. */
static void output_add(const char *piece, size_t bytes, void *opaque)
{
	struct output *out = opaque;

	if (!bytes)
		return; /* an empty piece may come as NULL */
	if (bytes >= sizeof(out->text) - out->bytes)
		longjmp(out->give_up, 1);
	memcpy(out->text + out->bytes, piece, bytes);
	out->bytes += bytes;
}

/* Of a Rust v0 name: at the begin of a token, moves behind it. False for a binder of more lifetimes
 * than any function has: libiberty walks through them one by one, also where it prints nothing, so
 * that nothing stops it. */
static bool rust_token_pass(const char **at)
{
	static const char base_62[] =
		"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char c = *(*at)++;
	size_t digits, bytes;

	if (c >= '0' && c <= '9') { /* an identifier behind its length */
		bytes = (size_t)strtoul(*at - 1, (char **)at, 10);
		*at += **at == '_';
		*at += strnlen(*at, bytes);
	} else if (c == 'K' && **at >= 'a' && **at <= 'z') { /* a constant of a type */
		(*at)++;
		*at += strspn(*at, "n0123456789abcdef");
	} else if (c == 's' || c == 'B' || c == 'L' || c == 'G') {
		digits = strspn(*at, base_62);
		if (c == 'G' && digits > 1)
			return false;
		*at += digits;
	}
	return true;
}

static bool rust_binders_small(const char *name)
{
	const char *at = name + 2;

	if (strncmp(name, "_R", 2) != 0)
		return true;
	while (*at)
		if (!rust_token_pass(&at))
			return false;
	return true;
}

/* Without DMGL_PARAMS: "ns::function", the form that folded stacks are read in. Template arguments
 * stay, since they tell functions apart. Legacy Rust names begin as C++ ones do. */
static bool demangle_into(const char *name, struct output *out)
{
	if (setjmp(out->give_up))
		return false;
	if (rust_binders_small(name) && rust_demangle_callback(name, DMGL_NO_OPTS, output_add, out))
		return true;
	out->bytes = 0;
	return cplus_demangle_v3_callback(name, DMGL_NO_RECURSE_LIMIT, output_add, out) != 0;
}

char *dwell_demangle(const char *name)
{
	struct output *out;
	char *readable = NULL;

	if (name[0] != '_' || strnlen(name, MANGLED_BYTES_MAX + 1) > MANGLED_BYTES_MAX)
		return NULL;
	out = malloc(sizeof(*out));
	if (!out)
		return NULL;
	out->bytes = 0;
	if (demangle_into(name, out) && out->bytes)
		readable = strndup(out->text, out->bytes);
	free(out);
	return readable;
}
