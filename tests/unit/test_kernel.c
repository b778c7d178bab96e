// SPDX-License-Identifier: MIT
/* Tests of parse/elf/kernel.c and module.c, in a file tree made here: which symbols a recorded
 * kernel or module gets, from which place, and which are refused because they may be another's. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <cmocka.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "parse/elf/kernel.h"
#include "tests/unit/elfmake.h"

#define RELEASE "6.1.0-dwell"
#define HEX_11	"1111111111111111111111111111111111111111"

struct fixture {
	char root[32]; /* before /proc and /sys, and the symfs */
	struct dwell_symbols_options options;
	struct utsname uts;
	struct places places;
	struct kernel *kernel;
	struct naming naming;
	struct why why;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->root, "/tmp/test_kernel_XXXXXX");
	if (!mkdtemp(f->root) || uname(&f->uts))
		return -1;
	f->options = (struct dwell_symbols_options){ .symfs = f->root, .kernel_release = RELEASE };
	*state = f;
	return 0;
}

static void kernel_close(struct fixture *f)
{
	symtab_free(f->naming.table);
	f->naming.table = NULL;
	kernel_free(f->kernel);
	f->kernel = NULL;
	places_release(&f->places);
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	kernel_close(f);
	snprintf(command, sizeof(command), "rm -r %s", f->root);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static const char *below(const struct fixture *f, const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", f->root, name);
	return path;
}

static void file_write(struct fixture *f, const char *name, const void *bytes, size_t count)
{
	char path[256];
	int fd;

	strcpy(path, below(f, name));
	for (char *slash = strchr(path + strlen(f->root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, count), count);
	close(fd);
}

static void text_write(struct fixture *f, const char *name, const char *text)
{
	file_write(f, name, text, strlen(text));
}

/* Notes as the kernel shows them: one of another kind, then the build id. */
static void notes_write(struct fixture *f, const char *name, uint8_t id)
{
	struct {
		uint32_t other[3];
		char xen[4];
		uint32_t data[2];
		uint32_t head[3];
		char gnu[4];
		uint8_t id[20];
	} notes = { { 4, 7, 18 }, "Xen", { 0 }, { 4, 20, 3 }, "GNU", { 0 } };

	memset(notes.id, id, sizeof(notes.id));
	file_write(f, name, &notes, sizeof(notes));
}

static enum dwell_symbol_status load(struct fixture *f, uint8_t kind, uint8_t id, const char *path)
{
	struct dwell_file file = { .kind = kind, .build_id_bytes = id ? 20 : 0 };

	memset(file.build_id, id, file.build_id_bytes);
	kernel_close(f);
	assert_int_equal(places_init(&f->places, &f->options), 0);
	f->places.system = f->root;
	f->kernel = kernel_new(&f->places);
	assert_non_null(f->kernel);
	f->naming = (struct naming){ 0 };
	f->why.text[0] = '\0';
	return kernel_load(f->kernel, &file, path, &f->naming, &f->why);
}

static enum dwell_symbol_status load_image(struct fixture *f, uint8_t id)
{
	return load(f, DWELL_FILE_KERNEL, id, "[kernel.kallsyms]");
}

static void assert_kernel(struct fixture *f, uint64_t offset, const char *name)
{
	const char *found;
	const struct symbol *symbol;
	bool plt;

	if (f->naming.table) {
		symbol = symtab_find(f->naming.table, offset, &plt);
		found = symbol ? symbol->name : NULL;
	} else {
		found = kernel_name(&f->naming, offset);
	}
	if (!name) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_string_equal(found, name);
}

/* A kallsyms whose function at 0x100 has a name of its own; other boots have other addresses. */
static void kallsyms_write(struct fixture *f, const char *where, uint64_t text, const char *name)
{
	char lines[512];

	snprintf(lines, sizeof(lines),
		 "%llx T _stext\n%llx T _text\n%llx T %s\n%llx T _etext\n"
		 "%llx t load_node\t[ext4]\n%llx t sync_node\t[ext4]\n",
		 (unsigned long long)text, (unsigned long long)text,
		 (unsigned long long)text + 0x100, name, (unsigned long long)text + 0x1000,
		 0xffffffffc0a00010ull, 0xffffffffc0a00100ull);
	text_write(f, where, lines);
}

#define TEXT	 0xffffffff81000000ull
#define NEW_TEXT 0xffffffff9a200000ull

static void the_users_file(void **state)
{
	struct fixture *f = *state;
	char path[256];

	kallsyms_write(f, "copy", NEW_TEXT, "given");
	kallsyms_write(f, "proc/kallsyms", TEXT, "running");
	notes_write(f, "sys/kernel/notes", 0x11);
	strcpy(path, below(f, "copy"));
	f->options.kallsyms = path;
	/* Trusted whatever the build id. */
	for (int id = 0x10; id < 0x12; id++) {
		assert_int_equal(load_image(f, (uint8_t)id), DWELL_SYMBOL_OK);
		assert_kernel(f, 0x100, "given");
		assert_kernel(f, 0xfff, "given");
		assert_kernel(f, 0x1000, NULL);
	}
	/* Modules by name; their code starts on the page of their first function. */
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0, "/lib/modules/6.1/ext4.ko.xz"),
			 DWELL_SYMBOL_OK);
	assert_kernel(f, 0x10, "load_node");
	assert_kernel(f, 0x104, "sync_node");
	assert_kernel(f, 0, NULL);
	text_write(f, "modules",
		   "ext4x 1 1 - Live 0x10\next4 77 1 - Live 0xffffffffc09ff000 (O)\n");
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0, "[ext4]"), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x1104, "sync_node");
	/* Frames of dwell's own traces have addresses where those were hidden. */
	assert_int_equal(load(f, DWELL_FILE_KERNEL, 0, "[kernel]"), DWELL_SYMBOL_OK);
	assert_kernel(f, NEW_TEXT + 0x104, "given");
	f->options.kallsyms = "/nowhere/kallsyms";
	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_NO_KERNEL);
	assert_non_null(strstr(f->why.text, "/nowhere/kallsyms"));
}

static void kcore_dir(void **state)
{
	struct fixture *f = *state;
	char path[256];

	kallsyms_write(f, "dir/kcore_dir/kallsyms", NEW_TEXT, "recorded");
	text_write(f, "dir/kcore_dir/modules", "ext4 77 1 - Live 0xffffffffc0a00000\n");
	strcpy(path, below(f, "dir/kcore_dir"));
	f->options.kcore_dir = path;
	assert_int_equal(load_image(f, 0), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x100, "recorded");
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0, "[ext4]"), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x100, "sync_node");
	/* A guest's kernel is none of this. */
	assert_int_equal(load(f, DWELL_FILE_KERNEL, 0, "[guest.kernel.kallsyms]"),
			 DWELL_SYMBOL_NO_KERNEL);
}

static void the_running_kernel(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_NO_KERNEL);
	kallsyms_write(f, "proc/kallsyms", NEW_TEXT, "running");
	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_NO_KERNEL);
	notes_write(f, "sys/kernel/notes", 0x11);
	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x180, "running");
	/* Another kernel: refused, with both ids. */
	assert_int_equal(load_image(f, 0x12), DWELL_SYMBOL_NO_KERNEL);
	assert_non_null(strstr(f->why.text, "build id 121212"));
	assert_non_null(strstr(f->why.text, "running here is 111111"));
	/* Hidden addresses are a reason of their own. */
	text_write(f, "proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T run\n");
	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_KPTR);
	assert_int_equal(load(f, DWELL_FILE_KERNEL, 0, "[kernel]"), DWELL_SYMBOL_KPTR);
}

/* Without a build id the running kernel counts only for recordings of this boot. */
static void this_boot(void **state)
{
	struct fixture *f = *state;
	const struct dwell_symbols_options good = {
		.symfs = f->root,
		.host_name = f->uts.nodename,
		.kernel_release = f->uts.release,
		.kernel_text = NEW_TEXT,
		.recorded_ns = UINT64_MAX / 4,
	};

	notes_write(f, "sys/kernel/notes", 0x11);
	kallsyms_write(f, "proc/kallsyms", NEW_TEXT, "running");
	f->options = good;
	assert_int_equal(load_image(f, 0), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x100, "running");
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0, "[ext4]"), DWELL_SYMBOL_OK);
	for (int what = 0; what < 5; what++) {
		f->options = good;
		if (what == 0)
			f->options.host_name = "elsewhere.invalid";
		else if (what == 1)
			f->options.kernel_release = RELEASE;
		else if (what == 2)
			f->options.kernel_text = TEXT;
		else if (what == 3)
			f->options.kernel_text = 0;
		else
			f->options.recorded_ns = 1; /* long before this machine was started */
		assert_int_equal(load_image(f, 0), DWELL_SYMBOL_NO_KERNEL);
		assert_non_null(strstr(f->why.text, "without a build id"));
		assert_int_equal(load(f, DWELL_FILE_MODULE, 0, "[ext4]"), DWELL_SYMBOL_NO_KERNEL);
	}
}

static void cached_kallsyms(void **state)
{
	struct fixture *f = *state;
	char path[256];

	strcpy(path, below(f, "cache"));
	f->options.build_id_dir = path;
	notes_write(f, "sys/kernel/notes", 0x12);
	kallsyms_write(f, "proc/kallsyms", NEW_TEXT, "running");
	kallsyms_write(f, "cache/[kernel.kallsyms]/" HEX_11 "/kallsyms", TEXT, "cached");
	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x100, "cached");
	assert_int_equal(load_image(f, 0x13), DWELL_SYMBOL_NO_KERNEL);
	/* Modules stood elsewhere then. */
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0, "[ext4]"), DWELL_SYMBOL_NO_KERNEL);
	assert_int_equal(unlink(below(f, "cache/[kernel.kallsyms]/" HEX_11 "/kallsyms")), 0);
	assert_int_equal(rmdir(below(f, "cache/[kernel.kallsyms]/" HEX_11)), 0);
	kallsyms_write(f, "cache/[kernel.kallsyms]/" HEX_11, TEXT, "old_form");
	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x100, "old_form");
}

static void vmlinux_write(struct fixture *f, const char *path, uint8_t id, const char *name)
{
	static struct elfmake make;

	elfmake_begin(&make, EM_X86_64, 0x800, id);
	{
		const Elf64_Sym symbols[] = {
			elfmake_symbol(&make, "startup", 0x0, 0x40, STB_GLOBAL, STT_FUNC),
			elfmake_symbol(&make, "_text", 0x40, 0, STB_GLOBAL, STT_NOTYPE),
			elfmake_symbol(&make, name, 0x140, 0x40, STB_LOCAL, STT_FUNC),
		};

		elfmake_symbols(&make, SHT_SYMTAB, symbols, name ? 3 : 1);
	}
	elfmake_end(&make);
	file_write(f, path, make.bytes, make.used);
}

static void images(void **state)
{
	struct fixture *f = *state;
	static const char *const paths[] = {
		"usr/lib/debug/boot/vmlinux-" RELEASE,
		"boot/vmlinux-" RELEASE,
		"lib/modules/" RELEASE "/build/vmlinux",
		"usr/lib/debug/lib/modules/" RELEASE "/vmlinux",
		"usr/lib/debug/.build-id/11/111111111111111111111111111111111111"
		"11.debug",
		"cache/.build-id/11/11111111111111111111111111111111111111/elf",
	};
	char cache[256];

	strcpy(cache, below(f, "cache"));
	f->options.build_id_dir = cache;
	notes_write(f, "sys/kernel/notes", 0x12);
	kallsyms_write(f, "proc/kallsyms", TEXT, "running");
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		vmlinux_write(f, paths[i], 0x13, "of_another_build");
		assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_NO_KERNEL);
		assert_non_null(strstr(f->why.text, "build id 131313"));
		assert_non_null(strstr(f->why.text, "recorded was 111111"));
		vmlinux_write(f, paths[i], 0x11, "in_image");
		assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_OK);
		assert_kernel(f, 0x100, "in_image");
		assert_kernel(f, 0x13f, "in_image");
		assert_kernel(f, 0x140, NULL);
		assert_int_equal(load_image(f, 0), DWELL_SYMBOL_NO_KERNEL);
		assert_int_equal(unlink(below(f, paths[i])), 0);
	}
	/* A release is no path. */
	vmlinux_write(f, "boot/x", 0x11, "out_of_reach");
	assert_int_equal(mkdir(below(f, "boot/vmlinux-"), 0700), 0);
	f->options.kernel_release = "/../x";
	assert_int_equal(load_image(f, 0x11), DWELL_SYMBOL_NO_KERNEL);
}

/* A relocatable file with .init.text, .text and .text.unlikely, in that order. */
static size_t module_make(struct elfmake *make, uint16_t machine, uint8_t id)
{
	static const char code[0x60];
	Elf64_Sym symbols[4];
	Elf64_Ehdr head;
	struct {
		Elf64_Nhdr head;
		char name[4];
		uint8_t id[20];
	} note = { { 4, 20, NT_GNU_BUILD_ID }, "GNU", { 0 } };
	uint32_t cold;

	elfmake_begin(make, machine, 0x100, 0);
	memset(note.id, id, sizeof(note.id));
	make->sections[1].sh_addr = 0;
	make->sections[1].sh_addralign = 16;
	elfmake_section(make, ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, &note, sizeof(note));
	cold = elfmake_section(make, ".text.unlikely", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
			       code, sizeof(code));
	make->sections[cold].sh_addr = 0;
	make->sections[cold].sh_addralign = 64;
	symbols[0] = elfmake_symbol(make, "hot", 0x20, 0x10, STB_LOCAL, STT_FUNC);
	symbols[1] = elfmake_symbol(make, "cold", 0x20, 0x10, STB_LOCAL, STT_FUNC);
	symbols[2] = elfmake_symbol(make, "begin", 0, 0x8, STB_LOCAL, STT_FUNC);
	symbols[3] = elfmake_symbol(make, "tail", 0xf0, 0, STB_LOCAL, STT_FUNC);
	for (int i = 0; i < 4; i++)
		symbols[i].st_value -= ELFMAKE_TEXT + ELFMAKE_BIAS;
	symbols[1].st_shndx = (uint16_t)cold;
	symbols[2].st_shndx =
		(uint16_t)elfmake_section(make, ".init.text", SHT_PROGBITS,
					  SHF_ALLOC | SHF_EXECINSTR, code, sizeof(code));
	elfmake_symbols(make, SHT_SYMTAB, symbols, 4);
	elfmake_end(make);
	memcpy(&head, make->bytes, sizeof(head));
	head.e_type = ET_REL;
	head.e_phnum = 0;
	head.e_phoff = 0;
	memcpy(make->bytes, &head, sizeof(head));
	return make->used;
}

enum { PACKED_XZ, PACKED_GZIP, PACKED_ZSTD, PACKED_FORMS };

/* The bytes in one of the forms that modules are installed in, two members of gzip's; how many. */
static size_t pack(unsigned form, const uint8_t *bytes, size_t count, uint8_t *packed, size_t room)
{
	size_t used = 0;

	if (form == PACKED_XZ)
		assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, bytes, count,
							 packed, &used, room),
				 LZMA_OK);
	if (form == PACKED_ZSTD)
		used = ZSTD_compress(packed, room, bytes, count, 1);
	for (unsigned member = 0; form == PACKED_GZIP && member < 2; member++) {
		size_t from = member ? count / 2 : 0, to = member ? count : count / 2;
		z_stream stream = { .next_in = (Bytef *)(uintptr_t)bytes + from,
				    .avail_in = (uInt)(to - from),
				    .next_out = packed + used,
				    .avail_out = (uInt)(room - used) };

		assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
		assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
		used = room - stream.avail_out;
		assert_int_equal(deflateEnd(&stream), Z_OK);
	}
	assert_in_range(used, 1, room);
	return used;
}

static void modules(void **state)
{
	struct fixture *f = *state;
	static struct elfmake make;
	static const char dep[] = "kernel/fs/x.ko: kernel/fs/y.ko\nkernel/snd/snd-pcm.ko.xz:\n";
	static const char dep_path[] = "lib/modules/" RELEASE "/modules.dep";
	uint8_t packed[ELFMAKE_ROOM];
	size_t count;

	module_make(&make, EM_X86_64, 0x22);
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0x22, "[snd_pcm]"), DWELL_SYMBOL_NO_KERNEL);
	/* By path. */
	file_write(f, "lib/snd-pcm.ko", make.bytes, make.used);
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0x22, "/lib/snd-pcm.ko"), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x20, "hot");
	assert_kernel(f, 0x30, NULL);
	assert_kernel(f, 0xff, "tail");
	assert_kernel(f, 0x120, "cold");
	assert_kernel(f, 0x160, NULL); /* behind both: code that is gone after the start */
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0x23, "/lib/snd-pcm.ko"),
			 DWELL_SYMBOL_NO_KERNEL);
	assert_non_null(strstr(f->why.text, "build id 222222"));
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0, "/lib/snd-pcm.ko"), DWELL_SYMBOL_NO_KERNEL);
	/* By name, packed. */
	text_write(f, dep_path, dep);
	for (unsigned form = 0; form < PACKED_FORMS; form++) {
		count = pack(form, make.bytes, make.used, packed, sizeof(packed));
		file_write(f, "lib/modules/" RELEASE "/kernel/snd/snd-pcm.ko.xz", packed, count);
		assert_int_equal(load(f, DWELL_FILE_MODULE, 0x22, "[snd_pcm]"), DWELL_SYMBOL_OK);
		assert_kernel(f, 0x20, "hot");
		file_write(f, "lib/modules/" RELEASE "/kernel/snd/snd-pcm.ko.xz", packed,
			   count / 2);
		assert_int_equal(load(f, DWELL_FILE_MODULE, 0x22, "[snd_pcm]"),
				 DWELL_SYMBOL_NO_KERNEL);
	}
	/* Elsewhere jump tables may come first: only .text is sure. */
	module_make(&make, EM_AARCH64, 0x22);
	file_write(f, "lib/snd-pcm.ko", make.bytes, make.used);
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0x22, "/lib/snd-pcm.ko"), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x20, "hot");
	assert_kernel(f, 0x120, NULL);
}

/* A module that is loaded here with the recorded build id is the same one, wherever it is now. */
static void loaded_modules(void **state)
{
	struct fixture *f = *state;

	kallsyms_write(f, "proc/kallsyms", TEXT, "running");
	text_write(f, "proc/modules", "ext4 77 1 - Live 0xffffffffc0a00000\n");
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0x22, "[ext4]"), DWELL_SYMBOL_NO_KERNEL);
	notes_write(f, "sys/module/ext4/notes/.note.gnu.build-id", 0x22);
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0x22, "[ext4]"), DWELL_SYMBOL_OK);
	assert_kernel(f, 0x104, "sync_node");
	assert_int_equal(load(f, DWELL_FILE_MODULE, 0x23, "[ext4]"), DWELL_SYMBOL_NO_KERNEL);
}

static void module_names(void **state)
{
	static const char *const cases[][2] = {
		{ "[ext4]", "ext4" },
		{ "/lib/modules/6.1.0/kernel/sound/snd-hda-intel.ko.zst", "snd_hda_intel" },
		{ "x.ko", "x" },
		{ "[nf tables", "nf tables" },
		{ "", "" },
		{ "/", "" },
		{ "[a123456789b123456789c123456789d123456789e123456789f123456789g123456789]",
		  "a123456789b123456789c123456789d123456789e123456789f123456789g12" },
	};
	char name[MODULE_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		module_name(cases[i][0], name);
		assert_string_equal(name, cases[i][1]);
	}
}

/* Notes cut anywhere, or with sizes that lie, yield nothing or the id. */
static void damaged_notes(void **state)
{
	uint32_t notes[] = { 4, 20, 3, 0x00554e47, 1, 2, 3, 4, 5 };
	uint8_t id[DWELL_BUILD_ID_MAX];

	(void)state;
	assert_int_equal(build_id_of_notes(notes, sizeof(notes), id), 20);
	assert_int_equal(id[4], 2);
	for (size_t count = 0; count < sizeof(notes); count++)
		assert_int_equal(build_id_of_notes(notes, count, id), 0);
	for (unsigned word = 0; word < 2; word++) {
		uint32_t before = notes[word];

		notes[word] = UINT32_MAX;
		assert_int_equal(build_id_of_notes(notes, sizeof(notes), id), 0);
		notes[word] = before;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		TEST(the_users_file),
		TEST(kcore_dir),
		TEST(the_running_kernel),
		TEST(this_boot),
		TEST(cached_kallsyms),
		TEST(images),
		TEST(modules),

		TEST(loaded_modules),
		cmocka_unit_test(module_names),
		cmocka_unit_test(damaged_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
