/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions: what is one, what it means, which rows meet it.
 */
#include "support/support.h"

#include "check/check.h"

static const struct ss_column columns[] = {
	{ "name", SS_COLUMN_TEXT, "its name", 0 },
	{ "dur_ns", SS_COLUMN_NS, "its time", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "its share", 0 },
	{ "size_bytes", SS_COLUMN_BYTES, "its size", 0 },
	{ "calls", SS_COLUMN_COUNT, "its calls", 0 },
};

static const struct ss_view view = {
	.name = "things",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.rankless = true,
};

static const struct {
	const char *text;
	const char *problem; /* NULL: none */
	double number;
	bool holds;
} cases[] = {
	{ "dur_ns > 5ms", NULL, 5e6, true },
	{ "  dur_ns>5ms ", NULL, 5e6, true },
	{ "dur-ns > 5 ms", NULL, 5e6, true },
	{ "things.dur_ns >= 7000000", NULL, 7e6, true },
	{ "dur_ns > 7ms", NULL, 7e6, false },
	{ "dur_ns < 1us", NULL, 1e3, false },
	{ "dur_ns <= 2s", NULL, 2e9, true },
	{ "share_percent > 12.5", NULL, 12.5, true },
	{ "share_percent > 12.5%", NULL, 12.5, true },
	{ "share_percent < -1", NULL, -1, false },
	{ "size_bytes > 2KiB", NULL, 2048, false },
	{ "size_bytes > 1.5 kB", NULL, 1500, true },
	{ "calls == 3", NULL, 3, true },
	{ "calls != 3", NULL, 3, true },
	{ "calls == 4", NULL, 4, false },
	{ "calls > 3ms", "is no unit of 'calls'", 0, false },
	{ "dur_ns > 3 %", "ns, us, ms or s", 0, false },
	{ "durns > 3", "did you mean 'dur_ns'?", 0, false },
	{ "zebra > 3", "no column called 'zebra'", 0, false },
	{ "name > 3", "is a text", 0, false },
	{ "", "is no condition", 0, false },
	{ ">", "is no condition", 0, false },
	{ "dur_ns", "is no condition", 0, false },
	{ "dur_ns >", "is no condition", 0, false },
	{ "dur_ns > x", "is no condition", 0, false },
	{ "dur_ns = 3", "is no condition", 0, false },
	{ ".dur_ns > 3", "is no condition", 0, false },
	{ "things. > 3", "is no condition", 0, false },
	{ "dur_ns > 3 > 4", "is no unit", 0, false },
	{ "dur_ns > 99999999999999999999", "is no condition", 0, false },
};

static void fill(struct ss_table *table)
{
	for (int i = 1; i <= 3; i++) {
		ss_row_begin(table);
		ss_row_text(table, i == 3 ? "third" : "other");
		ss_row_int(table, i == 3 ? 7000000 : i * 1000);
		ss_row_number(table, i * 10.0);
		if (i == 1)
			ss_row_nulls(table, 1);
		else
			ss_row_int(table, i * 600);
		ss_row_int(table, i);
		ss_row_end(table);
	}
}

static void test_cases(void **state)
{
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &view, &arena);
	fill(&table);
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_condition condition;
		struct ss_error err = { 0 };
		enum ss_status status = ss_condition_read(&condition, cases[i].text,
							  strlen(cases[i].text), &arena, &err);

		if (status == SS_OK)
			status = ss_condition_bind(&condition, &view, &err);
		support_check((status == SS_OK) == !cases[i].problem, cases[i].text, "%s",
			      err.text);
		if (cases[i].problem) {
			support_check(strstr(err.text, cases[i].problem) != NULL, cases[i].text,
				      "%s", err.text);
			continue;
		}
		assert_true(ss_condition_evaluate(&condition, &table, &arena));
		support_check(condition.number == cases[i].number, cases[i].text, "%f",
			      condition.number);
		support_check(condition.is_met == cases[i].holds && condition.is_known,
			      cases[i].text, "found %f", condition.found);
	}
	ss_table_release(&table);
	ss_arena_release(&arena);
}

/* The row that meets it most is named; null cells are no figures. */
static void test_rows(void **state)
{
	static const char text[] = "things.size_bytes > 1000";
	struct ss_condition condition;
	struct ss_error err = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &view, &arena);
	assert_int_equal(ss_condition_read(&condition, text, strlen(text), &arena, &err), SS_OK);
	assert_int_equal(ss_condition_bind(&condition, &view, &err), SS_OK);
	assert_true(ss_condition_evaluate(&condition, &table, &arena));
	assert_true(condition.is_known && !condition.is_met && !condition.of_rows);
	fill(&table);
	assert_true(ss_condition_evaluate(&condition, &table, &arena));
	assert_int_equal(condition.rows, 2);
	assert_int_equal(condition.of_rows, 2);
	assert_true(condition.found == 1800);
	assert_string_equal(condition.where, "third");
	ss_table_release(&table);
	ss_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
