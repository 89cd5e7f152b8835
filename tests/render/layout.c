/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: what a table says without rows, its headings, and which columns go first
 * where there is no room for all.
 */
#include "support/support.h"

#include "render/render.h"

static const struct ss_column zero_columns[] = {
	{ "step", SS_COLUMN_ID, "", 0 },
	{ "communication_ns", SS_COLUMN_NS, "", 0 },
	{ "dataloader_ns", SS_COLUMN_NS, "", 0 },
};
static const struct ss_view zero_view = {
	.name = "zeros",
	.summary = "Zeros",
	.empty = "Nothing.",
	.columns = zero_columns,
	.column_count = SS_COUNT(zero_columns),
	.rankless = true,
};

static const struct ss_column wrap_columns[] = {
	{ "share_percent", SS_COLUMN_PERCENT, "", 0 },
	{ "op", SS_COLUMN_TEXT, "", 0 },
	{ "names", SS_COLUMN_TEXT, "", SS_COLUMN_WRAP },
};
static const struct ss_view wrap_view = {
	.name = "wraps",
	.summary = "Wraps",
	.empty = "No kernels: nothing of this file ran on a device.",
	.columns = wrap_columns,
	.column_count = SS_COUNT(wrap_columns),
	.rankless = true,
};

static const struct {
	const char *what;
	uint32_t width;
	int64_t cells[2][2]; /* of two rows */
	const char *text;
} zero_cases[] = {
	{ "zeros stay where there is room",
	  31,
	  { { 0, 5 }, { 0, 6 } },
	  "step  communication  dataloader\n   0           0 ns        5 ns\n"
	  "   0           0 ns        6 ns\n" },
	{ "where there is none they go first, numbers of steps never",
	  30,
	  { { 0, 5 }, { 0, 6 } },
	  "step  dataloader\n   0        5 ns\n   0        6 ns\n"
	  "(1 column does not fit; --format csv has all)\n" },
	{ "one that is not 0 keeps its column",
	  30,
	  { { 0, 5 }, { 1, 6 } },
	  "step  communication\n   0           0 ns\n   0           1 ns\n"
	  "(1 column does not fit; --format csv has all)\n" },
};

static void test_zeros(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(zero_cases); i++) {
		const struct ss_render_options options = { .width = zero_cases[i].width };
		struct ss_memory memory;
		struct ss_arena arena;
		struct ss_table table;

		ss_memory_init(&memory, 0);
		ss_arena_init(&arena, &memory);
		ss_table_init(&table, &zero_view, &arena);
		for (size_t k = 0; k < 2; k++) {
			ss_row_begin(&table);
			ss_row_int(&table, 0);
			ss_row_int(&table, zero_cases[i].cells[k][0]);
			ss_row_int(&table, zero_cases[i].cells[k][1]);
			ss_row_end(&table);
		}
		out.length = 0;
		ss_renderer_find("text")->view(&table, &options, &out);
		support_check(strcmp(out.data, zero_cases[i].text) == 0, zero_cases[i].what,
			      "found:\n%s", out.data);
		ss_table_release(&table);
		ss_arena_release(&arena);
	}
	ss_text_release(&out);
}

static void test_sentences(void **state)
{
	const struct ss_render_options options = { .width = 30 };
	struct ss_text out = { 0 };
	struct ss_table tables[3];
	struct ss_report_parts parts = { .headline = "A step.\n",
					 .tables = tables,
					 .table_count = SS_COUNT(tables) };
	struct ss_memory memory;
	struct ss_arena arena;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	for (size_t i = 0; i < SS_COUNT(tables); i++)
		ss_table_init(&tables[i], i == 1 ? &zero_view : &wrap_view, &arena);
	ss_renderer_find("text")->view(&tables[0], &options, &out);
	support_check(strcmp(out.data, "No kernels: nothing of this\nfile ran on a device.\n") == 0,
		      "why there is nothing is wrapped", "%s", out.data);
	out.length = 0;
	ss_renderer_find("text")->report(&parts, &options, &out);
	support_check(strcmp(out.data, "A step.\n\nWraps\nNo kernels: nothing of this\n"
				       "file ran on a device.\n\nZeros\nNothing.\n") == 0,
		      "a report says once why tables are empty", "%s", out.data);
	ss_row_begin(&tables[0]);
	ss_row_number(&tables[0], 50);
	ss_row_text(&tables[0], "aten::add");
	ss_row_text(&tables[0], "k");
	ss_row_end(&tables[0]);
	out.length = 0;
	ss_renderer_find("text")->view(&tables[0], &options, &out);
	support_check(strcmp(out.data, "share %  op\n 50.0 %  aten::add\n    k\n") == 0,
		      "no blanks behind the last heading above wrapped text", "%s", out.data);
	for (size_t i = 0; i < SS_COUNT(tables); i++)
		ss_table_release(&tables[i]);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
	ss_text_release(&out);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyz"

static const struct ss_column wide_columns[] = {
	{ "name", SS_COLUMN_TEXT, "", 0 },        { "op", SS_COLUMN_TEXT, "", 0 },
	{ "first_time_ns", SS_COLUMN_NS, "", 0 }, { "second_time_ns", SS_COLUMN_NS, "", 0 },
	{ "third_time_ns", SS_COLUMN_NS, "", 0 }, { "fourth_time_ns", SS_COLUMN_NS, "", 0 },
};
static const struct ss_view wide_view = {
	.name = "wide",
	.summary = "Wide",
	.empty = "Nothing.",
	.columns = wide_columns,
	.column_count = SS_COUNT(wide_columns),
	.rankless = true,
};

/* 104 columns: texts of 20 are not enough, and without the last figure there is room for them. */
static void test_widening(void **state)
{
	const struct ss_render_options options = { .width = 90 };
	struct ss_text out = { 0 };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &wide_view, &arena);
	ss_row_begin(&table);
	ss_row_text(&table, LETTERS);
	ss_row_text(&table, LETTERS);
	for (int i = 1; i <= 4; i++)
		ss_row_int(&table, i);
	ss_row_end(&table);
	ss_renderer_find("text")->view(&table, &options, &out);
	support_check(strstr(out.data, LETTERS "  abcd\xe2\x80\xa6"
					       "ghijklmnopqrstuvwxyz        1 ns         2 ns"
					       "        3 ns\n") != NULL,
		      "texts get the room of a column that was left out", "%s", out.data);
	ss_table_release(&table);
	ss_arena_release(&arena);
	ss_text_release(&out);
}

/* Four figures and two texts: the place keeps its line, other texts and figures go before. */
static void test_places(void **state)
{
	static const uint32_t widths[] = { 60, 64, 72, 80, 100 };
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(widths); i++) {
		const struct ss_render_options options = { .width = widths[i] };
		struct ss_memory memory;
		struct ss_arena arena;
		struct ss_table table;

		ss_memory_init(&memory, 0);
		ss_arena_init(&arena, &memory);
		ss_table_init(&table, &wide_view, &arena);
		ss_row_begin(&table);
		ss_row_text(&table, "/me/distrib_optimizer.py:373 (_build_main_param_groups)");
		ss_row_text(&table, LETTERS);
		for (int k = 1; k <= 4; k++)
			ss_row_int(&table, k);
		ss_row_end(&table);
		out.length = 0;
		ss_renderer_find("text")->view(&table, &options, &out);
		support_check(strstr(out.data, "distrib_optimizer.py:373") != NULL,
			      "file and line stay", "%u columns: %s", widths[i], out.data);
		ss_table_release(&table);
		ss_arena_release(&arena);
	}
	ss_text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_widening),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
