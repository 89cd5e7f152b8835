/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.h - a 64-bit checksum of long arrays, as fast as they can be read.
 *
 * Detects bits that a disk or a copy changed, not an attacker: code that reads checked
 * bytes still validates them. It is our own instead of CRC or a library because it must be
 * fast without special instructions (WebAssembly has none): eight lanes of multiply and
 * fold hide each other's latency, about 8 bytes per cycle. Every step of a lane is
 * invertible, so a change within one lane is always detected.
 */
#ifndef SS_BASE_HASH_CHECKSUM_H
#define SS_BASE_HASH_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define SS_CHECKSUM_LANES 8

/* All parts but the last must be multiples of this long. */
#define SS_CHECKSUM_BLOCK ((size_t)8 * SS_CHECKSUM_LANES)

struct ss_checksum {
	uint64_t lanes[SS_CHECKSUM_LANES];
	uint64_t bytes;
};

void ss_checksum_init(struct ss_checksum *sum);
void ss_checksum_add(struct ss_checksum *sum, const void *data, size_t bytes);
uint64_t ss_checksum_end(const struct ss_checksum *sum);

/* Of one array. */
uint64_t ss_checksum_of(const void *data, size_t bytes);

#endif
