# SPDX-License-Identifier: MIT
# dwell: `make` builds ./dwell; `make help` lists the targets.
# Variables: O=DIR (objects), V=1, WERROR=1, SAN=address,undefined, CC, CFLAGS, PREFIX, DESTDIR.

VERSION := 0.1.0
SAN_DIR = $(if $(SAN),/san)
O ?= build$(SAN_DIR)
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

# ---- make deps: installs what the rest needs, so the rest runs in a make of its own, after it.
ifneq ($(filter deps,$(MAKECMDGOALS)),)

.NOTPARALLEL:
.PHONY: deps $(MAKECMDGOALS)

deps:
	@scripts/deps.sh

$(filter-out deps,$(MAKECMDGOALS)): deps
	+$(Q)$(MAKE) --no-print-directory $@

else

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings \
	-Wpointer-arith -Wundef -Wno-sign-compare $(if $(WERROR),-Werror)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
BASE_CFLAGS = -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. $(WARN) $(CFLAGS)
ALL_CFLAGS = $(BASE_CFLAGS) -DDWELL_VERSION='"$(VERSION)"' $(SANFLAGS)
LIBS := -pthread -lelf -ldw -ljson-c -lzstd -lz -llzma -liberty -lm
# What the static archives need besides: libdw's own decompressors and dlopen.
STATIC_LIBS := -ldw -lelf -ljson-c -lzstd -lz -llzma -lbz2 -liberty -lm -ldl -lpthread

BIN := $(if $(filter build,$(O)),dwell,$(O)/dwell)
SRCS := $(wildcard lib/*.c parse/*.c parse/elf/*.c parse/perf/*.c record/*.c offcpu/*.c report/*.c)
OBJS := $(SRCS:%.c=$(O)/%.o)
TESTS := $(patsubst %.c,$(O)/%,$(wildcard tests/unit/test_*.c))
# Anything else in tests/unit is shared by all of its programs.
TEST_OBJS := $(patsubst %.c,$(O)/%.o,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
WORKLOADS := $(patsubst %.c,$(O)/%,$(filter-out %/verify.c %/demo.c,$(wildcard tests/workload/*.c)))
CHECKERS := $(O)/tests/workload/verify $(O)/demo-workload
FUZZERS := $(patsubst %.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
TOOLS := $(patsubst %.c,$(O)/%,$(wildcard tests/tools/*.c))
BENCHES := $(patsubst %.c,$(O)/%,$(wildcard tests/bench/*.c))
C_FILES = $(shell find dwell.c lib parse record offcpu report tests -name '*.[ch]' 2>/dev/null)
MAN1 = $(wildcard Documentation/*.1)
MAN5 = $(wildcard Documentation/*.5)

.PHONY: all unit check check-qemu demo lint format bench fuzz fuzz-programs install uninstall clean \
	help static static-workloads programs
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BIN)

$(BIN): $(O)/dwell.o $(O)/libdwell.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/libdwell.a: $(OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(TEST_OBJS) $(O)/libdwell.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

# Workloads are never sanitized: their truth is about time. With frame pointers, so that what they
# print can be found in the stacks.
WORKLOAD_CC = $(CC) $(BASE_CFLAGS) $(FRAMES) -fno-optimize-sibling-calls -pthread
FRAMES := -fno-omit-frame-pointer
$(O)/tests/workload/deep $(O)/tests/workload/paths: FRAMES := -fomit-frame-pointer

$(O)/tests/workload/verify: tests/workload/verify.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(CC) $(BASE_CFLAGS) -o $@ $< -ljson-c

$(O)/demo-workload: tests/workload/demo.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(WORKLOAD_CC) -o $@ $<

$(O)/tests/workload/%: tests/workload/%.c tests/workload/truth.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(WORKLOAD_CC) -o $@ $<

$(O)/tests/tools/unwindtime: LDFLAGS += -Wl,--wrap=dwell_unwinder_chain

# Show scripts what our libraries make of an input.
$(O)/tests/tools/%: $(O)/tests/tools/%.o $(O)/libdwell.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/tests/bench/%: tests/bench/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D) && $(WORKLOAD_CC) -o $@ $<

$(O)/tests/fuzz/%: $(O)/tests/fuzz/%.o $(O)/libdwell.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(LIBS)

# ---- tests

unit: $(TESTS)
	$(Q)for t in $(TESTS); do echo "# $$t"; $$t || exit 1; done

programs: $(TESTS) $(WORKLOADS) $(CHECKERS) $(TOOLS)

check: $(BIN) programs
	$(Q)DWELL=$(abspath $(BIN)) OUT=$(abspath $(O)) tests/run.sh $(TESTS) tests/e2e/*.sh

# The programs that the virtual machine runs need no shared library. Where an archive for a static
# dwell is missing, the dynamic one goes there with its libraries.
static: $(BIN)
	+$(Q)$(MAKE) --no-print-directory O=$(O)/static static-workloads
	+$(Q)$(MAKE) --no-print-directory O=$(O)/static LDFLAGS=-static LIBS='$(STATIC_LIBS)' all || \
		echo 'static: this dwell cannot be linked statically here'

static-workloads: $(patsubst %.c,$(O)/%.static,$(filter-out %/demo.c,$(wildcard tests/workload/*.c)))

$(O)/tests/workload/%.static: tests/workload/%.c tests/workload/truth.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(WORKLOAD_CC) -static -o $@ $< $(if $(filter verify,$*),-ljson-c)

check-qemu: static
	$(Q)DWELL=$(abspath $(BIN)) OUT=$(abspath $(O)) KERNEL='$(KERNEL)' scripts/check-qemu.sh

fuzz-programs: $(FUZZERS)

FUZZ_SECONDS ?= 60
fuzz:
	+$(Q)$(MAKE) --no-print-directory O=$(O)/fuzz CC=clang CFLAGS='-O1 -g' \
		SAN=fuzzer-no-link,address,undefined fuzz-programs
	$(Q)FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz.sh $(O)/fuzz/tests/fuzz

bench: $(BIN) $(BENCHES) $(O)/tests/tools/unwindtime $(O)/demo-workload
	$(Q)DWELL=$(abspath $(BIN)) OUT=$(abspath $(O)) CC='$(CC)' scripts/bench.sh
	$(Q)DWELL=$(abspath $(BIN)) OUT=$(abspath $(O)) scripts/bench-stacks.sh

demo: $(BIN) $(O)/demo-workload
	$(Q)DWELL=./$(BIN) OUT=$(O) scripts/demo.sh

# ---- source

lint: $(BIN)
	$(Q)DWELL=./$(BIN) scripts/lint.sh

format:
	clang-format -i $(C_FILES)

# ---- installation

BASH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/bash-completion/completions
ZSH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/zsh/site-functions
FISH_COMPLETIONS = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
MAN_DIR = $(DESTDIR)$(PREFIX)/share/man

install: $(BIN)
	install -d $(DESTDIR)$(PREFIX)/bin $(MAN_DIR)/man1 $(MAN_DIR)/man5
	install -d $(BASH_COMPLETIONS) $(ZSH_COMPLETIONS) $(FISH_COMPLETIONS)
	install -m 755 $(BIN) $(DESTDIR)$(PREFIX)/bin/dwell
	$(if $(MAN1),install -m 644 $(MAN1) $(MAN_DIR)/man1)
	$(if $(MAN5),install -m 644 $(MAN5) $(MAN_DIR)/man5)
	install -m 644 completions/dwell.bash $(BASH_COMPLETIONS)/dwell
	install -m 644 completions/dwell.zsh $(ZSH_COMPLETIONS)/_dwell
	install -m 644 completions/dwell.fish $(FISH_COMPLETIONS)/dwell.fish

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/dwell $(BASH_COMPLETIONS)/dwell $(ZSH_COMPLETIONS)/_dwell
	rm -f $(FISH_COMPLETIONS)/dwell.fish
	rm -f $(addprefix $(MAN_DIR)/man1/,$(notdir $(MAN1))) $(addprefix $(MAN_DIR)/man5/,$(notdir $(MAN5)))

clean:
	rm -rf build dwell

help:
	@echo 'make             build ./dwell'
	@echo 'make deps        install the build dependencies (apt, dnf, pacman); first of several goals'
	@echo 'make demo        record a small bundled program and show where its time went (root)'
	@echo 'make check       unit and end-to-end tests; as root all of them'
	@echo 'make check-qemu  the recorder tests under a stock kernel, or KERNEL=vmlinuz'
	@echo 'make lint        format, include law, options against man pages, licences, scripts'
	@echo 'make format      clang-format over all C'
	@echo 'make fuzz        fuzz the readers for FUZZ_SECONDS each (clang)'
	@echo 'make bench       cost of recording and reading, as ratios (root, perf)'
	@echo 'make install     into PREFIX (/usr/local), below DESTDIR; make uninstall takes it away'
	@echo 'make clean       remove build/ and ./dwell'
	@echo 'variables        O=DIR V=1 WERROR=1 SAN=address,undefined CC CFLAGS LDFLAGS'

-include $(OBJS:.o=.d) $(TEST_OBJS:.o=.d) $(O)/dwell.d $(TESTS:=.d) $(TOOLS:=.d) $(FUZZERS:=.d)

endif
