/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs in few bytes: all values come back, whatever they are.
 */
#include "replay/packed.h"

#include "support/support.h"

#define SECOND INT64_C(1000000000)

static const struct {
	const char *what;
	struct ss_task task;
	struct ss_edge edges[2];
	uint32_t edge_count;
} cases[] = {
	{ "nothing", { 0 }, { { 0 } }, 0 },
	{ "behind the task before it",
	  { .start_ns = 10, .own_ns = 5, .row = 3, .track = 1, .kind = SS_TASK_LAUNCH },
	  { { .from = 0, .kind = SS_EDGE_THREAD } },
	  1 },
	{ "a lag, and another task",
	  { .start_ns = 20, .row = 2, .track = 1, .step = 7, .phase = SS_PHASE_BACKWARD },
	  { { .from = 1, .kind = SS_EDGE_STREAM, .lag_ns = -3 },
	    { .from = 0, .kind = SS_EDGE_LAUNCH, .from_start = true, .lag_ns = 32767 } },
	  2 },
	{ "a task behind it, and a long lag",
	  { .start_ns = -5, .own_ns = 1, .row = SS_NO_ROW, .track = SS_NO_ROW, .step = SS_NO_STEP },
	  { { .from = 6, .kind = SS_EDGE_SYNC },
	    { .from = 2, .kind = SS_EDGE_BATCH, .lag_ns = -40000 } },
	  2 },
	{ "longer than 4 bytes tell",
	  { .start_ns = 30, .own_ns = UINT32_MAX, .row = UINT32_MAX - 1 },
	  { { 0 } },
	  0 },
	{ "nearly as long",
	  { .start_ns = 40, .own_ns = UINT32_MAX - 1, .kind = SS_TASK_ARRIVE },
	  { { 0 } },
	  0 },
	{ "a transfer",
	  { .start_ns = 40, .own_ns = 60, .kind = SS_TASK_TRANSFER },
	  { { .from = 5, .kind = SS_EDGE_STREAM } },
	  1 },
	{ "hours later", { .start_ns = 7200 * SECOND, .own_ns = 5 * SECOND }, { { 0 } }, 0 },
	{ "hours before", { .start_ns = -7200 * SECOND }, { { 0 } }, 0 },
	{ "hours before it ends, and after",
	  { .start_ns = 40, .own_ns = 60 },
	  { { .from = 5, .kind = SS_EDGE_STREAM, .lag_ns = -7200 * SECOND },
	    { .from = 4, .kind = SS_EDGE_STREAM, .lag_ns = SS_SHORT_LAG } },
	  2 },
	{ "just short enough",
	  { .start_ns = 40, .own_ns = 60 },
	  { { .from = 5, .kind = SS_EDGE_STREAM, .lag_ns = -(int64_t)SS_SHORT_LAG },
	    { .from = 4, .kind = SS_EDGE_STREAM, .lag_ns = SS_SHORT_LAG - 1 } },
	  2 },
};

/* All cases, and some at last that make more blocks of them. */
enum { TASKS = 3 * SS_PACKED_BLOCK };

struct bench {
	struct ss_memory memory;
	struct ss_graph graph;
	struct ss_task tasks[TASKS + 1];
	struct ss_short_edge edges[2 * TASKS];
	struct ss_edge wide[2 * TASKS];
};

static void open_bench(struct bench *bench)
{
	memset(bench, 0, sizeof(*bench));
	ss_memory_init(&bench->memory, 0);
	bench->graph = (struct ss_graph){ .memory = &bench->memory,
					  .tasks = bench->tasks,
					  .edges = bench->edges,
					  .task_count = TASKS };
	assert_true(ss_strings_init(&bench->graph.names, &bench->memory));
	for (uint32_t i = 0; i < TASKS; i++) {
		uint32_t from = i % SS_COUNT(cases);

		/* the second block stays near */
		if (i / SS_PACKED_BLOCK == 1 && from > 6)
			from = 0;
		bench->tasks[i] = cases[from].task;
		bench->tasks[i].edges = bench->graph.edge_count;
		for (uint32_t k = 0; k < cases[from].edge_count; k++) {
			struct ss_edge edge = cases[from].edges[k];

			edge.from = (edge.from + i - from) % TASKS;
			bench->wide[bench->graph.edge_count] = edge;
			assert_true(
				ss_replay_edge_shorten(&bench->graph, &edge,
						       &bench->edges[bench->graph.edge_count++]));
		}
	}
	bench->tasks[TASKS].edges = bench->graph.edge_count;
}

static bool is_same(const struct ss_task *x, const struct ss_task *y)
{
	return x->start_ns == y->start_ns && x->own_ns == y->own_ns && x->row == y->row &&
	       x->edges == y->edges && x->track == y->track && x->step == y->step &&
	       x->kind == y->kind && x->phase == y->phase;
}

static uint32_t name_of(uint32_t task, uint32_t names)
{
	return task * 7 % names;
}

static int64_t delay_of(uint32_t task)
{
	return task % 5 == 4 ? (int64_t)task - 90 : 0;
}

/* What is beside the tasks. */
static void add_beside(struct ss_graph *graph, uint32_t task, uint32_t names)
{
	assert_true(ss_replay_graph_name_task(graph, task, name_of(task, names)));
	if (!delay_of(task))
		return;
	assert_true(
		SS_GROW(graph->memory, graph->delays, graph->delay_capacity, graph->delay_count));
	graph->delays[graph->delay_count++] = (struct ss_packed_time){ task, delay_of(task) };
}

/* `names` of the graph: with many of them their numbers take more bytes. */
static void check(uint32_t names)
{
	struct ss_packed packed;
	struct ss_graph back;
	struct bench bench;

	open_bench(&bench);
	for (uint32_t i = 1; i < names; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		assert_int_equal(ss_strings_add(&bench.graph.names, name, strlen(name)), i);
	}
	for (uint32_t i = 0; i < TASKS; i++)
		add_beside(&bench.graph, i, names);
	assert_int_equal(ss_packed_make(&packed, &bench.graph, NULL), SS_OK);
	back = (struct ss_graph){ .memory = &bench.memory };
	assert_true(ss_packed_unpack(&packed, &back));
	assert_int_equal(back.task_count, TASKS);
	assert_int_equal(back.edge_count, bench.graph.edge_count);
	for (uint32_t i = 0; i <= TASKS; i++)
		support_check(is_same(&back.tasks[i], &bench.tasks[i]),
			      cases[i % SS_COUNT(cases)].what, "task %u is another one", i);
	for (uint32_t i = 0; i < TASKS; i++) {
		assert_int_equal(ss_packed_name(&packed, i), name_of(i, names));
		assert_int_equal(ss_packed_delay(&packed, i), delay_of(i));
	}
	for (uint32_t i = 0; i < back.edge_count; i++) {
		struct ss_edge x = ss_replay_edge_of(&back, &back.edges[i]), *y = &bench.wide[i];

		assert_true(x.from == y->from && x.kind == y->kind &&
			    x.from_start == y->from_start && x.lag_ns == y->lag_ns);
	}
	ss_replay_graph_release(&back);
	SS_FREE(&bench.memory, bench.graph.lags, bench.graph.lag_capacity);
	ss_packed_release(&packed);
	assert_int_equal(bench.memory.used_bytes, 0);
}

static void test_back(void **state)
{
	(void)state;
	check(256);
	check(1000);
}

/* A transfer that waited less ends when it did; one of hours, too. */
static void test_settled(void **state)
{
	struct ss_packed packed;
	struct bench bench;

	(void)state;
	open_bench(&bench);
	bench.tasks[6].own_ns = 7200 * SECOND;
	assert_int_equal(ss_packed_make(&packed, &bench.graph, NULL), SS_OK);
	for (uint32_t i = 6; i < TASKS; i += SS_COUNT(cases)) {
		struct ss_packed_task before = ss_packed_task(&packed, i), after;

		ss_packed_settle(&packed, i, 10);
		after = ss_packed_task(&packed, i);
		assert_int_equal(after.own_ns, 10);
		assert_int_equal(ss_packed_end(&after), ss_packed_end(&before));
		ss_packed_settle(&packed, i, before.own_ns);
		after = ss_packed_task(&packed, i);
		assert_int_equal(after.start_ns, before.start_ns);
		assert_int_equal(after.own_ns, before.own_ns);
	}
	ss_packed_release(&packed);
	SS_FREE(&bench.memory, bench.graph.lags, bench.graph.lag_capacity);
	assert_int_equal(bench.memory.used_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_back),
		cmocka_unit_test(test_settled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
