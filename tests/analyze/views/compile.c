/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View compile: whose kernels are compiled and whose are not, guards, graph breaks,
 * compiling.
 */
#include "support/view_cases.h"

#define EVENT(cat, name, tid, ts, dur, args)                                             \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define OP(name, ts, dur) EVENT("cpu_op", name, "1", ts, dur, "")
#define NOTE(name, ts, dur) EVENT("user_annotation", name, "1", ts, dur, "")
#define REGION(id, ts, dur) OP("Torch-Compiled Region: " id, ts, dur)
#define GRAPH(id, ts, dur) NOTE("## Call CompiledFxGraph " id " ##", ts, dur)
#define LOOKUP(ts, dur) OP("TorchDynamo Cache Lookup", ts, dur)
/* a launch of one microsecond and its kernel */
#define RUN(name, ts, kernel_ts, dur, id)                                              \
	EVENT("cuda_runtime", "cudaLaunchKernel", "1", ts, "1", "\"correlation\":" id) \
	"," EVENT("kernel", name, "7", kernel_ts, dur,                                 \
		  "\"device\":0,\"stream\":7,\"correlation\":" id)
#define STEP NOTE("ProfilerStep#1", "0", "100")

#define ROWS "name,calls,host_ns,host_total_ns,kernels,device_ns"
#define AGAIN                                                                              \
	"One region is a recompilation: its frame was compiled before for other sizes or " \
	"guards. TORCH_LOGS=recompiles shows why."

static const struct view_case region_cases[] = {
	{ "nothing", "[]", "name", "" },
	{ "nothing compiled: nothing is said",
	  "[" OP("a", "0", "9") "," RUN("k", "1", "5", "2", "1") "]", "name+notes", "" },
	{ "guards alone are no region", "[" LOOKUP("0", "9") "]", "name", "" },
	{ "a region and the eager rest",
	  "[" REGION("0/0", "0", "20") "," RUN("triton_poi_0", "5", "30", "8",
					       "1") "," RUN("k", "25", "40", "2", "2") "]",
	  "step,name,calls,version,host_ns,kernels,device_ns,device_percent,triton_percent,"
	  "eager_kernels",
	  "-,Torch-Compiled Region: 0/0,1,0,20000,1,8000,80.00,100.00,-\n"
	  "-,eager,-,-,-,1,2000,20.00,0.00,-" },
	{ "what a region in a region does is its own",
	  "[" REGION("0/0", "0", "20") "," GRAPH("f1", "2", "15") "," RUN(
		  "k", "3", "30", "4", "1") "," REGION("1/0", "5", "5") "," RUN("k", "6", "40", "3",
										"2") "]",
	  ROWS ",graph",
	  "Torch-Compiled Region: 0/0,1,15000,20000,1,4000,f1\n"
	  "Torch-Compiled Region: 1/0,1,5000,5000,1,3000,-" },
	{ "functions and graphs of a region are part of it",
	  "[" REGION("0/0", "0", "20") "," OP("CompiledFunction", "1", "18") "," GRAPH(
		  "f1", "2", "15") "," RUN("k", "3", "30", "4", "1") "]",
	  ROWS, "Torch-Compiled Region: 0/0,1,20000,20000,1,4000" },
	{ "calls are summed, also where a writer numbers the graph's range",
	  "[" REGION("0/0", "0", "20") "," GRAPH("f1", "2", "15") "," REGION(
		  "0/0", "30", "10") "," NOTE("## Call CompiledFxGraph f1 ##3", "32", "5") "]",
	  ROWS, "Torch-Compiled Region: 0/0,2,30000,30000,-,-" },
	{ "backward is told apart by its graphs",
	  "[" OP("CompiledFunctionBackward", "0", "10") "," GRAPH("fa", "1", "8") "," RUN(
		  "k", "2", "50", "1",
		  "1") "," OP("CompiledFunctionBackward", "20",
			      "10") "," GRAPH("fb", "21", "8") "," RUN("k", "22", "60", "2",
								       "2") "]",
	  ROWS ",graph",
	  "CompiledFunctionBackward,1,10000,10000,1,2000,fb\n"
	  "CompiledFunctionBackward,1,10000,10000,1,1000,fa" },
	{ "a graph without a region",
	  "[" GRAPH("fa", "1", "8") "," RUN("k", "2", "50", "1", "1") "]", ROWS,
	  "## Call CompiledFxGraph fa ##,1,8000,8000,1,1000" },
	{ "a frame that was compiled before", "[" REGION("3/2", "0", "9") "]", "name,version+notes",
	  "Torch-Compiled Region: 3/2,2\n" AGAIN },
	{ "old writers do not number regions", "[" OP("Torch-Compiled Region", "0", "9") "]",
	  "name,version+notes", "Torch-Compiled Region,-" },
	{ "kernels whose launch is not recorded are neither",
	  "[" REGION("0/0", "0", "9") "," EVENT("kernel", "k", "7", "5", "2",
						"\"device\":0,\"stream\":7,\"correlation\":9") "]",
	  ROWS ",device_percent", "Torch-Compiled Region: 0/0,1,9000,9000,-,-,-" },
	{ "names that only begin like a graph's", "[" OP("CompiledAutograd", "0", "9") "]", "name",
	  "" },
	{ "no device", "[" REGION("0/0", "0", "9") "]", ROWS ",device_percent,triton_percent",
	  "Torch-Compiled Region: 0/0,1,9000,9000,-,-,-,-" },
};

#define STEPS "step,calls,compile_ns,guard_ns,lookups,graph_breaks"
#define KERNELS "kernels,device_ns,device_percent,eager_kernels,eager_ns,between_kernels"

static const struct view_case step_cases[] = {
	{ "nothing", "[]", "step", "" },
	{ "nothing compiled", "[" STEP "," OP("a", "0", "9") "," RUN("k", "1", "5", "2", "1") "]",
	  "step", "" },
	{ "regions beside each other, and eager kernels between and behind them",
	  "[" STEP "," LOOKUP("0", "2") "," REGION("0/0", "2", "18") "," RUN(
		  "k", "5", "6", "3",
		  "1") "," RUN("k", "30", "31", "4",
			       "2") "," REGION("1/0", "40", "10") "," RUN("k", "41", "42", "5",
									  "3") "," RUN("k", "80",
										       "81", "8",
										       "4") "]",
	  STEPS "," KERNELS, "0,2,-,2000,1,-,2,8000,40.00,2,12000,1" },
	{ "before the first and behind the last region is not between them",
	  "[" STEP
	  "," RUN("k", "1", "2", "3", "1") "," REGION("0/0", "10", "10") "," RUN("k", "30", "31",
										 "4", "2") "]",
	  "eager_kernels,between_kernels", "2,0" },
	{ "a region that runs in a region after its graph is a graph break",
	  "[" STEP "," REGION("0/0", "0", "50") "," OP("CompiledFunction", "1",
						       "10") "," REGION("1/0", "20", "10") "]",
	  STEPS, "0,1,-,-,-,1" },
	{ "in its graph it is none",
	  "[" STEP
	  "," REGION("0/0", "0", "50") "," GRAPH("f", "1", "40") "," REGION("1/0", "20", "10") "]",
	  STEPS, "0,1,-,-,-,0" },
	{ "one region alone has none", "[" STEP "," REGION("0/0", "0", "50") "]", STEPS,
	  "0,1,-,-,-,0" },
	{ "compiling counts once, in the step's range",
	  "[" STEP "," NOTE("a (dynamo_timed)", "10",
			    "30") "," NOTE("b (dynamo_timed)", "15",
					   "5") "," NOTE("a (dynamo_timed)", "90", "40") "]",
	  STEPS, "0,0,40000,-,-,-" },
	{ "what is in no step does not count",
	  "[" STEP
	  "," REGION("0/0", "0", "50") "," REGION("0/0", "150", "50") "," LOOKUP("140", "2") "]",
	  STEPS, "0,1,-,0,0,0" },
};

static const struct view_case compile_cases[] = {
	{ "nothing", "[]", "name", "" },
	{ "regions and guards do not compile", "[" REGION("0/0", "5", "9") "," LOOKUP("0", "5") "]",
	  "name", "" },
	{ "own time is what no range inside has",
	  "[" NOTE("inner (dynamo_timed)", "5",
		   "10") "," NOTE("outer (dynamo_timed)", "0",
				  "30") "," NOTE("inner (dynamo_timed)", "25",
						 "15") "," OP("aten::mm", "6", "3") "]",
	  "name,calls,host_ns,host_total_ns,kernels",
	  "inner (dynamo_timed),2,25000,25000,-\nouter (dynamo_timed),1,15000,30000,-" },
};

static void test_regions(void **state)
{
	(void)state;
	view_cases_run("compile", region_cases, SS_COUNT(region_cases));
}

static void test_steps(void **state)
{
	(void)state;
	view_cases_run("compile/step", step_cases, SS_COUNT(step_cases));
}

static void test_compiling(void **state)
{
	(void)state;
	view_cases_run("compile/compile", compile_cases, SS_COUNT(compile_cases));
}

static void test_no_memory(void **state)
{
	static const char *const views[] = { "compile", "compile/step", "compile/compile" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(views); i++)
		view_memory_run(views[i], "note ProfilerStep#1 1 0 +90; op CompiledFunction 1 0 +9;"
					  "note CompiledFxGraph 1 1 +7; call l 1 2 +1 #1;"
					  "kernel k 7 10 +4 #1; note a(dynamo_timed) 1 30 +9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_compiling),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
