/* SPDX-License-Identifier: MIT */
/* Reads the GNU build id of an ELF file. */
#ifndef DWELL_PARSE_ELF_BUILDID_H
#define DWELL_PARSE_ELF_BUILDID_H

#include <stdint.h>

#include "parse/stack.h"

/* The build id in the notes of the ELF file open at fd (left open, position not kept). Returns its
 * length in bytes (at most DWELL_BUILD_ID_MAX), 0 when it has none, -errno when not readable or not
 * ELF. Reads the headers and notes only; bounded whatever the file says. */
int dwell_build_id_read(int fd, uint8_t ret_build_id[DWELL_BUILD_ID_MAX]);

#endif
