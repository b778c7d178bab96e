// SPDX-License-Identifier: MIT
/* Headers of an ELF file become the sections of call frame information that it has, with or without
 * section headers, and its executable segments. Sizes are bounded before libelf reads anything. */
#include "parse/elf/unwind_input.h"

#include <endian.h>
#include <errno.h>

#include "parse/elf/cfi_program.h"
#include "parse/elf/symtab.h"

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND 0x70000001
#endif

enum {
	FRAME_BYTES_MAX = 256 << 20, /* the largest programs have some 40 MiB */
	HEADER_BYTES_MAX = 64,	     /* of .eh_frame_hdr, as far as it is read */
};

static bool file_is_swapped(const GElf_Ehdr *head)
{
	return head->e_ident[EI_DATA] != (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
}

static void segments_read(Elf *elf, struct unwind_input *input)
{
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return;
	for (size_t i = 0; i < count && input->segment_count < UNWIND_SEGMENTS_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph))
			break;
		if (ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || ph.p_offset > UINT32_MAX)
			continue;
		if (ph.p_filesz > UINT32_MAX - ph.p_offset)
			ph.p_filesz = UINT32_MAX - ph.p_offset;
		input->segments[input->segment_count++] =
			(struct unwind_segment){ ph.p_vaddr, (uint32_t)ph.p_offset,
						 (uint32_t)ph.p_filesz };
	}
}

const struct unwind_segment *unwind_input_segment(const struct unwind_input *input, uint64_t vaddr)
{
	for (uint32_t i = 0; i < input->segment_count; i++)
		if (vaddr - input->segments[i].vaddr < input->segments[i].bytes)
			return &input->segments[i];
	return NULL;
}

/* The bytes of a section; NULL when it has none that are usable. Debug sections may be compressed,
 * and say themselves how large they become. */
static const Elf_Data *section_data(Elf_Scn *section, const GElf_Shdr *sh)
{
	GElf_Chdr compressed;
	Elf_Data *data;

	if ((sh->sh_type != SHT_PROGBITS && sh->sh_type != SHT_X86_64_UNWIND) ||
	    sh->sh_size > FRAME_BYTES_MAX)
		return NULL;
	if (sh->sh_flags & SHF_COMPRESSED &&
	    (!gelf_getchdr(section, &compressed) || compressed.ch_size > FRAME_BYTES_MAX ||
	     elf_compress(section, 0, 0) < 0))
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

static bool section_read(Elf *elf, const char *name, const struct cfi_section *known,
			 struct cfi_section *ret)
{
	GElf_Shdr sh;
	Elf_Scn *section = section_by_name(elf, name, &sh);
	const Elf_Data *data = section ? section_data(section, &sh) : NULL;

	if (!data)
		return false;
	*ret = *known;
	ret->bytes = data->d_buf;
	ret->count = data->d_size;
	ret->vaddr = sh.sh_addr;
	return true;
}

/* The bytes of the file from an address on: as many as its segment has, but at most so many. */
static bool loaded_read(Elf *elf, uint64_t vaddr, uint64_t bytes_max, struct cfi_section *section)
{
	size_t count;
	GElf_Phdr ph;
	Elf_Data *data;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &ph); i++) {
		uint64_t at = vaddr - ph.p_vaddr, bytes = ph.p_filesz - at;

		if (ph.p_type != PT_LOAD || at >= ph.p_filesz || ph.p_offset > INT64_MAX - at)
			continue;
		bytes = bytes < bytes_max ? bytes : bytes_max;
		data = elf_getdata_rawchunk(elf, (int64_t)(ph.p_offset + at), bytes, ELF_T_BYTE);
		if (!data || !data->d_buf)
			return false;
		section->bytes = data->d_buf;
		section->count = data->d_size;
		section->vaddr = vaddr;
		return true;
	}
	return false;
}

/* .eh_frame of a file that has lost its section headers: .eh_frame_hdr, which the unwinder inside
 * the program finds by its program header, tells where it begins. A length of 0 ends it. */
static bool headers_follow(Elf *elf, const struct cfi_section *known, struct cfi_section *ret)
{
	struct cfi_section header = *known, section = *known;
	struct cfi_cursor in = { .swapped = known->swapped };
	uint8_t version, encoding;
	uint64_t vaddr;
	size_t count;
	GElf_Phdr ph;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &ph); i++) {
		if (ph.p_type != PT_GNU_EH_FRAME ||
		    !loaded_read(elf, ph.p_vaddr, HEADER_BYTES_MAX, &header))
			continue;
		header.data = header.vaddr;
		in.at = header.bytes;
		in.end = header.bytes + header.count;
		version = cfi_u8(&in);
		encoding = cfi_u8(&in);
		cfi_u16(&in); /* encodings of the search table, which is not needed */
		vaddr = cfi_pointer(&header, &in, encoding);
		if (version != 1 || in.bad || !loaded_read(elf, vaddr, FRAME_BYTES_MAX, &section))
			return false;
		*ret = section;
		return true;
	}
	return false;
}

int unwind_input_read(Elf *elf, struct unwind_input *ret_input, struct dwell_err *err)
{
	struct unwind_input input = { 0 };
	struct cfi_section known = { 0 };
	GElf_Ehdr head;

	if (!gelf_getehdr(elf, &head) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64))
		return dwell_err_set(err, -ENOEXEC,
				     "no unwind table: not a 64-bit x86-64 or AArch64 file");
	input.machine = known.machine = head.e_machine;
	known.swapped = file_is_swapped(&head);
	segments_read(elf, &input);
	if (section_read(elf, ".eh_frame", &known, &input.sections[0]) ||
	    headers_follow(elf, &known, &input.sections[0]))
		input.section_count++;
	known.is_debug_frame = true;
	if (section_read(elf, ".debug_frame", &known, &input.sections[input.section_count]))
		input.section_count++;
	*ret_input = input;
	return 0;
}
