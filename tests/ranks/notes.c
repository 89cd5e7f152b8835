/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes below the tables of a job, and when there are none.
 */
#include "ranks/join.h"

#include "support/support.h"

#define MOST 12
#define ALONE SS_NO_ROW
#define HUGE_NUMBER INT64_C(9223372036854775807)

struct note_case {
	const char *what;
	uint32_t count;
	int64_t ranks[MOST], worlds[MOST];
	uint32_t components[MOST];
	uint32_t copies;
	const char *notes; /* separated by newlines */
};

static const struct note_case cases[] = {
	{ "all ranks are there", 2, { 0, 1 }, { 2, 2 }, { 0 }, 0, "" },
	{ "nobody says how many there are", 2, { 3, 9 }, { -1, -1 }, { 0 }, 0, "" },
	{ "one is missing", 2, { 0, 2 }, { 3, 3 }, { 0 }, 0, "Rank 1 of 3 is missing." },
	{ "the first is missing", 2, { 1, 2 }, { 3, 3 }, { 0 }, 0, "Rank 0 of 3 is missing." },
	{ "the last is missing; one file knows of it",
	  2,
	  { 0, 1 },
	  { -1, 3 },
	  { 0 },
	  0,
	  "Rank 2 of 3 is missing." },
	{ "several are missing",
	  2,
	  { 1, 4 },
	  { 6, 6 },
	  { 0 },
	  0,
	  "4 of 6 ranks are missing: 0, 2, 3, 5." },
	{ "eight are named",
	  2,
	  { 0, 9 },
	  { 10, 10 },
	  { 0 },
	  0,
	  "8 of 10 ranks are missing: 1, 2, 3, 4, 5, 6, 7, 8." },
	{ "the ninth is counted",
	  3,
	  { 0, 3, 11 },
	  { 12, 12, 12 },
	  { 0 },
	  0,
	  "9 of 12 ranks are missing: 1, 2, 4, 5, 6, 7, 8, 9 and more." },
	{ "a world as large as a number can be takes no time",
	  2,
	  { 0, 1 },
	  { HUGE_NUMBER, HUGE_NUMBER },
	  { 0 },
	  0,
	  "9223372036854775805 of 9223372036854775807 ranks are missing: 2, 3, 4, 5, 6, 7, 8, 9 "
	  "and more." },
	{ "a rank as large as a number can be is beyond the world",
	  2,
	  { 0, HUGE_NUMBER },
	  { 2, 2 },
	  { 0 },
	  0,
	  "Rank 1 of 2 is missing." },
	{ "a rank beyond the world is not missed, nor are those before it",
	  2,
	  { 0, 5 },
	  { 1, 1 },
	  { 0 },
	  0,
	  "" },
	{ "who has no number may be the missing one", 2, { 0, -1 }, { 3, 3 }, { 0 }, 0, "" },
	{ "a rank that was recorded twice",
	  3,
	  { 0, 1, 1 },
	  { 2, 2, 2 },
	  { 0 },
	  0,
	  "Rank 1 has two recordings: each has its own row." },
	{ "ranks that were recorded several times",
	  5,
	  { 0, 0, 0, 1, 1 },
	  { 2, 2, 2, 2, 2 },
	  { 0 },
	  0,
	  "3 files are further recordings of a rank (the first: rank 0): each has its own row." },
	{ "files without a rank are not the same one", 2, { -1, -1 }, { -1, -1 }, { 0 }, 0, "" },
	{ "a copy",
	  2,
	  { 0, 1 },
	  { 2, 2 },
	  { 0 },
	  1,
	  "1 copy of a file is left out: rank 7 occurs twice." },
	{ "copies",
	  2,
	  { 0, 1 },
	  { 2, 2 },
	  { 0 },
	  2,
	  "2 copies of files are left out; the first is of rank 7." },
	{ "a file that does not know its world is of no other job",
	  2,
	  { 0, 1 },
	  { 2, -1 },
	  { 0 },
	  0,
	  "" },
	{ "files of different jobs",
	  3,
	  { 0, 1, 2 },
	  { 3, 2, 3 },
	  { 0 },
	  0,
	  "These files belong to different jobs: one has 3 ranks, another 2." },
	{ "one rank",
	  1,
	  { 0 },
	  { 1 },
	  { 0 },
	  0,
	  "There is only one rank: nothing to compare it with." },
	{ "no clocks can be compared",
	  2,
	  { 0, 1 },
	  { 2, 2 },
	  { ALONE, ALONE },
	  0,
	  "The ranks have no collective in common, so their clocks cannot be compared." },
	{ "one rank meets nobody",
	  3,
	  { 0, 1, 2 },
	  { 3, 3, 3 },
	  { 0, ALONE, 0 },
	  0,
	  "Not all clocks can be compared: no collective connects 1 of 3 ranks with the others." },
	{ "two islands",
	  4,
	  { 0, 1, 2, 3 },
	  { 4, 4, 4, 4 },
	  { 0, 0, 1, 1 },
	  0,
	  "Not all clocks can be compared: the 4 ranks form 2 groups that have no collective in "
	  "common." },
	{ "two islands and one that is alone",
	  5,
	  { 0, 1, 2, 3, 4 },
	  { 5, 5, 5, 5, 5 },
	  { 0, 0, 1, 1, ALONE },
	  0,
	  "Not all clocks can be compared: the 5 ranks form 3 groups that have no collective in "
	  "common." },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_digest ranks[MOST] = { 0 };
		struct ss_clock clocks[MOST] = { 0 };
		struct ss_joined joined = { .ranks = ranks,
					    .rank_count = cases[i].count,
					    .clocks = clocks,
					    .copies = cases[i].copies,
					    .copied_rank = 7 };
		struct ss_text notes = { 0 };
		struct ss_memory memory;
		struct ss_arena arena;
		struct ss_table table;

		for (uint32_t r = 0; r < cases[i].count; r++) {
			ranks[r].rank = cases[i].ranks[r];
			ranks[r].world_size = cases[i].worlds[r];
			clocks[r].component = cases[i].components[r];
		}
		ss_memory_init(&memory, 0);
		ss_arena_init(&arena, &memory);
		ss_table_init(&table, ss_view_find("ranks"), &arena);
		ss_joined_add_notes(&joined, &table);
		ss_text_add_string(&notes, "");
		for (uint32_t k = 0; k < table.note_count; k++)
			ss_text_addf(&notes, "%s%s", k ? "\n" : "", table.notes[k]);
		support_check(strcmp(notes.data, cases[i].notes) == 0, cases[i].what,
			      "found:\n%s\nwanted:\n%s", notes.data, cases[i].notes);
		ss_text_release(&notes);
		ss_table_release(&table);
		ss_arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
