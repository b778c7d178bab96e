// SPDX-License-Identifier: MIT
/* A recorded user file becomes the symbols of a file found here, once it is certain to be the same
 * one: by build id, else by inode, else by being an older file of this machine. */
#include "parse/elf/binary.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "parse/elf/debugfile.h"

/* Is there anything to be looked for in a debug file? */
static bool debug_wanted(const struct places *places, Elf *elf)
{
	GElf_Shdr sh;

	return !section_by_type(elf, SHT_SYMTAB, &sh) ||
	       (places->inlines && !section_by_name(elf, ".debug_info", &sh));
}

enum dwell_symbol_status binary_load_image(const struct places *places, struct image *image,
					   const char *path, struct symtab **ret_table)
{
	struct image debug = { .fd = -1 };
	struct inlines *inlines = NULL;

	if (path && debug_wanted(places, image->elf))
		debugfile_open(image->elf, places, path, &debug);
	if (places->inlines && inlines_open(image, places, places->lines, &inlines) && debug.elf &&
	    inlines_open(&debug, places, places->lines, &inlines))
		inlines = NULL;
	if (!symtab_load(image, &debug, ret_table)) {
		symtab_set_inlines(*ret_table, inlines);
		return DWELL_SYMBOL_OK;
	}
	inlines_free(inlines);
	image_close(image);
	image_close(&debug);
	return DWELL_SYMBOL_BAD_FILE;
}

static uint64_t stamp_ns(const struct timespec *at)
{
	return (uint64_t)at->tv_sec * 1000000000u + (uint64_t)at->tv_nsec;
}

/* Without a build id or inode only a path is known. On this machine the file there is the one that
 * was recorded if nothing has touched it since. */
static enum dwell_symbol_status path_same(const struct places *places, const char *path,
					  const struct stat *st, struct why *why)
{
	if (!places->this_host) {
		why_set(why, "%s was recorded by path alone, %s", path,
			places->other_host ? "on another host" : "on a host not told");
		return DWELL_SYMBOL_NOT_PROVEN;
	}
	if (!places->recorded_ns || stamp_ns(&st->st_ctim) <= places->recorded_ns)
		return DWELL_SYMBOL_OK;
	why_set(why, "%s was recorded by path alone and is newer than the recording", path);
	return DWELL_SYMBOL_CHANGED;
}

/* Is the image the one that was mapped while recording? Build ids decide where known. Else the
 * inode does: not the device, whose number stat() and /proc/PID/maps tell differently on btrfs and
 * overlayfs. Below a symfs inodes are others, and the user vouches for the files. */
static enum dwell_symbol_status image_same(const struct places *places,
					   const struct dwell_file *file, const struct image *image,
					   const char *path, struct why *why)
{
	struct stat st;
	GElf_Ehdr head;

	if (file->build_id_bytes)
		return image_identified(image, path, file->build_id, file->build_id_bytes, why)
			       ? DWELL_SYMBOL_OK
			       : DWELL_SYMBOL_CHANGED;
	if (!gelf_getehdr(image->elf, &head) || !places_run(places, head.e_machine)) {
		why_set(why, "%s is not for the recording's machine, %s", path, places->machine);
		return DWELL_SYMBOL_CHANGED;
	}
	if (*places->symfs)
		return DWELL_SYMBOL_OK;
	if (fstat(image->fd, &st))
		return DWELL_SYMBOL_BAD_FILE;
	if (!file->inode || places->other_host)
		return path_same(places, path, &st, why);
	if (st.st_ino == file->inode)
		return DWELL_SYMBOL_OK;
	why_set(why, "%s has inode %llu, recorded was %llu", path, (unsigned long long)st.st_ino,
		(unsigned long long)file->inode);
	return DWELL_SYMBOL_CHANGED;
}

static enum dwell_symbol_status path_open(const struct places *places,
					  const struct dwell_file *file, const char *path,
					  struct image *ret_image, struct why *why)
{
	enum dwell_symbol_status status;
	struct image image;
	char full[PATH_MAX];
	int rc;

	if (path[0] != '/' ||
	    snprintf(full, sizeof(full), "%s%s", places->symfs, path) >= (int)sizeof(full))
		return DWELL_SYMBOL_NO_FILE;
	rc = image_open(full, &image);
	if (rc) {
		why_set(why, "%s", full);
		return rc == -EINVAL || rc == -ENOEXEC ? DWELL_SYMBOL_BAD_FILE
						       : DWELL_SYMBOL_NO_FILE;
	}
	status = image_same(places, file, &image, full, why);
	if (status == DWELL_SYMBOL_OK)
		*ret_image = image;
	else
		image_close(&image);
	return status;
}

/* Only a build id finds a file in the cache. */
static enum dwell_symbol_status cached_open(const struct places *places,
					    const struct dwell_file *file, const char *leaf,
					    struct image *ret_image)
{
	struct image image;
	struct why why;

	if (!file->build_id_bytes ||
	    cache_open(places, file->build_id, file->build_id_bytes, leaf, &image))
		return DWELL_SYMBOL_NO_FILE;
	if (!image_identified(&image, "", file->build_id, file->build_id_bytes, &why)) {
		image_close(&image);
		return DWELL_SYMBOL_NO_FILE;
	}
	*ret_image = image;
	return DWELL_SYMBOL_OK;
}

/* The vdso is one image per kernel and class: this process has the same one mapped, if the trace
 * is of this kernel. Its section headers come last. */
static enum dwell_symbol_status own_vdso_open(const struct places *places,
					      const struct dwell_file *file,
					      struct image *ret_image, struct why *why)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	struct image image = { .fd = -1 };

	if (!head || !head->e_shoff ||
	    image_open_memory(head, head->e_shoff + (size_t)head->e_shnum * head->e_shentsize,
			      &image.elf))
		return DWELL_SYMBOL_NO_FILE;
	if (file->build_id_bytes
		    ? image_identified(&image, "[vdso]", file->build_id, file->build_id_bytes, why)
		    : places_same_release(places)) {
		*ret_image = image;
		return DWELL_SYMBOL_OK;
	}
	image_close(&image);
	if (file->build_id_bytes)
		return DWELL_SYMBOL_CHANGED;
	why_set(why, "[vdso] was recorded without a build id, on another kernel or host");
	return DWELL_SYMBOL_NOT_PROVEN;
}

/* Who held it open says that it is the recorded one. */
static bool held_open(const struct places *places, const struct dwell_file *file,
		      struct image *ret_image)
{
	struct image image = { .fd = places->open(places->user, file) };

	if (image.fd >= 0 && !image_open_fd(image.fd, &image.elf)) {
		*ret_image = image;
		return true;
	}
	image_close(&image);
	return false;
}

enum dwell_symbol_status binary_open(const struct places *places, const struct dwell_file *file,
				     const char *path, struct image *ret_image, struct why *why)
{
	bool vdso = file->kind == DWELL_FILE_VDSO;
	enum dwell_symbol_status status;

	status = vdso ? own_vdso_open(places, file, ret_image, why)
		      : path_open(places, file, path, ret_image, why);
	if (status != DWELL_SYMBOL_OK &&
	    cached_open(places, file, vdso ? "vdso" : "elf", ret_image) == DWELL_SYMBOL_OK)
		status = DWELL_SYMBOL_OK;
	if (status != DWELL_SYMBOL_OK && places->open && held_open(places, file, ret_image))
		status = DWELL_SYMBOL_OK;
	return status;
}

enum dwell_symbol_status binary_load(const struct places *places, const struct dwell_file *file,
				     const char *path, struct symtab **ret_table, struct why *why)
{
	struct image image;
	enum dwell_symbol_status status = binary_open(places, file, path, &image, why);

	if (status != DWELL_SYMBOL_OK)
		return status;
	return binary_load_image(places, &image, file->kind == DWELL_FILE_VDSO ? NULL : path,
				 ret_table);
}
