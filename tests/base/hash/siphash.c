/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SipHash-2-4: the vectors of its authors (key 00 01 .. 0f, messages 00 01 .. of growing length).
 */
#include "support/support.h"

#include "base/hash/hash.h"

static const uint64_t vectors[] = {
	0x726fdb47dd0e0e31u, 0x74f839c593dc67fdu, 0x0d6c8009d9a94f5au, 0x85676696d7fb7e2du,
	0xcf2794e0277187b7u, 0x18765564cd99a68du, 0xcbc9466e58fee3ceu, 0xab0200f58b01d137u,
	0x93f5f5799a932462u, 0x9e0082df0ba9e4b0u, 0x7a5dbbc594ddb9f3u, 0xf4b32f46226bada7u,
	0x751e8fbc860ee5fbu, 0x14ea5627c0843d90u, 0xf723ca908e7af2eeu, 0xa129ca6149be45e5u,
};

static void test_vectors(void **state)
{
	unsigned char key[SS_SIPHASH_KEY_BYTES], message[SS_COUNT(vectors)];

	(void)state;
	for (size_t i = 0; i < sizeof(key); i++)
		key[i] = message[i] = (unsigned char)i;
	for (size_t i = 0; i < SS_COUNT(vectors); i++)
		assert_true(ss_siphash(key, message, i) == vectors[i]);
}

static void test_key_matters(void **state)
{
	unsigned char key[SS_SIPHASH_KEY_BYTES] = { 0 };
	uint64_t before = ss_siphash(key, "host", 4);

	(void)state;
	for (size_t i = 0; i < sizeof(key); i++) {
		key[i] = 1;
		assert_true(ss_siphash(key, "host", 4) != before);
		key[i] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_key_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
