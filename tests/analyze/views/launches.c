/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View launches: what calls cost, how long work waits, who waits for whom.
 */
#include "support/view_cases.h"

#define ROW(cat, name, pid, tid, ts, dur, args)                                                \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define STEP(n, ts, dur) ROW("user_annotation", "ProfilerStep#" n, "9", "9", ts, dur, "") ","
#define OP(name, ts, dur) ROW("cpu_op", name, "9", "9", ts, dur, "") ","
#define CALL(name, tid, ts, dur, id) \
	ROW("cuda_runtime", name, "9", tid, ts, dur, "\"correlation\":" id)
#define LAUNCH(ts, dur, id) CALL("cudaLaunchKernel", "9", ts, dur, id) ","
#define DEVICE(cat, device, stream, ts, dur, id, more) \
	ROW(cat, "k", device, stream, ts, dur,         \
	    "\"device\":" device ",\"stream\":" stream ",\"correlation\":" id more)
#define KERNEL(stream, ts, dur, id) DEVICE("kernel", "0", stream, ts, dur, id, "")
/*
 * The calls of 0..2 and 5..7 start at 10 and 30: delays of 8 and 23, in the queue for 10 and
 * 25 of 100; the second was called when the first was queued.
 */
#define TWO                   \
	STEP("1", "0", "100") \
	LAUNCH("0", "2", "1") \
	KERNEL("7", "10", "20", "1") "," LAUNCH("5", "2", "2") KERNEL("7", "30", "10", "2")
#define DELAYS "call,calls,delay_median_ns,delay_max_ns"
#define QUEUE "queue_mean,queue_max"
#define GRAPH(id, node) ",\"graph id\":" id ",\"graph node id\":" node

static const struct view_case cases[] = {
	{ "nothing", "[]", "call+notes", "" },
	{ "operators and waits launch nothing",
	  "op a 1 0 +9; call cudaStreamSynchronize 1 1 +2; call cudaEventRecord 1 4 +1",
	  "call+notes", "" },
	{ "two launches", "[" TWO "]",
	  DELAYS ",device_events,call_ns,call_mean_ns,call_max_ns,short_percent,late_percent," QUEUE
		 ",step,device,stream,thread,op,graph,nodes,device_ns",
	  "cudaLaunchKernel,2,15500,23000,2,4000,2000,2000,0.00,50.00,0.35,2,"
	  "-,-,-,-,-,-,-,-" },
	{ "what it means for the steps, in one sentence", "[" TWO "]", "call+notes",
	  "cudaLaunchKernel\n"
	  "Launch-bound idle time is 60.0 % of the step time; the queue was empty for 70.0 % of "
	  "it, and 1 of 2 launches came after the device had run out of work." },
	{ "the median of an odd number is the middle one",
	  "[" TWO "," LAUNCH("50", "1", "3") KERNEL("7", "60", "5", "3") "]", DELAYS,
	  "cudaLaunchKernel,3,9000,23000" },
	{ "work that starts inside of its call has no delay",
	  "[" STEP("1", "0", "100") LAUNCH("0", "9", "1") KERNEL("7", "4", "5", "1") "]",
	  DELAYS ",short_percent," QUEUE, "cudaLaunchKernel,1,0,0,100.00,0.04,1" },
	{ "as long as its call is not short",
	  "[" STEP("1", "0", "100") LAUNCH("0", "5", "1") KERNEL("7", "9", "5", "1") "]",
	  "short_percent", "0.00" },
	{ "work that seems to start before its call was never in the queue",
	  "[" STEP("1", "0", "100") LAUNCH("10", "2", "1") KERNEL("7", "9", "5", "1") "]",
	  DELAYS "," QUEUE, "cudaLaunchKernel,1,0,0,0.00,0" },
	{ "late: the device was done when the call began",
	  "[" STEP("1", "0", "100") LAUNCH("0", "1", "1")
		  KERNEL("7", "5", "10", "1") "," LAUNCH("15", "1", "2")
			  KERNEL("7", "20", "10", "2") "]",
	  "late_percent", "100.00" },
	{ "not late: it was still running",
	  "[" STEP("1", "0", "100") LAUNCH("0", "1", "1")
		  KERNEL("7", "5", "10", "1") "," LAUNCH("14", "1", "2")
			  KERNEL("7", "20", "10", "2") "]",
	  "late_percent", "50.00" },
	{ "work on another stream counts, of another device it does not",
	  "[" STEP("1", "0", "100") LAUNCH("0", "1", "1")
		  KERNEL("8", "5", "50", "1") "," LAUNCH("14", "1", "2")
			  KERNEL("7", "20", "10", "2") "," LAUNCH("17", "1", "3")
				  DEVICE("kernel", "1", "7", "21", "3", "3", "") "]",
	  "late_percent", "66.67" },
	{ "work whose launch is not in the file keeps the device busy",
	  "[" STEP("1", "0", "100") KERNEL("7", "1", "20", "77") "," LAUNCH("14", "1", "2")
		  KERNEL("7", "25", "10", "2") "]",
	  DELAYS ",late_percent", "cudaLaunchKernel,1,10000,10000,0.00" },
	{ "a launch that started nothing is a call and nothing else",
	  "[" TWO "," LAUNCH("50", "5", "3") STEP("2", "200", "1") "" OP("a", "60", "1") "{}]",
	  DELAYS ",late_percent,call_mean_ns", "cudaLaunchKernel,3,15500,23000,50.00,3000" },
	{ "only such: no device, and it is said", "op a 1 0 +9; call cudaLaunchKernel 1 1 +2 #1",
	  DELAYS ",device_events,short_percent,late_percent," QUEUE "+notes",
	  "cudaLaunchKernel,1,-,-,-,-,-,-,-\n"
	  "Kernels and copies are not recorded: use profile(activities=[..., "
	  "ProfilerActivity.CUDA])." },
	{ "device work without calls", "kernel k 7 0 +9", "call+notes",
	  "Runtime calls are not recorded: the file has GPU work, but not the launches." },
	{ "a call of no known name that started something",
	  "[" STEP("1", "0", "100")
		  CALL("newLaunch", "9", "0", "1", "1") "," KERNEL("7", "5", "10", "1") "]",
	  DELAYS, "newLaunch,1,4000,4000" },
	{ "a graph is one work, from its call to its first event",
	  "[" STEP("1", "0", "100") CALL("cudaGraphLaunch", "9", "0", "10", "1") "," KERNEL(
		  "7", "40", "4", "1") "," KERNEL("7", "30", "4", "1") "," KERNEL("8", "50", "4",
										  "1") "]",
	  DELAYS ",device_events,short_percent," QUEUE,
	  "cudaGraphLaunch,1,20000,20000,3,0.00,0.30,1" },
	{ "queues of calls sum to the queue of all; most time first",
	  "[" TWO "," CALL("cudaMemcpyAsync", "9", "20", "9",
			   "3") "," DEVICE("gpu_memcpy", "0", "7", "40", "3", "3", "") "]",
	  "call,call_ns," QUEUE, "cudaMemcpyAsync,9000,0.20,1\ncudaLaunchKernel,4000,0.35,2" },
	{ "a queue counts only in the steps",
	  "[" STEP("1", "50", "50") LAUNCH("0", "2", "1")
		  KERNEL("7", "70", "20", "1") "," LAUNCH("5", "2", "2")
			  KERNEL("7", "95", "5", "2") "]",
	  QUEUE, "1.30,2" },
};

static const struct view_case stream_cases[] = {
	{ "streams of devices",
	  "[" STEP("1", "0", "100") LAUNCH("0", "1", "1") KERNEL("8", "5", "50", "1") "," LAUNCH(
		  "14", "2", "2") KERNEL("7", "20", "10", "2") "," LAUNCH("17", "3", "3")
		  DEVICE("kernel", "1", "7", "21", "3", "3", "") "," LAUNCH("30", "9", "4") "{}]",
	  "device,stream,call,calls," QUEUE, "1,7,-,1,0.04,1\n0,7,-,1,0.06,1\n0,8,-,1,0.05,1" },
	{ "no work, no stream", "op a 1 0 +9; call cudaLaunchKernel 1 1 +2 #1", "stream", "" },
};

static const struct view_case step_cases[] = {
	{ "calls by where they begin, queues by the moment",
	  "[" STEP("1", "0", "50") STEP("2", "50", "50") LAUNCH("0", "1", "1")
		  KERNEL("7", "10", "30", "1") "," LAUNCH("20", "1", "2")
			  KERNEL("7", "40", "20", "2") "," LAUNCH("52", "1", "3")
				  KERNEL("7", "70", "5", "3") "," LAUNCH("55", "3", "4")
					  KERNEL("7", "76", "5", "4") "]",
	  "step,calls,call_mean_ns,delay_median_ns," QUEUE,
	  "0,2,1000,14000,0.72,2\n1,2,2000,17500,0.65,2" },
	{ "no launches, no steps", "kernel k 7 0 +9; op a 1 0 +9", "step", "" },
};

#define THREAD_NAME(tid, name)                                          \
	"{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":9,\"tid\":" tid \
	",\"args\":{\"name\":\"" name "\"}}"
#define ON_TWELVE CALL("cudaLaunchKernel", "12", "14", "2", "2") ","
#define THREADS               \
	STEP("1", "0", "100") \
	LAUNCH("0", "1", "1") \
	KERNEL("7", "5", "50", "1") "," ON_TWELVE KERNEL("7", "60", "10", "2") ","

static const struct view_case thread_cases[] = {
	{ "threads, by name or by number", "[" THREADS THREAD_NAME("9", "main") "]",
	  "thread,calls,call_ns", "12,1,2000\nmain,1,1000" },
};

static const struct view_case op_cases[] = {
	{ "the innermost operator, or none",
	  "[" STEP("1", "0", "100") OP("outer", "1", "30") OP("inner", "10", "10")
		  LAUNCH("2", "1", "1") KERNEL("7", "5", "5", "1") "," LAUNCH("12", "2", "2")
			  KERNEL("7", "60", "10", "2") "," LAUNCH("40", "3", "3")
				  KERNEL("7", "70", "5", "3") "]",
	  "op,call,calls,call_ns", "-,-,1,3000\ninner,-,1,2000\nouter,-,1,1000" },
};

static const struct view_case graph_cases[] = {
	{ "graphs by their number; other launches are left out",
	  "[" TWO "," CALL("cudaGraphLaunch", "9", "50", "10", "3") "," DEVICE(
		  "kernel", "0", "7", "60", "4", "3",
		  GRAPH("5",
			"1")) "," DEVICE("kernel", "0", "7", "70", "5", "3",
					 GRAPH("5",
					       "2")) "," CALL("cudaGraphLaunch", "9", "72", "4",
							      "4") "," DEVICE("kernel", "0", "7",
									      "80", "4", "4",
									      GRAPH("6", "1")) "]",
	  "graph,call,calls,nodes,device_ns,call_ns",
	  "5,cudaGraphLaunch,1,2.00,9000,10000\n6,cudaGraphLaunch,1,1.00,4000,4000" },
	{ "a graph without a number",
	  "[" STEP("1", "0", "100") CALL("hipGraphLaunch", "9", "50", "10", "3") "," KERNEL(
		  "7", "60", "4", "3") "," CALL("hipGraphLaunch", "9", "61", "4", "9") "]",
	  "graph,call,calls,nodes,device_ns", "-,hipGraphLaunch,2,1.00,4000" },
	{ "no graphs", "[" TWO "]", "graph", "" },
};

static void test_launches(void **state)
{
	(void)state;
	view_cases_run("launches", cases, SS_COUNT(cases));
	view_cases_run("launches/stream", stream_cases, SS_COUNT(stream_cases));
	view_cases_run("launches/step", step_cases, SS_COUNT(step_cases));
	view_cases_run("launches/thread", thread_cases, SS_COUNT(thread_cases));
	view_cases_run("launches/op", op_cases, SS_COUNT(op_cases));
	view_cases_run("launches/graph", graph_cases, SS_COUNT(graph_cases));
}

static void test_memory(void **state)
{
	static const char script[] = "op a 1 0 +200; call cudaLaunchKernel 1 1 +1 #1; "
				     "kernel k 7 5 +4 #1; call cudaGraphLaunch 2 50 +1 #2; "
				     "kernel k 8 60 +9 #2; kernel k 2/8 70 +9";

	(void)state;
	view_memory_run("launches", script);
	view_memory_run("launches/step", script);
	view_memory_run("launches/op", script);
	view_memory_run("launches/graph", script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_launches),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
