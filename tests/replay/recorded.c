/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams that wait for each other, and threads that wait for streams: as it was recorded, and
 * as it is inferred where work waits for a collective.
 */
#include "replay/replay.h"
#include "support/make/events.h"
#include "support/support.h"

/* Steps run on thread 1; times are microseconds. Work of streams 7, 8 and 20. */

struct wait_case {
	const char *what;
	const char *trace; /* JSON, or a script */
	const char *edit;  /* name of the slices that take no time */
	double step_us, fixed_us;
	uint32_t events, inferred; /* edges between streams */
};

#define TRACE(...) "{\"traceEvents\":[" __VA_ARGS__ END "]}"
#define STEP_TO(end) NOTE("ProfilerStep#1", 1, 0, end)
#define NUMBERED_CALL(name, id, ts, dur) \
	EVENT("cuda_runtime", name, 1, ts, dur, "\"correlation\":" #id)
#define RUNS(name, stream, id, ts, dur) \
	EVENT("kernel", name, stream, ts, dur, "\"correlation\":" #id ",\"stream\":" #stream)
#define SYNC(name, stream, id, ts, args) \
	EVENT("cuda_sync", name, stream, ts, 1, "\"correlation\":" #id ",\"stream\":" #stream args)
#define FOR(stream, id) ",\"wait_on_stream\":" #stream ",\"wait_on_cuda_event_record_corr_id\":" #id
#define HOLDS(stream, id, ts, args)                     \
	NUMBERED_CALL("cudaStreamWaitEvent", id, ts, 1) \
	SYNC("Stream Wait Event", stream, id, ts, args)
#define MARKS(id, ts) NUMBERED_CALL("cudaEventRecord", id, ts, 1)

/* b waits for a on stream 8, and runs behind c, which ends later. */
#define TWO_STREAMS(a_us, args)                                                                 \
	TRACE(STEP_TO(60) LAUNCH(1, 1, 0) RUNS("a", 8, 1, 5, a_us) MARKS(2, 8) LAUNCH(3, 1, 10) \
		      RUNS("c", 7, 3, 15, 45) HOLDS(7, 4, 20, args) LAUNCH(5, 1, 25)            \
			      RUNS("b", 7, 5, 61, 39))

/* An edge of a CUDA graph from the end of a row to the start of another one. */
#define FLOW(phase, stream, ts)                                                          \
	"{\"ph\":\"" phase "\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":1099511627776," \
	"\"pid\":1,\"tid\":" #stream ",\"ts\":" #ts "},"
#define ONE_GRAPH(edge)                                                                  \
	TRACE(STEP_TO(60) LAUNCH(1, 1, 0) RUNS("a", 8, 1, 5, 35) RUNS("c", 7, 1, 15, 45) \
		      RUNS("b", 7, 1, 61, 39) edge)

/* A call from 30 to 42 while a ends at 41 on stream 8 and c at 40 on stream 7. */
#define ONE_WAITS(call, row)                                                       \
	TRACE(STEP_TO(100) LAUNCH(1, 1, 0) RUNS("a", 8, 1, 5, 36) LAUNCH(3, 1, 10) \
		      RUNS("c", 7, 3, 15, 25) NUMBERED_CALL(call, 6, 30, 12)       \
			      row OP("x", 1, 50, 20))

/* c waits in vain for collectives of stream 20: it runs behind d, which ends later. */
#define COLLECTIVE                                                                           \
	"note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +1 #1; kernel a 7 5 +20 #1;" \
	"call cudaStreamWaitEvent 1 8 +1; call cudaLaunchKernel 1 10 +1 #2;"                 \
	"kernel ncclDevKernel_AllReduce 20 26 +24 #2;"                                       \
	"call cudaLaunchKernel 1 12 +1 #4; kernel d 7 26 +44 #4;"
#define THEN_C(us) "call cudaLaunchKernel 1 20 +1 #3; kernel c 7 71 +" us " #3;"

static const struct wait_case cases[] = {
	{ "the next work of the stream waits for what was launched before the event",
	  TWO_STREAMS(35, FOR(8, 2)), "c", 100, 80, 1, 0 },
	{ "a row that does not tell of which stream the event is", TWO_STREAMS(35, ""), "c", 100,
	  69, 0, 0 },
	{ "work that was launched behind the event is not waited for",
	  TRACE(STEP_TO(60) LAUNCH(1, 1, 0) RUNS("a", 8, 1, 5, 5) MARKS(2, 8) LAUNCH(9, 1, 12)
			RUNS("a2", 8, 9, 17, 40) LAUNCH(3, 1, 10) RUNS("c", 7, 3, 15, 45)
				HOLDS(7, 4, 20, FOR(8, 2)) LAUNCH(5, 1, 25)
					RUNS("b", 7, 5, 61, 39)),
	  "c", 100, 69, 1, 0 },
	{ "old files have the stream and not the call that recorded: what was launched so far",
	  TWO_STREAMS(35, ",\"wait_on_stream\":8"), "c", 100, 80, 0, 1 },
	{ "an event that was recorded before the file", TWO_STREAMS(35, FOR(8, 77)), "c", 100, 69,
	  0, 0 },
	{ "an event of a stream that did nothing", TWO_STREAMS(35, FOR(9, 2)), "c", 100, 69, 0, 0 },
	{ "what ended later cannot have been waited for", TWO_STREAMS(70, FOR(8, 2)), "c", 100, 75,
	  0, 0 },
	{ "a stream that waits for itself",
	  TRACE(STEP_TO(60) LAUNCH(3, 1, 10) RUNS("c", 7, 3, 15, 45) MARKS(2, 15)
			HOLDS(7, 4, 20, FOR(7, 2)) LAUNCH(5, 1, 25) RUNS("b", 7, 5, 61, 39)),
	  "c", 100, 69, 0, 0 },
	{ "what was recorded for two streams is not inferred as well",
	  TRACE(STEP_TO(30) LAUNCH(1, 1, 0) RUNS("a", 7, 1, 5, 20) MARKS(2, 6)
			HOLDS(20, 4, 8, FOR(7, 2)) LAUNCH(5, 1, 10)
				RUNS("ncclDevKernel_AllReduce", 20, 5, 26, 24)),
	  "a", 50, 50, 1, 0 },
	{ "a node of a graph waits for its edges", ONE_GRAPH(FLOW("s", 8, 40) FLOW("f", 7, 61)),
	  "c", 100, 80, 1, 0 },
	{ "and without them only for its stream", ONE_GRAPH(""), "c", 100, 60, 0, 0 },
	{ "no work follows the wait",
	  TRACE(STEP_TO(60) LAUNCH(1, 1, 0) RUNS("a", 8, 1, 5, 35) MARKS(2, 8)
			HOLDS(7, 4, 20, FOR(8, 2))),
	  "a", 60, 60, 0, 0 },
	{ "a thread waits for the stream that is recorded",
	  ONE_WAITS("cudaStreamSynchronize", SYNC("Stream Sync", 7, 6, 30, "")), "c", 100, 93, 0,
	  0 },
	{ "and not for another one",
	  ONE_WAITS("cudaStreamSynchronize", SYNC("Stream Sync", 7, 6, 30, "")), "a", 100, 100, 0,
	  0 },
	{ "without a row it is the one that ends last", ONE_WAITS("cudaStreamSynchronize", ""), "a",
	  100, 93, 0, 0 },
	{ "for all streams: the other one is the last then",
	  ONE_WAITS("cudaStreamSynchronize", SYNC("Context Sync", -1, 6, 30, "")), "a", 100, 98, 0,
	  0 },
	{ "as the name of the call tells, too", ONE_WAITS("cudaDeviceSynchronize", ""), "a", 100,
	  98, 0, 0 },
	{ "for an event: only for what was launched before it",
	  TRACE(STEP_TO(100) LAUNCH(1, 1, 0) RUNS("a", 7, 1, 5, 20) MARKS(2, 8) LAUNCH(3, 1, 10)
			RUNS("c", 7, 3, 26, 50) NUMBERED_CALL("cudaEventSynchronize", 6, 20, 7)
				SYNC("Event Sync", -1, 6, 20, FOR(7, 2)) OP("x", 1, 50, 20)),
	  "a", 100, 98, 0, 0 },
	{ "asking whether an event is over waits for nothing",
	  TRACE(STEP_TO(100) LAUNCH(1, 1, 0) RUNS("a", 7, 1, 5, 20) MARKS(2, 8)
			NUMBERED_CALL("cudaEventQuery", 6, 20, 7)
				SYNC("Event Sync", -1, 6, 20, FOR(7, 2)) OP("x", 1, 50, 20)),
	  "a", 100, 100, 0, 0 },
	{ "work behind a wait call waits for the collective that was done",
	  COLLECTIVE "call cudaStreamWaitEvent 1 16 +1;" THEN_C("29"), "d", 100, 80, 0, 2 },
	{ "one that another thread launched behind the call is not meant",
	  COLLECTIVE "call cudaStreamWaitEvent 1 16 +1; call cudaLaunchKernel 2 17 +1 #5;"
		     "kernel ncclDevKernel_AllGather 20 51 +10 #5;" THEN_C("29"),
	  "d", 100, 80, 0, 2 },
	{ "a wait in front of a collective is the collective's", COLLECTIVE THEN_C("29"), "d", 100,
	  59.5, 0, 1 },
	{ "a collective that was launched ahead and still ran is not meant",
	  COLLECTIVE "call cudaStreamWaitEvent 1 14 +1; call cudaLaunchKernel 1 15 +1 #5;"
		     "kernel ncclDevKernel_AllGather 20 51 +60 #5;"
		     "call cudaStreamWaitEvent 1 17 +1;" THEN_C("100"),
	  "d", 171, 151, 0, 2 },
	{ "nor is one that was over when the wait is another collective's",
	  COLLECTIVE "call cudaStreamWaitEvent 1 14 +1; call cudaLaunchKernel 1 15 +1 #5;"
		     "kernel ncclDevKernel_AllGather 20 51 +60 #5;" THEN_C("100"),
	  "d", 171, 130.5, 0, 1 },
	{ "the first work of a stream is held by what it waits for, not by its launch",
	  "note ProfilerStep#1 1 0 +40; call cudaLaunchKernel 1 0 +1 #1; kernel k 7 5 +1 #1;"
	  "call cudaLaunchKernel 1 10 +1 #2; kernel k 7 15 +1 #2;"
	  "call cudaLaunchKernel 1 20 +1 #3; kernel a 7 25 +60 #3;"
	  "call cudaLaunchKernel 1 30 +1 #4; kernel ncclDevKernel_AllReduce 20 86 +24 #4",
	  "a", 110, 59, 0, 1 },
	{ "work that lost its launch may hold other work",
	  "note ProfilerStep#1 1 0 +40; call cudaLaunchKernel 1 0 +1 #1; kernel k 7 5 +1 #1;"
	  "call cudaLaunchKernel 1 10 +1 #2; kernel k 7 15 +1 #2; kernel a 8 20 +60 #99;"
	  "call cudaLaunchKernel 1 20 +1 #3; kernel k 7 25 +1 #3;"
	  "call cudaLaunchKernel 1 30 +1 #4; kernel b 7 81 +19 #4",
	  "a", 100, 54, 0, 1 },
	{ "streams that wait do not tell how long launches take",
	  "note ProfilerStep#1 1 0 +1300; call cudaLaunchKernel 1 0 +1 #1; kernel k 7 5 +1 #1;"
	  "call cudaLaunchKernel 1 10 +1 #2; kernel c 7 15 +2000 #2;"
	  "call cudaLaunchKernel 1 20 +1 #3; kernel b 7 2016 +2000 #3;"
	  "call cudaLaunchKernel 1 30 +1 #4; kernel ncclA 20 600 +10 #4;"
	  "call cudaLaunchKernel 1 620 +1 #5; kernel ncclA 20 1200 +10 #5;"
	  "call cudaLaunchKernel 1 1220 +1 #6; kernel ncclA 20 1800 +10 #6",
	  "c", 4016, 2025, 0, 0 },
};

static void load(struct support_trace *out, const char *trace)
{
	if (*trace == '{')
		support_load(out, trace);
	else
		support_load_script(out, trace);
}

static void edit_rows(const struct ss_trace *trace, const struct ss_packed *graph, const char *name,
		      struct ss_edits *out)
{
	for (uint32_t i = 0; i < graph->task_count; i++) {
		uint32_t row = ss_packed_row(graph, i);

		if (row != SS_NO_ROW &&
		    strcmp(ss_strings_text(&trace->names, trace->slices.name[row]), name) == 0)
			assert_true(ss_edits_add(out, (struct ss_edit){ .task = i }));
	}
}

static void check(const struct wait_case *test)
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

	load(&loaded, test->trace);
	ss_facts_init(&facts, &loaded.trace, &loaded.memory);
	subject.trace = &loaded.trace;
	subject.facts = &facts;
	assert_int_equal(ss_replay_graph_make(&graph, &subject, &loaded.memory, NULL), SS_OK);
	assert_int_equal(ss_packed_make(&packed, &graph, NULL), SS_OK);
	assert_int_equal(ss_replay_init(&replay, &packed, 1, NULL, &loaded.memory, NULL), SS_OK);
	ss_edits_init(&edits, &loaded.memory);
	edit_rows(&loaded.trace, &packed, test->edit, &edits);
	support_check(ss_replay_run(&replay, NULL, 0) == (int64_t)(test->step_us * 1000),
		      test->what, "the step takes %lld", (long long)replay.step_ns);
	for (uint32_t i = 0; i < graph.task_count; i++)
		support_check(ss_replay_start(&replay, i) == graph.tasks[i].start_ns, test->what,
			      "task %u (%s) starts at %lld", i, ss_task_name(graph.tasks[i].kind),
			      (long long)ss_replay_start(&replay, i));
	fixed_ns = ss_replay_run(&replay, fixes, 1);
	support_check(fixed_ns == (int64_t)(test->fixed_us * 1000), test->what,
		      "fixed it takes %lld", (long long)fixed_ns);
	support_check(graph.edges_of[SS_EDGE_EVENT] == test->events &&
			      graph.edges_of[SS_EDGE_INFERRED] == test->inferred,
		      test->what, "%u recorded, %u inferred", graph.edges_of[SS_EDGE_EVENT],
		      graph.edges_of[SS_EDGE_INFERRED]);
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
	bool whole = false;

	(void)state;
	for (size_t call = 1; !whole; call++) {
		struct support_trace loaded;
		struct ss_subject subject = { .path = "a.json" };
		struct ss_facts facts;
		struct ss_graph graph = { 0 };
		struct ss_error err = { 0 };

		load(&loaded, cases[0].trace);
		ss_facts_init(&facts, &loaded.trace, &loaded.memory);
		subject.trace = &loaded.trace;
		subject.facts = &facts;
		loaded.memory.fail_call = loaded.memory.calls + call;
		whole = ss_replay_graph_make(&graph, &subject, &loaded.memory, &err) == SS_OK;
		if (!whole)
			assert_int_equal(err.code, SS_ERR_LIMIT);
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
