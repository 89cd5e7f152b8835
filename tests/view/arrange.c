/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a finished table: those that match a pattern, and their order.
 */
#include "support/support.h"

#include "view/arrange.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "", 0 },
	{ "where", SS_COLUMN_TEXT, "", SS_COLUMN_CONTEXT },
	{ "size_bytes", SS_COLUMN_BYTES, "", 0 },
	{ "size", SS_COLUMN_COUNT, "", 0 },
	{ "total_ns", SS_COLUMN_NS, "", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "", 0 },
	{ "gb_per_s", SS_COLUMN_NUMBER, "", 0 },
	{ "line", SS_COLUMN_TEXT, "", SS_COLUMN_DETAIL },
};
static const struct ss_view view = { .name = "things",
				     .columns = columns,
				     .column_count = SS_COUNT(columns) };
static const struct ss_view nameless = {
	.name = "numbers", .columns = &columns[2], .column_count = 4, .rankless = true
};

struct fixture {
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
};

static void fixture_open(struct fixture *fixture, const struct ss_view *what)
{
	ss_memory_init(&fixture->memory, 0);
	ss_arena_init(&fixture->arena, &fixture->memory);
	ss_table_init(&fixture->table, what, &fixture->arena);
}

static void fixture_close(struct fixture *fixture)
{
	ss_table_release(&fixture->table);
	ss_arena_release(&fixture->arena);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

/* A row; below 0 is not recorded. Its number is the rank. */
static void add(struct ss_table *table, const char *name, const char *line, int64_t total,
		double share)
{
	table->rank = table->row_count;
	ss_row_begin(table);
	ss_row_text(table, name);
	ss_row_text(table, "everywhere");
	ss_row_int(table, 100 - table->row_count);
	ss_row_int(table, table->row_count);
	ss_row_int_known(table, total);
	if (share < 0)
		ss_row_null(table);
	else
		ss_row_number(table, share);
	ss_row_number(table, -share);
	ss_row_text(table, line);
	ss_row_end(table);
}

/* The numbers of the rows, in their order. */
static void print_ranks(const struct fixture *fixture, struct ss_text *out)
{
	out->length = 0;
	ss_text_add_string(out, "");
	for (uint32_t row = 0; row < fixture->table.row_count; row++)
		ss_text_addf(out, "%d", (int)ss_table_int(&fixture->table, row, 0));
}

static void add_all(struct ss_table *table)
{
	add(table, "aten::mm", "train.py(5): f", 30, 0.5);
	add(table, "aten::MM_out", NULL, 10, 70);
	add(table, "Caf\xc3\xa9", "train.py(7): g", -1, -1);
	add(table, NULL, NULL, 30, 0.25);
	add(table, "a*b?c", "model.py(1): mm", -1, 70);
	add(table, "aten::add", "", 9000000000, -1);
}

static const struct {
	const char *what, *pattern, *ranks;
} names[] = {
	{ "a part", "mm", "014" },
	{ "a part at the end", "add", "5" },
	{ "a part at the beginning", "Caf", "2" },
	{ "letters of both cases are the same", "AF\xc3\xa9", "2" },
	{ "and in the pattern", "ATEN::", "015" },
	{ "bytes of letters that are not ASCII", "\xc3\xa9", "2" },
	{ "nothing matches", "nothing", "" },
	{ "longer than any text", "aten::mm and something that no text has behind it", "" },
	{ "nothing is in every text: a row without texts has none", "", "01245" },
	{ "what is the same in all rows is not looked at", "everywhere", "" },
	{ "other columns, details too", "train.py", "02" },
	{ "numbers are no texts", "30", "" },
	{ "a part that begins twice", "atean", "" },
	{ "a part behind a false start", "n::m", "01" },
	{ "a form is of the whole text", "aten*", "015" },
	{ "so this has no text", "ten*", "" },
	{ "a star is nothing, too", "aten::mm*", "01" },
	{ "at the beginning", "*mm", "04" },
	{ "in the middle", "a*m", "0" },
	{ "several", "*t*n*m*", "01" },
	{ "the last star gives way", "*::*m_o*t", "1" },
	{ "a star alone is every text", "*", "01245" },
	{ "two stars as one", "**", "01245" },
	{ "one letter", "aten::m?", "0" },
	{ "two letters", "aten::??", "0" },
	{ "one letter is one letter", "aten::?", "" },
	{ "a letter of two bytes is one", "caf?", "2" },
	{ "and not two", "caf??", "" },
	{ "cases in forms", "ATEN::A*", "5" },
	{ "stars in the text", "a*b*c", "4" },
	{ "a form that is longer than the text", "aten::mm??????????????", "" },
};

static void test_names(void **state)
{
	struct ss_text found = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(names); i++) {
		struct fixture fixture;

		fixture_open(&fixture, &view);
		add_all(&fixture.table);
		assert_true(ss_view_keep_matching(&fixture.table, names[i].pattern));
		print_ranks(&fixture, &found);
		support_check(strcmp(found.data, names[i].ranks) == 0, names[i].what, "'%s': %s",
			      names[i].pattern, found.data);
		fixture_close(&fixture);
	}
	ss_text_release(&found);
}

static void test_no_names(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, &nameless);
	assert_false(ss_view_keep_matching(&fixture.table, "x"));
	ss_row_begin(&fixture.table);
	ss_row_text(&fixture.table, "x");
	ss_row_int(&fixture.table, 1);
	ss_row_int(&fixture.table, 1);
	ss_row_int(&fixture.table, 1);
	ss_row_end(&fixture.table);
	assert_false(ss_view_keep_matching(&fixture.table, "x"));
	assert_int_equal(fixture.table.row_count, 1);
	fixture_close(&fixture);
	fixture_open(&fixture, &view);
	assert_true(ss_view_keep_matching(&fixture.table, "x"));
	assert_int_equal(fixture.table.row_count, 0);
	fixture_close(&fixture);
}

static const struct {
	const char *what, *column, *ranks;
} orders[] = {
	{ "numbers downwards, equal ones as they were, nulls last", "total_ns", "503124" },
	{ "without the unit", "total", "503124" },
	{ "turned round, nulls last again", "-total", "103524" },
	{ "with the unit and turned round", "-total_ns", "103524" },
	{ "shares", "share", "140325" },
	{ "shares turned round", "-share_percent", "301425" },
	{ "numbers with fractions below zero", "gb_per_s", "253014" },
	{ "texts upwards: capitals first, nulls last", "name", "241503" },
	{ "texts turned round", "-name", "051423" },
	{ "texts with nulls", "line", "402135" },
	{ "the column of that very name, not one with a unit", "size", "543210" },
	{ "with its unit it is the other", "size_bytes", "012345" },
	{ "the rank", "rank", "543210" },
	{ "the rank turned round", "-rank", "012345" },
	{ "all the same: nothing moves", "where", "012345" },
	{ "all the same, turned round: nothing moves", "-where", "012345" },
};

static void test_orders(void **state)
{
	struct ss_text found = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(orders); i++) {
		struct fixture fixture;
		struct ss_error err = { 0 };

		fixture_open(&fixture, &view);
		add_all(&fixture.table);
		assert_int_equal(ss_view_sort_rows(&fixture.table, orders[i].column, &err), SS_OK);
		print_ranks(&fixture, &found);
		support_check(strcmp(found.data, orders[i].ranks) == 0, orders[i].what, "%s: %s",
			      orders[i].column, found.data);
		fixture_close(&fixture);
	}
	ss_text_release(&found);
}

static void test_refused(void **state)
{
	static const char *const wrong[] = { "",      "-",       "tota",        "total_", "_ns",
					     "ns",    "--total", "totals",      "TOTAL",  "gb_per",
					     "per_s", " total",  "size_percent" };
	struct fixture fixture;
	struct ss_text found = { 0 };

	(void)state;
	fixture_open(&fixture, &view);
	add_all(&fixture.table);
	for (size_t i = 0; i < SS_COUNT(wrong); i++) {
		struct ss_error err = { 0 };

		support_check(ss_view_sort_rows(&fixture.table, wrong[i], &err) == SS_ERR_USAGE,
			      wrong[i], "is a column");
		support_check(strstr(err.text, "rank, name, where, size_bytes, size, total_ns, "
					       "share_percent, gb_per_s, line") != NULL,
			      wrong[i], "%s", err.text);
		support_check(strstr(err.text, "'things'") != NULL, wrong[i], "%s", err.text);
	}
	print_ranks(&fixture, &found);
	assert_string_equal(found.data, "012345");
	ss_text_release(&found);
	fixture_close(&fixture);
}

/* No rows and one row, each count around powers of two, and many. */
static void test_sizes(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 1000, 70001 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(sizes); i++) {
		struct fixture fixture;
		uint64_t seed = 3;

		fixture_open(&fixture, &view);
		for (uint32_t row = 0; row < sizes[i]; row++)
			add(&fixture.table, "x", NULL, (int64_t)support_random(&seed, 50) - 1, 1);
		assert_int_equal(ss_view_sort_rows(&fixture.table, "total", NULL), SS_OK);
		assert_int_equal(fixture.table.row_count, sizes[i]);
		for (uint32_t row = 1; row < sizes[i]; row++) {
			const struct ss_table *table = &fixture.table;
			struct ss_cell a = ss_table_cell(table, row - 1, 5);
			struct ss_cell b = ss_table_cell(table, row, 5);

			assert_true(a.is_null <= b.is_null);
			assert_true(b.is_null || a.value.integer >= b.value.integer);
			assert_true(!ss_table_same(table, 5, row - 1, row) ||
				    ss_table_int(table, row - 1, 0) < ss_table_int(table, row, 0));
			/* cells move together */
			assert_int_equal(ss_table_int(table, row, 4), ss_table_int(table, row, 0));
		}
		fixture_close(&fixture);
	}
}

/* A pattern that makes a careless matcher try everything. */
static void test_hard_pattern(void **state)
{
	struct fixture fixture;
	struct ss_text text = { 0 };

	(void)state;
	ss_text_fill(&text, 'a', 20000);
	fixture_open(&fixture, &view);
	add(&fixture.table, text.data, NULL, 1, 1);
	assert_true(
		ss_view_keep_matching(&fixture.table, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"));
	assert_int_equal(fixture.table.row_count, 0);
	fixture_close(&fixture);
	ss_text_release(&text);
}

/* Names of C++ hold stars and can be long: the form of such a name is that name. */
static void test_long_form(void **state)
{
	struct ss_text name = { 0 }, longer = { 0 }, wide = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		ss_text_addf(&name, "void f%d<float?>(float*, int*), ", i);
	ss_text_addf(&longer, "%sx", name.data);
	ss_text_addf(&wide, "*%s*", name.data);
	assert_true(ss_view_pattern_matches(name.data, name.data, name.length));
	assert_false(ss_view_pattern_matches(name.data, longer.data, longer.length));
	assert_false(ss_view_pattern_matches(longer.data, name.data, name.length));
	assert_true(ss_view_pattern_matches(wide.data, longer.data, longer.length));
	assert_false(ss_view_pattern_matches(wide.data, longer.data + 1, longer.length - 1));
	ss_text_release(&name);
	ss_text_release(&longer);
	ss_text_release(&wide);
}

static void test_memory(void **state)
{
	bool refused = true;

	(void)state;
	for (size_t call = 1; refused; call++) {
		struct fixture fixture;
		struct ss_text found = { 0 };
		enum ss_status status;

		fixture_open(&fixture, &view);
		for (int row = 0; row < 3000; row++)
			add(&fixture.table, "x", NULL, row, 1);
		fixture.memory.fail_call = fixture.memory.calls + call;
		status = ss_view_sort_rows(&fixture.table, "total", NULL);
		refused = fixture.memory.calls >= fixture.memory.fail_call;
		assert_int_equal(status, refused ? SS_ERR_LIMIT : SS_OK);
		assert_int_equal(ss_table_int(&fixture.table, 0, 0), refused ? 0 : 2999);
		ss_text_release(&found);
		fixture_close(&fixture);
	}
}

/* Digits are the ranks of rows, '-' is not known. */
static const struct {
	const char *what, *ranks;
	uint32_t top;
	const char *kept;
	uint32_t all;
} cuts[] = {
	{ "of each rank", "000111122", 2, "001122", 9 },
	{ "one of each", "000111122", 1, "012", 9 },
	{ "more than there are", "0001", 5, "0001", 4 },
	{ "one rank", "5555", 3, "555", 4 },
	{ "ranks that are not known", "00---", 2, "00--", 5 },
	{ "one row a rank: nothing to cut of a rank", "012345", 2, "012345", 6 },
	{ "no rows", "", 2, "", 0 },
};

static void test_cuts(void **state)
{
	struct ss_text found = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cuts); i++) {
		struct fixture fixture;

		fixture_open(&fixture, &view);
		for (const char *at = cuts[i].ranks; *at; at++) {
			add(&fixture.table, "x", NULL, 1, 1);
			ss_cells_integers(&fixture.table.cells[0])[at - cuts[i].ranks] = *at - '0';
			assert_true(*at != '-' ||
				    ss_cells_clear(&fixture.table.cells[0], &fixture.memory,
						   fixture.table.row_count - 1,
						   fixture.table.row_capacity));
		}
		ss_view_keep_top(&fixture.table, cuts[i].top);
		found.length = 0;
		ss_text_add_string(&found, "");
		for (uint32_t row = 0; row < fixture.table.row_count; row++) {
			struct ss_cell cell = ss_table_cell(&fixture.table, row, 0);

			ss_text_addf(&found, "%c",
				     cell.is_null ? '-' : (char)('0' + cell.value.integer));
		}
		support_check(strcmp(found.data, cuts[i].kept) == 0, cuts[i].what, "%s",
			      found.data);
		support_check(ss_table_all_rows(&fixture.table) == cuts[i].all, cuts[i].what,
			      "of %u", ss_table_all_rows(&fixture.table));
		fixture_close(&fixture);
	}
	ss_text_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),     cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_orders),    cmocka_unit_test(test_refused),
		cmocka_unit_test(test_sizes),     cmocka_unit_test(test_hard_pattern),
		cmocka_unit_test(test_long_form), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
