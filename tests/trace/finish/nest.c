/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nesting: parents and depths on threads, lanes on streams.
 */
#include "support/support.h"

static const struct {
	const char *what;
	const char *script;
	const char *name, *parent; /* "" for none */
	int depth;                 /* or lane */
} cases[] = {
	{ "a slice inside of another", "op a 1 0 +10; op b 1 2 +3", "b", "a", 1 },
	{ "the outermost has no parent", "op a 1 0 +10; op b 1 2 +3", "a", "", 0 },
	{ "the innermost one that holds it", "op a 1 0 +10; op b 1 1 +8; op c 1 2 +3; op d 1 6 +1",
	  "d", "b", 2 },
	{ "same start: the longer one is outside", "op b 1 0 +3; op a 1 0 +10", "b", "a", 1 },
	{ "begins where the other ends: no parent", "op a 1 0 +10; op b 1 10 +3", "b", "", 0 },
	{ "ends where the other ends", "op a 1 0 +10; op b 1 5 +5", "b", "a", 1 },
	{ "outlasts the one it began in: keeps it", "op a 1 0 +10; op b 1 5 +15", "b", "a", 1 },
	{ "after such a one: the one still open", "op a 1 0 +10; op b 1 5 +15; op c 1 12 +2", "c",
	  "b", 2 },
	{ "after both ended: none", "op a 1 0 +10; op b 1 5 +15; op c 1 30 +2", "c", "", 0 },
	{ "a range that begins in a helper is its caller's",
	  "frame main 1 0 +90; frame help 1 5 +10; frame enter 1 6 +8; note a 1 8 +50", "a", "main",
	  3 },
	{ "the next step stands where the last one stood",
	  "frame main 1 0 +200; note a 1 10 +50; frame help 1 55 +15; frame enter 1 57 +9; "
	  "note b 1 62 +100",
	  "b", "main", 1 },
	{ "what runs in it is its own",
	  "frame main 1 0 +90; frame enter 1 6 +8; note a 1 8 +50; op b 1 20 +5", "b", "a", 3 },
	{ "of an operator inside of the helper, too",
	  "frame main 1 0 +90; frame enter 1 6 +8; op x 1 7 +6; note a 1 8 +50", "a", "main", 3 },
	{ "a range that ends with its function is the function's",
	  "frame main 1 0 +90; frame f 1 5 +10; note a 1 8 +7", "a", "f", 2 },
	{ "writers round: still the function's",
	  "frame main 1 0 +90; frame f 1 5 +10; note a 1 8 +9", "a", "f", 2 },
	{ "a collective belongs to its call",
	  "frame main 1 0 +90; frame f 1 5 +10; op c 1 6 +6; note nccl:x 1 8 +50", "nccl:x", "c",
	  3 },
	{ "no duration at its parent's start", "op a 1 0 +10; op b 1 0 +0", "b", "a", 1 },
	{ "no duration, after it another", "op z 1 0 +0; op b 1 0 +0", "b", "", 0 },
	{ "threads do not mix", "op a 1 0 +10; op b 2 2 +3", "b", "", 0 },
	{ "two kernels one after the other share a lane", "kernel a 7 0 +10; kernel b 7 10 +5", "b",
	  "", 0 },
	{ "a kernel that overlaps goes to the next lane", "kernel a 7 0 +10; kernel b 7 9 +5", "b",
	  "", 1 },
	{ "a lane is used again", "kernel a 7 0 +10; kernel b 7 9 +5; kernel c 7 10 +1", "c", "",
	  0 },
	{ "on a stream nothing nests", "kernel a 7 0 +10; kernel b 7 2 +3", "b", "", 1 },
	{ "streams do not mix", "kernel a 7 0 +10; kernel b 8 2 +3", "b", "", 0 },
};

static void test_nesting(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		const struct ss_slices *slices = &loaded.trace.slices;
		const char *found = "";
		uint32_t row;

		support_load_script(&loaded, cases[i].script);
		row = support_find(&loaded.trace, cases[i].name);
		if (slices->parent[row] != SS_NO_ROW)
			found = ss_strings_text(&loaded.trace.names,
						slices->name[slices->parent[row]]);
		support_check(strcmp(found, cases[i].parent) == 0, cases[i].what, "parent '%s'",
			      found);
		support_check(slices->depth[row] == cases[i].depth, cases[i].what, "depth %u",
			      slices->depth[row]);
		support_close(&loaded);
	}
}

static const struct {
	const char *what;
	const char *script;
	uint64_t partial, overlapping, swallowing, duplicate;
} tallies[] = {
	{ "nothing odd", "op a 1 0 +10; op b 1 2 +3; kernel k 7 0 +1; kernel l 7 1 +1", 0, 0, 0,
	  0 },
	{ "partial overlap", "op a 1 0 +10; op b 1 5 +15", 1, 0, 0, 0 },
	{ "overlapping kernels", "kernel k 7 0 +10; kernel l 7 5 +10", 0, 1, 0, 0 },
	{ "copies that overlap are not kernels", "copy k 7 0 +10; copy l 7 5 +10", 0, 0, 0, 0 },
	{ "a kernel that swallows eight",
	  "kernel k 7 0 +100; kernel l 7 1 +1; kernel l 7 2 +1; kernel l 7 3 +1; kernel l 7 4 +1;"
	  "kernel l 7 5 +1; kernel l 7 6 +1; kernel l 7 7 +1; kernel l 7 8 +1",
	  0, 8, 1, 0 },
	{ "the same event twice", "kernel k 7 0 +10 #5; kernel k 7 0 +10 #5", 0, 1, 0, 1 },
	{ "twice without an id: who knows", "op k 7 0 +10; op k 7 0 +10", 0, 0, 0, 0 },
};

static void test_tallies(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(tallies); i++) {
		struct support_trace loaded;
		const struct ss_trace *trace = &loaded.trace;

		support_load_script(&loaded, tallies[i].script);
		support_check(support_odd(trace, SS_ODD_PARTIAL_OVERLAP) == tallies[i].partial &&
				      support_odd(trace, SS_ODD_OVERLAPPING_KERNEL) ==
					      tallies[i].overlapping &&
				      support_odd(trace, SS_ODD_SWALLOWING_KERNEL) ==
					      tallies[i].swallowing &&
				      support_odd(trace, SS_ODD_DUPLICATE_EVENT) ==
					      tallies[i].duplicate,
			      tallies[i].what, "%d %d %d %d",
			      (int)support_odd(trace, SS_ODD_PARTIAL_OVERLAP),
			      (int)support_odd(trace, SS_ODD_OVERLAPPING_KERNEL),
			      (int)support_odd(trace, SS_ODD_SWALLOWING_KERNEL),
			      (int)support_odd(trace, SS_ODD_DUPLICATE_EVENT));
		support_close(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_tallies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
