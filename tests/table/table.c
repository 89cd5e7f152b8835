/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables: rows of cells, and the sum over files.
 */
#include <math.h>

#include "support/support.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "key", SS_COLUMN_TEXT, "", SS_COLUMN_KEY },
	{ "count", SS_COLUMN_COUNT, "", 0 },
	{ "time_ns", SS_COLUMN_NS, "", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "", 0 },
	{ "about", SS_COLUMN_TEXT, "", SS_COLUMN_WRAP },
};
static const struct ss_view view = { .name = "x",
				     .columns = columns,
				     .column_count = SS_COUNT(columns) };

struct fixture {
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
};

static void fixture_open(struct fixture *fixture)
{
	ss_memory_init(&fixture->memory, 0);
	ss_arena_init(&fixture->arena, &fixture->memory);
	ss_table_init(&fixture->table, &view, &fixture->arena);
}

static void fixture_close(struct fixture *fixture)
{
	ss_table_release(&fixture->table);
	ss_arena_release(&fixture->arena);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

static void add(struct ss_table *table, int64_t rank, const char *key, int64_t count,
		const char *about)
{
	table->rank = rank;
	ss_row_begin(table);
	ss_row_text(table, key);
	ss_row_int_known(table, count);
	ss_row_int(table, 5);
	ss_row_number(table, 50);
	ss_row_text(table, about);
	ss_row_end(table);
}

static struct ss_cell at(const struct fixture *fixture, uint32_t row, uint32_t column)
{
	return ss_table_cell(&fixture->table, row, column);
}

static bool has_text(const struct fixture *fixture, uint32_t row, uint32_t column, const char *text)
{
	struct ss_cell cell = at(fixture, row, column);

	return ss_cell_is_text(&cell, text);
}

static void test_nulls(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture);
	add(&fixture.table, -1, "a", -1, "");
	assert_true(at(&fixture, 0, 0).is_null);
	assert_true(at(&fixture, 0, 2).is_null);
	assert_true(at(&fixture, 0, 5).is_null);
	assert_false(at(&fixture, 0, 1).is_null);
	add(&fixture.table, 0, "a", 0, "x");
	assert_false(at(&fixture, 1, 0).is_null);
	assert_false(at(&fixture, 1, 2).is_null);
	fixture_close(&fixture);
}

static void test_fold(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture);
	add(&fixture.table, 0, "b", 1, "first");
	add(&fixture.table, 0, "a", 10, "first");
	add(&fixture.table, 1, "a", 20, "second");
	add(&fixture.table, 1, "c", 5, "x");
	add(&fixture.table, 2, "b", 2, "second");
	assert_true(ss_table_fold(&fixture.table));
	assert_int_equal(fixture.table.row_count, 3);
	assert_true(has_text(&fixture, 0, 1, "b"));
	assert_int_equal(at(&fixture, 0, 2).value.integer, 3);
	assert_true(has_text(&fixture, 1, 1, "a"));
	assert_int_equal(at(&fixture, 1, 2).value.integer, 30);
	assert_true(has_text(&fixture, 1, 5, "first"));
	assert_true(has_text(&fixture, 2, 1, "c"));
	for (uint32_t row = 0; row < 3; row++) {
		assert_true(at(&fixture, row, 0).is_null);
		assert_true(at(&fixture, row, 3).is_null);
		assert_true(at(&fixture, row, 4).is_null);
	}
	fixture_close(&fixture);
}

static void test_fold_many(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture);
	assert_true(ss_table_fold(&fixture.table));
	assert_int_equal(fixture.table.row_count, 0);
	for (int64_t rank = 0; rank < 20; rank++)
		for (int key = 0; key < 100; key++)
			add(&fixture.table, rank, ss_table_print(&fixture.table, "key %d", key),
			    key, NULL);
	assert_true(ss_table_fold(&fixture.table));
	assert_int_equal(fixture.table.row_count, 100);
	for (uint32_t key = 0; key < 100; key++)
		assert_int_equal(at(&fixture, key, 2).value.integer, 20 * key);
	fixture_close(&fixture);
}

/* Without memory rows are dropped and the table says so. */
static void test_no_memory(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture);
	fixture.memory.fail_call = 1;
	add(&fixture.table, 0, "a", 1, "x");
	assert_true(fixture.table.failed);
	assert_int_equal(fixture.table.row_count, 0);
	fixture_close(&fixture);
}

static void test_notes(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture);
	ss_table_note(&fixture.table, "%s is %d.", "this", 5);
	ss_table_note(&fixture.table, "That.");
	ss_table_note(&fixture.table, "this is 5.");
	assert_int_equal(fixture.table.note_count, 2);
	assert_string_equal(fixture.table.notes[0], "this is 5.");
	assert_string_equal(fixture.table.notes[1], "That.");
	for (int i = 0; i < 20; i++)
		ss_table_note(&fixture.table, "Number %d.", i);
	assert_int_equal(fixture.table.note_count, SS_NOTES_MAX);
	assert_string_equal(fixture.table.notes[SS_NOTES_MAX - 1], "Number 5.");
	assert_false(fixture.table.failed);
	fixture_close(&fixture);
	fixture_open(&fixture);
	fixture.memory.fail_call = 1;
	ss_table_note(&fixture.table, "No memory.");
	assert_true(fixture.table.failed);
	fixture_close(&fixture);
}

static const struct {
	double part, whole;
	double share, rate; /* below -100: null */
} shares[] = {
	{ 1, 4, 25, 0.25 },
	{ 0, 4, 0, 0 },
	{ 4, 4, 100, 1 },
	{ 8, 4, 200, 2 },
	{ 1, 0, -999, -999 },
	{ 0, 0, -999, -999 },
	{ 1, -1, -999, -999 },
	{ (double)NAN, 4, -999, -999 },
	{ 1, (double)NAN, -999, -999 },
	{ 1e308, 1e-308, -999, -999 },
};

/* Shares and rates of nothing, and numbers that are none, are not recorded. */
static void test_shares(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(shares); i++)
		for (int is_rate = 0; is_rate < 2; is_rate++) {
			struct fixture fixture;
			double wanted = is_rate ? shares[i].rate : shares[i].share;

			fixture_open(&fixture);
			ss_row_begin(&fixture.table);
			ss_row_nulls(&fixture.table, 3);
			if (is_rate)
				ss_row_rate(&fixture.table, shares[i].part, shares[i].whole);
			else
				ss_row_share(&fixture.table, shares[i].part, shares[i].whole);
			ss_row_null(&fixture.table);
			ss_row_end(&fixture.table);
			assert_int_equal(at(&fixture, 0, 4).is_null, wanted < -100);
			if (wanted >= -100)
				assert_true(fabs(at(&fixture, 0, 4).value.number - wanted) < 1e-9);
			fixture_close(&fixture);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nulls),     cmocka_unit_test(test_fold),
		cmocka_unit_test(test_fold_many), cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_notes),     cmocka_unit_test(test_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
