/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sentences that differ in figures.
 */
#include "support/support.h"

#include "table/table.h"
#include "view/view.h"

static const struct {
	const char *what, *a, *b, *both; /* both: NULL when they are not alike */
} cases[] = {
	{ "the same", "3 of 4", "3 of 4", "3 of 4" },
	{ "other figures", "12.5 % of 3 files", "7 % of 3 files", "7 to 12.5 % of 3 files" },
	{ "each figure has its own range", "1 of 9", "2 of 8", "1 to 2 of 8 to 9" },
	{ "decimals", "by 3.45 ms", "by 3.5 ms", "by 3.45 to 3.5 ms" },
	{ "more digits are more", "9 calls", "10 calls", "9 to 10 calls" },
	{ "a figure that ends the sentence", "It is 5.", "It is 4.", "It is 4 to 5." },
	{ "in brackets", "all (5 %)", "all (4 %)", "all (4 to 5 %)" },
	{ "nothing", "", "", "" },
	{ "other words", "3 files", "3 calls", NULL },
	{ "one and several", "1 file is", "2 files are", NULL },
	{ "longer", "3 files", "3 files more", NULL },
	{ "other units", "3 ms", "3 us", NULL },
	{ "figures in names are names", "conv2d of H100", "conv3d of H200", NULL },
	{ "so are numbers", "ProfilerStep#3", "ProfilerStep#4", NULL },
	{ "and versions", "CUDA 12.4.1", "CUDA 12.5.1", NULL },
	{ "and lines", "model.py:30", "model.py:31", NULL },
	{ "a name in both", "7 of conv2d", "5 of conv2d", "5 to 7 of conv2d" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		bool alike = ss_table_notes_alike(cases[i].a, cases[i].b);
		struct ss_memory memory;
		struct ss_arena arena;
		const char *both;

		ss_memory_init(&memory, 0);
		ss_arena_init(&arena, &memory);
		support_check(alike == (cases[i].both != NULL), cases[i].what, "alike: %d", alike);
		if (alike) {
			both = ss_table_note_range(&arena,
						   ss_table_note_extreme(&arena, cases[i].a,
									 cases[i].b, false),
						   ss_table_note_extreme(&arena, cases[i].a,
									 cases[i].b, true));
			support_check(strcmp(both, cases[i].both) == 0, cases[i].what, "%s", both);
			/* the order of ranks does not show */
			both = ss_table_note_range(&arena,
						   ss_table_note_extreme(&arena, cases[i].b,
									 cases[i].a, false),
						   ss_table_note_extreme(&arena, cases[i].b,
									 cases[i].a, true));
			support_check(strcmp(both, cases[i].both) == 0, cases[i].what, "%s", both);
		}
		ss_arena_release(&arena);
	}
}

static void test_notes(void **state)
{
	struct ss_view view = { .name = "x", .rankless = true };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, &view, &arena);
	for (table.rank = 0; table.rank < 20; table.rank++) {
		ss_table_note(&table, "%d.5 %% are known.", (int)(table.rank * 7 % 20));
		ss_table_note(&table, "Rank has %d.", 3);
	}
	assert_int_equal(table.note_count, 2);
	assert_string_equal(table.notes[0], "0.5 to 19.5 % are known.");
	assert_string_equal(table.notes[1], "Rank has 3.");
	/* one rank says two things */
	ss_table_note(&table, "Line %d.", 3);
	ss_table_note(&table, "Line %d.", 4);
	assert_int_equal(table.note_count, 4);
	ss_table_release(&table);
	ss_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases),
					    cmocka_unit_test(test_notes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
