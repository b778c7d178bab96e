// SPDX-License-Identifier: MIT
/* Tests of the build id reader: of small ELF files written here, in both byte orders and with
 * lying headers. */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "parse/elf/buildid.h"

/* A file with one program header and one note. */
struct small {
	Elf64_Ehdr head;
	Elf64_Phdr note_header;
	Elf64_Nhdr note;
	char name[4];
	uint8_t id[24];
};

static struct small small_make(uint32_t id_bytes)
{
	struct small s = {
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
				       BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB,
				       EV_CURRENT },
			  .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = offsetof(struct small, note_header),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1 },
		.note_header = { .p_type = PT_NOTE,
				 .p_offset = offsetof(struct small, note),
				 .p_filesz = sizeof(Elf64_Nhdr) + 4 + ((id_bytes + 3) & ~3u),
				 .p_align = 4 },
		.note = { 4, id_bytes, NT_GNU_BUILD_ID },
		.name = "GNU",
	};

	for (uint32_t i = 0; i < sizeof(s.id); i++)
		s.id[i] = (uint8_t)(0xa0 + i);
	return s;
}

/* The result of reading `bytes` bytes as a file. */
static int read_id(const void *bytes, size_t count, uint8_t id[DWELL_BUILD_ID_MAX])
{
	int fd = memfd_create("test", 0), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	rc = dwell_build_id_read(fd, id);
	close(fd);
	return rc;
}

static void lengths(void **state)
{
	uint8_t id[DWELL_BUILD_ID_MAX], rest[DWELL_BUILD_ID_MAX] = { 0 };
	const int lengths[] = { 1, 8, 16, 20 };
	struct small s;

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		s = small_make((uint32_t)lengths[i]);
		memset(id, 0xff, sizeof(id));
		assert_int_equal(read_id(&s, sizeof(s), id), lengths[i]);
		assert_memory_equal(id, s.id, lengths[i]);
		assert_memory_equal(id + lengths[i], rest, DWELL_BUILD_ID_MAX - lengths[i]);
	}
	s = small_make(24);
	assert_int_equal(read_id(&s, sizeof(s), id), DWELL_BUILD_ID_MAX);
	assert_memory_equal(id, s.id, DWELL_BUILD_ID_MAX);
	s = small_make(0);
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
}

static void only_the_gnu_note(void **state)
{
	uint8_t id[DWELL_BUILD_ID_MAX];
	struct small s = small_make(20);

	(void)state;
	s.note.n_type = NT_GNU_ABI_TAG;
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
	s = small_make(20);
	memcpy(s.name, "Go\0", 4);
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
	s = small_make(20);
	s.head.e_phnum = 0;
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
}

static void sections_of_files_without_program_headers(void **state)
{
	struct {
		struct small s;
		Elf64_Shdr sections[2];
	} file = { .s = small_make(20) };
	uint8_t id[DWELL_BUILD_ID_MAX];

	(void)state;
	file.s.head.e_phnum = 0;
	file.s.head.e_shoff = offsetof(__typeof__(file), sections);
	file.s.head.e_shentsize = sizeof(Elf64_Shdr);
	file.s.head.e_shnum = 2;
	file.sections[1] = (Elf64_Shdr){ .sh_type = SHT_NOTE,
					 .sh_offset = offsetof(struct small, note),
					 .sh_size = sizeof(Elf64_Nhdr) + 24,
					 .sh_addralign = 4 };
	assert_int_equal(read_id(&file, sizeof(file), id), 20);
	assert_memory_equal(id, file.s.id, 20);
}

static void lying_headers(void **state)
{
	uint8_t id[DWELL_BUILD_ID_MAX];
	struct small s = small_make(20);

	(void)state;
	s.note_header.p_filesz = UINT64_MAX;
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
	s = small_make(20);
	s.note_header.p_offset = UINT64_MAX - 4;
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
	s = small_make(20);
	s.note.n_descsz = UINT32_MAX;
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
	s = small_make(20);
	s.note.n_namesz = UINT32_MAX - 2;
	assert_int_equal(read_id(&s, sizeof(s), id), 0);
	s = small_make(20);
	s.head.e_phnum = UINT16_MAX;
	assert_true(read_id(&s, sizeof(s), id) <= 0);
	/* A section count out of a section header that is anything at all. */
	s = small_make(20);
	s.head.e_shoff = offsetof(struct small, note);
	assert_int_equal(read_id(&s, sizeof(s), id), -ENOEXEC);
	s = small_make(20);
	for (size_t cut = 0; cut < sizeof(s); cut++)
		assert_true(read_id(&s, cut, id) <= 0 || cut >= offsetof(struct small, id) + 20);
}

static void not_elf(void **state)
{
	uint8_t id[DWELL_BUILD_ID_MAX];
	int pipes[2], fd;

	(void)state;
	assert_int_equal(read_id("#!/bin/sh\n", 10, id), -ENOEXEC);
	assert_int_equal(
		read_id("!<arch>\n................................................................",
			72, id),
		-ENOEXEC);
	assert_int_equal(read_id("", 0, id), -ENOEXEC);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(dwell_build_id_read(pipes[0], id), -ENOEXEC);
	close(pipes[0]);
	close(pipes[1]);
	fd = open("/", O_RDONLY | O_DIRECTORY);
	assert_int_equal(dwell_build_id_read(fd, id), -ENOEXEC);
	close(fd);
	assert_int_equal(dwell_build_id_read(-1, id), -ENOEXEC);
}

static void other_byte_order_and_class(void **state)
{
	struct {
		Elf32_Ehdr head;
		Elf32_Phdr note_header;
		Elf32_Nhdr note;
		char name[4];
		uint8_t id[8];
	} file = {
		.head = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2MSB, EV_CURRENT },
			  .e_version = htobe32(EV_CURRENT),
			  .e_phoff = htobe32(sizeof(Elf32_Ehdr)),
			  .e_phentsize = htobe16(sizeof(Elf32_Phdr)),
			  .e_phnum = htobe16(1) },
		.note_header = { .p_type = htobe32(PT_NOTE),
				 .p_offset = htobe32(sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr)),
				 .p_filesz = htobe32(sizeof(Elf32_Nhdr) + 12) },
		.note = { htobe32(4), htobe32(8), htobe32(NT_GNU_BUILD_ID) },
		.name = "GNU",
		.id = "12345678",
	};
	uint8_t id[DWELL_BUILD_ID_MAX];

	(void)state;
	assert_int_equal(read_id(&file, sizeof(file), id), 8);
	assert_memory_equal(id, "12345678", 8);
}

static void descriptor_stays_usable(void **state)
{
	struct small s = small_make(20);
	uint8_t id[DWELL_BUILD_ID_MAX];
	int fd = memfd_create("test", 0);

	(void)state;
	assert_int_equal(write(fd, &s, sizeof(s)), sizeof(s));
	assert_int_equal(lseek(fd, 7, SEEK_SET), 7);
	assert_int_equal(dwell_build_id_read(fd, id), 20);
	assert_int_equal(dwell_build_id_read(fd, id), 20);
	assert_true(fcntl(fd, F_GETFD) >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lengths),
		cmocka_unit_test(only_the_gnu_note),
		cmocka_unit_test(sections_of_files_without_program_headers),
		cmocka_unit_test(lying_headers),
		cmocka_unit_test(not_elf),
		cmocka_unit_test(other_byte_order_and_class),
		cmocka_unit_test(descriptor_stays_usable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
