/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interning: equal things have one number, in the order of first appearance.
 */
#include "support/support.h"

#include "base/intern.h"

#define MANY 100000u

static void test_strings(void **state)
{
	struct ss_memory memory;
	struct ss_strings strings;
	const char *first;
	size_t used_bytes;
	char text[32];

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_strings_init(&strings, &memory));
	assert_int_equal(ss_strings_add(&strings, "", 0), 0);
	assert_int_equal(ss_strings_find(&strings, "text 0", 6), SS_NO_ID);
	for (uint32_t i = 0; i < MANY; i++) {
		int length = snprintf(text, sizeof(text), "text %u", i);

		assert_int_equal(ss_strings_add(&strings, text, (size_t)length), i + 1);
	}
	first = ss_strings_text(&strings, 1);
	for (uint32_t i = 0; i < MANY; i++) {
		int length = snprintf(text, sizeof(text), "text %u", i);

		assert_int_equal(ss_strings_add(&strings, text, (size_t)length), i + 1);
		assert_int_equal(ss_strings_find(&strings, text, (size_t)length), i + 1);
		assert_string_equal(ss_strings_text(&strings, i + 1), text);
	}
	assert_int_equal(strings.count, MANY + 1);
	/* what was stored does not move */
	assert_ptr_equal(first, ss_strings_text(&strings, 1));
	/* until it is made to fit: then it takes less, and all is still there */
	used_bytes = memory.used_bytes;
	assert_true(ss_strings_fit(&strings));
	assert_true(memory.used_bytes < used_bytes);
	for (uint32_t i = 0; i < MANY; i++) {
		int length = snprintf(text, sizeof(text), "text %u", i);

		assert_int_equal(ss_strings_find(&strings, text, (size_t)length), i + 1);
		assert_string_equal(ss_strings_text(&strings, i + 1), text);
	}
	assert_int_equal(ss_strings_add(&strings, "new", 3), MANY + 1);
	assert_string_equal(ss_strings_text(&strings, MANY + 1), "new");
	ss_strings_release(&strings);
	ss_strings_release(&strings);
	assert_int_equal(memory.used_bytes, 0);
}

/* Two tables have most texts in common: they are kept once, and both stay what they were. */
static void test_shared_strings(void **state)
{
	struct ss_strings pool, tables[2];
	struct ss_memory memory;
	char text[32];

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_strings_init(&pool, &memory));
	for (uint32_t t = 0; t < 2; t++) {
		assert_true(ss_strings_init(&tables[t], &memory));
		for (uint32_t i = 0; i < 500; i++) {
			int length = snprintf(text, sizeof(text), "text %u", i + 3 * t);

			assert_int_equal(ss_strings_add(&tables[t], text, (size_t)length), i + 1);
		}
		assert_true(ss_strings_share(&tables[t], &pool));
	}
	assert_int_equal(pool.count, 504);
	assert_ptr_equal(ss_strings_text(&tables[0], 4), ss_strings_text(&tables[1], 1));
	assert_int_equal(ss_strings_find(&tables[1], "text 3", 6), 1);
	assert_int_equal(ss_strings_find(&tables[1], "text 2", 6), SS_NO_ID);
	for (uint32_t i = 0; i < 500; i++) {
		int length = snprintf(text, sizeof(text), "new %u", i);

		assert_int_equal(ss_strings_add(&tables[0], text, (size_t)length), 501 + i);
		assert_int_equal(ss_strings_find(&tables[0], text, (size_t)length), 501 + i);
	}
	/* without memory for the pool, the table stays whole */
	assert_int_equal(ss_strings_find(&tables[0], "text 499", 8), 500);
	memory.limit_bytes = memory.used_bytes;
	assert_false(ss_strings_share(&tables[0], &pool) && pool.count < 1004);
	assert_string_equal(ss_strings_text(&tables[0], 1000), "new 499");
	for (uint32_t t = 0; t < 2; t++)
		ss_strings_release(&tables[t]);
	ss_strings_release(&pool);
	assert_int_equal(memory.used_bytes, 0);
}

/* Texts that share all bytes that a lazy hash would look at. */
static void test_similar_strings(void **state)
{
	static const struct {
		const char *text;
		size_t length;
	} texts[] = {
		{ "a", 1 },
		{ "a\0", 2 },
		{ "a\0\0", 3 },
		{ "aa", 2 },
		{ "aaa", 3 },
		{ "aaaaaaaa", 8 },
		{ "aaaaaaaaa", 9 },
		{ "aaaaaaaaaaaaaaaa", 16 },
		{ "ab", 2 },
		{ "aaaaaaab", 8 },
		{ "aaaaaaaabaaaaaaa", 16 },
		{ "\0", 1 },
		{ "\0\0", 2 },
		{ "\xff\xff\xff\xff", 4 },
	};
	struct ss_memory memory;
	struct ss_strings strings;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_strings_init(&strings, &memory));
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < SS_COUNT(texts); i++)
			support_check(ss_strings_add(&strings, texts[i].text, texts[i].length) ==
					      i + 1,
				      "similar texts have different numbers", "text %u", i);
	ss_strings_release(&strings);
	assert_int_equal(memory.used_bytes, 0);
}

static void test_records(void **state)
{
	struct ss_memory memory;
	struct ss_records records;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_records_init(&records, &memory, 12));
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < MANY; i++) {
			uint32_t record[3] = { i, i % 7, i * i };

			assert_int_equal(ss_records_add(&records, record), i);
			assert_memory_equal(ss_records_at(&records, i), record, 12);
		}
	}
	assert_int_equal(ss_records_find(&records, (uint32_t[]){ 5, 5, 26 }), SS_NO_ID);
	assert_int_equal(ss_records_find(&records, (uint32_t[]){ 5, 5, 25 }), 5);
	ss_records_release(&records);
	assert_int_equal(memory.used_bytes, 0);
}

/* Whichever allocation fails: a refusal, and what was there is still there. */
static void test_torture(void **state)
{
	(void)state;
	for (size_t call = 1; call < 30; call++) {
		struct ss_memory memory;
		struct ss_strings strings;
		uint32_t added = 0;
		char text[32];

		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		if (ss_strings_init(&strings, &memory)) {
			for (uint32_t i = 0; i < 3000; i++) {
				int length = snprintf(text, sizeof(text), "%u", i);

				added += ss_strings_add(&strings, text, (size_t)length) != SS_NO_ID;
			}
			assert_true(added >= 2999);
			assert_int_equal(strings.count, added + 1);
			assert_int_not_equal(ss_strings_find(&strings, "2999", 4), SS_NO_ID);
		}
		ss_strings_release(&strings);
		assert_int_equal(memory.used_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),         cmocka_unit_test(test_shared_strings),
		cmocka_unit_test(test_similar_strings), cmocka_unit_test(test_records),
		cmocka_unit_test(test_torture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
