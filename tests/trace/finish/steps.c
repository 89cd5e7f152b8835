/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: what anchors them, where each effectively begins and ends, and which
 * ones do not count.
 */
#include "support/support.h"

/* A step of 10 us from `t` on with a launch inside and its kernel. */
static const struct {
	const char *what;
	const char *script;
	enum ss_step_anchor anchor;
	const char *steps; /* "start-end" in us from the origin, '!' after a dropped one */
} cases[] = {
	{ "a step ends with the last kernel that was launched in it",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel k 7 5 +20 #1",
	  SS_STEPS_PROFILER, "0-25" },
	{ "the next step begins where the one before ended",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; call cudaLaunchKernel 1 2 +1 "
	  "#1;"
	  "kernel k 7 5 +20 #1; call cudaLaunchKernel 1 12 +1 #2; kernel k 7 25 +5 #2",
	  SS_STEPS_PROFILER, "0-25 25-30" },
	{ "a step whose kernels end early ends with its range",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel k 7 4 +1 #1",
	  SS_STEPS_PROFILER, "0-10" },
	{ "kernels of before the first step push its start",
	  "call cudaLaunchKernel 1 0 +1 #1; kernel k 7 1 +14 #1; note ProfilerStep#1 1 10 +20;"
	  "call cudaLaunchKernel 1 12 +1 #2; kernel k 7 16 +10 #2",
	  SS_STEPS_PROFILER, "15-30" },
	{ "a kernel of nobody that ends after the step's first one does not",
	  "note ProfilerStep#1 1 10 +20; call cudaLaunchKernel 1 12 +1 #2; kernel k 7 16 +10 #2;"
	  "kernel orphan 8 0 +18 #99",
	  SS_STEPS_PROFILER, "10-30" },
	{ "a launch that is not wholly inside of the range is not the step's",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 9 +2 #1; kernel k 7 12 +20 #1",
	  SS_STEPS_PROFILER, "0-10" },
	{ "steps at the end without device events are dropped",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel k 7 3 +1 #1;"
	  "note ProfilerStep#2 1 10 +10; note ProfilerStep#3 1 20 +10",
	  SS_STEPS_PROFILER, "0-10 10-20! 20-30!" },
	{ "steps in the middle without device events count",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; note ProfilerStep#3 1 20 +10;"
	  "call cudaLaunchKernel 1 22 +1 #1; kernel k 7 23 +1 #1",
	  SS_STEPS_PROFILER, "0-10 10-20 20-30" },
	{ "without any device event nothing is dropped",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10", SS_STEPS_PROFILER,
	  "0-10 10-20" },
	{ "a last step with under 80 % of the device events is dropped",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; call cudaLaunchKernel 1 1 +1 "
	  "#1;"
	  "kernel k 7 2 +1 #1; call cudaLaunchKernel 1 3 +1 #2; kernel k 7 4 +1 #2; "
	  "call cudaLaunchKernel 1 11 +1 #3; kernel k 7 12 +1 #3",
	  SS_STEPS_PROFILER, "0-10 10-20!" },
	{ "exactly 80 % is enough",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; call cudaGraphLaunch 1 1 +1 "
	  "#1;"
	  "kernel k 7 2 +1 #1; kernel k 7 3 +1 #1; kernel k 7 4 +1 #1; kernel k 7 5 +1 #1;"
	  "kernel k 7 6 +1 #1; call cudaGraphLaunch 1 11 +1 #2; kernel k 7 12 +1 #2;"
	  "kernel k 7 13 +1 #2; kernel k 7 14 +1 #2; kernel k 7 15 +1 #2",
	  SS_STEPS_PROFILER, "0-10 10-20" },
	{ "the only step is never dropped", "note ProfilerStep#1 1 0 +10; kernel k 7 3 +1 #9",
	  SS_STEPS_PROFILER, "0-10" },
	{ "repeated annotations of a loop", "note execute_5 1 0 +10; note execute_6 1 12 +10",
	  SS_STEPS_ANNOTATION, "0-10 12-22" },
	{ "one such annotation is no loop", "note execute_5 1 0 +10; op a 1 2 +5",
	  SS_STEPS_HOST_SPAN, "2-7" },
	{ "a profiler step comes before annotations",
	  "note execute_5 1 0 +10; note execute_6 1 12 +10; note ProfilerStep#1 1 1 +30",
	  SS_STEPS_PROFILER, "1-31" },
	{ "from the end of one optimizer step to the next",
	  "note Optimizer.step#Adam.step 1 0 +10; note Optimizer.step#Adam.step 1 30 +10; "
	  "note Optimizer.step#Adam.step 1 50 +10",
	  SS_STEPS_OPTIMIZER, "10-40 40-60" },
	{ "optimizer steps of two threads, one around the other: no step is shorter than 0",
	  "note Optimizer.step#A 1 0 +100; note Optimizer.step#B 2 10 +20; "
	  "note Optimizer.step#A 1 150 +10",
	  SS_STEPS_OPTIMIZER, "30-100 100-160" },
	{ "one optimizer step is no loop", "note Optimizer.step#Adam.step 1 0 +10; op a 1 20 +5",
	  SS_STEPS_HOST_SPAN, "20-25" },
	{ "without marks: all ops together", "op a 1 5 +10; op b 1 30 +5", SS_STEPS_HOST_SPAN,
	  "0-30" },
	{ "without ops: all device events together", "kernel a 7 5 +10; copy b 8 30 +5",
	  SS_STEPS_DEVICE_SPAN, "0-30" },
	{ "calls alone make no step", "call cudaMalloc 1 5 +10", SS_STEPS_NONE, "" },
};

static void print_steps(const struct ss_trace *trace, struct ss_text *out)
{
	ss_text_add_string(out, "");
	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		ss_text_addf(out, "%s%g-%g%s", i ? " " : "", (double)step->start_ns / 1000,
			     (double)step->end_ns / 1000, step->dropped ? "!" : "");
	}
}

static void test_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct support_trace loaded;
		struct ss_text found = { 0 };
		uint32_t dropped;

		support_load_script(&loaded, cases[i].script);
		print_steps(&loaded.trace, &found);
		support_check(loaded.trace.steps.anchor == cases[i].anchor, cases[i].what,
			      "anchor %d", loaded.trace.steps.anchor);
		support_check(strcmp(found.data, cases[i].steps) == 0, cases[i].what, "'%s'",
			      found.data);
		dropped = loaded.trace.steps.count - loaded.trace.steps.kept_count;
		assert_int_equal(support_odd(&loaded.trace, SS_ODD_STEP_DROPPED), dropped);
		assert_int_equal(support_odd(&loaded.trace, SS_ODD_NO_PROFILER_STEP),
				 cases[i].anchor != SS_STEPS_PROFILER);
		ss_text_release(&found);
		support_close(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_steps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
