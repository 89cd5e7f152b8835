/*
 * View gaps: why a device stood idle.
 */
#include "support/view_cases.h"

#define ROW(cat, name, pid, tid, ts, dur, args)                                                \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define STEP(ts, dur) ROW("user_annotation", "ProfilerStep#1", "9", "9", ts, dur, "")
#define NOTE(name, ts, dur) ROW("user_annotation", name, "9", "9", ts, dur, "")
#define OP(name, ts, dur) ROW("cpu_op", name, "9", "9", ts, dur, "")
#define FRAME(name, ts, dur) ROW("python_function", name, "9", "9", ts, dur, "")
#define CALL(name, ts, dur, id) ROW("cuda_runtime", name, "9", "9", ts, dur, "\"correlation\":" id)
#define LAUNCH(ts, id) CALL("cudaLaunchKernel", ts, "1", id)
#define KERNEL(stream, ts, dur, id) \
	ROW("kernel", "k", "0", stream, ts, dur, "\"device\":0,\"correlation\":" id)
#define CAUSES "cause,idle_ns,gaps"
/* the first kernel runs from the step's start to 20, the second from 100 to the step's end */
#define FIRST LAUNCH("0", "1") "," KERNEL("7", "0", "20", "1")
#define SECOND(launch) LAUNCH(launch, "2") "," KERNEL("7", "100", "100", "2")

static const struct view_case cases[] = {
	{ "nothing", "[]", CAUSES, "" },
	{ "a busy device has no gaps",
	  "[" STEP("0", "20") "," LAUNCH("0", "1") "," KERNEL("7", "0", "20", "1") "]", CAUSES,
	  "" },
	{ "launched in time, long: a dependency",
	  "[" STEP("0", "200") "," FIRST "," SECOND("10") "]", CAUSES, "dependency,80000,1" },
	{ "launched in time, short: latency",
	  "[" STEP("0", "49") "," FIRST
			      "," LAUNCH("10", "2") "," KERNEL("7", "49.999", "9", "2") "]",
	  CAUSES, "launch latency,29999,1" },
	{ "launched late: launch-bound, with the operator and the frame",
	  "[" STEP("0", "200") "," FIRST
			       "," FRAME("train.py(5): f", "22",
					 "77") "," OP("aten::add", "88", "10") "," SECOND("90") "]",
	  CAUSES ",host,op,line",
	  "launch-bound,80000,1,cudaLaunchKernel,aten::add,train.py(5): f" },
	{ "the user's frame, not those of libraries inside of it",
	  "[" STEP("0", "200") "," FIRST "," FRAME("train.py(5): f", "22", "77") "," FRAME(
		  "torch/_tensor.py(9): item", "23", "75") "," FRAME("<built-in method item>", "24",
								     "74") "," SECOND("90") "]",
	  "cause,line", "launch-bound,train.py(5): f" },
	{ "the innermost file where there are only libraries",
	  "[" STEP("0", "200") "," FIRST "," FRAME("torch/_tensor.py(9): item", "23",
						   "75") "," FRAME("<built-in method item>", "24",
								   "74") "," SECOND("90") "]",
	  "cause,line", "launch-bound,torch/_tensor.py(9): item" },
	{ "the loader's part is input, the rest is not",
	  "[" STEP("0",
		   "200") "," FIRST
			  "," NOTE("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
				   "10", "60") "," SECOND("90") "]",
	  CAUSES, "input,50000,1\nlaunch-bound,30000,1" },
	{ "a wait that had begun when the device ran dry",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaStreamSynchronize", "5", "16",
						  "9") "," SECOND("90") "]",
	  CAUSES ",host", "sync,80000,1,cudaStreamSynchronize" },
	{ "a wait for nothing is no cause",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaStreamSynchronize", "40", "2",
						  "9") "," SECOND("90") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "a wait before another launch has done its harm there",
	  "[" STEP("0", "200") "," FIRST "," CALL(
		  "cudaStreamSynchronize", "5", "16",
		  "9") "," LAUNCH("30", "3") "," KERNEL("7", "35", "5", "3") "," SECOND("90") "]",
	  CAUSES, "launch-bound,60000,1\nsync,15000,1" },
	{ "a wait that was over before the device ran dry waited for something else",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaStreamSynchronize", "5", "4.999",
						  "9") "," SECOND("90") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "the clocks of host and device may differ by 10 us",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaStreamSynchronize", "5", "5",
						  "9") "," SECOND("90") "]",
	  CAUSES, "sync,80000,1" },
	{ "a step that begins in a gap does not hide the wait before it",
	  "[" STEP("30", "170") "," FIRST "," CALL("cudaStreamSynchronize", "5", "16",
						   "9") "," SECOND("90") "]",
	  CAUSES ",host", "sync,70000,1,cudaStreamSynchronize" },
	{ "nor does it make one of a wait that began when the device was dry",
	  "[" STEP("30", "170") "," FIRST "," CALL("cudaStreamSynchronize", "22", "2",
						   "9") "," SECOND("90") "]",
	  CAUSES, "launch-bound,70000,1" },
	{ "a range that only sounds like a wait",
	  "[" STEP("0", "200") "," FIRST
			       "," NOTE("synchronize grads", "5", "16") "," SECOND("90") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "a memset never blocks",
	  "[" STEP("0", "200") "," FIRST
			       "," CALL("cudaMemsetAsync", "5", "17", "9") "," SECOND("90") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "a copy that blocks",
	  "[" STEP("0", "200") "," FIRST
			       "," CALL("cudaMemcpyAsync", "5", "17", "9") "," SECOND("90") "]",
	  CAUSES, "sync,80000,1" },
	{ "a wait for nothing behind a copy that blocked does not hide it",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaMemcpyAsync", "5", "17",
						  "9") "," CALL("cudaStreamSynchronize", "23", "1",
								"10") "," SECOND("90") "]",
	  CAUSES ",host", "sync,80000,1,cudaMemcpyAsync" },
	{ "a copy that returned before is none",
	  "[" STEP("0", "200") "," FIRST
			       "," CALL("cudaMemcpyAsync", "5", "3", "9") "," SECOND("90") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "the allocator",
	  "[" STEP("0", "200") "," FIRST
			       "," CALL("cudaMalloc", "30", "50", "9") "," SECOND("90") "]",
	  CAUSES, "allocator,50000,1\nlaunch-bound,30000,1" },
	{ "a compiled region that runs is not compiling, compiling is",
	  "[" STEP("0", "200") "," FIRST "," OP("Torch-Compiled Region: 0/0", "21", "70") "," NOTE(
		  "_compile.compile_inner (dynamo_timed)", "25", "40") "," SECOND("90") "]",
	  CAUSES, "compile,40000,1\nlaunch-bound,40000,1" },
	{ "the collector",
	  "[" STEP("0", "200") "," FIRST "," FRAME("<built-in function collect>", "30",
						   "55") "," SECOND("90") "]",
	  CAUSES, "garbage collection,55000,1\nlaunch-bound,25000,1" },
	{ "the profiler's own rows",
	  "[" STEP("0", "200") "," FIRST "," ROW("overhead", "Buffer Flush", "-1", "0", "30", "50",
						 "") "," SECOND("90") "]",
	  CAUSES, "profiler,50000,1\nlaunch-bound,30000,1" },
	{ "an orphan says nothing",
	  "[" STEP("0", "200") "," FIRST "," KERNEL("7", "100", "100", "5") "," LAUNCH(
		  "150", "2") "," KERNEL("7", "200", "1", "2") "]",
	  CAUSES, "unattributed,80000,1" },
	{ "after the last work the thread that launched it is looked at",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaFree", "30", "150", "9") "]", CAUSES,
	  "allocator,150000,1\nlaunch-bound,30000,1" },
	{ "a stream beside fills the gap",
	  "[" STEP("0", "200") "," FIRST "," SECOND(
		  "90") "," LAUNCH("2", "3") "," KERNEL("8", "15", "85", "3") "]",
	  CAUSES, "" },
};

static void test_gaps(void **state)
{
	(void)state;
	view_cases_run("gaps", cases, SS_COUNT(cases));
	view_memory_run("gaps", "call l 1 0 +1 #1; kernel k 7 5 +4 #1; kernel k 8 60 +9");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gaps) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
