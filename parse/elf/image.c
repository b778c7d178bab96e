// SPDX-License-Identifier: MIT
/* Descriptors and memory become Elf handles, once their headers hold nothing that would make libelf
 * allocate more than the file's own size. Notes become build ids. */
#include "parse/elf/image.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/io.h"
#include "parse/elf/buildid.h"
#include "parse/elf/unpack.h"

/* Bounds on notes: real files have fewer than ten of some hundred bytes. */
enum { NOTES_MAX = 64, NOTE_BYTES_MAX = 64 << 10 };

/* libelf allocates for each section a file claims. Without extended numbering (e_shnum 0, the count
 * in section 0) that is at most 65,279; only object files ever need more. */
static bool header_ok(const unsigned char *head, size_t bytes)
{
	static const unsigned char none[8];
	bool wide;

	if (bytes < sizeof(Elf32_Ehdr) || memcmp(head, ELFMAG, SELFMAG) != 0)
		return false;
	wide = head[EI_CLASS] == ELFCLASS64;
	if (wide && bytes < sizeof(Elf64_Ehdr))
		return false;
	/* Zero reads the same in either byte order. */
	if (wide)
		return memcmp(head + offsetof(Elf64_Ehdr, e_shnum), none, 2) != 0 ||
		       memcmp(head + offsetof(Elf64_Ehdr, e_shoff), none, 8) == 0;
	return memcmp(head + offsetof(Elf32_Ehdr, e_shnum), none, 2) != 0 ||
	       memcmp(head + offsetof(Elf32_Ehdr, e_shoff), none, 4) == 0;
}

static int image_check(Elf *elf, Elf **ret_elf)
{
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return -ENOEXEC;
	}
	*ret_elf = elf;
	return 0;
}

int image_open_fd(int fd, Elf **ret_elf)
{
	unsigned char head[sizeof(Elf64_Ehdr)];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -ENOEXEC;
	n = pread(fd, head, sizeof(head), 0);
	if (n < 0 || !header_ok(head, (size_t)n) || elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	return image_check(elf_begin(fd, ELF_C_READ, NULL), ret_elf);
}

int image_open_memory(const void *bytes, size_t count, Elf **ret_elf)
{
	if (!header_ok(bytes, count) || elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	return image_check(elf_memory((char *)(uintptr_t)bytes, count), ret_elf);
}

int image_open_owned(void *bytes, size_t count, struct image *ret_image)
{
	struct image image = { .fd = -1, .bytes = bytes };

	if (image_open_memory(bytes, count, &image.elf))
		return -ENOEXEC;
	*ret_image = image;
	return 0;
}

int image_open(const char *path, struct image *ret_image)
{
	struct image image = { .fd = dwell_io_open_regular(path, 0) };
	size_t count;
	int rc;

	if (image.fd < 0)
		return image.fd;
	rc = image_open_fd(image.fd, &image.elf);
	if (!rc) {
		*ret_image = image;
		return 0;
	}
	if (!unpack_file(image.fd, &image.bytes, &count)) {
		rc = image_open_owned(image.bytes, count, ret_image);
		if (rc)
			free(image.bytes);
	}
	close(image.fd);
	return rc;
}

void image_finish(struct image *image)
{
	if (image->fd < 0)
		return;
	elf_cntl(image->elf, ELF_C_FDDONE);
	close(image->fd);
	image->fd = -1;
}

void image_close(struct image *image)
{
	elf_end(image->elf);
	if (image->fd >= 0)
		close(image->fd);
	free(image->bytes);
	*image = (struct image){ .fd = -1 };
}

/* The GNU build id among notes: its length (cut at DWELL_BUILD_ID_MAX, as the kernel does) or 0. */
static int notes_build_id(Elf_Data *notes, uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	size_t at = 0, name, desc, bytes;
	GElf_Nhdr note;

	while ((at = gelf_getnote(notes, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(ELF_NOTE_GNU) ||
		    note.n_descsz == 0 ||
		    memcmp((char *)notes->d_buf + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) != 0)
			continue;
		bytes = note.n_descsz < DWELL_BUILD_ID_MAX ? note.n_descsz : DWELL_BUILD_ID_MAX;
		memset(ret_build_id, 0, DWELL_BUILD_ID_MAX);
		memcpy(ret_build_id, (char *)notes->d_buf + desc, bytes);
		return (int)bytes;
	}
	return 0;
}

static int chunk_build_id(Elf *elf, uint64_t offset, uint64_t bytes, uint64_t align,
			  uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	Elf_Data *data;

	if (bytes > NOTE_BYTES_MAX || offset > INT64_MAX)
		return 0;
	data = elf_getdata_rawchunk(elf, (int64_t)offset, bytes,
				    align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	return data && data->d_buf ? notes_build_id(data, ret_build_id) : 0;
}

int image_build_id(Elf *elf, uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	size_t phdrs;
	Elf_Scn *section = NULL;
	int found = 0, notes = 0;
	GElf_Phdr ph;
	GElf_Shdr sh;

	if (elf_getphdrnum(elf, &phdrs))
		phdrs = 0;
	for (size_t i = 0; i < phdrs && notes < NOTES_MAX && !found; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph))
			break;
		if (ph.p_type != PT_NOTE)
			continue;
		notes++;
		found = chunk_build_id(elf, ph.p_offset, ph.p_filesz, ph.p_align, ret_build_id);
	}
	/* Debug files keep the program headers of the file they belong to: only their sections
	 * tell where the notes are. Relocatable files have no program headers. */
	while (!found && notes < 2 * NOTES_MAX && (section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_NOTE)
			continue;
		notes++;
		found = chunk_build_id(elf, sh.sh_offset, sh.sh_size, sh.sh_addralign,
				       ret_build_id);
	}
	return found;
}

static uint32_t word_at(const unsigned char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

int build_id_of_notes(const void *notes, size_t count, uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	const unsigned char *at = notes;

	while (count >= sizeof(Elf64_Nhdr)) {
		size_t name = (word_at(at) + 3ull) & ~3ull, desc = word_at(at + 4);
		size_t bytes = desc < DWELL_BUILD_ID_MAX ? desc : DWELL_BUILD_ID_MAX;
		size_t room = count - sizeof(Elf64_Nhdr);
		uint32_t type = word_at(at + 8);

		at += sizeof(Elf64_Nhdr);
		if (name > room || desc > room - name)
			return 0;
		if (type == NT_GNU_BUILD_ID && desc && name == sizeof(ELF_NOTE_GNU) &&
		    memcmp(at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0) {
			memset(ret_build_id, 0, DWELL_BUILD_ID_MAX);
			memcpy(ret_build_id, at + name, bytes);
			return (int)bytes;
		}
		desc = (desc + 3) & ~(size_t)3;
		if (desc > room - name)
			return 0;
		at += name + desc;
		count = room - name - desc;
	}
	return 0;
}

bool build_id_equal(const uint8_t *found, int found_bytes, const uint8_t *recorded, int bytes)
{
	return found_bytes > 0 && found_bytes <= bytes &&
	       memcmp(found, recorded, (size_t)bytes) == 0;
}

void build_id_hex(const uint8_t *build_id, int bytes, char ret_hex[BUILD_ID_HEX])
{
	ret_hex[0] = '\0';
	for (int i = 0; i < bytes; i++)
		snprintf(ret_hex + (size_t)2 * i, 3, "%02x", build_id[i]);
}

int dwell_build_id_read(int fd, uint8_t ret_build_id[DWELL_BUILD_ID_MAX])
{
	Elf *elf;
	int rc = image_open_fd(fd, &elf);

	if (rc)
		return rc;
	rc = image_build_id(elf, ret_build_id);
	elf_end(elf);
	return rc;
}
