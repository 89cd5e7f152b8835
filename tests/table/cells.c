/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of a table: texts that are stored once, bits of what is known, and buffers that leave.
 */
#include "table/cells.h"

#include <stdio.h>

#include "support/support.h"

static void test_dictionary(void **state)
{
	struct ss_dictionary dictionary = { 0 };
	struct ss_memory memory;
	char text[32];

	(void)state;
	ss_memory_init(&memory, 0);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			int length = snprintf(text, sizeof(text), "text %u", i);

			assert_int_equal(ss_dictionary_add(&dictionary, &memory, text,
							   (size_t)length),
					 i);
		}
	assert_int_equal(dictionary.count, 5000);
	assert_int_equal((uintptr_t)dictionary.bytes.data % SS_BUFFER_ALIGN, 0);
	assert_int_equal((uintptr_t)dictionary.offsets.data % SS_BUFFER_ALIGN, 0);
	for (uint32_t i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "text %u", i);
		assert_int_equal(ss_dictionary_length(&dictionary, i), strlen(text));
		assert_memory_equal(ss_dictionary_text(&dictionary, i), text, strlen(text));
	}
	/* one behind the other, from the first byte on */
	assert_int_equal(ss_dictionary_offsets(&dictionary)[0], 0);
	ss_dictionary_release(&dictionary, &memory);
	assert_int_equal(memory.used_bytes, 0);
}

/* Every request for memory fails once: what is there stays, and can be asked for. */
static void test_dictionary_memory(void **state)
{
	bool refused = true;

	(void)state;
	for (size_t call = 1; refused; call++) {
		struct ss_dictionary dictionary = { 0 };
		struct ss_memory memory;
		uint32_t id = 0, added = 0;

		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		for (; added < 300 && id != SS_NO_ID; added++) {
			char text[32];
			int length = snprintf(text, sizeof(text), "%u", added);

			id = ss_dictionary_add(&dictionary, &memory, text, (size_t)length);
		}
		refused = id == SS_NO_ID;
		assert_int_equal(dictionary.count, refused ? added - 1 : 300);
		assert_true(!dictionary.count ||
			    ss_dictionary_add(&dictionary, &memory, "0", 1) == 0);
		ss_dictionary_release(&dictionary, &memory);
		assert_int_equal(memory.used_bytes, 0);
	}
}

static bool is_third(uint32_t row)
{
	return row % 3 == 0;
}

/* Every third cell is null; rows move, and the bits with them. */
static void test_bits(void **state)
{
	const uint32_t rows = 1000;
	struct ss_cells cells = { 0 };
	struct ss_memory memory;
	uint32_t order[1000];
	int64_t scratch[1000];

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_cells_reserve(&cells, &memory, rows));
	for (uint32_t i = 0; i < rows; i++) {
		ss_cells_integers(&cells)[i] = i;
		assert_true(!is_third(i) || ss_cells_clear(&cells, &memory, i, rows));
		order[i] = rows - 1 - i;
	}
	assert_int_equal(ss_cells_count_nulls(&cells, rows), 334);
	assert_int_equal(ss_cells_count_nulls(&cells, 5), 2);
	/* more room: the new bits are set */
	assert_true(ss_cells_reserve(&cells, &memory, rows * 10));
	assert_int_equal(ss_cells_count_nulls(&cells, rows * 10), 334);
	ss_cells_gather(&cells, order, rows, scratch);
	for (uint32_t i = 0; i < rows; i++) {
		assert_int_equal(ss_cells_is_null(&cells, i), is_third(rows - 1 - i));
		assert_int_equal(ss_cells_integers(&cells)[i],
				 is_third(rows - 1 - i) ? 0 : rows - 1 - i);
	}
	ss_cells_copy(&cells, 0, 1);
	assert_false(ss_cells_is_null(&cells, 0));
	assert_int_equal(ss_cells_integers(&cells)[0], rows - 2);
	ss_cells_shorten(&cells, 100, rows);
	assert_int_equal(ss_cells_count_nulls(&cells, rows), ss_cells_count_nulls(&cells, 100));
	ss_cells_release(&cells, &memory);
	assert_int_equal(memory.used_bytes, 0);
}

/* A column without nulls has no bits. */
static void test_no_bits(void **state)
{
	struct ss_cells cells = { .is_text = true };
	struct ss_memory memory;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_true(ss_cells_reserve(&cells, &memory, 10));
	assert_null(cells.known.data);
	assert_int_equal(cells.values.capacity, SS_BUFFER_ALIGN);
	assert_int_equal(ss_cells_count_nulls(&cells, 10), 0);
	ss_cells_release(&cells, &memory);
}

/* Buffers grow, stay aligned and keep their bytes; one that was taken is charged to nobody. */
static void test_buffer(void **state)
{
	struct ss_buffer buffer = { 0 }, taken;
	struct ss_memory memory;
	size_t used = 0;

	(void)state;
	ss_memory_init(&memory, 0);
	for (size_t bytes = 1; bytes < 3000000; bytes = bytes * 3 / 2 + 1) {
		assert_true(ss_buffer_reserve(&memory, &buffer, bytes));
		assert_int_equal((uintptr_t)buffer.data % SS_BUFFER_ALIGN, 0);
		assert_true(buffer.capacity >= bytes && memory.used_bytes >= buffer.capacity);
		for (size_t i = 0; i < used; i++)
			assert_int_equal(((unsigned char *)buffer.data)[i], i % 251);
		for (; used < bytes; used++)
			((unsigned char *)buffer.data)[used] = (unsigned char)(used % 251);
	}
	memory.limit_bytes = memory.used_bytes;
	assert_false(ss_buffer_reserve(&memory, &buffer, buffer.capacity + 1));
	assert_int_equal(((unsigned char *)buffer.data)[used - 1], (used - 1) % 251);
	taken = ss_buffer_take(&memory, &buffer);
	assert_int_equal(memory.used_bytes, 0);
	assert_null(buffer.data);
	assert_int_equal(((unsigned char *)taken.data)[used - 1], (used - 1) % 251);
	ss_buffer_free(&taken);
	ss_buffer_release(&memory, &buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dictionary), cmocka_unit_test(test_dictionary_memory),
		cmocka_unit_test(test_bits),       cmocka_unit_test(test_no_bits),
		cmocka_unit_test(test_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
