/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph and replay of one rank: what waits for what, and how long the steps take when
 * some of it is shorter.
 */
#include "replay/replay.h"
#include "support/support.h"

/* Steps run on thread 1; times are microseconds. */

struct replay_case {
	const char *what;
	const char *script;
	/* name of slices that take no time; before it "!": do not wait, "+": and leave no gap */
	const char *edit;
	double step_us, fixed_us;
	double error_percent; /* when delays are gone */
};

/* A step of 1,000 us: a batch, 300 us in the allocator, 100 us of Python at least. */
#define BATCH(n, next, malloc)                                                                 \
	"note ProfilerStep#" n " 1 " n "000 +1000;"                                            \
	"note enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ 1 " n "000 +" next \
	"; call cudaMalloc 1 " n malloc " +300;"
#define BATCHES(next, malloc)    \
	BATCH("1", next, malloc) \
	BATCH("2", next, malloc) \
	BATCH("3", next, malloc) \
	BATCH("4", next, malloc)

static const struct replay_case cases[] = {
	{ "work of the host alone: a chain",
	  "note ProfilerStep#1 1 0 +100; op a 1 10 +20;"
	  "note enumerate(DataLoader)#_Iter.__next__ 1 40 +30",
	  "enumerate(DataLoader)#_Iter.__next__", 100, 70, 0 },
	{ "a kernel behind its launch moves with it",
	  "note ProfilerStep#1 1 0 +60; note enumerate(DataLoader)#_Iter.__next__ 1 10 +30;"
	  "call cudaLaunchKernel 1 50 +5 #1; kernel k 7 56 +44 #1",
	  "enumerate(DataLoader)#_Iter.__next__", 100, 70, 0 },
	{ "a device that is behind hides the host",
	  "note ProfilerStep#1 1 0 +90; call cudaLaunchKernel 1 0 +5 #1;"
	  "note enumerate(DataLoader)#_Iter.__next__ 1 10 +30; call cudaLaunchKernel 1 50 +5 #2;"
	  "kernel a 7 5 +95 #1; kernel b 7 101 +99 #2",
	  "enumerate(DataLoader)#_Iter.__next__", 200, 200, 0 },
	{ "shorter kernels: the next one starts when it has been launched",
	  "note ProfilerStep#1 1 0 +90; call cudaLaunchKernel 1 0 +5 #1;"
	  "call cudaLaunchKernel 1 50 +5 #2; kernel a 7 5 +95 #1; kernel b 7 101 +99 #2",
	  "a", 200, 154, 0 },
	{ "a synchronize waits for the device, and then not",
	  "note ProfilerStep#1 1 0 +170; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +95 #1;"
	  "call cudaStreamSynchronize 1 10 +92; op x 1 110 +30;"
	  "call cudaLaunchKernel 1 150 +5 #2; kernel b 7 155 +45 #2",
	  "!cudaStreamSynchronize", 200, 146, 0 },
	{ "a blocking copy waits for itself",
	  "note ProfilerStep#1 1 0 +170; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +85 #1;"
	  "call cudaMemcpyAsync 1 10 +92 #3;"
	  "copy Memcpy_DtoH_(Device_->_Pageable) 7 91 +9 #3;"
	  "call cudaLaunchKernel 1 150 +5 #2; kernel b 7 155 +45 #2",
	  "!cudaMemcpyAsync", 200, 146, 0 },
	{ "autograd: the main thread goes on when it is done",
	  "note ProfilerStep#1 1 0 +200; op fwd 1 10 +30; op bwd 2 50 +80; op opt 1 140 +40",
	  "none", 200, 200, 0 },
	{ "first work of a stream right behind another's: it waited for that",
	  "note ProfilerStep#1 1 0 +60; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +395 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel b 20 405 +95 #2",
	  "a", 500, 110, 0 },
	{ "who waits for a collective goes on before its end is written",
	  "note ProfilerStep#1 1 0 +3100; op a 1 0 +100; note gloo:all_reduce 2 100 +2900;"
	  "op b 1 2800 +200",
	  "gloo:all_reduce", 3100, 400.001, 0 },
	{ "backward of DDP is over: so are its collectives, whenever that is written",
	  "note ProfilerStep#1 1 0 +9200; op torch.distributed.ddp.reducer::copy_bucket_to_grad 1 "
	  "0 +100; note gloo:all_reduce 2 100 +9000; op b 1 2800 +200",
	  "gloo:all_reduce", 9200, 6500.001, 0 },
	{ "not behind backward: the thread may have done something else",
	  "note ProfilerStep#1 1 0 +9200; op a 1 0 +100; note gloo:all_reduce 2 100 +9000;"
	  "op b 1 2800 +200",
	  "gloo:all_reduce", 9200, 9200, 0 },
	{ "two collectives in the queue of a thread: each is waited for",
	  "note ProfilerStep#1 1 0 +2300; op a 1 0 +100; note gloo:all_reduce 2 100 +1000;"
	  "note gloo:all_reduce 2 1105 +995; op b 1 1150 +50; op c 1 2150 +50",
	  "gloo:all_reduce", 2300, 400, 0 },
	{ "a delay that nothing explains stays where it is",
	  "note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +3 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel a 7 15 +3 #2;"
	  "call cudaLaunchKernel 1 20 +5 #3; kernel b 7 500 +100 #3",
	  "none", 600, 600, 79 },
	{ "a long call gives its work to the device at its end",
	  "note ProfilerStep#1 1 0 +500; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +3 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel a 7 15 +3 #2;"
	  "call cudaGraphLaunch 1 20 +400 #3; kernel b 7 425 +175 #3",
	  "cudaGraphLaunch", 600, 200, 0 },
	{ "a launch that waits for a place in the queue: its work is behind the end of the file",
	  "note ProfilerStep#1 1 0 +500; kernel a 7 5 +400 #1; call cudaLaunchKernel 1 10 +396 #2;"
	  "op b 1 410 +90",
	  "a", 500, 109, 0 },
	{ "what ran before the first work of a stream is not recorded: it keeps its start",
	  "note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 500 +100 #1",
	  "none", 600, 600, 0 },
	{ "work of another stream that ended right before explains it",
	  "note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +5 #1; kernel a 8 5 +490 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel c 7 15 +5 #2;"
	  "call cudaLaunchKernel 1 20 +5 #3; kernel b 7 500 +100 #3",
	  "a", 600, 125, 0 },
	{ "work that takes no time still stands in the queue",
	  "note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +94 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel b 7 100 +19 #2;"
	  "call cudaLaunchKernel 1 20 +5 #3; kernel c 7 120 +80 #3",
	  "b", 200, 181, 0 },
	{ "work that is merged into what is before it leaves no gap",
	  "note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +94 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel b 7 100 +19 #2;"
	  "call cudaLaunchKernel 1 20 +5 #3; kernel c 7 120 +80 #3",
	  "+b", 200, 180, 0 },
	{ "a collective of another thread that the main one waits for",
	  "note ProfilerStep#1 1 0 +200; op fwd 1 10 +30; note gloo:all_reduce 2 35 +100;"
	  "op opt 1 136 +40",
	  "gloo:all_reduce", 200, 105, 0 },
	{ "a collective that is done before anybody asks",
	  "note ProfilerStep#1 1 0 +200; op fwd 1 10 +30; note gloo:all_reduce 2 35 +20;"
	  "op more 1 45 +50; op opt 1 136 +40",
	  "gloo:all_reduce", 200, 200, 0 },
	{ "the first work of a stream does not tell how long launches need",
	  "note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 500 +100 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel b 7 601 +99 #2",
	  "a", 700, 600, 0 },
	{ "the first work of a stream follows the end of a call that loads it",
	  "note ProfilerStep#1 1 0 +600; call cudaLaunchKernel 1 10 +500 #1; kernel k 7 511 +89 #1",
	  "cudaLaunchKernel", 600, 100, 0 },
	/* only the last step ends earlier */
	{ "workers that are too few: a faster loop waits for them", BATCHES("600", "600"),
	  "cudaMalloc", 1000, 925, 0 },
	{ "workers that keep up", BATCHES("100", "600"), "cudaMalloc", 1000, 700, 0 },
	{ "one that was waited for tells nothing",
	  BATCH("1", "100", "600") BATCH("2", "600", "600") BATCH("3", "100", "600"), "cudaMalloc",
	  1000, 700, 0 },
	{ "an empty file", "", "none", 0, 0, 0 },
};

static void edit_rows(const struct ss_trace *trace, const struct ss_packed *graph, const char *name,
		      struct ss_edits *out)
{
	bool releases = *name == '!', merges = *name == '+';

	for (uint32_t i = 0; i < graph->task_count; i++) {
		uint32_t row = ss_packed_row(graph, i);

		if (row == SS_NO_ROW ||
		    strcmp(ss_strings_text(&trace->names, trace->slices.name[row]),
			   name + (releases || merges)) != 0)
			continue;
		assert_true(ss_edits_add(
			out, (struct ss_edit){ .task = i,
					       .own_ns = releases ? ss_packed_own(graph, i) : 0,
					       .releases = releases,
					       .merges = merges }));
	}
}

static void check(const struct replay_case *test)
{
	struct support_trace loaded;
	struct ss_subject subject = { .path = "a.json" };
	struct ss_facts facts;
	struct ss_graph graph;
	struct ss_packed packed;
	struct ss_replay replay;
	struct ss_edits edits;
	const struct ss_edits *fixes[] = { &edits };
	int64_t fixed_ns;

	support_load_script(&loaded, test->script);
	ss_facts_init(&facts, &loaded.trace, &loaded.memory);
	subject.trace = &loaded.trace;
	subject.facts = &facts;
	assert_int_equal(ss_replay_graph_make(&graph, &subject, &loaded.memory, NULL), SS_OK);
	assert_int_equal(ss_packed_make(&packed, &graph, NULL), SS_OK);
	assert_int_equal(ss_replay_init(&replay, &packed, 1, NULL, &loaded.memory, NULL), SS_OK);
	ss_edits_init(&edits, &loaded.memory);
	edit_rows(&loaded.trace, &packed, test->edit, &edits);
	support_check(replay.step_ns == (int64_t)(test->step_us * 1000), test->what,
		      "the step takes %lld", (long long)replay.step_ns);
	support_check(ss_replay_run(&replay, NULL, 0) == replay.step_ns, test->what,
		      "without edits it changes");
	for (uint32_t i = 0; i < graph.task_count; i++)
		support_check(ss_replay_start(&replay, i) == graph.tasks[i].start_ns, test->what,
			      "task %u (%s) starts at %lld", i, ss_task_name(graph.tasks[i].kind),
			      (long long)ss_replay_start(&replay, i));
	fixed_ns = ss_replay_run(&replay, fixes, 1);
	support_check(fixed_ns == (int64_t)(test->fixed_us * 1000), test->what,
		      "fixed it takes %lld", (long long)fixed_ns);
	support_check((int)replay.error_percent == (int)test->error_percent, test->what,
		      "the error is %g", replay.error_percent);
	ss_edits_release(&edits);
	ss_replay_release(&replay);
	ss_packed_release(&packed);
	ss_replay_graph_release(&graph);
	ss_facts_release(&facts);
	support_close(&loaded);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check(&cases[i]);
}

/* Every allocation refused in turn: a sentence, and nothing is left behind. */
static void test_memory(void **state)
{
	const char *script = cases[4].script;
	bool whole = false;

	(void)state;
	for (size_t call = 1; !whole; call++) {
		struct support_trace loaded;
		struct ss_subject subject = { .path = "a.json" };
		struct ss_facts facts;
		struct ss_graph graph = { 0 };
		struct ss_packed packed = { 0 };
		struct ss_replay replay = { 0 };
		struct ss_error err = { 0 };

		support_load_script(&loaded, script);
		ss_facts_init(&facts, &loaded.trace, &loaded.memory);
		subject.trace = &loaded.trace;
		subject.facts = &facts;
		loaded.memory.fail_call = loaded.memory.calls + call;
		whole = ss_replay_graph_make(&graph, &subject, &loaded.memory, &err) == SS_OK &&
			ss_packed_make(&packed, &graph, &err) == SS_OK &&
			ss_replay_init(&replay, &packed, 1, NULL, &loaded.memory, &err) == SS_OK;
		if (!whole)
			assert_int_equal(err.code, SS_ERR_LIMIT);
		ss_replay_release(&replay);
		ss_packed_release(&packed);
		ss_replay_graph_release(&graph);
		ss_facts_release(&facts);
		support_close(&loaded);
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
