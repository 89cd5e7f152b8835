/*
 * Every format on cells that are hard to write: nulls, UTF-8, quotes, formulas,
 * pipes. And text at several widths: no line is wider than it may be.
 */
#include "support/support.h"

#include "render/render.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "name", SS_COLUMN_TEXT, "a \"name\"", 0 },
	{ "count", SS_COLUMN_COUNT, "", 0 },
	{ "time_ns", SS_COLUMN_NS, "", 0 },
	{ "size_bytes", SS_COLUMN_BYTES, "", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "", 0 },
};
static const struct ss_view view = {
	.name = "hard-cells",
	.summary = "Hard cells",
	.empty = "Nothing.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
};

/* Renders one row with this name, or none with NULL. */
static void render(const char *format, const char *name, bool nulls, uint32_t width,
		   struct ss_text *out)
{
	struct ss_render_options options = { .width = width };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &view, &arena);
	for (int row = 0; name && row < 2; row++) {
		table.rank = row;
		ss_row_begin(&table);
		ss_row_text(&table, nulls ? NULL : name);
		ss_row_int_known(&table, nulls ? -1 : 1234567);
		ss_row_int_known(&table, nulls ? -1 : 12345678);
		ss_row_int_known(&table, nulls ? -1 : 2000);
		if (nulls)
			ss_row_null(&table);
		else
			ss_row_number(&table, 12.5);
		ss_row_end(&table);
	}
	out->length = 0;
	ss_text_add_string(out, "");
	ss_renderer_find(format)->view(&table, &options, out);
	ss_table_release(&table);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}

static const struct {
	const char *what, *format, *name;
	const char *has; /* a piece of the output */
} cases[] = {
	{ "plain cells in CSV", "csv", "a b", "\r\n0,a b,1234567,12345678,2000,12.500000\r\n" },
	{ "a comma in CSV", "csv", "a,b", ",\"a,b\"," },
	{ "a quote in CSV is doubled", "csv", "say \"x\"", ",\"say \"\"x\"\"\"," },
	{ "a formula in CSV", "csv", "=1+2", ",\"'=1+2\"," },
	{ "a formula that begins with a plus", "csv", "+cmd", ",\"'+cmd\"," },
	{ "a formula that begins with an at", "csv", "@SUM(A1)", ",\"'@SUM(A1)\"," },
	{ "a minus and letters", "csv", "-x", ",\"'-x\"," },
	{ "a negative number is no formula", "csv", "-12.5", ",-12.5," },
	{ "a newline in CSV", "csv", "a\nb", ",\"a\nb\"," },
	{ "plain cells in JSON", "json", "a b", "[0,\"a b\",1234567,12345678,2000,12.500000]" },
	{ "quotes and backslashes in JSON", "json", "a\"\\b", "\"a\\\"\\\\b\"" },
	{ "control characters in JSON", "json", "a\x01\n", "\"a\\u0001\\u000a\"" },
	{ "UTF-8 in JSON stays", "json", "\xc3\xa9", "\"\xc3\xa9\"" },
	{ "quotes in what a column is about", "json", "x", "\"about\":\"a \\\"name\\\"\"" },
	{ "the schema of a view", "json", "x", "{\"schema\":\"stepscope.hard-cells/1\"" },
	{ "units for people in Markdown", "markdown", "a",
	  "| 0 | a | 1,234,567 | 12.3 ms | 2.00 kB | 12.5 % |" },
	{ "a pipe in Markdown", "markdown", "a|b", "| a\\|b |" },
	{ "stars, underscores and backticks in Markdown", "markdown", "*_`", "| \\*\\_\\` |" },
	{ "HTML in Markdown", "markdown", "<b>&", "| &lt;b>&amp; |" },
	{ "units for people in text", "text", "a", "a     1,234,567  12.3 ms  2.00 kB  12.5 %\n" },
};

static void test_cells(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		render(cases[i].format, cases[i].name, false, 100, &out);
		support_check(strstr(out.data, cases[i].has) != NULL, cases[i].what, "%s",
			      out.data);
	}
	ss_text_release(&out);
}

static const struct {
	const char *format, *nulls, *empty;
} rest[] = {
	{ "csv", "\r\n0,,,,,\r\n1,,,,,\r\n",
	  "rank,name,count,time_ns,size_bytes,share_percent\r\n" },
	{ "json", "[0,null,null,null,null,null]", "\"rows\":[],\n\"row_count\":0" },
	{ "markdown", "| 0 |  |  |  |  |  |\n", "Nothing.\n" },
	{ "text", "rank\n   0\n   1\n", "Nothing.\n" },
};

static void test_nulls_and_nothing(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	assert_int_equal(SS_COUNT(rest), ss_renderer_count);
	for (size_t i = 0; i < SS_COUNT(rest); i++) {
		render(rest[i].format, "x", true, 80, &out);
		support_check(strstr(out.data, rest[i].nulls) != NULL, rest[i].format, "%s",
			      out.data);
		render(rest[i].format, NULL, true, 80, &out);
		support_check(strstr(out.data, rest[i].empty) != NULL, rest[i].format, "%s",
			      out.data);
	}
	ss_text_release(&out);
	assert_null(ss_renderer_find("xml"));
	assert_null(ss_renderer_find(""));
}

static void check_widths(const char *what, const struct ss_text *text, uint32_t width)
{
	for (const char *line = text->data; *line;) {
		size_t length = strcspn(line, "\n");

		support_check(ss_text_columns(line, length) <= width, what, "%u columns: '%.*s'",
			      width, (int)length, line);
		line += length + (line[length] == '\n');
	}
}

static void test_widths(void **state)
{
	static const char *const names[] = {
		"x",
		"a name that is much longer than any terminal that shows it, and then some more of "
		"it, "
		"up to where no one would read it any more, which is about here",
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9"
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
		"\xc3\xa9",
	};
	static const uint32_t widths[] = { 50, 80, 200 };
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(names); i++)
		for (size_t k = 0; k < SS_COUNT(widths); k++) {
			render("text", names[i], false, widths[k], &out);
			check_widths(names[i], &out, widths[k]);
		}
	ss_text_release(&out);
}

static const struct {
	int64_t value;
	const char *ns, *bytes, *count;
} units[] = {
	{ 0, "0 ns", "0 B", "0" },
	{ 999, "999 ns", "999 B", "999" },
	{ 1000, "1.00 us", "1.00 kB", "1,000" },
	{ 9994, "9.99 us", "9.99 kB", "9,994" },
	{ 9996, "10.0 us", "10.0 kB", "9,996" },
	{ 99960, "100 us", "100 kB", "99,960" },
	{ 999499, "999 us", "999 kB", "999,499" },
	{ 999500, "1.00 ms", "1.00 MB", "999,500" },
	{ 123456789, "123 ms", "123 MB", "123,456,789" },
	{ 5000000000, "5.00 s", "5.00 GB", "5,000,000,000" },
	{ -1500, "-1.50 us", "-1.50 kB", "-1,500" },
	{ INT64_MAX, "9223372037 s", "9223 PB", "9,223,372,036,854,775,807" },
};

static void test_units(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(units); i++) {
		struct ss_cell cell = { .value.integer = units[i].value };

		out.length = 0;
		ss_render_cell(&columns[3], &cell, &out);
		ss_text_add_string(&out, "|");
		ss_render_cell(&columns[4], &cell, &out);
		ss_text_add_string(&out, "|");
		ss_render_cell(&columns[2], &cell, &out);
		support_check(!strncmp(out.data, units[i].ns, strlen(units[i].ns)) &&
				      strstr(out.data, units[i].bytes) &&
				      !strcmp(strrchr(out.data, '|') + 1, units[i].count),
			      units[i].count, "%s", out.data);
	}
	ss_text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),
		cmocka_unit_test(test_nulls_and_nothing),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
