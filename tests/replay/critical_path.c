/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View critical-path.
 */
#include "replay/replay.h"
#include "support/support.h"

#define SCRIPT                                                                                \
	"note ProfilerStep#1 1 0 +170; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +95 #1;" \
	"call cudaStreamSynchronize 1 10 +92; call cudaLaunchKernel 1 150 +5 #2;"             \
	"kernel b 7 155 +45 #2"

struct view_case {
	const char *what, *view, *script, *columns, *rows;
};

static const struct view_case cases[] = {
	{ "nothing", "critical-path", "", "part", "" },
	{ "parts, the longest first", "critical-path", SCRIPT,
	  "part,name,path_ns,path_percent,pieces,longest_ns",
	  "compute,-,140000,70.00,2,95000\nhost,-,48000,24.00,1,48000\n"
	  "launches,-,10000,5.00,2,5000\nsync,-,2000,1.00,1,2000" },
	{ "names", "critical-path/name", SCRIPT, "part,name,path_ns",
	  "compute,a,95000\nhost,ProfilerStep#1,48000\ncompute,b,45000\nlaunches,a,5000\n"
	  "launches,b,5000\nsync,cudaStreamSynchronize,2000" },
	{ "the rank", "critical-path/rank", SCRIPT, "part,path_ns,pieces", "-,200000,6" },
	{ "pieces in the order of time", "critical-path/piece", SCRIPT, "part,name,path_ns,at_ns",
	  "launches,a,5000,0\ncompute,a,95000,5000\nsync,cudaStreamSynchronize,2000,100000\n"
	  "host,ProfilerStep#1,48000,102000\nlaunches,b,5000,150000\ncompute,b,45000,155000" },
};

/* Runs the view on the graph of one trace; every allocation after `refused` fails, 0: none. */
static enum ss_status run(const struct view_case *test, size_t refused, struct ss_text *out)
{
	struct support_view open = { 0 };
	struct ss_subject subject = { .path = "a.json" };
	struct ss_facts facts;
	struct ss_graph graph = { 0 };
	struct ss_packed packed;
	struct ss_replay replay = { 0 };
	struct ss_memory *memory = &open.trace.memory;
	enum ss_status status;
	uint32_t group;
	const struct ss_view *view = support_view_find(test->view, &group);

	support_load_script(&open.trace, test->script);
	ss_facts_init(&facts, &open.trace.trace, memory);
	subject.trace = &open.trace.trace;
	subject.facts = &facts;
	assert_int_equal(ss_replay_graph_make(&graph, &subject, memory, NULL), SS_OK);
	assert_int_equal(ss_packed_make(&packed, &graph, NULL), SS_OK);
	assert_int_equal(ss_replay_init(&replay, &packed, 1, NULL, memory, NULL), SS_OK);
	ss_replay_run(&replay, NULL, 0);
	ss_arena_init(&open.arena, memory);
	ss_table_init(&open.table, view, &open.arena);
	memory->fail_call = refused ? memory->calls + refused : 0;
	status = view->run_replay(&replay, group, &open.table, NULL);
	if (status == SS_OK && open.table.failed)
		status = SS_ERR_LIMIT;
	ss_text_add_string(out, "");
	for (uint32_t i = 0; status == SS_OK && i < open.table.row_count; i++) {
		struct ss_text row = { 0 };

		support_view_row(&open, i, test->columns, &row);
		ss_text_addf(out, "%s%s", i ? "\n" : "", row.data);
		ss_text_release(&row);
	}
	ss_table_release(&open.table);
	ss_arena_release(&open.arena);
	ss_replay_release(&replay);
	ss_packed_release(&packed);
	ss_replay_graph_release(&graph);
	ss_facts_release(&facts);
	support_close(&open.trace);
	return status;
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ss_text found = { 0 };

		assert_int_equal(run(&cases[i], 0, &found), SS_OK);
		support_check(strcmp(found.data, cases[i].rows) == 0, cases[i].what, "found:\n%s",
			      found.data);
		ss_text_release(&found);
	}
}

/* Every allocation refused in turn: a status, and nothing is left behind. */
static void test_memory(void **state)
{
	enum ss_status status = SS_ERR_LIMIT;

	(void)state;
	for (size_t call = 1; status != SS_OK; call++) {
		struct ss_text found = { 0 };

		status = run(&cases[2], call, &found);
		assert_true(status == SS_OK || status == SS_ERR_LIMIT);
		ss_text_release(&found);
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
