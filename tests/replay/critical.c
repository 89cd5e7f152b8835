/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The critical path of one rank: its pieces from the first to the last, and that nothing is
 * lost between them.
 */
#include "replay/critical.h"
#include "support/support.h"

struct critical_case {
	const char *what, *script;
	const char *pieces; /* "part microseconds", as they come in time; equal neighbours as one */
};

static const struct critical_case cases[] = {
	{ "an empty file", "", "" },
	{ "the host alone",
	  "note ProfilerStep#1 1 0 +100; note enumerate(DataLoader)#_Iter.__next__ 1 40 +30",
	  "host 40, input 30, host 30" },
	{ "a device that is behind: its work, and what it had to wait for at the start",
	  "note ProfilerStep#1 1 0 +90; op a 1 0 +20; call cudaLaunchKernel 1 20 +5 #1;"
	  "call cudaLaunchKernel 1 50 +5 #2; kernel a 7 26 +74 #1; kernel b 7 102 +98 #2",
	  "host 20, launches 6, compute 74, latency 2, compute 98" },
	{ "a device that waits for the host: the host",
	  "note ProfilerStep#1 1 0 +90; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +5 #1;"
	  "call cudaLaunchKernel 1 50 +5 #2; kernel b 7 55 +45 #2",
	  "launches 5, host 45, launches 5, compute 45" },
	{ "a wait: from the device to the host and back",
	  "note ProfilerStep#1 1 0 +170; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +95 #1;"
	  "call cudaStreamSynchronize 1 10 +92; call cudaLaunchKernel 1 150 +5 #2;"
	  "kernel b 7 155 +45 #2",
	  "launches 5, compute 95, sync 2, host 48, launches 5, compute 45" },
	{ "a delay that nothing explains",
	  "note ProfilerStep#1 1 0 +30; call cudaLaunchKernel 1 0 +5 #1; kernel a 7 5 +3 #1;"
	  "call cudaLaunchKernel 1 10 +5 #2; kernel a 7 15 +3 #2;"
	  "call cudaLaunchKernel 1 20 +5 #3; kernel b 7 500 +100 #3",
	  "launches 5, host 5, launches 5, host 5, launches 5, unexplained 475, compute 100" },
	{ "a copy and a collective",
	  "note ProfilerStep#1 1 0 +30; call cudaMemcpyAsync 1 0 +5 #1;"
	  "copy Memcpy_HtoD_(Pinned_->_Device) 7 5 +45 #1; call cudaLaunchKernel 1 10 +5 #2;"
	  "kernel ncclDevKernel_AllReduce 7 51 +49 #2",
	  "launches 5, copies 45, latency 1, communication 49" },
};

static void describe(const struct ss_critical *path, struct ss_text *out)
{
	int64_t sum_ns = 0;

	ss_text_add_string(out, "");
	for (uint32_t i = path->count; i-- > 0;) {
		const struct ss_critical_piece *piece = &path->pieces[i];

		sum_ns += piece->end_ns - piece->start_ns;
		if (i && path->pieces[i - 1].part == piece->part)
			continue;
		ss_text_addf(out, "%s%s %lld", out->length ? ", " : "",
			     ss_critical_name(piece->part), (long long)sum_ns / 1000);
		sum_ns = 0;
	}
}

static void check(const struct critical_case *test)
{
	struct support_trace loaded;
	struct ss_subject subject = { .path = "a.json" };
	struct ss_text found = { 0 };
	struct ss_facts facts;
	struct ss_graph graph;
	struct ss_packed packed;
	struct ss_replay replay;
	struct ss_critical path;

	support_load_script(&loaded, test->script);
	ss_facts_init(&facts, &loaded.trace, &loaded.memory);
	subject.trace = &loaded.trace;
	subject.facts = &facts;
	assert_int_equal(ss_replay_graph_make(&graph, &subject, &loaded.memory, NULL), SS_OK);
	assert_int_equal(ss_packed_make(&packed, &graph, NULL), SS_OK);
	assert_int_equal(ss_replay_init(&replay, &packed, 1, NULL, &loaded.memory, NULL), SS_OK);
	ss_replay_run(&replay, NULL, 0);
	assert_int_equal(ss_critical_find(&path, &replay, &loaded.memory, NULL), SS_OK);
	describe(&path, &found);
	support_check(strcmp(found.data, test->pieces) == 0, test->what, "found: %s", found.data);
	support_check(path.length_ns == replay.step_ns, test->what, "its length is %lld",
		      (long long)path.length_ns);
	ss_text_release(&found);
	ss_critical_release(&path);
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
