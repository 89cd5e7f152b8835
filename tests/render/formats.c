/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every format on cells that are hard to write: nulls, UTF-8, quotes, formulas,
 * pipes. And text at several widths: no line is wider than it may be.
 */
#include <math.h>

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
	{ "units for people in text", "text", "a", "a     1,234,567  12.3 ms  2.00 kB   12.5 %\n" },
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
	{ "ndjson",
	  "{\"rank\":0,\"name\":null,\"count\":null,\"time_ns\":null,\"size_bytes\":null,"
	  "\"share_percent\":null}\n",
	  "" },
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

/* --- bars -------------------------------------------------------------------------- */

static const struct ss_column bar_columns[] = {
	{ "name", SS_COLUMN_TEXT, "", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "", SS_COLUMN_BAR },
	{ "line", SS_COLUMN_TEXT, "", 0 },
	{ "gb_per_s", SS_COLUMN_NUMBER, "", 0 },
};
static const struct ss_view bar_view = {
	.name = "bars",
	.summary = "Bars",
	.empty = "Nothing.",
	.columns = bar_columns,
	.column_count = SS_COUNT(bar_columns),
	.rankless = true,
};

#define NOTHING -1
#define BLOCK "\xe2\x96\x88"
#define BLOCKS3 BLOCK BLOCK BLOCK
#define BLOCKS6 BLOCKS3 BLOCKS3
#define BLOCKS12 BLOCKS6 BLOCKS6
#define BLOCKS24 BLOCKS12 BLOCKS12
#define LONG26 "abcdefghijklmnopqrstuvwxyz"
#define TAIL23 "nopqrstuvwxyz0123456789"
#define LONG36 "abcdefghijklm" TAIL23
#define CUT35                \
	"abcdef\xe2\x80\xa6" \
	"ijklm" TAIL23 /* LONG36 in 35 columns */
#define TEXT20 "abcdefghijklmnopqrst"

static const struct bar_case {
	const char *what;
	uint32_t width, top;
	const char *name, *line;
	double shares[6]; /* of rows; 0 ends them but for the first */
	const char *text;
} bar_cases[] = {
	{ "the largest is a whole bar, as long as the others are in proportion",
	  80,
	  0,
	  "a",
	  NULL,
	  { 100, 50, 12.5 },
	  "name  share %\na     100.0 %  " BLOCKS24 "\na      50.0 %  " BLOCKS12
	  "\na      12.5 %  " BLOCKS3 "\n" },
	{ "of small shares, too, the largest is a whole bar",
	  80,
	  0,
	  "a",
	  NULL,
	  { 0.2, 0.1 },
	  "name  share %\na       0.2 %  " BLOCKS24 "\na       0.1 %  " BLOCKS12 "\n" },
	{ "eighths: 100 % are 192 of them",
	  80,
	  0,
	  "a",
	  NULL,
	  { 100, 1, 0.5, 2.1, 0.2, 50.5 },
	  "name  share %\na     100.0 %  " BLOCKS24 "\na       1.0 %  \xe2\x96\x8e\n"
	  "a       0.5 %  \xe2\x96\x8f\na       2.1 %  \xe2\x96\x8c\na       0.2 %\n"
	  "a      50.5 %  " BLOCKS12 "\xe2\x96\x8f\n" },
	{ "what is not recorded has no bar",
	  80,
	  0,
	  "a",
	  NULL,
	  { 50, NOTHING },
	  "name  share %\na      50.0 %  " BLOCKS24 "\na           -\n" },
	{ "zeros have none",
	  80,
	  0,
	  "a",
	  NULL,
	  { 0, NOTHING },
	  "name  share %\na       0.0 %\na           -\n" },
	{ "one row has none", 80, 0, "a", NULL, { 50 }, "name  share %\na      50.0 %\n" },
	{ "one row that is shown has none",
	  80,
	  1,
	  "a",
	  NULL,
	  { 50, 20 },
	  "name  share %\na      50.0 %\n(1 of 2 rows; --top 0 shows all)\n" },
	{ "the largest that is shown is a whole bar",
	  80,
	  2,
	  "a",
	  NULL,
	  { 20, 10, 40 },
	  "name  share %\na      20.0 %  " BLOCKS24 "\na      10.0 %  " BLOCKS12
	  "\n(2 of 3 rows; --top 0 shows all)\n" },
	{ "no bar on a narrow terminal",
	  39,
	  0,
	  "a",
	  NULL,
	  { 50, 20 },
	  "name  share %\na      50.0 %\na      20.0 %\n" },
	{ "a long text gives way, to a bar of 8 columns",
	  54,
	  0,
	  LONG36,
	  NULL,
	  { 50, 25 },
	  "name                                 share %\n" CUT35 "   50.0 %"
	  "  " BLOCKS6 BLOCK BLOCK "\n" CUT35 "   25.0 %  " BLOCK BLOCKS3 "\n" },
	{ "but not for less than 32 columns",
	  50,
	  0,
	  LONG36,
	  NULL,
	  { 50, 25 },
	  "name                                  share %\n" LONG36 "   50.0 %\n" LONG36
	  "   25.0 %\n" },
	{ "the shorter of two texts does not, either",
	  57,
	  0,
	  TEXT20,
	  TEXT20,
	  { 50, 25 },
	  "name                  share %  line\n" TEXT20 "   50.0 %  " TEXT20 "\n" TEXT20
	  "   25.0 %  " TEXT20 "\n" },
	{ "bars stand behind the last text, one under the other",
	  60,
	  0,
	  "a",
	  "x",
	  { 50, 50 },
	  "name  share %  line\na      50.0 %  x     " BLOCKS24 "\na      50.0 %  x     " BLOCKS24
	  "\n" },
};

/* A table of shares; `rates` fills the last column. */
static void render_bars(const char *format, const struct bar_case *bar, const double *rates,
			const char *note, struct ss_text *out)
{
	struct ss_render_options options = { .width = bar->width, .top = bar->top };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &bar_view, &arena);
	for (size_t i = 0; i < 6 && bar->name && (!i || bar->shares[i] != 0); i++) {
		ss_row_begin(&table);
		ss_row_text(&table, bar->name);
		if (bar->shares[i] < 0)
			ss_row_null(&table);
		else
			ss_row_number(&table, bar->shares[i]);
		ss_row_text(&table, bar->line);
		if (rates)
			ss_row_number(&table, rates[i]);
		else
			ss_row_null(&table);
		ss_row_end(&table);
	}
	if (note) {
		ss_table_note(&table, "%s", note);
		ss_table_note(&table, "Another.");
		ss_table_note(&table, "%s", note);
	}
	out->length = 0;
	ss_renderer_find(format)->view(&table, &options, out);
	ss_table_release(&table);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}

static void test_bars(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(bar_cases); i++) {
		struct bar_case any = bar_cases[i];

		render_bars("text", &bar_cases[i], NULL, NULL, &out);
		support_check(strcmp(out.data, bar_cases[i].text) == 0, bar_cases[i].what,
			      "found:\n%s\nwanted:\n%s", out.data, bar_cases[i].text);
		for (any.width = 36; any.width < 120; any.width++) {
			render_bars("text", &any, NULL, NULL, &out);
			check_widths(any.what, &out, any.width);
		}
	}
	ss_text_release(&out);
}

/* Bars of many rows take no longer than the rows: the time limit of tests would tell. */
static void test_many_bars(void **state)
{
	struct ss_render_options options = { .width = 80 };
	struct ss_text out = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &bar_view, &arena);
	for (uint32_t i = 0; i < 200000; i++) {
		ss_row_begin(&table);
		ss_row_text(&table, "a");
		ss_row_number(&table, i % 100);
		ss_row_nulls(&table, 2);
		ss_row_end(&table);
	}
	ss_renderer_find("text")->view(&table, &options, &out);
	assert_non_null(strstr(out.data, BLOCKS24));
	ss_table_release(&table);
	ss_arena_release(&arena);
	ss_text_release(&out);
}

#define NOTE "Lines *are* not recorded: <b> \"does\" _it_."

static const struct {
	const char *what, *format, *has;
	bool empty;
} note_cases[] = {
	{ "below the table", "text",
	  "20.0 %\nLines *are* not recorded: <b> \"does\"\n_it_.\nAnother.\n", false },
	{ "below nothing", "text", "Nothing.\nLines *are* not", true },
	{ "in JSON", "json",
	  "\"notes\":[\"Lines *are* not recorded: <b> \\\"does\\\" _it_.\",\"Another.\"]", false },
	{ "in JSON of nothing", "json", "\"rows\":[],\n\"row_count\":0,\n\"notes\":[\"Lines",
	  true },
	{ "in Markdown", "markdown",
	  "|\n\nLines \\*are\\* not recorded: &lt;b> \"does\" \\_it\\_.\n\nAnother.\n", false },
	{ "in Markdown of nothing", "markdown", "Nothing.\n\nLines", true },
};

static void test_notes(void **state)
{
	struct bar_case some = { .width = 36, .name = "a", .shares = { 50, 20 } };
	struct bar_case none = { .width = 36 };
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(note_cases); i++) {
		render_bars(note_cases[i].format, note_cases[i].empty ? &none : &some, NULL, NOTE,
			    &out);
		support_check(strstr(out.data, note_cases[i].has) != NULL, note_cases[i].what, "%s",
			      out.data);
	}
	render_bars("csv", &some, NULL, NOTE, &out);
	assert_null(strstr(out.data, "Another"));
	/* letters that are wider than the terminal */
	some.width = 1;
	render_bars("text", &some, NULL, "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", &out);
	assert_non_null(strstr(out.data, "\xf0\x9f\x98\x80\n\xf0\x9f\x98\x80\n"));
	ss_text_release(&out);
}

static const struct {
	double value;
	const char *text, *csv;
} numbers[] = {
	{ 0, "0.00", "0.000000" },
	{ 0.0004, "0.0004", "0.000400" },
	{ 0.05, "0.0500", "0.050000" },
	{ 5.678, "5.68", "5.678000" },
	{ 9.994, "9.99", "9.994000" },
	{ 9.996, "10.0", "9.996000" },
	{ 12.34, "12.3", "12.340000" },
	{ 99.94, "99.9", "99.940000" },
	{ 99.96, "100", "99.960000" },
	{ 1234.5, "1,235", "1234.500000" },
	{ -3, "-3.00", "-3.000000" },
	{ -1234.4, "-1,234", "-1234.400000" },
	{ 1e15, "1,000,000,000,000,000", "1000000000000000.000000" },
};

static void test_numbers(void **state)
{
	struct bar_case one = { .width = 80, .name = "a", .shares = { 50 } };
	struct ss_text out = { 0 };
	double nothing[1] = { (double)INFINITY };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(numbers); i++) {
		double rates[1] = { numbers[i].value };
		struct ss_text wanted = { 0 };

		render_bars("text", &one, rates, NULL, &out);
		ss_text_addf(&wanted, " %s\n", numbers[i].text);
		support_check(strstr(out.data, wanted.data) != NULL, numbers[i].text, "%s",
			      out.data);
		render_bars("csv", &one, rates, NULL, &out);
		support_check(strstr(out.data, numbers[i].csv) != NULL, numbers[i].csv, "%s",
			      out.data);
		ss_text_release(&wanted);
	}
	render_bars("json", &one, nothing, NULL, &out);
	assert_non_null(strstr(out.data, "[\"a\",50.000000,null,null]"));
	nothing[0] = (double)NAN;
	render_bars("csv", &one, nothing, NULL, &out);
	assert_non_null(strstr(out.data, "a,50.000000,,\r\n"));
	ss_text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cells),  cmocka_unit_test(test_nulls_and_nothing),
		cmocka_unit_test(test_widths), cmocka_unit_test(test_units),
		cmocka_unit_test(test_bars),   cmocka_unit_test(test_many_bars),
		cmocka_unit_test(test_notes),  cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
