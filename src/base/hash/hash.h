/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - a fast 64-bit hash of short texts and small structs, checksums, a keyed hash.
 *
 * Names, shapes and launch configurations are looked up once or more per event,
 * so the hash must cost a few nanoseconds on 10 to 100 bytes. Multiply and fold,
 * 8 bytes at a time; it does not resist an attacker who looks for collisions.
 */
#ifndef SS_BASE_HASH_HASH_H
#define SS_BASE_HASH_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SS_HASH_SEED 0x9e3779b97f4a7c15u
#define SS_HASH_FACTOR 0xd6e8feb86659fd93u

static inline uint64_t ss_hash_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * SS_HASH_FACTOR;
	return hash ^ (hash >> 32);
}

static inline uint64_t ss_hash_word(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static inline uint64_t ss_hash_bytes(const char *bytes, size_t length)
{
	uint64_t hash = SS_HASH_SEED ^ length;
	uint64_t word = 0;

	if (length >= 8) {
		const char *last = bytes + length - 8;

		for (; bytes < last; bytes += 8)
			hash = ss_hash_mix(hash, ss_hash_word(bytes));
		return ss_hash_mix(hash, ss_hash_word(last)) * SS_HASH_FACTOR;
	}
	if (length >= 4) {
		uint32_t low, high;

		memcpy(&low, bytes, 4);
		memcpy(&high, bytes + length - 4, 4);
		word = low | (uint64_t)high << 32;
	} else if (length) {
		word = (uint64_t)(unsigned char)bytes[0] |
		       (uint64_t)(unsigned char)bytes[length / 2] << 8 |
		       (uint64_t)(unsigned char)bytes[length - 1] << 16;
	}
	return ss_hash_mix(hash, word) * SS_HASH_FACTOR;
}

/*
 * A 64-bit checksum of long arrays, as fast as they can be read.
 *
 * Detects bits that a disk or a copy changed, not an attacker: code that reads checked
 * bytes still validates them. It is our own instead of CRC or a library because it must be
 * fast without special instructions (WebAssembly has none): eight lanes of multiply and
 * fold hide each other's latency, about 8 bytes per cycle. Every step of a lane is
 * invertible, so a change within one lane is always detected.
 */

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

/*
 * SipHash-2-4: a keyed hash of short texts.
 *
 * Without the key nobody can derive the text from the hash or find two texts with the same hash,
 * which the fast one does not promise. (Aumasson, Bernstein: SipHash, 2012.)
 */

#define SS_SIPHASH_KEY_BYTES 16

uint64_t ss_siphash(const unsigned char key[SS_SIPHASH_KEY_BYTES], const void *bytes,
		    size_t length);

#endif
