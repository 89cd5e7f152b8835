/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is seen of the critical path, and where findings are.
 */
#include "timeline/path.h"

#include "support/support.h"

/* Pieces as "file/track start-end part"; `wanted` has counts behind them. */
struct piece {
	uint32_t file, track;
	int64_t start_ns, end_ns;
	uint32_t part;
};

static const struct {
	const char *what;
	struct piece pieces[6];
	int64_t from_ns, to_ns;
	uint32_t pixels;
	const char *wanted; /* "track:start-end*count=part of row" */
} cases[] = {
	{ "pieces of a pixel and more stand for themselves",
	  { { 0, 1, 0, 10, 0 }, { 0, 1, 10, 20, 0 }, { 0, 1, 20, 35, 0 } },
	  0,
	  100,
	  10,
	  "1:0-10*1=0/0 1:10-20*1=0/1 1:20-35*1=0/2" },
	{ "narrow ones of a part that touch are one",
	  { { 0, 1, 0, 3, 0 }, { 0, 1, 3, 8, 0 }, { 0, 1, 8, 12, 0 }, { 0, 1, 12, 13, 0 } },
	  0,
	  100,
	  10,
	  "1:0-13*4=0/1" },
	{ "of other parts only within a pixel; the longest names it",
	  { { 0, 1, 0, 3, 0 }, { 0, 1, 3, 8, 2 }, { 0, 1, 8, 12, 0 } },
	  0,
	  100,
	  10,
	  "1:0-8*2=2/1 1:8-12*1=0/2" },
	{ "not across what is a pixel away",
	  { { 0, 1, 0, 3, 0 }, { 0, 1, 13, 15, 0 } },
	  0,
	  100,
	  10,
	  "1:0-3*1=0/0 1:13-15*1=0/1" },
	{ "another track between them does not part them",
	  { { 0, 1, 0, 3, 0 }, { 0, 2, 3, 5, 3 }, { 0, 1, 5, 7, 0 } },
	  0,
	  100,
	  10,
	  "1:0-7*2=0/0 2:3-5*1=3/1" },
	{ "a track of another file is another track",
	  { { 0, 1, 0, 3, 0 }, { 1, 1, 3, 5, 0 } },
	  0,
	  100,
	  10,
	  "1:0-3*1=0/0 1:3-5*1=0/1" },
	{ "only what is in the window, whole",
	  { { 0, 1, 0, 30, 0 }, { 0, 1, 30, 60, 0 }, { 0, 1, 60, 90, 0 } },
	  30,
	  60,
	  10,
	  "1:30-60*1=0/1" },
	{ "a window behind its end", { { 0, 1, 0, 30, 0 } }, 30, 60, 10, "" },
	{ "no path", { { 0 } }, 0, 10, 1, "" },
};

static void test_seen(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_shown_piece pieces[6];
		struct ss_memory memory;
		struct ss_shown_path path = { .memory = &memory, .pieces = pieces }, seen;
		struct ss_text found = { 0 };
		struct ss_error err;

		ss_memory_init(&memory, 0);
		for (; path.count < 6 && cases[i].pieces[path.count].end_ns; path.count++) {
			const struct piece *piece = &cases[i].pieces[path.count];

			pieces[path.count] = (struct ss_shown_piece){ piece->start_ns,
								      piece->end_ns,
								      piece->file,
								      path.count,
								      piece->track,
								      piece->part,
								      1 };
		}
		assert_int_equal(ss_shown_path_in_window(&path, cases[i].from_ns, cases[i].to_ns,
							 cases[i].pixels, &seen, &err),
				 SS_OK);
		ss_text_add_string(&found, "");
		for (uint32_t k = 0; k < seen.count; k++)
			ss_text_addf(&found, "%s%u:%lld-%lld*%u=%u/%u", k ? " " : "",
				     seen.pieces[k].track, (long long)seen.pieces[k].start_ns,
				     (long long)seen.pieces[k].end_ns, seen.pieces[k].count,
				     seen.pieces[k].part, seen.pieces[k].row);
		support_check(strcmp(found.data, cases[i].wanted) == 0, cases[i].what,
			      "found:  %s\nwanted: %s", found.data, cases[i].wanted);
		ss_text_release(&found);
		ss_shown_path_release(&seen);
		assert_int_equal(memory.used_bytes, 0);
	}
}

/* --- flags ------------------------------------------------------------------------------ */

/* A call from 0 to 10 and its return at 60, on track 0; kernels from 20 to 50 and 70 to 100. */
static struct ss_task tasks[] = {
	{ .start_ns = 0, .own_ns = 10, .row = 3, .edges = 0 },
	{ .start_ns = 60, .own_ns = 0, .row = 3, .edges = 0, .kind = SS_TASK_WAIT },
	{ .start_ns = 20, .own_ns = 30, .row = 7, .edges = 2, .track = 1 },
	{ .start_ns = 70, .own_ns = 30, .row = 8, .edges = 2, .track = 1 },
	{ .edges = 3 },
};
/* The second kernel could begin 4 ns earlier. */
static struct ss_short_edge edges[] = {
	{ .from = 0, .kind = SS_EDGE_THREAD, .lag = SS_SHORT_LAG },
	{ .from = 2, .kind = SS_EDGE_SYNC, .lag = SS_SHORT_LAG },
	{ .from = 2, .kind = SS_EDGE_STREAM, .lag = SS_SHORT_LAG + 16 },
};

static const struct {
	const char *what;
	struct ss_edit edits[2];
	const char *wanted; /* "row start-end ns" */
} flags[] = {
	{ "what is shorter", { { .task = 2, .own_ns = 12 } }, "7 1020-1050 18" },
	{ "what is gone", { { .task = 2 } }, "7 1020-1050 30" },
	{ "a wait that is not waited for: the time since the call",
	  { { .task = 1, .releases = true } },
	  "3 1010-1060 50" },
	{ "work that joins what is before it: the gap, too",
	  { { .task = 3, .own_ns = 30, .merges = true } },
	  "8 1050-1100 20" },
	{ "a delay that is gone",
	  { { .task = 3, .own_ns = 30, .unlocks = true } },
	  "8 1066-1100 4" },
	{ "a part of what is left",
	  { { .task = 2, .own_ns = 30, .scale = 0.5f } },
	  "7 1020-1050 15" },
	{ "the longest gain first",
	  { { .task = 2, .own_ns = 29 }, { .task = 3, .own_ns = 5 } },
	  "8 1070-1100 25, 7 1020-1050 1" },
	{ "nothing is taken off it", { { .task = 2, .own_ns = 30 } }, "" },
	{ "of no task", { { .task = SS_NO_TASK } }, "" },
	{ "of a rank without a trace", { { .task = 2, .rank = 1 } }, "" },
};

static void test_flags(void **state)
{
	struct ss_trace trace = { 0 };
	struct ss_timeline_file file = { .trace = &trace, .rank_index = 0, .shift_ns = 1000 };
	struct ss_memory memory;
	struct ss_timeline timeline = { .memory = &memory, .files = &file, .file_count = 1 };
	struct ss_graph graph = {
		.memory = &memory, .tasks = tasks, .edges = edges, .task_count = 4, .edge_count = 3
	};
	struct ss_packed graphs[2] = { 0 };
	struct ss_diagnosis diagnosis = { .graphs = graphs };

	(void)state;
	ss_memory_init(&memory, 0);
	/* the return waits for call and kernel */
	tasks[2].edges = 2;
	assert_true(ss_replay_graph_find_delays(&graph));
	assert_int_equal(ss_packed_make(&graphs[0], &graph, NULL), SS_OK);
	for (size_t i = 0; i < SS_COUNT(flags); i++) {
		struct ss_finding finding = { .edits = { .memory = &memory } };
		struct ss_flag_places places;
		struct ss_text found = { 0 };

		/* the second one is zeroed where there is one edit alone */
		for (uint32_t k = 0; k < 2 && (!k || flags[i].edits[k].task); k++)
			assert_true(ss_edits_add(&finding.edits, flags[i].edits[k]));
		ss_flag_find(&diagnosis, &finding, &timeline, &places);
		ss_text_add_string(&found, "");
		for (uint32_t k = 0; k < places.count; k++) {
			const struct ss_flag_place *place = &places.longest[k];

			ss_text_addf(&found, "%s%u %lld-%lld %lld", k ? ", " : "", place->row,
				     (long long)place->start_ns, (long long)place->end_ns,
				     (long long)place->ns);
		}
		support_check(strcmp(found.data, flags[i].wanted) == 0, flags[i].what,
			      "found:  %s\nwanted: %s", found.data, flags[i].wanted);
		ss_text_release(&found);
		ss_edits_release(&finding.edits);
	}
	ss_packed_release(&graphs[0]);
	assert_int_equal(memory.used_bytes, 0);
}

/* More places than are told: the largest of them, and the largest of each stretch of the run. */
static void test_many_flags(void **state)
{
	struct ss_trace trace = { 0 };
	struct ss_timeline_file file = { .trace = &trace, .rank_index = 0 };
	struct ss_timeline timeline = { .files = &file,
					.file_count = 1,
					.span_ns = SS_FLAG_STRETCHES * 1000 };
	struct ss_task many[101] = { 0 };
	struct ss_memory memory;
	struct ss_graph graph = { .memory = &memory, .tasks = many, .task_count = 100 };
	struct ss_packed packed;
	struct ss_diagnosis diagnosis = { .graphs = &packed };
	struct ss_flag_places places;
	struct ss_finding finding = { .edits = { .memory = &memory } };

	(void)state;
	ss_memory_init(&memory, 0);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(ss_edits_add(&finding.edits, (struct ss_edit){ .task = i }));
		many[i].own_ns = (i * 37) % 100 + 1;
		/* two in each stretch of the first half, none in the other */
		many[i].start_ns = i / 2 * 1000 + i % 2;
	}
	assert_int_equal(ss_packed_make(&packed, &graph, NULL), SS_OK);
	ss_flag_find(&diagnosis, &finding, &timeline, &places);
	ss_packed_release(&packed);
	assert_int_equal(places.count, SS_FLAG_PLACES);
	assert_int_equal(places.all_count, 100);
	for (uint32_t i = 0; i < SS_FLAG_PLACES; i++)
		assert_int_equal(places.longest[i].ns, 100 - i);
	for (uint32_t i = 0; i < SS_FLAG_STRETCHES; i++) {
		int64_t one = i < 50 ? many[2 * i].own_ns : 0;
		int64_t other = i < 50 ? many[2 * i + 1].own_ns : 0;

		assert_int_equal(places.stretches[i].ns, one > other ? one : other);
	}
	ss_edits_release(&finding.edits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_many_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
