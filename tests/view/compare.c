/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two runs side by side.
 */
#include "view/arrange.h"

#include "support/support.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", 0 },
	{ "name", SS_COLUMN_TEXT, "what it is", 0 },
	{ "line", SS_COLUMN_TEXT, "where one of them is", SS_COLUMN_EVIDENCE },
	{ "calls", SS_COLUMN_COUNT, "how often", 0 },
	{ "at_ns", SS_COLUMN_NS, "when", SS_COLUMN_DETAIL },
	{ "total_ns", SS_COLUMN_NS, "all of it", 0 },
	{ "total_percent", SS_COLUMN_PERCENT, "of the step", 0 },
};
static const struct ss_view view = { .name = "x",
				     .columns = columns,
				     .column_count = SS_COUNT(columns) };

static enum ss_status never(const struct ss_joined *joined, uint32_t group, struct ss_table *out,
			    struct ss_error *err)
{
	(void)joined;
	(void)group;
	(void)out;
	(void)err;
	return SS_OK;
}

static const struct ss_view job_view = {
	.name = "x", .columns = columns, .column_count = SS_COUNT(columns), .run_job = never
};

struct row {
	int64_t rank, device;
	const char *name, *line;
	int64_t calls, total_ns; /* -1: null */
};

struct versus_case {
	const char *what;
	const struct ss_view *view;
	struct row a[4], b[4];
	const char *columns, *wanted;
};

static const struct versus_case cases[] = {
	{ "each figure of both runs, and second less first",
	  &view,
	  { { 0, 0, "k", NULL, 5, 30 } },
	  { { 0, 0, "k", NULL, 7, 10 } },
	  "name,calls_a,calls_b,calls_change,total_a_ns,total_b_ns,total_change_ns,"
	  "total_a_percent,total_b_percent,total_change_percent",
	  "k,5,7,2,30,10,-20,15.00,5.00,-10.00" },
	{ "the largest change of the main time stands first, whichever way it goes",
	  &view,
	  { { 0, 0, "a", NULL, 900, 10 }, { 0, 0, "b", NULL, 1, 80 }, { 0, 0, "c", NULL, 1, 1 } },
	  { { 0, 0, "a", NULL, 1, 15 }, { 0, 0, "b", NULL, 1, 20 }, { 0, 0, "c", NULL, 1, 31 } },
	  "name,total_change_ns",
	  "b,-60\nc,30\na,5" },
	{ "equal changes keep the order of the first run",
	  &view,
	  { { 0, 0, "z", NULL, 1, 10 }, { 0, 0, "y", NULL, 1, 10 } },
	  { { 0, 0, "y", NULL, 1, 20 }, { 0, 0, "z", NULL, 1, 20 } },
	  "name,total_change_ns",
	  "z,10\ny,10" },
	{ "what one run does not have took no time there; other changes are not known",
	  &view,
	  { { 0, 0, "gone", NULL, 2, 10 } },
	  { { 0, 0, "new", NULL, 3, 30 } },
	  "name,calls_a,calls_b,calls_change,total_a_ns,total_b_ns,total_change_ns",
	  "new,-,3,-,-,30,30\ngone,2,-,-,10,-,-10" },
	{ "a figure that is not recorded has no change",
	  &view,
	  { { 0, 0, "k", NULL, -1, 10 } },
	  { { 0, 0, "k", NULL, 3, 10 } },
	  "calls_a,calls_b,calls_change,total_change_ns",
	  "-,3,-,0" },
	{ "rows about the same thing meet in their order",
	  &view,
	  { { 0, 0, "k", NULL, 1, 10 }, { 0, 0, "k", NULL, 2, 20 } },
	  { { 0, 0, "k", NULL, 3, 10 }, { 0, 0, "k", NULL, 4, 21 }, { 0, 0, "k", NULL, 5, 5 } },
	  "calls_a,calls_b,total_change_ns",
	  "-,5,5\n2,4,1\n1,3,0" },
	{ "another line is no other thing, and a device that never changes neither",
	  &view,
	  { { 0, 0, "k", "a.py(1): f", 1, 10 } },
	  { { 3, 7, "k", "a.py(2): f", 1, 12 } },
	  "name,total_change_ns",
	  "k,2" },
	{ "devices that do change are told apart",
	  &view,
	  { { 0, 0, "k", NULL, 1, 10 }, { 0, 1, "k", NULL, 1, 20 } },
	  { { 0, 1, "k", NULL, 1, 25 } },
	  "device,total_change_ns",
	  "0,-10\n1,5" },
	{ "of several ranks the medians are compared",
	  &view,
	  { { 0, 0, "k", NULL, 1, 10 }, { 1, 1, "k", NULL, 2, 30 }, { 2, 2, "k", NULL, 3, 20 } },
	  { { 0, 0, "k", NULL, 9, 50 } },
	  "name,calls_a,calls_b,total_a_ns,total_b_ns,total_change_ns",
	  "k,2,9,20,50,30" },
	{ "in views of all ranks the rank is what a row is about",
	  &job_view,
	  { { 0, 0, "k", NULL, 1, 10 }, { 1, 0, "k", NULL, 1, 20 } },
	  { { 1, 0, "k", NULL, 1, 21 }, { 0, 0, "k", NULL, 1, 10 } },
	  "rank,total_change_ns",
	  "1,1\n0,0" },
	{ "changes that do not fit stay at the edge",
	  &view,
	  { { 0, 0, "k", NULL, 1, INT64_MIN } },
	  { { 0, 0, "k", NULL, 1, INT64_MAX } },
	  "total_change_ns",
	  "9223372036854775807" },
	{ "nothing in either", &view, { { 0 } }, { { 0 } }, "name", "" },
	{ "nothing in the first",
	  &view,
	  { { 0 } },
	  { { 0, 0, "k", NULL, 1, 10 } },
	  "name,total_a_ns,total_b_ns",
	  "k,-,10" },
};

static void fill(struct ss_table *table, const struct ss_view *own, const struct row *rows,
		 struct ss_arena *arena)
{
	ss_table_init(table, own, arena);
	for (size_t i = 0; i < 4 && rows[i].name; i++) {
		table->rank = rows[i].rank;
		ss_row_begin(table);
		ss_row_int(table, rows[i].device);
		ss_row_text(table, rows[i].name);
		ss_row_text(table, rows[i].line);
		ss_row_int_known(table, rows[i].calls);
		ss_row_int(table, 17);
		ss_row_int(table, rows[i].total_ns);
		ss_row_number(table, (double)rows[i].total_ns / 2);
		ss_row_end(table);
	}
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_view joined = { .trace = { .trace = { 0 } } };
		struct ss_memory memories[2];
		struct ss_arena arenas[2];
		struct ss_table a, b;
		struct ss_text found = { 0 }, line = { 0 };

		for (int k = 0; k < 2; k++) {
			ss_memory_init(&memories[k], 0);
			ss_arena_init(&arenas[k], &memories[k]);
		}
		fill(&a, cases[i].view, cases[i].a, &arenas[0]);
		fill(&b, cases[i].view, cases[i].b, &arenas[1]);
		ss_table_note(&a, "both say this");
		ss_table_note(&b, "both say this");
		assert_true(ss_view_compare_runs(&a, &b, &joined.table));
		ss_text_add_string(&found, "");
		for (uint32_t row = 0; row < joined.table.row_count; row++) {
			support_view_row(&joined, row, cases[i].columns, &line);
			ss_text_addf(&found, "%s%s", row ? "\n" : "", line.data);
		}
		support_check(strcmp(found.data, cases[i].wanted) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", found.data, cases[i].wanted);
		assert_string_equal(joined.table.view->name, "x.diff");
		assert_int_equal(joined.table.note_count, 1);
		ss_text_release(&found);
		ss_text_release(&line);
		ss_table_release(&a);
		ss_table_release(&b);
		ss_table_release(&joined.table);
		for (int k = 0; k < 2; k++) {
			ss_arena_release(&arenas[k]);
			assert_int_equal(memories[k].used_bytes, 0);
		}
	}
}

/* Every piece of memory is refused once. */
static void test_memory(void **state)
{
	bool whole = false;

	(void)state;
	for (size_t fail = 1; !whole; fail++) {
		struct ss_memory memory;
		struct ss_arena arena;
		struct ss_table a, b, joined = { 0 };

		ss_memory_init(&memory, 0);
		ss_arena_init(&arena, &memory);
		fill(&a, &view, cases[8].a, &arena);
		fill(&b, &view, cases[8].b, &arena);
		memory.fail_call = memory.calls + fail;
		whole = ss_view_compare_runs(&a, &b, &joined);
		ss_table_release(&a);
		ss_table_release(&b);
		ss_table_release(&joined);
		ss_arena_release(&arena);
		assert_int_equal(memory.used_bytes, 0);
		assert_true(fail < 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
