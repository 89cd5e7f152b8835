/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks' figures side by side.
 */
#include "analyze/facts.h"
#include "view/arrange.h"

#include "support/support.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", 0 },
	{ "name", SS_COLUMN_TEXT, "what it is", SS_COLUMN_BAR },
	{ "calls", SS_COLUMN_COUNT, "how often", 0 },
	{ "total_ns", SS_COLUMN_NS, "all of it", 0 },
	{ "total_percent", SS_COLUMN_PERCENT, "of the step", 0 },
	{ "gb_per_s", SS_COLUMN_NUMBER, "how fast", 0 },
	{ "peak_bytes", SS_COLUMN_BYTES, "at most", SS_COLUMN_DETAIL },
};
static const struct ss_view view = { .name = "x",
				     .columns = columns,
				     .column_count = SS_COUNT(columns) };

struct row {
	int64_t rank, device;
	const char *name;
	int64_t calls, total_ns; /* -1: null */
};

struct across_case {
	const char *what;
	struct row rows[8];
	const char *columns, *wanted;
};

#define END                      \
	{                        \
		0, 0, NULL, 0, 0 \
	}

static const struct across_case cases[] = {
	{ "least, median and most over the ranks, and who has the most",
	  { { 0, 0, "a", 5, 30 }, { 1, 1, "a", 6, 10 }, { 2, 2, "a", 4, 20 }, END },
	  "name,ranks,calls_min,calls_median,calls_max,calls_worst,total_min_ns,total_median_ns,"
	  "total_max_ns,total_ns_worst,total_percent_worst",
	  "a,3,4,5,6,1,10,20,30,0,0" },
	{ "of four the median is the lower one in the middle",
	  { { 0, 0, "a", 4, 1 },
	    { 1, 0, "a", 3, 1 },
	    { 2, 0, "a", 2, 1 },
	    { 3, 0, "a", 1, 1 },
	    END },
	  "calls_median,calls_max,calls_worst",
	  "2,4,0" },
	{ "of equal ones the first has the most",
	  { { 3, 0, "a", 7, 1 }, { 5, 0, "a", 7, 1 }, { 6, 0, "a", 1, 1 }, END },
	  "calls_max,calls_worst,total_ns_worst",
	  "7,3,3" },
	{ "moments that a double cannot tell apart",
	  { { 0, 0, "a", 1, 1706850123000000001 },
	    { 1, 0, "a", 1, 1706850123000000003 },
	    { 2, 0, "a", 1, 1706850123000000002 },
	    END },
	  "total_min_ns,total_median_ns,total_max_ns,total_ns_worst",
	  "1706850123000000001,1706850123000000002,1706850123000000003,1" },
	{ "rows keep the order in which they first appear",
	  { { 0, 0, "b", 1, 1 },
	    { 0, 0, "a", 2, 2 },
	    { 1, 0, "a", 3, 3 },
	    { 1, 0, "c", 4, 4 },
	    { 1, 0, "b", 5, 5 },
	    END },
	  "name,ranks,calls_max",
	  "b,2,5\na,2,3\nc,1,4" },
	{ "an id that never changes on a rank names nothing",
	  { { 0, 0, "a", 1, 1 },
	    { 0, 0, "b", 1, 1 },
	    { 1, 1, "a", 2, 1 },
	    { 1, 1, "b", 2, 1 },
	    END },
	  "name,ranks,calls_max",
	  "a,2,2\nb,2,2" },
	{ "an id that changes does",
	  { { 0, 0, "a", 1, 1 },
	    { 0, 1, "a", 2, 1 },
	    { 1, 0, "a", 3, 1 },
	    { 1, 1, "a", 4, 1 },
	    END },
	  "device,name,ranks,calls_max",
	  "0,a,2,3\n1,a,2,4" },
	{ "an id that is not recorded is none of the others",
	  { { 0, -1, "a", 1, 1 },
	    { 0, 1, "a", 2, 1 },
	    { 0, 0, "a", 3, 1 },
	    { 1, -1, "a", 4, 1 },
	    END },
	  "device,ranks,calls_max",
	  "-,2,4\n1,1,2\n0,1,3" },
	{ "a name that is not recorded is none of the others",
	  { { 0, 0, "", 1, 1 }, { 0, 0, "a", 2, 1 }, { 1, 0, "", 3, 1 }, END },
	  "name,ranks,calls_max",
	  "-,2,3\na,1,2" },
	{ "figures that are not recorded do not count",
	  { { 0, 0, "a", -1, 9 }, { 1, 0, "a", 8, -1 }, { 2, 0, "a", 6, -1 }, END },
	  "ranks,calls_min,calls_median,calls_max,calls_worst,total_min_ns,total_ns_worst",
	  "3,6,6,8,1,9,0" },
	{ "of nothing that was recorded there is none",
	  { { 0, 0, "a", -1, 1 }, { 1, 0, "a", -1, 2 }, END },
	  "calls_min,calls_median,calls_max,calls_worst,total_max_ns",
	  "-,-,-,-,2" },
	{ "of several rows of a rank the first belong together, then the second",
	  { { 0, 0, "a", 1, 1 }, { 0, 0, "a", 3, 1 }, { 1, 0, "a", 2, 1 }, END },
	  "ranks,calls_min,calls_median,calls_max,calls_worst",
	  "2,1,1,2,1\n1,3,3,3,0" },
	{ "more rows of the second rank than of the first",
	  { { 0, 0, "a", 1, 1 },
	    { 0, 0, "b", 9, 1 },
	    { 1, 0, "a", 2, 1 },
	    { 1, 0, "a", 4, 1 },
	    { 2, 0, "a", 6, 1 },
	    { 2, 0, "a", 8, 1 },
	    END },
	  "name,ranks,calls_min,calls_max,calls_worst",
	  "a,3,1,6,2\nb,1,9,9,0\na,2,4,8,2" },
	{ "ranks that are not known are different files",
	  { { -1, 0, "a", 1, 1 }, { -1, 0, "a", 3, 1 }, END },
	  "ranks,calls_max,calls_worst",
	  "2,3,-" },
	{ "one rank",
	  { { 4, 0, "a", 1, 2 }, END },
	  "name,ranks,total_max_ns,calls_worst",
	  "a,1,2,4" },
	{ "no rows", { END }, "name,ranks", "" },
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
		ss_row_int_known(table, rows->device);
		ss_row_text(table, rows->name);
		ss_row_int_known(table, rows->calls);
		ss_row_int_known(table, rows->total_ns);
		if (rows->total_ns < 0)
			ss_row_null(table);
		else
			ss_row_number(table, (double)rows->total_ns / 2);
		ss_row_number(table, (double)rows->calls / 4);
		ss_row_int(table, 100 - rows->calls);
		ss_row_end(table);
	}
	ss_table_note(&fixture->table, "A note.");
}

static void fixture_close(struct fixture *fixture)
{
	ss_table_release(&fixture->table);
	ss_arena_release(&fixture->arena);
	assert_int_equal(fixture->memory.used_bytes, 0);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_view across = { 0 };
		struct ss_text rows = { 0 }, row = { 0 };
		struct fixture fixture;

		fixture_open(&fixture, cases[i].rows);
		assert_true(ss_view_summarize_ranks(&fixture.table, &across.table));
		ss_text_add_string(&rows, "");
		for (uint32_t k = 0; k < across.table.row_count; k++) {
			support_view_row(&across, k, cases[i].columns, &row);
			ss_text_addf(&rows, "%s%s", k ? "\n" : "", row.data);
		}
		support_check(strcmp(rows.data, cases[i].wanted) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", rows.data, cases[i].wanted);
		assert_int_equal(across.table.note_count, 1);
		assert_string_equal(across.table.notes[0], "A note.");
		ss_text_release(&rows);
		ss_text_release(&row);
		ss_table_release(&across.table);
		fixture_close(&fixture);
	}
}

/* Fractions are compared as such, and stay what they are. */
static void test_fractions(void **state)
{
	static const struct row rows[] = { { 0, 0, "a", 5, 3 }, { 1, 0, "a", 2, 4 }, END };
	struct support_view across = { 0 };
	struct ss_text row = { 0 };
	struct fixture fixture;

	(void)state;
	fixture_open(&fixture, rows);
	assert_true(ss_view_summarize_ranks(&fixture.table, &across.table));
	support_view_row(&across, 0,
			 "total_min_percent,total_max_percent,total_percent_worst,"
			 "gb_per_s_min,gb_per_s_max,gb_per_s_worst,peak_min_bytes,peak_worst",
			 &row);
	assert_string_equal(row.data, "1.50,2.00,1,0.50,1.25,0,95,1");
	ss_text_release(&row);
	ss_table_release(&across.table);
	fixture_close(&fixture);
}

/* The view: keys first, then ranks; two figures are shown, counts are not the first of them. */
static void test_view(void **state)
{
	static const char *const shown[] = { "total_median_ns",   "total_max_ns",
					     "total_ns_worst",    "total_median_percent",
					     "total_max_percent", "total_percent_worst" };
	struct ss_table across;
	struct fixture fixture;
	uint32_t found = 0;

	(void)state;
	fixture_open(&fixture, cases[0].rows);
	assert_true(ss_view_summarize_ranks(&fixture.table, &across));
	assert_string_equal(across.view->name, "x.ranks");
	assert_true(across.view->rankless);
	/* device is fixed: name, ranks and four columns of each of five figures */
	assert_int_equal(across.view->column_count, 2 + 4 * 5);
	assert_string_equal(across.view->columns[0].name, "name");
	assert_int_equal(across.view->columns[0].flags & SS_COLUMN_BAR, 0);
	assert_string_equal(across.view->columns[1].name, "ranks");
	for (uint32_t i = 2; i < across.view->column_count; i++)
		if (!(across.view->columns[i].flags & SS_COLUMN_DETAIL))
			assert_string_equal(across.view->columns[i].name, shown[found++]);
	assert_int_equal(found, SS_COUNT(shown));
	assert_string_equal(across.view->columns[2].about, "minimum: how often");
	ss_table_release(&across);
	fixture_close(&fixture);
}

/* Rows by the medians of what the view orders by, of equal ones the first; own orders stay. */
static void test_order(void **state)
{
	static const struct row rows[] = { { 0, 0, "a", 9, 10 }, { 0, 0, "b", 7, 20 },
					   { 0, 0, "c", 8, 20 }, { 1, 0, "a", 9, 70 },
					   { 1, 0, "b", 7, 20 }, { 1, 0, "c", 8, 20 },
					   { 2, 0, "a", 9, 10 }, END };
	static const char *const wanted[][3] = { { "b", "c", "a" }, { "a", "b", "c" } };
	struct ss_view ordered = view;
	struct fixture fixture;

	(void)state;
	ordered.groups[0] = "name";
	ordered.groups[1] = "step";
	ordered.order[0] = "total_ns";
	ordered.own_order = 1u << 1;
	for (uint32_t group = 0; group < 2; group++) {
		struct ss_table across;

		fixture_open(&fixture, rows);
		fixture.table.view = &ordered;
		fixture.table.group = ordered.groups[group];
		assert_true(ss_view_summarize_ranks(&fixture.table, &across));
		for (uint32_t i = 0; i < 3; i++) {
			struct ss_cell cell = ss_table_cell(&across, i, 0);

			assert_true(ss_cell_is_text(&cell, wanted[group][i]));
		}
		assert_string_equal(across.view->columns[2].name,
				    group ? "calls_min" : "total_min_ns");
		ss_table_release(&across);
		fixture_close(&fixture);
	}
}

static void test_memory(void **state)
{
	struct fixture fixture;
	bool refused = true;
	size_t call = 1;

	(void)state;
	for (; refused; call++) {
		struct ss_table across;
		bool whole;

		fixture_open(&fixture, cases[3].rows);
		fixture.memory.fail_call = fixture.memory.calls + call;
		whole = ss_view_summarize_ranks(&fixture.table, &across);
		refused = fixture.memory.calls >= fixture.memory.fail_call;
		fixture.memory.fail_call = 0;
		assert_int_equal(whole, !refused);
		ss_table_release(&across);
		fixture_close(&fixture);
	}
}

/* snake_case, the unit last, as src/table/table.h has it. */
static void check_name(const struct ss_view *from, const struct ss_column *column)
{
	static const char *const units[] = { [SS_COLUMN_NS] = "_ns",
					     [SS_COLUMN_BYTES] = "_bytes",
					     [SS_COLUMN_PERCENT] = "_percent" };
	size_t length = strlen(column->name);
	const char *unit = column->type <= SS_COLUMN_PERCENT ? units[column->type] : NULL;

	for (const char *at = column->name; *at; at++)
		support_check((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9') ||
				      *at == '_',
			      from->name, "%s is not in snake_case", column->name);
	if (unit)
		support_check(length > strlen(unit) &&
				      strcmp(column->name + length - strlen(unit), unit) == 0,
			      from->name, "%s does not end in %s", column->name, unit);
	support_check(column->about && *column->about, from->name, "%s: about what?", column->name);
}

static void check_columns(const struct ss_view *from, const struct ss_view *made)
{
	for (uint32_t i = 0; i < made->column_count; i++) {
		check_name(from, &made->columns[i]);
		for (uint32_t k = 0; k < i; k++)
			support_check(strcmp(made->columns[i].name, made->columns[k].name) != 0,
				      from->name, "two columns are called %s",
				      made->columns[i].name);
	}
}

/* Every view of files, in every group, as two ranks. */
static void test_every_view(void **state)
{
	struct support_trace trace;
	size_t rows = 0;

	(void)state;
	support_load(&trace, support_sample);
	for (size_t i = 0; i < ss_view_count; i++)
		for (uint32_t group = 0; group < SS_GROUPS_MAX; group++) {
			const struct ss_view *from = ss_views[i];
			struct ss_facts facts;
			struct ss_subject subject = { .path = "rank0.json",
						      .trace = &trace.trace,
						      .facts = &facts,
						      .group = group };
			struct ss_table table, across;
			struct ss_error err = { 0 };
			struct ss_arena arena;

			if (!from->run || from->rankless || (group && !from->groups[group]))
				continue;
			ss_arena_init(&arena, &trace.memory);
			ss_facts_init(&facts, &trace.trace, &trace.memory);
			ss_table_init(&table, from, &arena);
			for (int64_t rank = 0; rank < 2; rank++) {
				table.rank = subject.rank = rank;
				assert_int_equal(from->run(&subject, &table, &err), SS_OK);
			}
			ss_facts_release(&facts);
			assert_true(ss_view_summarize_ranks(&table, &across));
			check_columns(from, across.view);
			/* what a rank has is in one row each, nothing is merged */
			support_check(across.row_count * 2 == table.row_count, from->name,
				      "%u rows of both ranks, %u of all", table.row_count,
				      across.row_count);
			rows += across.row_count;
			ss_table_release(&across);
			ss_table_release(&table);
			ss_arena_release(&arena);
		}
	assert_true(rows > 100);
	support_close(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),      cmocka_unit_test(test_fractions),
		cmocka_unit_test(test_view),       cmocka_unit_test(test_memory),
		cmocka_unit_test(test_every_view), cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
