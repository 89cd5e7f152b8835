/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siphash.c - SipHash-2-4 as its authors describe it.
 */
#include "base/hash/siphash.h"

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
