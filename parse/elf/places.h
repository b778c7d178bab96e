/* SPDX-License-Identifier: MIT */
/* Where symbols are looked for, and which machine and kernel the recording is of. Internal to this
 * room; what the members mean is documented in symbols.h. */
#ifndef DWELL_PARSE_ELF_PLACES_H
#define DWELL_PARSE_ELF_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "parse/elf/image.h"
#include "parse/elf/symbols.h"

struct places {
	char *symfs;	    /* "" = none */
	char *build_id_dir; /* "" = none */
	char *perf_map_dir; /* "" = none */
	char *kallsyms;	    /* "" = none, as the following three */
	char *kcore_dir, *release, *machine;
	const char *system;  /* goes before /proc and /sys; "" but in tests */
	bool this_host;	     /* the recording is known to be of this machine */
	bool other_host;     /* ... of another one */
	bool inlines, lines; /* debug information is read: for what is inlined, and for lines */
	uint64_t kernel_text, recorded_ns;
	int (*open)(void *user, const struct dwell_file *file); /* NULL = nobody can */
	void *user;
};

/* Why something was not found or refused, for people: "" = nothing to add. */
struct why {
	char text[512];
};
void why_set(struct why *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* 0 or -ENOMEM. */
int places_init(struct places *places, const struct dwell_symbols_options *options);
void places_release(struct places *places);

/* Is code for this e_machine run on the recording's machine? True when either is not known. */
bool places_run(const struct places *places, uint16_t elf_machine);

/* Does the recording tell of a kernel of this machine's release, on this machine? */
bool places_same_release(const struct places *places);

/* Opens `leaf` ("elf", "debug", "vdso", "kallsyms") of a build id in perf's build-id cache, also
 * where that has the file itself in place of a folder (before Linux 4.3). The file's build id is
 * for the caller to check. 0 or -errno. */
int cache_open(const struct places *places, const uint8_t *build_id, int bytes, const char *leaf,
	       struct image *ret_image);

/* Opens path only if it is an ELF file with that build id. Else -ESTALE when it has another one,
 * or -errno. */
int image_open_identified(const char *path, const uint8_t *build_id, int bytes,
			  struct image *ret_image);

/* Does the image have the recorded build id? If not, *why says which it has. */
bool image_identified(const struct image *image, const char *path, const uint8_t *build_id,
		      int bytes, struct why *why);

#endif
