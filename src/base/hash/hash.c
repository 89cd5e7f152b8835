/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.c - checksums, by eight lanes of multiply and fold, and SipHash.
 */
#include "base/hash/hash.h"

void ss_checksum_init(struct ss_checksum *sum)
{
	sum->bytes = 0;
	for (uint64_t i = 0; i < SS_CHECKSUM_LANES; i++)
		sum->lanes[i] = SS_HASH_SEED * (i + 1);
}

static void checksum_add_block(uint64_t lanes[SS_CHECKSUM_LANES], const char *at)
{
	for (size_t i = 0; i < SS_CHECKSUM_LANES; i++)
		lanes[i] = ss_hash_mix(lanes[i], ss_hash_word(at + 8 * i));
}

void ss_checksum_add(struct ss_checksum *sum, const void *data, size_t bytes)
{
	const char *at = data;
	uint64_t lanes[SS_CHECKSUM_LANES];

	memcpy(lanes, sum->lanes, sizeof(lanes));
	sum->bytes += bytes;
	for (; bytes >= SS_CHECKSUM_BLOCK; at += SS_CHECKSUM_BLOCK, bytes -= SS_CHECKSUM_BLOCK)
		checksum_add_block(lanes, at);
	if (bytes) {
		char rest[SS_CHECKSUM_BLOCK] = { 0 };

		memcpy(rest, at, bytes);
		checksum_add_block(lanes, rest);
	}
	memcpy(sum->lanes, lanes, sizeof(lanes));
}

uint64_t ss_checksum_end(const struct ss_checksum *sum)
{
	/* the length tells zeros at the end from zeros that fill up the last block */
	uint64_t whole = sum->bytes * SS_HASH_FACTOR;

	for (size_t i = 0; i < SS_CHECKSUM_LANES; i++)
		whole = ss_hash_mix(whole, sum->lanes[i]);
	return whole;
}

uint64_t ss_checksum_of(const void *data, size_t bytes)
{
	struct ss_checksum sum;

	ss_checksum_init(&sum);
	ss_checksum_add(&sum, data, bytes);
	return ss_checksum_end(&sum);
}

/* SipHash-2-4 as its authors describe it. */

struct siphash_state {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotate_left(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static uint64_t siphash_load_word(const unsigned char *at, size_t length)
{
	uint64_t word = 0;

	for (size_t i = 0; i < length; i++)
		word |= (uint64_t)at[i] << 8 * i;
	return word;
}

static void siphash_mix(struct siphash_state *s, int rounds)
{
	for (; rounds > 0; rounds--) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = rotate_left(s->v1, 13) ^ s->v0;
		s->v3 = rotate_left(s->v3, 16) ^ s->v2;
		s->v0 = rotate_left(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = rotate_left(s->v1, 17) ^ s->v2;
		s->v3 = rotate_left(s->v3, 21) ^ s->v0;
		s->v2 = rotate_left(s->v2, 32);
	}
}

static void siphash_add_word(struct siphash_state *s, uint64_t word)
{
	s->v3 ^= word;
	siphash_mix(s, 2);
	s->v0 ^= word;
}

uint64_t ss_siphash(const unsigned char key[SS_SIPHASH_KEY_BYTES], const void *bytes, size_t length)
{
	const unsigned char *at = bytes;
	uint64_t low = siphash_load_word(key, 8), high = siphash_load_word(key + 8, 8);
	struct siphash_state s = { low ^ 0x736f6d6570736575u, high ^ 0x646f72616e646f6du,
				   low ^ 0x6c7967656e657261u, high ^ 0x7465646279746573u };
	size_t left = length;

	for (; left >= 8; left -= 8, at += 8)
		siphash_add_word(&s, siphash_load_word(at, 8));
	siphash_add_word(&s, siphash_load_word(at, left) | (uint64_t)length << 56);
	s.v2 ^= 0xff;
	siphash_mix(&s, 4);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
