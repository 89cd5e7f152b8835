/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checksum.c - eight lanes of multiply and fold.
 */
#include "base/hash/checksum.h"

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
