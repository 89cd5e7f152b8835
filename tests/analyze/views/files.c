/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View files: one row a file, also for those that could not be read.
 */
#include "support/view_cases.h"

#define STEP(n, ts)                                                                            \
	"{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#" n "\",\"ts\":" ts \
	",\"dur\":10}"

static const struct view_case cases[] = {
	{ "an empty file", "[]",
	  "file,events,steps,median_step_ns,span_ns,device_events,problem,device,path",
	  "rank7.json,0,0,-,0,0,-,-,job/rank7.json" },
	{ "the sample", support_sample,
	  "rank,events,steps,median_step_ns,device_events,world_size,backend,process_groups,"
	  "software,flags",
	  "3,26,1,84310,4,8,nccl,1,CUDA 12.4, NCCL 2.21.5,record_shapes" },
	{ "the median of two steps is their mean",
	  "[" STEP("1",
		   "0") "," STEP("2",
				 "10") ",{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"ts\":0,"
				       "\"dur\":30}]",
	  "rank,steps,median_step_ns,span_ns,kept_events", "-,2,10000,30000,3" },
	{ "what was lost or mended is counted by kind",
	  "[{\"ph\":\"X\",\"cat\":\"a\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,"
	  "\"dur\":-5},5,6]",
	  "events,oddities", "3,2" },
};

static void test_files(void **state)
{
	(void)state;
	view_cases_run("files", cases, SS_COUNT(cases));
}

static void test_failed_file(void **state)
{
	const struct ss_view *view = ss_view_find("files");
	struct ss_subject subject = { .path = "a/b.json", .rank = -1, .problem = "is no good" };
	struct ss_memory memory;
	struct ss_arena arena;
	struct ss_table table;
	uint32_t nulls = 0;

	(void)state;
	ss_memory_init(&memory, 0);
	ss_arena_init(&arena, &memory);
	ss_table_init(&table, view, &arena);
	assert_true(view->wants_failed);
	assert_int_equal(view->run(&subject, &table, NULL), SS_OK);
	assert_int_equal(table.row_count, 1);
	for (uint32_t i = 0; i < view->column_count; i++) {
		struct ss_cell cell = ss_table_cell(&table, 0, i);

		nulls += cell.is_null;
		if (strcmp(view->columns[i].name, "problem") == 0)
			assert_true(ss_cell_is_text(&cell, "is no good"));
		if (strcmp(view->columns[i].name, "file") == 0)
			assert_true(ss_cell_is_text(&cell, "b.json"));
		if (strcmp(view->columns[i].name, "folder") == 0)
			assert_true(ss_cell_is_text(&cell, "a"));
	}
	/* all but file, folder, problem and path */
	assert_int_equal(nulls, view->column_count - 4);
	ss_table_release(&table);
	ss_arena_release(&arena);
	assert_int_equal(memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_failed_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
