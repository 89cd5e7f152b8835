/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts and arenas: what is charged, what is refused, what is given back.
 */
#include "support/support.h"

static void test_charges(void **state)
{
	struct ss_memory memory;
	char *block, *moved;

	(void)state;
	ss_memory_init(&memory, 1000);
	block = ss_memory_resize(&memory, NULL, 0, 600);
	assert_non_null(block);
	memset(block, 7, 600);
	assert_int_equal(memory.used_bytes, 600);
	/* beyond the limit: refused, and the block is as it was */
	assert_null(ss_memory_resize(&memory, block, 600, 1001));
	assert_null(ss_memory_resize(&memory, NULL, 0, 401));
	assert_int_equal(memory.used_bytes, 600);
	assert_int_equal(block[599], 7);
	moved = ss_memory_resize(&memory, block, 600, 1000);
	assert_non_null(moved);
	assert_int_equal(moved[599], 7);
	assert_int_equal(memory.peak_bytes, 1000);
	moved = ss_memory_resize(&memory, moved, 1000, 10);
	assert_int_equal(memory.used_bytes, 10);
	assert_null(ss_memory_resize(&memory, moved, 10, 0));
	assert_int_equal(memory.used_bytes, 0);
	assert_int_equal(memory.peak_bytes, 1000);
}

static void test_absurd_sizes(void **state)
{
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 0);
	assert_null(ss_memory_resize(&memory, NULL, 0, SIZE_MAX));
	assert_null(ss_memory_resize(&memory, NULL, 0, (size_t)PTRDIFF_MAX + 1));
	ss_arena_init(&arena, &memory);
	assert_null(ss_arena_alloc(&arena, SIZE_MAX / 2, 8));
	assert_null(ss_arena_alloc(&arena, SIZE_MAX, SIZE_MAX));
	assert_int_equal(memory.used_bytes, 0);
	ss_arena_release(&arena);
}

static void test_fail_call(void **state)
{
	(void)state;
	for (size_t call = 1; call <= 5; call++) {
		struct ss_memory memory;
		void *blocks[5];

		ss_memory_init(&memory, 0);
		memory.fail_call = call;
		for (size_t i = 0; i < 5; i++) {
			blocks[i] = ss_memory_resize(&memory, NULL, 0, 10);
			assert_true((blocks[i] == NULL) == (i + 1 == call));
		}
		for (size_t i = 0; i < 5; i++)
			ss_memory_free(&memory, blocks[i], blocks[i] ? 10 : 0);
		assert_int_equal(memory.used_bytes, 0);
	}
}

static void test_reserve(void **state)
{
	struct ss_memory memory;
	uint32_t capacity = 0;
	int64_t *items = NULL;
	void *as_void;

	(void)state;
	ss_memory_init(&memory, 100000);
	for (uint32_t i = 0; i < 5000; i++) {
		as_void = items;
		assert_true(ss_memory_reserve(&memory, &as_void, &capacity, i + 1, sizeof(*items)));
		items = as_void;
		items[i] = i;
	}
	assert_true(capacity >= 5000);
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(items[i], i);
	/* the limit, and more rows than can be numbered */
	as_void = items;
	assert_false(ss_memory_reserve(&memory, &as_void, &capacity, 50000, sizeof(*items)));
	assert_false(ss_memory_reserve(&memory, &as_void, &capacity, UINT32_MAX, sizeof(*items)));
	assert_ptr_equal(as_void, items);
	ss_memory_free(&memory, items, capacity * sizeof(*items));
	assert_int_equal(memory.used_bytes, 0);
}

/* An array in an arena keeps its items when it moves; at the limit it stays as it was. */
static void test_arena_reserve(void **state)
{
	struct ss_memory memory;
	uint32_t capacity = 0;
	int64_t *items = NULL, *before;

	(void)state;
	ss_memory_init(&memory, 200000);
	{
		SS_SCRATCH(arena, &memory);

		for (uint32_t i = 0; i < 5000; i++) {
			assert_true(SS_ARENA_GROW(&arena, items, capacity, i));
			items[i] = i;
		}
		assert_true(capacity >= 5000);
		for (uint32_t i = 0; i < 5000; i++)
			assert_int_equal(items[i], i);
		before = items;
		assert_false(SS_ARENA_GROW(&arena, items, capacity, 50000));
		assert_false(SS_ARENA_GROW(&arena, items, capacity, UINT32_MAX));
		assert_ptr_equal(items, before);
	}
	assert_int_equal(memory.used_bytes, 0);
}

/* Zeroed, aligned, and apart from each other, for items of all sizes. */
static void test_arena(void **state)
{
	unsigned char *blocks[200];
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	for (size_t i = 0; i < 200; i++) {
		size_t bytes = i % 17 == 0 ? 40000 + i : i * i % 3000;

		blocks[i] = ss_arena_alloc(&arena, bytes, 1);
		assert_non_null(blocks[i]);
		assert_int_equal((uintptr_t)blocks[i] % 16, 0);
		for (size_t k = 0; k < bytes; k++)
			assert_int_equal(blocks[i][k], 0);
		memset(blocks[i], (int)i, bytes);
	}
	for (size_t i = 0; i < 200; i++) {
		size_t bytes = i % 17 == 0 ? 40000 + i : i * i % 3000;

		for (size_t k = 0; k < bytes; k++)
			assert_int_equal(blocks[i][k], (unsigned char)i);
	}
	assert_string_equal(ss_arena_copy(&arena, "abcdef", 3), "abc");
	assert_string_equal(ss_arena_copy(&arena, "", 0), "");
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}

static void test_arena_limit(void **state)
{
	struct ss_memory memory;
	struct ss_arena arena;
	size_t count = 0;

	(void)state;
	ss_memory_init(&memory, 1000000);
	ss_arena_init(&arena, &memory);
	while (ss_arena_alloc(&arena, 100, 10))
		count++;
	assert_true(count > 800 && count < 1000);
	assert_true(memory.used_bytes <= 1000000);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}

/* A hint: what is in the block stays, whatever its ends are. */
static void test_touch(void **state)
{
	static const size_t lengths[] = { 0, 1, 100, 4095, 4096, 8191, 100000, 1 << 22 };

	(void)state;
	ss_memory_populate(NULL, 0);
	for (size_t i = 0; i < SS_COUNT(lengths); i++) {
		struct ss_memory memory;
		unsigned char *block;

		ss_memory_init(&memory, 0);
		block = ss_memory_resize(&memory, NULL, 0, lengths[i] + 2);
		assert_non_null(block);
		memset(block, 0x5a, lengths[i] + 2);
		ss_memory_populate(block + 1, lengths[i]);
		for (size_t k = 0; k < lengths[i] + 2; k++)
			assert_int_equal(block[k], 0x5a);
		ss_memory_free(&memory, block, lengths[i] + 2);
		assert_int_equal(memory.used_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_charges),       cmocka_unit_test(test_absurd_sizes),
		cmocka_unit_test(test_fail_call),     cmocka_unit_test(test_reserve),
		cmocka_unit_test(test_arena),         cmocka_unit_test(test_arena_limit),
		cmocka_unit_test(test_arena_reserve), cmocka_unit_test(test_touch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
