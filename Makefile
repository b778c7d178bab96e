# SPDX-License-Identifier: MIT
# dwell: `make` builds ./dwell; `make help` lists the targets.
# Variables: O=DIR (objects), V=1, WERROR=1, SAN=address,undefined, CC, CFLAGS, PREFIX, DESTDIR.

VERSION := 0.1.0
O ?= build$(if $(SAN),/san)
PREFIX ?= /usr/local
CFLAGS ?= -O2 -g
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wwrite-strings \
	-Wpointer-arith -Wundef -Wno-sign-compare $(if $(WERROR),-Werror)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
ALL_CFLAGS := -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DDWELL_VERSION='"$(VERSION)"' -I. \
	$(WARN) $(CFLAGS) $(SANFLAGS)
# libtraceevent's headers stand in a folder of their own that pkg-config knows.
ALL_CFLAGS += $(shell pkg-config --cflags libtraceevent 2>/dev/null)
LIBS := -ltraceevent -lelf -ldw -ljson-c -lzstd -lz -liberty -lm

SRCS := $(wildcard lib/*.c parse/*.c parse/elf/*.c parse/perf/*.c record/*.c offcpu/*.c report/*.c)
OBJS := $(SRCS:%.c=$(O)/%.o)
TESTS := $(patsubst tests/unit/%.c,$(O)/tests/unit/%,$(wildcard tests/unit/test_*.c))

.PHONY: all clean unit
.DELETE_ON_ERROR:
.SECONDARY:

all: dwell

dwell: $(O)/dwell.o $(O)/libdwell.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(O)/libdwell.a: $(OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/tests/unit/%: $(O)/tests/unit/%.o $(O)/libdwell.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka $(LIBS)

unit: $(TESTS)
	$(Q)for t in $(TESTS); do echo "# $$t"; $$t || exit 1; done

clean:
	rm -rf build dwell

-include $(OBJS:.o=.d) $(O)/dwell.d $(TESTS:=.d)
