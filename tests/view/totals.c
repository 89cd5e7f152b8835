/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals: sums of the columns that a view declares, of all rows and of the ranks.
 */
#include "view/arrange.h"

#include "support/support.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "", 0 },
	{ "calls", SS_COLUMN_COUNT, "", 0 },
	{ "longest_ns", SS_COLUMN_NS, "", 0 },
	{ "gflop", SS_COLUMN_NUMBER, "", 0 },
};
static const struct ss_view view = {
	.name = "x", .columns = columns, .column_count = SS_COUNT(columns), .sums = "calls gflop"
};

struct row {
	int64_t rank;
	const char *name;
	int64_t calls; /* -1: null */
	double gflop;
};

struct fixture {
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
};

static void fixture_open(struct fixture *fixture, const struct row *rows)
{
	ss_memory_init(&fixture->memory, 0);
	ss_arena_init(&fixture->arena, &fixture->memory);
	ss_table_init(&fixture->table, &view, &fixture->arena);
	for (; rows->name; rows++) {
		struct ss_table *table = &fixture->table;

		table->rank = rows->rank;
		ss_row_begin(table);
		ss_row_text(table, rows->name);
		ss_row_int_known(table, rows->calls);
		ss_row_int(table, 9);
		ss_row_number(table, rows->gflop);
		ss_row_end(table);
	}
}

static void fixture_close(struct fixture *fixture)
{
	ss_table_release(&fixture->table);
	ss_arena_release(&fixture->arena);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

static const struct row two_ranks[] = { { 0, "a", 5, 1.5 }, { 0, "b", 1, 2 },  { 1, "a", 2, 0.5 },
					{ 1, "c", -1, 4 },  { 2, "a", 50, 1 }, { 0 } };

/* What is declared adds up, what is not known adds nothing, the rest has no sum. */
static void test_sums(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, two_ranks);
	assert_true(ss_view_add_totals(&fixture.table));
	assert_true(fixture.table.totals[0].is_null);
	assert_true(fixture.table.totals[1].is_null);
	assert_int_equal(fixture.table.totals[2].value.integer, 58);
	assert_true(fixture.table.totals[3].is_null);
	assert_true(fixture.table.totals[4].value.number == 9);
	fixture_close(&fixture);
}

static void test_empty(void **state)
{
	static const struct row none[] = { { 0 } };
	static const struct row unknown[] = { { 0, "a", -1, 1 }, { 0 } };
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, none);
	assert_true(ss_view_add_totals(&fixture.table));
	assert_null(fixture.table.totals);
	fixture_close(&fixture);
	fixture_open(&fixture, unknown);
	assert_true(ss_view_add_totals(&fixture.table));
	assert_true(fixture.table.totals[2].is_null);
	fixture_close(&fixture);
}

/* What files claim may be more than fits. */
static void test_overflow(void **state)
{
	static const struct row large[] = { { 0, "a", INT64_MAX, 1 }, { 0, "b", 7, 1 }, { 0 } };
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, large);
	assert_true(ss_view_add_totals(&fixture.table));
	assert_true(fixture.table.totals[2].value.integer == INT64_MAX);
	fixture_close(&fixture);
}

/* Ranks have sums of 6, 2 and 50: their median is 6, which no sum of medians is. */
static void test_ranks(void **state)
{
	static const char wanted[] = "3,2,6,50,2,1.00";
	struct support_view across = { 0 };
	struct ss_text row = { 0 };
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, two_ranks);
	assert_true(ss_view_summarize_ranks(&fixture.table, &across.table));
	assert_int_equal(across.table.row_count, 3);
	assert_non_null(across.table.totals);
	ss_row_begin(&across.table);
	for (uint32_t i = 0; i < across.table.view->column_count; i++)
		ss_row_cell(&across.table, &across.table.totals[i]);
	ss_row_end(&across.table);
	support_view_row(&across, 3, "ranks,calls_min,calls_median,calls_max,calls_worst,gflop_min",
			 &row);
	support_check(strcmp(row.data, wanted) == 0, "sums of ranks", "found: %s", row.data);
	ss_text_release(&row);
	ss_table_release(&across.table);
	fixture_close(&fixture);
}

/* Rows that hold each other do not add up. */
static void test_nested(void **state)
{
	struct ss_view nested = view;
	struct fixture fixture;

	(void)state;
	nested.groups[0] = "flat";
	nested.groups[1] = "tree";
	nested.nested = 2;
	fixture_open(&fixture, two_ranks);
	fixture.table.view = &nested;
	fixture.table.group = "tree";
	assert_true(ss_view_add_totals(&fixture.table));
	assert_null(fixture.table.totals);
	fixture.table.group = "flat";
	assert_true(ss_view_add_totals(&fixture.table));
	assert_non_null(fixture.table.totals);
	fixture.table.view = &view;
	fixture_close(&fixture);
}

static void test_lists(void **state)
{
	(void)state;
	assert_true(ss_view_lists("calls total_ns", "total_ns"));
	assert_true(ss_view_lists("calls", "calls"));
	assert_false(ss_view_lists("calls total_ns", "total"));
	assert_false(ss_view_lists("total_ns", "ns"));
	assert_false(ss_view_lists(NULL, "calls"));
	assert_false(ss_view_lists("", "calls"));
}

static void check_names(const struct ss_view *one, const char *list, bool sums)
{
	for (const char *at = list; at && *at;) {
		size_t length = strcspn(at, " ");
		bool found = false;

		for (uint32_t i = 0; i < one->column_count; i++)
			found |= strlen(one->columns[i].name) == length &&
				 memcmp(one->columns[i].name, at, length) == 0 &&
				 !(sums && (one->columns[i].type == SS_COLUMN_TEXT ||
					    one->columns[i].type == SS_COLUMN_ID));
		support_check(found, one->name, "has no column for '%.*s'", (int)length, at);
		at += length + (at[length] == ' ');
	}
}

/* Views declare columns that they have. */
static void test_declared(void **state)
{
	(void)state;
	for (size_t i = 0; i < ss_view_count; i++) {
		check_names(ss_views[i], ss_views[i]->sums, true);
		check_names(ss_views[i], ss_views[i]->wide, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),     cmocka_unit_test(test_empty),
		cmocka_unit_test(test_overflow), cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_nested),   cmocka_unit_test(test_lists),
		cmocka_unit_test(test_declared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
