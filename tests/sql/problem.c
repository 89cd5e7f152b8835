/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What DuckDB says, as we say it: one line, the place in the query, a table that was meant.
 */
#include "support/support.h"

#include "base/utf8.h"
#include "sql/database.h"

static const struct {
	const char *query, *message, *text;
	enum ss_status status;
	int64_t at;
} cases[] = {
	{ "select", NULL, "the query failed (DuckDB: no reason given)", SS_ERR_FORMAT, -1 },
	{ "selct 1",
	  "Parser Error: syntax error at or near \"selct\"\n\nLINE 1: selct 1\n        ^",
	  "this is not valid SQL (DuckDB: Parser Error: syntax error at or near \"selct\")",
	  SS_ERR_USAGE, 0 },
	{ "select 1\nfrom x where y",
	  "Binder Error: no\n  y\n\nLINE 2: from x where y\n"
	  "                     ^",
	  "the query does not fit the tables (DuckDB: Binder Error: no y)", SS_ERR_USAGE, 22 },
	/* the place counts characters, and DuckDB cuts long lines at both ends */
	{ "select '\xc3\xa4\xc3\xa4', y",
	  "Binder Error: y\n\nLINE 1: ...'\xc3\xa4\xc3\xa4', y...\n"
	  "                 ^",
	  "the query does not fit the tables (DuckDB: Binder Error: y)", SS_ERR_USAGE, 15 },
	{ "select 1", "Binder Error: y\n\nLINE 3: x\n        ^",
	  "the query does not fit the tables (DuckDB: Binder Error: y)", SS_ERR_USAGE, -1 },
	{ "select * from slcies", "Catalog Error: Table with name slcies does not exist!",
	  "no table called 'slcies'; did you mean 'slices'?", SS_ERR_USAGE, -1 },
	{ "select * from zzzzzzzz", "Catalog Error: Table with name zzzzzzzz does not exist!",
	  "no table called 'zzzzzzzz'; the query '.tables' lists all of them", SS_ERR_USAGE, -1 },
	{ "select 1", "INTERRUPT Error: Interrupted!",
	  "stopped (DuckDB: INTERRUPT Error: Interrupted!)", SS_ERR_STOPPED, -1 },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ss_sql sql = { .query = cases[i].query };
		struct ss_error err = { 0 };

		assert_int_equal(ss_sql_fail(&sql, cases[i].message, &err), cases[i].status);
		assert_string_equal(err.text, cases[i].text);
		assert_int_equal(ss_sql_problem_at(&sql), cases[i].at);
	}
}

/* A long message is cut between characters; a short one keeps its last. */
static void test_length(void **state)
{
	char message[1000];
	struct ss_sql sql = { 0 };
	struct ss_error err = { 0 };

	(void)state;
	for (size_t shift = 0; shift < 2; shift++) {
		memset(message, 'x', shift);
		for (size_t i = shift; i + 2 < sizeof(message); i += 2)
			memcpy(message + i, "\xc3\xa4", 3);
		assert_int_equal(ss_sql_fail(&sql, message, &err), SS_ERR_FORMAT);
		assert_int_equal(ss_utf8_check(err.text, strlen(err.text)) & SS_UTF8_BAD_BYTES, 0);
		assert_true(strlen(err.text) > 420); /* no more than that character is lost */
	}
	assert_int_equal(ss_sql_fail(&sql, "\xc3\xa4", &err), SS_ERR_FORMAT);
	assert_string_equal(err.text, "the query failed (DuckDB: \xc3\xa4)");
}

/* Why a scan failed is ours to say. */
static void test_own(void **state)
{
	struct ss_sql sql = { 0 };
	struct ss_error err = { 0 };

	(void)state;
	assert_int_equal(ss_fail(&sql.own, SS_ERR_LIMIT, "%s", "too large"), SS_ERR_LIMIT);
	assert_int_equal(ss_sql_fail(&sql, "Invalid Input Error: x", &err), SS_ERR_LIMIT);
	assert_string_equal(err.text, "too large");
	assert_int_equal(ss_sql_fail(&sql, "Invalid Input Error: x", &err), SS_ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_length),
					    cmocka_unit_test(test_own) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
