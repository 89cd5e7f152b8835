/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colours by phase, module and stream: what each slice gets, and what the legend says.
 */
#include "support/asking.h"

#include "timeline/index.h"

#define STEPS "note ProfilerStep#1 1 0 +1000; note ProfilerStep#2 1 1000 +1000;"

/* Linear_0 launches 10 us, Linear_1 10 us, ReLU_0 15 us; one launch is in no module. */
static const struct {
	const char *category, *name;
	int track, start_us, dur_us, correlation;
} modules[] = {
	{ "python_function", "nn.Module: Net_0", 1, 0, 100, 0 },
	{ "python_function", "nn.Module: Linear_0", 1, 0, 10, 0 },
	{ "cuda_runtime", "launch0", 1, 1, 2, 1 },
	{ "python_function", "nn.Module: ReLU_0", 1, 20, 10, 0 },
	{ "cuda_runtime", "launch1", 1, 21, 2, 2 },
	{ "python_function", "nn.Module: Linear_1", 1, 40, 10, 0 },
	{ "cuda_runtime", "launch2", 1, 41, 2, 3 },
	{ "cuda_runtime", "launch3", 1, 200, 2, 4 },
	{ "kernel", "first", 7, 50, 10, 1 },
	{ "kernel", "relu", 7, 70, 15, 2 },
	{ "kernel", "second", 7, 90, 10, 3 },
	{ "kernel", "alone", 7, 300, 40, 4 },
};

/* The trace of a case; without a text that of the modules. */
static void open_case(struct support_asking *asking, const char *trace)
{
	struct ss_text json = { 0 };

	for (size_t i = 0; i < SS_COUNT(modules); i++)
		ss_text_addf(&json,
			     "%c{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,"
			     "\"ts\":%d,\"dur\":%d,\"args\":{\"correlation\":%d}}",
			     i ? ',' : '[', modules[i].category, modules[i].name, modules[i].track,
			     modules[i].start_us, modules[i].dur_us, modules[i].correlation);
	ss_text_add_string(&json, "]");
	support_asking_open(asking, trace ? trace : json.data);
	ss_text_release(&json);
}

#define STREAMS                                                                        \
	STEPS "call launch0 1 10 +2 #5; call launch1 1 20 +2 #6; op aten::mm 1 30 +2;" \
	      "kernel a 0/7 40 +10 #5; kernel b 0/20 60 +30 #6; kernel c 1/7 60 +10"

static const struct {
	const char *what, *trace, *color;
	const char *name; /* of a slice */
	int number;
} cases[] = {
	{ "operators are forward", STEPS "op aten::mm 1 10 +5", "phase", "aten::mm", 11 },
	{ "device work has the phase of its launch",
	  STEPS "op aten::mm 1 10 +5; call cudaLaunchKernel 1 11 +2 #5; kernel gemm 0/7 20 +9 #5",
	  "phase", "gemm", 11 },
	{ "autograd's is backward",
	  STEPS "op MulBackward0 1 10 +5; call c 1 11 +1 #5;"
		"kernel k 0/7 20 +9 #5",
	  "phase", "k", 12 },
	{ "the optimizer", STEPS "note Optimizer.step#SGD.step 1 10 +50; op aten::add_ 1 12 +5",
	  "phase", "aten::add_", SS_COLOR_OPTIMIZER },
	{ "input", STEPS "note enumerate(DataLoader)#_Iter.__next__ 1 10 +50", "phase",
	  "enumerate(DataLoader)#_Iter.__next__", SS_COLOR_INPUT },
	{ "steps are no phase", STEPS "op aten::mm 1 10 +5", "phase", "ProfilerStep#1",
	  SS_COLOR_OTHER },
	{ "a kernel without a launch is of no phase", STEPS "kernel k 0/7 20 +9", "phase", "k",
	  SS_COLOR_OTHER },
	{ "the module with the most time is first, all of its class together", NULL, "module",
	  "first", 11 },
	{ "also another of the class", NULL, "module", "second", 11 },
	{ "the next one", NULL, "module", "relu", 12 },
	{ "what is launched outside has none", NULL, "module", "alone", SS_COLOR_OTHER },
	{ "calls in a module have its colour", NULL, "module", "launch1", 12 },
	{ "a module that launches nothing shares one", NULL, "module", "nn.Module: Net_0", 19 },
	{ "the stream with the most time is first", STREAMS, "stream", "b", 11 },
	{ "streams of all devices by their number", STREAMS, "stream", "c", 12 },
	{ "a launch has the stream of its kernel", STREAMS, "stream", "launch0", 12 },
	{ "operators have none", STREAMS, "stream", "aten::mm", SS_COLOR_OTHER },
};

static void test_slices(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const struct ss_paints *paints = NULL;
		struct support_asking asking;
		struct ss_timeline *timeline;
		enum ss_paint_by by;
		uint32_t row;

		open_case(&asking, cases[i].trace);
		support_asked(&asking, "tracks?file=0");
		timeline = &asking.runs.sessions[0]->timeline;
		assert_true(ss_paint_find(cases[i].color, &by));
		assert_int_equal(ss_paints_of(timeline, 0, by, &paints, NULL), SS_OK);
		row = support_find(timeline->files[0].trace, cases[i].name);
		support_check(row != SS_NO_ROW, cases[i].what, "is not there");
		support_check(paints->paint[row] == cases[i].number, cases[i].what, "%d",
			      paints->paint[row]);
		support_asking_close(&asking);
	}
}

static const struct {
	const char *what, *trace, *color, *wanted;
} legends[] = {
	{ "modules", NULL, "module",
	  "{\"schema\":\"stepscope.colors/1\",\"color\":\"module\",\"colors\":[\n"
	  " {\"number\":11,\"name\":\"Linear\"},\n {\"number\":12,\"name\":\"ReLU\"},\n"
	  " {\"number\":19,\"name\":\"other modules\"},\n"
	  " {\"number\":10,\"name\":\"no module\"}],\n"
	  "\"missing\":null}\n" },
	{ "streams", STREAMS, "stream",
	  "{\"schema\":\"stepscope.colors/1\",\"color\":\"stream\",\"colors\":[\n"
	  " {\"number\":11,\"name\":\"stream 20\"},\n {\"number\":12,\"name\":\"stream 7\"},\n"
	  " {\"number\":10,\"name\":\"no stream\"}],\n\"missing\":null}\n" },
	{ "nothing recorded", STEPS "op aten::mm 1 10 +5", "module",
	  "{\"schema\":\"stepscope.colors/1\",\"color\":\"module\",\"colors\":[],\n"
	  "\"missing\":\"Modules are not recorded: use profile(with_stack=True).\"}\n" },
};

static void test_legend(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(legends); i++) {
		struct support_asking asking;
		const struct ss_text *said;
		char request[64];

		open_case(&asking, legends[i].trace);
		snprintf(request, sizeof(request), "colors?color=%s", legends[i].color);
		said = support_asked(&asking, request);
		support_check(strcmp(said->data, legends[i].wanted) == 0, legends[i].what, "%s",
			      said->data);
		support_asking_close(&asking);
	}
}

/* More streams than colours: the shortest share one. */
static void test_rest(void **state)
{
	struct ss_text trace = { 0 };
	struct support_asking asking;
	const struct ss_text *said;

	(void)state;
	for (int i = 1; i <= 10; i++)
		ss_text_addf(&trace, "%skernel k%d 0/%d 0 +%d", i > 1 ? ";" : "", i, i, 100 + i);
	support_asking_open(&asking, trace.data);
	said = support_asked(&asking, "colors?color=stream");
	assert_non_null(strstr(said->data, "{\"number\":11,\"name\":\"stream 10\"}"));
	assert_non_null(strstr(said->data, "{\"number\":18,\"name\":\"stream 3\"}"));
	assert_non_null(strstr(said->data, "{\"number\":19,\"name\":\"other streams\"}"));
	assert_null(strstr(said->data, "stream 2\""));
	support_asking_close(&asking);
	ss_text_release(&trace);
}

/* The further column stands behind all others of the entries; without it nothing changes. */
static void test_column(void **state)
{
	static const char query[] = "tiles?file=0&tracks=0&from=0&to=400000&pixels=100";
	struct support_asking asking;
	const struct ss_text *said;
	char request[128];
	size_t length;
	uint32_t count;

	(void)state;
	support_asking_open(&asking, STREAMS);
	length = support_asked(&asking, query)->length;
	snprintf(request, sizeof(request), "%s&color=category", query);
	assert_int_equal(support_asked(&asking, request)->length, length);
	snprintf(request, sizeof(request), "%s&color=stream", query);
	said = support_asked(&asking, request);
	memcpy(&count, said->data + 8, sizeof(count));
	assert_true(said->length > length && said->length <= length + count + 3);
	snprintf(request, sizeof(request), "%s&color=rainbow", query);
	assert_int_equal(support_ask(&asking, request), SS_ERR_USAGE);
	assert_non_null(strstr(asking.err.text, "'color' takes category, phase, module or stream"));
	support_asking_close(&asking);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_legend),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
