/* SPDX-License-Identifier: Apache-2.0 */
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
#define OTHER(ts, dur) ROW("kernel", "k", "1", "7", ts, dur, "\"device\":1,\"correlation\":3")
#define CAUSES "cause,idle_ns,gaps"
/* the first kernel runs from the step's start to 20, the second from 100 to the step's end */
#define FIRST LAUNCH("0", "1") "," KERNEL("7", "0", "20", "1")
#define SECOND(launch) LAUNCH(launch, "2") "," KERNEL("7", "100", "100", "2")

static const struct view_case cases[] = {
	{ "nothing", "[]", CAUSES, "" },
	{ "a busy device has no gaps",
	  "[" STEP("0", "20") "," LAUNCH("0", "1") "," KERNEL("7", "0", "20", "1") "]", CAUSES,
	  "" },
	{ "launched in time, long: nothing in the file that it could wait for",
	  "[" STEP("0", "200") "," FIRST "," SECOND("10") "]", CAUSES, "unattributed,80000,1" },
	{ "launched in time while another device works: a dependency",
	  "[" STEP("0", "200") "," FIRST "," SECOND("10") "," CALL("cudaLaunchKernel", "1", "1",
								   "3") "," OTHER("15", "84") "]",
	  "device," CAUSES, "0,dependency,80000,1\n1,launch-bound,116000,2" },
	{ "launched in time, another device works after it only",
	  "[" STEP("0", "200") "," FIRST "," SECOND("10") "," CALL("cudaLaunchKernel", "1", "1",
								   "3") "," OTHER("100", "100") "]",
	  "device," CAUSES, "0,unattributed,80000,1\n1,dependency,98000,1\n1,launch-bound,2000,1" },
	{ "a call that takes long: the host is late until it returns",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaLaunchKernel", "10", "80",
						  "2") "," KERNEL("7", "100", "100", "2") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "and what comes long after that is not known",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaLaunchKernel", "10", "60",
						  "2") "," KERNEL("7", "100", "100", "2") "]",
	  CAUSES, "launch-bound,50000,1\nunattributed,30000,1" },
	{ "launched in time, short: latency",
	  "[" STEP("0", "49") "," FIRST
			      "," LAUNCH("10", "2") "," KERNEL("7", "49.999", "9", "2") "]",
	  CAUSES, "launch latency,29999,1" },
	{ "launched late: launch-bound, with the operator and the frame",
	  "[" STEP("0", "200") "," FIRST
			       "," FRAME("train.py(5): f", "22",
					 "77") "," OP("aten::add", "88", "10") "," SECOND("90") "]",
	  CAUSES ",host,op,line", "launch-bound,80000,1,train.py(5): f,aten::add,train.py(5): f" },
	{ "launched in the gap, begun long after: the host is late until its call returns",
	  "[" STEP("0", "200") "," FIRST "," SECOND("69") "]", CAUSES ",host",
	  "launch-bound,50000,1,cudaLaunchKernel\nunattributed,30000,1,cudaLaunchKernel" },
	{ "begun as soon as launches need", "[" STEP("0", "200") "," FIRST "," SECOND("69.001") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "what the thread did before such a launch keeps its cause",
	  "[" STEP("0", "200") "," FIRST
			       "," CALL("cudaMalloc", "30", "20", "9") "," SECOND("59") "]",
	  CAUSES, "unattributed,40000,1\nallocator,20000,1\nlaunch-bound,20000,1" },
	{ "after a wait everything is the wait's",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaStreamSynchronize", "5", "16",
						  "9") "," SECOND("30") "]",
	  CAUSES, "sync,80000,1" },
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
	{ "a wait that was over long before the device ran dry waited for something else",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaStreamSynchronize", "5", "1",
						  "9") "," SECOND("90") "]",
	  CAUSES, "launch-bound,80000,1" },
	{ "a wait that was as long as what the device still had to do when it was over",
	  "[" STEP("0", "200") "," FIRST "," CALL("cudaStreamSynchronize", "3", "4",
						  "9") "," SECOND("90") "]",
	  CAUSES, "sync,80000,1" },
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

#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define OPS CAUSES ",op,line,step,next"
/* kernels of 10 us at 0, 50 and 100 in a step of 110, launched late: gaps of 40 us */
#define THREE                                                                                  \
	STEP("0", "110")                                                                       \
	"," LAUNCH("0", "1") "," KERNEL("7", "0", "10", "1") "," LAUNCH("45", "2") "," KERNEL( \
		"7", "50", "10", "2") "," LAUNCH("95", "3") "," KERNEL("7", "100", "10", "3")

static const struct view_case op_cases[] = {
	{ "nothing", "[]", OPS, "" },
	{ "two gaps behind two operators",
	  "[" THREE "," OP("aten::add", "44", "3") "," OP("aten::mul", "94", "3") "]", OPS,
	  "launch-bound,40000,1,aten::add,-,-,-\nlaunch-bound,40000,1,aten::mul,-,-,-" },
	{ "two gaps behind one operator",
	  "[" THREE "," OP("aten::add", "44", "3") "," OP("aten::add", "94", "3") "]", OPS,
	  "launch-bound,80000,2,aten::add,-,-,-" },
	{ "the innermost operator",
	  "[" THREE "," OP("aten::a", "40", "70") "," OP("aten::b", "44", "3") "]", OPS,
	  "launch-bound,40000,1,aten::b,-,-,-\nlaunch-bound,40000,1,aten::a,-,-,-" },
	{ "no operator: the call", "[" THREE "]", OPS,
	  "launch-bound,80000,2,cudaLaunchKernel,-,-,-" },
	{ "each part of a gap has its own operator",
	  "[" THREE "," NOTE(LOADER, "10", "30") "," OP("aten::add", "44",
							"3") "," OP("aten::add", "94", "3") "]",
	  OPS, "launch-bound,50000,2,aten::add,-,-,-\ninput,30000,1," LOADER ",-,-,-" },
	{ "also the smaller part",
	  "[" THREE "," CALL("cudaMalloc", "20", "5", "8") "," OP("aten::empty", "19", "7") "," OP(
		  "aten::add", "44", "3") "," OP("aten::add", "94", "3") "]",
	  OPS, "launch-bound,75000,2,aten::add,-,-,-\nallocator,5000,1,aten::empty,-,-,-" },
	{ "two pieces of a cause are a part, of the longer one's operator",
	  "[" THREE "," OP("aten::empty", "10", "5") "," CALL("cudaMalloc", "11", "3", "8") "," OP(
		  "aten::big", "20", "15") "," CALL("cudaMalloc", "21", "9", "9") "]",
	  OPS, "launch-bound,68000,2,cudaLaunchKernel,-,-,-\nallocator,12000,1,aten::big,-,-,-" },
	{ "the same operator for two causes is two rows",
	  "[" THREE "," OP("aten::add", "20", "80") "," CALL("cudaMalloc", "60", "30", "8") "]",
	  OPS, "launch-bound,50000,2,aten::add,-,-,-\nallocator,30000,1,aten::add,-,-,-" },
};

static const struct view_case line_cases[] = {
	{ "two lines, without operators",
	  "[" THREE
	  "," FRAME("train.py(5): f", "42", "8") "," FRAME("train.py(9): g", "92",
							   "8") "," OP("aten::add", "94", "3") "]",
	  OPS,
	  "launch-bound,40000,1,-,train.py(5): f,-,-\nlaunch-bound,40000,1,-,train.py(9): g,-,-" },
	{ "one line, whatever the operators",
	  "[" THREE "," FRAME("train.py(5): f", "20",
			      "90") "," OP("aten::a", "44", "3") "," OP("aten::b", "94", "3") "]",
	  OPS, "launch-bound,80000,2,-,train.py(5): f,-,-" },
	{ "a line and none", "[" THREE "," FRAME("train.py(5): f", "92", "8") "]", OPS,
	  "launch-bound,40000,1,-,-,-,-\nlaunch-bound,40000,1,-,train.py(5): f,-,-" },
	{ "no lines at all are said below", "[" THREE "," OP("aten::a", "44", "3") "]",
	  CAUSES ",line+notes",
	  "launch-bound,80000,2,-\n"
	  "Source lines are not recorded: use profile(with_stack=True)." },
};

#define GAP "step,cause,idle_ns,gaps,longest_ns,at_ns,op,line,next"
static const struct view_case gap_cases[] = {
	{ "nothing", "[]", GAP, "" },
	{ "the longest first, those that are equal by time",
	  "[" THREE "," ROW("kernel", "last", "0", "7", "70", "1",
			    "\"device\":0,\"correlation\":4") "," LAUNCH("65", "4") "]",
	  GAP,
	  "0,launch-bound,40000,-,-,10000,cudaLaunchKernel,-,k\n"
	  "0,launch-bound,29000,-,-,71000,cudaLaunchKernel,-,k\n"
	  "0,launch-bound,10000,-,-,60000,cudaLaunchKernel,-,last" },
	{ "a gap with two causes is one row, with the larger one",
	  "[" THREE "," NOTE(LOADER, "10", "30") "," OP("aten::add", "44", "3") "]", GAP,
	  "0,input,40000,-,-,10000," LOADER
	  ",-,k\n0,launch-bound,40000,-,-,60000,cudaLaunchKernel,-,k" },
	{ "steps keep their numbers; the one that is used up by the first is none",
	  "note ProfilerStep#1 1 0 +10; call cudaLaunchKernel 1 2 +1 #1; kernel a 7 5 +30 #1; note "
	  "ProfilerStep#2 1 10 +10; note ProfilerStep#3 1 20 +30; call cudaLaunchKernel 1 22 +1 "
	  "#2; kernel b 7 36 +14 #2",
	  "step,cause,idle_ns,at_ns,next",
	  "0,launch-bound,5000,0,a\n2,launch latency,1000,35000,b" },
	{ "what crosses a step's end is a gap of each",
	  "note ProfilerStep#1 1 0 +10; note ProfilerStep#2 1 10 +10; kernel a 7 0 +6; kernel b 7 "
	  "17 +3",
	  "step,cause,idle_ns,at_ns,next",
	  "1,unattributed,7000,10000,b\n0,unattributed,4000,6000,b" },
};

static const char *const groups[] = { "gaps/cause", "gaps/gap", "gaps/op", "gaps/line" };

/* However the gaps are grouped, their sum is the same. */
static void check_sums(const char *json, const char *what)
{
	int64_t first = -1;

	for (size_t i = 0; i < SS_COUNT(groups); i++) {
		struct support_view open;
		int64_t sum = 0;

		support_view_open(&open, groups[i], json, "x");
		for (uint32_t row = 0; row < open.table.row_count; row++)
			sum += ss_table_int(&open.table, row, 4);
		first = i ? first : sum;
		support_check(sum == first, what, "%s: %lld, not %lld", groups[i], (long long)sum,
			      (long long)first);
		support_view_close(&open);
	}
}

static void test_groups(void **state)
{
	(void)state;
	view_cases_run("gaps/op", op_cases, SS_COUNT(op_cases));
	view_cases_run("gaps/line", line_cases, SS_COUNT(line_cases));
	view_cases_run("gaps/gap", gap_cases, SS_COUNT(gap_cases));
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		if (cases[i].trace[0] == '[')
			check_sums(cases[i].trace, cases[i].what);
	for (size_t i = 0; i < SS_COUNT(op_cases); i++)
		check_sums(op_cases[i].trace, op_cases[i].what);
	for (size_t i = 0; i < SS_COUNT(groups); i++)
		view_memory_run(groups[i], "op a 1 0 +3; call l 1 0 +1 #1; kernel k 7 5 +4 #1; "
					   "kernel k 8 60 +9; frame f 1 0 +9");
}

static void test_gaps(void **state)
{
	(void)state;
	view_cases_run("gaps", cases, SS_COUNT(cases));
	view_memory_run("gaps", "call l 1 0 +1 #1; kernel k 7 5 +4 #1; kernel k 8 60 +9");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_gaps),
					    cmocka_unit_test(test_groups) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
