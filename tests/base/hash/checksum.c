/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum of packs: every bit and the length count, parts sum as the whole does.
 */
#include "support/support.h"

#include "base/hash/hash.h"

#define BYTES 1000

static void fill(unsigned char bytes[BYTES])
{
	uint64_t state = 1;

	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)support_random(&state, 256);
}

static void test_bits(void **state)
{
	unsigned char bytes[BYTES];
	uint64_t whole;

	(void)state;
	fill(bytes);
	whole = ss_checksum_of(bytes, BYTES);
	for (size_t bit = 0; bit < (size_t)BYTES * 8; bit++) {
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		assert_true(ss_checksum_of(bytes, BYTES) != whole);
		bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
	}
	assert_true(ss_checksum_of(bytes, BYTES) == whole);
}

/* Zeros at the end are not those that fill up a block; blocks do not change places. */
static void test_lengths(void **state)
{
	unsigned char zeros[200] = { 0 }, bytes[BYTES], swapped[BYTES];

	(void)state;
	for (size_t a = 0; a < sizeof(zeros); a++)
		for (size_t b = 0; b < a; b++)
			assert_true(ss_checksum_of(zeros, a) != ss_checksum_of(zeros, b));
	fill(bytes);
	memcpy(swapped, bytes, BYTES);
	memcpy(swapped, bytes + SS_CHECKSUM_BLOCK, SS_CHECKSUM_BLOCK);
	memcpy(swapped + SS_CHECKSUM_BLOCK, bytes, SS_CHECKSUM_BLOCK);
	assert_true(ss_checksum_of(bytes, BYTES) != ss_checksum_of(swapped, BYTES));
	memcpy(swapped, bytes, BYTES);
	memcpy(swapped, bytes + 8, 8);
	memcpy(swapped + 8, bytes, 8);
	assert_true(ss_checksum_of(bytes, BYTES) != ss_checksum_of(swapped, BYTES));
	assert_true(ss_checksum_of(NULL, 0) == ss_checksum_of(zeros, 0));
}

static void test_parts(void **state)
{
	unsigned char bytes[BYTES];

	(void)state;
	fill(bytes);
	for (size_t cut = 0; cut <= BYTES; cut += SS_CHECKSUM_BLOCK) {
		struct ss_checksum sum;

		ss_checksum_init(&sum);
		ss_checksum_add(&sum, bytes, cut);
		ss_checksum_add(&sum, bytes + cut, BYTES - cut);
		assert_true(ss_checksum_end(&sum) == ss_checksum_of(bytes, BYTES));
	}
}

/* Files stay: the number that docs/formats/pack.md describes, worked out apart. */
static void test_fixed(void **state)
{
	(void)state;
	assert_true(ss_checksum_of("stepscope", 9) == 0x0b7c25463ead210au);
	assert_true(ss_checksum_of("", 0) == 0x3329303c69884817u);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_fixed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
