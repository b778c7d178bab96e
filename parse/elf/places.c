// SPDX-License-Identifier: MIT
/* Options and facts of the recording become the places to look at, and a build id becomes the path
 * of a file in perf's build-id cache. */
#include "parse/elf/places.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

void why_set(struct why *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
}

static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

/* perf's default; below a symfs nothing of this machine counts but what the user names. */
static char *build_id_dir(const struct dwell_symbols_options *options)
{
	const char *home = getenv("HOME");
	char *path;

	if (options->build_id_dir || (options->symfs && *options->symfs) || !home || !*home)
		return copy(options->build_id_dir);
	return asprintf(&path, "%s/.debug", home) < 0 ? NULL : path;
}

/* As given, else where the recording is: who keeps its maps has put them beside it. Not so in /tmp,
 * where maps are those of this machine. */
static char *perf_map_dir(const struct dwell_symbols_options *options)
{
	const char *slash = options->path ? strrchr(options->path, '/') : NULL;
	char *beside, *real;
	bool shared;

	if (options->perf_map_dir || !options->path)
		return copy(options->perf_map_dir);
	beside = slash ? strndup(options->path, (size_t)(slash - options->path) + 1) : copy(".");
	real = beside ? realpath(beside, NULL) : NULL;
	shared = !real || strcmp(real, "/tmp") == 0;
	free(real);
	if (shared && beside)
		*beside = '\0';
	return beside;
}

int places_init(struct places *places, const struct dwell_symbols_options *options)
{
	struct utsname uts;

	*places = (struct places){
		.symfs = copy(options->symfs),
		.build_id_dir = build_id_dir(options),
		.perf_map_dir = perf_map_dir(options),
		.kallsyms = copy(options->kallsyms),
		.kcore_dir = copy(options->kcore_dir),
		.release = copy(options->kernel_release),
		.machine = copy(options->machine),
		.system = "",
		.kernel_text = options->kernel_text,
		.recorded_ns = options->recorded_ns,
		.inlines = !options->no_inlines || options->lines,
		.lines = options->lines,
		.open = options->open,
		.user = options->user,
	};
	if (!places->symfs || !places->build_id_dir || !places->perf_map_dir || !places->kallsyms ||
	    !places->kcore_dir || !places->release || !places->machine) {
		places_release(places);
		return -ENOMEM;
	}
	if (options->host_name && !uname(&uts)) {
		places->this_host = strcmp(options->host_name, uts.nodename) == 0;
		places->other_host = !places->this_host;
	}
	return 0;
}

void places_release(struct places *places)
{
	free(places->symfs);
	free(places->build_id_dir);
	free(places->perf_map_dir);
	free(places->kallsyms);
	free(places->kcore_dir);
	free(places->release);
	free(places->machine);
	memset(places, 0, sizeof(*places));
}

bool places_run(const struct places *places, uint16_t elf_machine)
{
	/* Prefixes of `uname -m`, each with all that such a machine runs. */
	static const struct {
		const char *prefix;
		uint16_t runs[2];
	} machines[] = {
		{ "x86_64", { EM_X86_64, EM_386 } },
		{ "i", { EM_386 } },
		{ "aarch64", { EM_AARCH64, EM_ARM } },
		{ "arm", { EM_ARM } },
		{ "ppc64", { EM_PPC64, EM_PPC } },
		{ "ppc", { EM_PPC } },
		{ "s390", { EM_S390 } },
		{ "riscv", { EM_RISCV } },
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (!strncmp(places->machine, machines[i].prefix, strlen(machines[i].prefix)))
			return machines[i].runs[0] == elf_machine ||
			       machines[i].runs[1] == elf_machine;
	return true;
}

bool places_same_release(const struct places *places)
{
	struct utsname uts;

	return places->this_host && !uname(&uts) && strcmp(places->release, uts.release) == 0;
}

int cache_open(const struct places *places, const uint8_t *build_id, int bytes, const char *leaf,
	       struct image *ret_image)
{
	char hex[BUILD_ID_HEX], path[PATH_MAX];
	int rc = -ENOENT;

	if (!*places->build_id_dir || bytes < 2)
		return rc;
	build_id_hex(build_id, bytes, hex);
	if (snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/%s", places->build_id_dir, hex,
		     hex + 2, leaf) < (int)sizeof(path))
		rc = image_open(path, ret_image);
	if (rc == -ENOTDIR && strcmp(leaf, "debug") != 0) {
		*strrchr(path, '/') = '\0';
		rc = image_open(path, ret_image);
	}
	return rc;
}

bool image_identified(const struct image *image, const char *path, const uint8_t *build_id,
		      int bytes, struct why *why)
{
	uint8_t found[DWELL_BUILD_ID_MAX] = { 0 };
	char hex[BUILD_ID_HEX], wanted[BUILD_ID_HEX];
	int found_bytes = image_build_id(image->elf, found);

	if (build_id_equal(found, found_bytes, build_id, bytes))
		return true;
	build_id_hex(build_id, bytes, wanted);
	build_id_hex(found, found_bytes, hex);
	why_set(why, "%s has %s%s, recorded was %s", path,
		found_bytes ? "build id " : "no build id", hex, wanted);
	return false;
}

int image_open_identified(const char *path, const uint8_t *build_id, int bytes,
			  struct image *ret_image)
{
	struct image image;
	struct why why;
	int rc = image_open(path, &image);

	if (rc)
		return rc;
	if (!image_identified(&image, path, build_id, bytes, &why)) {
		image_close(&image);
		return -ESTALE;
	}
	*ret_image = image;
	return 0;
}
