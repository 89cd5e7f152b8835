/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that are too long for a table.
 */
#include "table/table.h"

#include "support/support.h"

static const struct ss_column columns[] = {
	{ "rank", SS_COLUMN_ID, "rank", 0 },
	{ "name", SS_COLUMN_TEXT, "a text", 0 },
	{ "count", SS_COLUMN_COUNT, "a figure", 0 },
};

static const struct ss_view view = {
	.name = "texts",
	.columns = columns,
	.column_count = SS_COUNT(columns),
};

struct fixture {
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
};

static void open_table(struct fixture *fixture)
{
	ss_memory_init(&fixture->memory, 0);
	ss_arena_init(&fixture->arena, &fixture->memory);
	ss_table_init(&fixture->table, &view, &fixture->arena);
	fixture->table.rank = 0;
}

static void close_table(struct fixture *fixture)
{
	ss_table_release(&fixture->table);
	ss_arena_release(&fixture->arena);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

static void add(struct ss_table *table, const char *text)
{
	ss_row_begin(table);
	ss_row_text(table, text);
	ss_row_int(table, 1);
	ss_row_end(table);
}

static bool has_text(const struct fixture *fixture, uint32_t row, const char *text)
{
	struct ss_cell cell = ss_table_cell(&fixture->table, row, 1);

	return ss_cell_is_text(&cell, text);
}

/* Letters of two bytes: none is cut in the middle. */
static char *long_text(size_t bytes)
{
	char *text = malloc(bytes + 1);

	assert_non_null(text);
	for (size_t i = 0; i < bytes; i++)
		text[i] = i % 2 ? '\xa4' : '\xc3';
	text[bytes] = '\0';
	return text;
}

static void test_as_it_was(void **state)
{
	char *text = long_text(SS_TEXT_MAX);
	struct fixture fixture;

	(void)state;
	open_table(&fixture);
	add(&fixture.table, text);
	add(&fixture.table, NULL);
	add(&fixture.table, "short");
	assert_true(ss_table_limit_texts(&fixture.table));
	assert_true(has_text(&fixture, 0, text));
	assert_true(has_text(&fixture, 2, "short"));
	assert_int_equal(fixture.table.note_count, 0);
	close_table(&fixture);
	free(text);
}

static void test_one_long(void **state)
{
	char *text = long_text(1000000);
	struct fixture fixture;
	struct ss_cell cell;

	(void)state;
	open_table(&fixture);
	add(&fixture.table, text + 2);
	add(&fixture.table, "short");
	add(&fixture.table, text);
	assert_true(ss_table_limit_texts(&fixture.table));
	cell = ss_table_cell(&fixture.table, 0, 1);
	assert_int_equal(cell.length, SS_TEXT_MAX + 3);
	assert_memory_equal(cell.value.text, text, SS_TEXT_MAX);
	assert_true(has_text(&fixture, 1, "short"));
	assert_int_equal(ss_table_cell(&fixture.table, 2, 1).length, SS_TEXT_MAX + 3);
	assert_int_equal(fixture.table.note_count, 1);
	close_table(&fixture);
	free(text);
}

/* One operator's name in the row of each of its kernels. */
static void test_many_rows(void **state)
{
	const uint32_t rows = 20000;
	char *text = long_text(1000000);
	struct fixture fixture;
	uint64_t bytes = 0;

	(void)state;
	open_table(&fixture);
	for (uint32_t i = 0; i < rows; i++)
		add(&fixture.table, i % 2 ? "short" : text);
	assert_true(ss_table_limit_texts(&fixture.table));
	for (uint32_t i = 0; i < rows; i++)
		bytes += ss_table_cell(&fixture.table, i, 1).length;
	assert_true(bytes >= rows && bytes <= rows * 300);
	assert_true(has_text(&fixture, 1, "short"));
	/* and copies of a text are one */
	assert_true(fixture.memory.used_bytes >= 1 && fixture.memory.used_bytes <= 4000000);
	close_table(&fixture);
	free(text);
}

/* Another text in the place of one that was copied. */
static void test_copies(void **state)
{
	struct fixture fixture;
	char text[] = "first";
	const char *first, *second;

	(void)state;
	open_table(&fixture);
	first = ss_table_copy(&fixture.table, text);
	assert_ptr_equal(ss_table_copy(&fixture.table, text), first);
	memcpy(text, "other", sizeof(text));
	second = ss_table_copy(&fixture.table, text);
	assert_string_equal(first, "first");
	assert_string_equal(second, "other");
	close_table(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_it_was),
		cmocka_unit_test(test_one_long),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
