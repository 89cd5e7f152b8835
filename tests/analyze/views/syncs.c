/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View syncs: where the host waits, and what it costs.
 */
#include "support/view_cases.h"

#define ROW(cat, name, pid, tid, ts, dur, args)                                                \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"
#define STEP(n, ts, dur) ROW("user_annotation", "ProfilerStep#" n, "9", "9", ts, dur, "")
#define NOTE(name, ts, dur) ROW("user_annotation", name, "9", "9", ts, dur, "")
#define OP(name, ts, dur) ROW("cpu_op", name, "9", "9", ts, dur, "") ","
#define FRAME(name, ts, dur) ROW("python_function", name, "9", "9", ts, dur, "") ","
#define CALL(name, ts, dur, id) ROW("cuda_runtime", name, "9", "9", ts, dur, "\"correlation\":" id)
#define LAUNCH(ts, id) CALL("cudaLaunchKernel", ts, "1", id)
#define DEVICE(cat, name, ts, dur, id) \
	ROW(cat, name, "0", "7", ts, dur, "\"device\":0,\"stream\":7,\"correlation\":" id)
#define KERNEL(ts, dur, id) DEVICE("kernel", "k", ts, dur, id)
#define COPY(way, ts, dur, id) DEVICE("gpu_memcpy", "Memcpy " way, ts, dur, id)
#define PAGEABLE "DtoH (Device -> Pageable)"
/* the first kernel runs from the step's start to 20, the second from 100 to the step's end */
#define FIRST STEP("1", "0", "200") "," LAUNCH("0", "1") "," KERNEL("0", "20", "1") ","
#define SECOND LAUNCH("90", "2") "," KERNEL("100", "100", "2")
#define SYNC(ts, dur) CALL("cudaStreamSynchronize", ts, dur, "9") ","
#define COSTS "call,calls,blocked_ns,idle_ns"
#define ITEM(inner) OP("aten::item", "4", "20") OP(inner, "4.5", "19") SYNC("5", "16")

static const struct view_case cases[] = {
	{ "nothing", "[]", "call+notes", "" },
	{ "who only launches does not wait", "[" FIRST SECOND "]", "call+notes", "" },
	{ "queries never wait", "[" FIRST CALL("cudaEventQuery", "5", "16", "9") "," SECOND "]",
	  "call", "" },
	{ "a wait: blocked as long as the call, idle until the next work ran",
	  "[" FIRST SYNC("5", "16") SECOND "]",
	  COSTS ",per_step,idle_percent,longest_ns,at_ns,step,op,line",
	  "cudaStreamSynchronize,1,16000,80000,1.00,40.00,16000,5000,-,-,-" },
	{ "a wait for nothing is there and costs nothing", "[" FIRST SYNC("40", "2") SECOND "]",
	  COSTS, "cudaStreamSynchronize,1,2000,0" },
	{ "a wait that ended long before the device ran dry did not cause it",
	  "[" FIRST SYNC("2", "1") SECOND "]", COSTS, "cudaStreamSynchronize,1,1000,0" },
	{ "where the clocks differ by some microseconds it did",
	  "[" FIRST SYNC("5", "8") SECOND "]", COSTS, "cudaStreamSynchronize,1,8000,80000" },
	{ "of a gap with several causes the wait has its own part",
	  "[" FIRST SYNC("5", "16") CALL("cudaMalloc", "25", "55", "8") "," SECOND "]", COSTS,
	  "cudaStreamSynchronize,1,16000,25000" },
	{ "a copy that held the host to its end",
	  "[" FIRST CALL("cudaMemcpyAsync", "5", "17", "3") "," COPY(PAGEABLE, "20", "1",
								     "3") "," SECOND "]",
	  COSTS, "cudaMemcpyAsync,1,17000,79000" },
	{ "the host is let go when the last piece is on its way: from the middle on",
	  "[" FIRST CALL("cudaMemcpyAsync", "5", "25", "3") "," COPY(PAGEABLE, "20", "20",
								     "3") "," SECOND "]",
	  COSTS, "cudaMemcpyAsync,1,25000,0" },
	{ "before the middle it is no wait",
	  "[" FIRST CALL("cudaMemcpyAsync", "5", "24.9", "3") "," COPY(PAGEABLE, "20", "20",
								       "3") "," SECOND "]",
	  COSTS, "" },
	{ "pinned memory never waits, though the call outlives the copy",
	  "[" FIRST CALL("cudaMemcpyAsync", "5", "17", "3") "," COPY("HtoD (Pinned -> Device)",
								     "20", "1", "3") "," SECOND "]",
	  COSTS, "" },
	{ "nor does a copy inside the device",
	  "[" FIRST CALL("cudaMemcpyAsync", "5", "17", "3") "," COPY("DtoD (Device -> Device)",
								     "20", "1", "3") "," SECOND "]",
	  COSTS, "" },
	{ "nor a memset",
	  "[" FIRST CALL("cudaMemsetAsync", "5", "17",
			 "3") "," DEVICE("gpu_memset", "Memset (Device)", "20", "1", "3") "," SECOND
											  "]",
	  COSTS, "" },
	{ "nor a memset whose work is not in the file",
	  "[" FIRST CALL("cudaMemsetAsync", "5", "17", "3") "," SECOND "]", COSTS, "" },
	{ "synchronous by its name",
	  "[" FIRST CALL("hipMemcpyWithStream", "5", "17", "3") "," SECOND "]", COSTS,
	  "hipMemcpyWithStream,1,17000,80000" },
	{ "a wait inside a wait is part of it",
	  "[" FIRST CALL("synchronizeStream", "5", "16", "9") "," CALL("synchronize", "6", "14",
								       "10") "," SECOND "]",
	  COSTS, "synchronizeStream,1,16000,80000" },
	{ "a range that only sounds like a wait",
	  "[" FIRST NOTE("synchronize grads", "5", "16") "," SECOND "]", COSTS, "" },
	{ "the most expensive site first, then the longest blocked",
	  "[" FIRST SYNC("5", "16")
		  CALL("cudaEventSynchronize", "40", "2",
		       "10") "," CALL("cudaDeviceSynchronize", "50", "3", "11") "," SECOND "]",
	  COSTS,
	  "cudaStreamSynchronize,1,16000,80000\ncudaDeviceSynchronize,1,3000,0\n"
	  "cudaEventSynchronize,1,2000,0" },
	{ "calls outside of steps are counted, not per step",
	  "[" FIRST SECOND "," SYNC("205", "3") SYNC("210", "4") NOTE("n", "0", "1") "]",
	  COSTS ",per_step,longest_ns,at_ns", "cudaStreamSynchronize,2,7000,0,0.00,4000,210000" },
	{ "the operator that people know", "[" FIRST ITEM("aten::_local_scalar_dense") SECOND "]",
	  "op", "aten::item" },
	{ "three of them",
	  "[" FIRST OP("aten::is_nonzero", "3", "30") ITEM("aten::_local_scalar_dense") SECOND "]",
	  "op", "aten::is_nonzero" },
	{ "an operator that only happens to be around is not it",
	  "[" FIRST OP("aten::mul", "3", "30") ITEM("aten::_local_scalar_dense") SECOND "]", "op",
	  "aten::item" },
	{ "the innermost where there is no such operator",
	  "[" FIRST OP("my::op", "3", "30") OP("aten::copy_", "4", "20") SYNC("5", "16") SECOND "]",
	  "op", "aten::copy_" },
	{ "the line of the user, and no note about lines",
	  "[" FIRST FRAME("train.py(5): f", "2", "30") SYNC("5", "16") SECOND "]",
	  "call,line+notes", "cudaStreamSynchronize,train.py(5): f" },
	{ "lines that are not recorded are said", "[" FIRST SYNC("5", "16") SECOND "]",
	  "line+notes", "-\nSource lines are not recorded: use profile(with_stack=True)." },
	{ "without calls waits cannot be seen", "kernel k 7 0 +9; kernel k 7 20 +9", "call+notes",
	  "Runtime calls are not recorded: the file has GPU work, but host syncs are not "
	  "visible." },
	{ "without a device the idle time is not known",
	  "op a 1 0 +9; call cudaDeviceSynchronize 1 2 +3", COSTS ",idle_percent",
	  "cudaDeviceSynchronize,1,3000,-,-" },
};

/* Two sites of one line, another line, and a second step that waits once for nothing. */
#define SITES                                                                                   \
	"[" FIRST STEP("2", "200", "100") "," FRAME("train.py(5): f", "2", "30") OP("aten::to", \
										    "4", "20")  \
		SYNC("5", "16") CALL("cudaDeviceSynchronize", "26", "2",                        \
				     "8") "," SECOND "," FRAME("train.py(7): g", "205", "50")   \
			OP("aten::to", "206", "20") SYNC("207", "4")                            \
				LAUNCH("230", "3") "," KERNEL("231", "29", "3") "," LAUNCH(     \
					"232", "4") "," KERNEL("260", "40", "4") "]"

static const struct view_case line_cases[] = {
	{ "lines", SITES, "line,call,op," COSTS,
	  "train.py(5): f,-,-,-,2,18000,80000\ntrain.py(7): g,-,-,-,1,4000,0" },
};

static const struct view_case op_cases[] = {
	{ "operators, and what belongs to none", SITES, "line,op," COSTS ",per_step",
	  "-,aten::to,-,2,20000,80000,1.00\n-,-,-,1,2000,0,0.50" },
	{ "a wait behind the steps is in no step, which is said",
	  "[" FIRST OP("aten::item", "4", "20") SYNC("5", "16") SYNC("250", "30") SECOND "]",
	  "op,blocked_ns,per_step+notes",
	  "aten::item,16000,1.00\n"
	  "-,30000,0.00\n"
	  "1 host sync is outside the steps: the figures per step leave it out." },
	{ "no note about lines that are not asked for", "[" FIRST SYNC("5", "16") SECOND "]",
	  "op+notes", "-" },
};

static const struct view_case call_cases[] = {
	{ "calls", SITES, "line,op," COSTS,
	  "-,-,cudaStreamSynchronize,2,20000,80000\n-,-,cudaDeviceSynchronize,1,2000,0" },
};

static const struct view_case step_cases[] = {
	{ "steps in their order, each of its own time", SITES,
	  "step," COSTS ",idle_percent,per_step,longest_ns",
	  "0,-,2,18000,80000,40.00,-,16000\n1,-,1,4000,0,0.00,-,4000" },
	{ "a step without waits has a row", "[" FIRST SECOND "]",
	  "step," COSTS ",idle_percent,longest_ns,at_ns", "0,-,0,0,0,0.00,-,-" },
	{ "not where calls are not recorded", "kernel k 7 0 +9; kernel k 7 20 +9", "step", "" },
	{ "a call that begins at the end of a step is outside of it",
	  "[" FIRST SECOND "," SYNC("200", "3") NOTE("n", "0", "1") "]", "step,calls", "0,0" },
};

static int64_t sum_of(const char *view, const char *json, const char *cause)
{
	struct support_view open;
	struct ss_text row = { 0 };
	int64_t sum = 0;

	support_view_open(&open, view, json, "a.json");
	for (uint32_t i = 0; i < open.table.row_count; i++) {
		support_view_row(&open, i, cause ? "cause" : "call", &row);
		if (cause && strcmp(row.data, cause) != 0)
			continue;
		support_view_row(&open, i, "idle_ns", &row);
		sum += strtoll(row.data, NULL, 10);
	}
	ss_text_release(&row);
	support_view_close(&open);
	return sum;
}

/* Whatever the group: all waits together cost what gaps says of "sync". */
static void test_sum(void **state)
{
	static const char *const groups[] = { "syncs", "syncs/line", "syncs/op", "syncs/call",
					      "syncs/step" };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		int64_t wanted;

		if (cases[i].trace[0] != '[')
			continue;
		wanted = sum_of("gaps", cases[i].trace, "sync");
		for (size_t k = 0; k < SS_COUNT(groups); k++)
			support_check(sum_of(groups[k], cases[i].trace, NULL) == wanted,
				      cases[i].what, "%s does not sum to gaps", groups[k]);
	}
}

static void test_syncs(void **state)
{
	(void)state;
	view_cases_run("syncs", cases, SS_COUNT(cases));
	view_cases_run("syncs/line", line_cases, SS_COUNT(line_cases));
	view_cases_run("syncs/op", op_cases, SS_COUNT(op_cases));
	view_cases_run("syncs/call", call_cases, SS_COUNT(call_cases));
	view_cases_run("syncs/step", step_cases, SS_COUNT(step_cases));
}

static void test_memory(void **state)
{
	static const char script[] = "op a 1 0 +200; frame f.py(1):f 1 1 +150; call l 1 1 +1 #1; "
				     "kernel k 7 5 +4 #1; call cudaStreamSynchronize 1 6 +5; "
				     "call l 1 50 +1 #2; kernel k 8 60 +9 #2";

	(void)state;
	view_memory_run("syncs", script);
	view_memory_run("syncs/step", script);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syncs),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
