/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View inference: steps of engines, what they worked on, and what lies between.
 */
#include "support/view_cases.h"

#define PREFILL "execute_context_1(100)_generation_0(0)"
#define DECODE "execute_context_0(0)_generation_4(4)"
#define MIXED "execute_context_2(20)_generation_3(3)"
#define WORK "kind,batch,tokens,context_tokens,generated_tokens"
#define TIMES "kind,dur_ns,busy_ns,idle_ns,busy_percent,gap_before_ns"
#define EVENT(cat, name, ts, dur)                                                                \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{}}"
#define UNTOLD                                                                                 \
	"The file has no ranges of an inference engine. The steps are those of the profiler, " \
	"without backward and optimizer; batch and tokens are not recorded."

static const struct view_case step_cases[] = {
	{ "nothing", "[]", "kind", "" },
	{ "operators without steps", "op a 1 0 +9", "kind+notes", "" },
	{ "kernels without operators", "kernel k 7 0 +9; kernel k 7 10 +9", "kind", "" },
	{ "training is no inference",
	  "note ProfilerStep#1 1 0 +9; op a 1 1 +2; op XBackward0 1 5 +1", "kind+notes", "" },
	{ "nor is anything with an optimizer",
	  "note ProfilerStep#1 1 0 +9; op a 1 1 +2; note Optimizer.zero_grad#A 1 5 +1", "kind",
	  "" },
	{ "steps without operators are not known to be any",
	  "note ProfilerStep#1 1 0 +9; kernel k 7 1 +2", "kind", "" },
	{ "the profiler's steps of a file that does not train",
	  "note ProfilerStep#1 1 0 +10; op a 1 1 +2",
	  "step,name," TIMES ",tokens_per_s,kernels+notes",
	  "0,ProfilerStep#1,unknown,10000,-,-,-,-,-,-\n" UNTOLD },
	{ "they last as long as the view of steps says",
	  "note ProfilerStep#1 1 10 +10; op a 1 11 +2; call l 1 12 +1 #1; kernel j 7 0 +15;"
	  "kernel k 7 18 +7 #1",
	  TIMES ",start_ns", "unknown,10000,7000,3000,70.00,-,15000" },
	{ "also where a call reaches beyond their end",
	  "note ProfilerStep#1 1 0 +10; op a 1 1 +2; call l 1 9 +5 #1; kernel k 7 20 +5 #1", TIMES,
	  "unknown,10000,0,10000,0.00,-" },
	{ "collectives alone are no inference",
	  "note ProfilerStep#1 1 0 +10; op c10d::allreduce_ 1 1 +2; op a 1 20 +5", "kind", "" },
	{ "prefill, decode, mixed",
	  "note " PREFILL " 1 0 +10; note " DECODE " 1 10 +10; note " MIXED " 1 20 +10",
	  WORK "+notes", "prefill,1,100,100,0\ndecode,4,4,0,4\nmixed,5,23,20,3" },
	{ "SGLang",
	  "[" EVENT("user_annotation", "step[EXTEND bs=15 toks=300]", "0",
		    "10") "," EVENT("user_annotation", "step[DECODE bs=8]", "10", "10") "]",
	  WORK, "prefill,15,300,300,-\ndecode,8,8,-,8" },
	{ "an engine that tells nothing", "note execute_model 1 0 +10", WORK ",tokens_per_s+notes",
	  "unknown,-,-,-,-,-" },
	{ "of ranges in each other the outer one counts, with what the inner one tells",
	  "note execute_model 1 0 +20; note " DECODE " 1 5 +10", "kind,batch,dur_ns",
	  "decode,4,20000" },
	{ "ranges of an engine count, whatever else the file does",
	  "note " DECODE " 1 0 +10; op XBackward0 1 20 +5", "kind,dur_ns", "decode,10000" },
	{ "ranges of training loops are none",
	  "note train_step 1 0 +9; note train_step 1 10 +9; op a 1 1 +2", "kind", "" },
	{ "a step lasts as long as its work, the next begins there",
	  "note " DECODE " 1 0 +10; call l 1 5 +1 #1; note " DECODE " 1 12 +18; call l 1 13 +1 #2;"
	  "kernel k 7 6 +9 #1; kernel k 7 20 +4 #2",
	  TIMES, "decode,15000,9000,6000,60.00,-\ndecode,15000,4000,11000,26.67,0" },
	{ "idle between steps, without what runs there",
	  "note " DECODE " 1 0 +10; note " DECODE " 1 30 +10; kernel k 7 15 +5; kernel j 7 32 +4",
	  TIMES, "decode,10000,0,10000,0.00,-\ndecode,10000,4000,6000,40.00,15000" },
	{ "two devices: one that works is enough",
	  "note " DECODE " 1 0 +10; kernel k 0/7 0 +4; kernel k 1/7 2 +4", TIMES,
	  "decode,10000,6000,4000,60.00,-" },
	{ "kernels and graphs by their launch, tokens by time",
	  "note " DECODE " 1 0 +10; call cudaGraphLaunch 1 1 +1 #1; call cudaMemcpyAsync 1 3 +1 #2;"
	  "kernel k 7 3 +2 #1; kernel k 7 5 +2 #1; copy c 7 7 +1 #2; kernel k 7 8 +1",
	  "kernels,graph_launches,tokens_per_s", "2,1,400000.00" },
};

static const struct view_case kind_cases[] = {
	{ "nothing", "[]", "kind", "" },
	{ "one row a kind",
	  "note " DECODE " 1 0 +10; note " PREFILL " 1 10 +40; note " DECODE
	  " 1 60 +20; note " DECODE " 1 80 +30",
	  "kind,steps,batch,batch_mean,tokens,dur_ns,total_ns,mean_ns,median_ns,p99_ns,"
	  "tokens_per_s",
	  "prefill,1,-,1.00,100,-,40000,40000,40000,40000,2500000.00\n"
	  "decode,3,-,4.00,12,-,60000,20000,20000,30000,200000.00" },
	{ "half of the steps took no longer than the median",
	  "note " DECODE " 1 0 +30; note " DECODE " 1 40 +10", "steps,median_ns,p99_ns",
	  "2,10000,30000" },
	{ "busy and idle of all its steps, and what was idle before them",
	  "note " DECODE " 1 0 +10; note " DECODE " 1 15 +10; kernel k 7 2 +4; kernel j 7 18 +2",
	  "kind,busy_ns,idle_ns,busy_percent,gap_before_ns", "decode,6000,14000,30.00,5000" },
	{ "what is not told stays so", "note execute_model 1 0 +10; note execute_model 1 20 +10",
	  "kind,steps,batch_mean,tokens,tokens_per_s,busy_ns", "unknown,2,-,-,-,-" },
};

static void test_steps(void **state)
{
	(void)state;
	view_cases_run("inference", step_cases, SS_COUNT(step_cases));
}

static void test_kinds(void **state)
{
	(void)state;
	view_cases_run("inference/kind", kind_cases, SS_COUNT(kind_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("inference",
			"note " DECODE " 1 0 +10; call l 1 5 +1 #1; kernel k 7 6 +9 #1");
	view_memory_run(
		"inference/kind",
		"note ProfilerStep#1 1 0 +10; op a 1 1 +3; call l 1 2 +1 #1; kernel k 7 6 +9 #1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
