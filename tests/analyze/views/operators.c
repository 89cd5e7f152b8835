/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View operators: who called and launched what, whose time it is, and what belongs
 * to nobody.
 */
#include "support/view_cases.h"

#define TIMES "name,calls,host_self_ns,host_total_ns,device_self_ns,device_total_ns"
#define HOST "name,calls,host_self_ns,host_total_ns"
#define DEVICE "name,device_self_ns,device_total_ns"

/* Complete events with the categories of old writers. */
#define OLD(cat, name, ts, dur, args)                                                            \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{" args "}}"
#define OLD_OP(name, ts, dur) OLD("Operator", name, ts, dur, "")
#define NUMBERED_OP(name, ts, dur, id) OLD("cpu_op", name, ts, dur, "\"External id\":" id)
#define BOTH(one, other) one "," other
#define LAUNCH(ts, dur) OLD("cuda_runtime", "cudaLaunchKernel", ts, dur, "\"correlation\":3")
#define OLD_KERNEL(ts, id) OLD("Kernel", "k", ts, "4", "\"stream\":7,\"correlation\":" id)
#define OLD_LAUNCHED(ts, kernel_ts, id)                                          \
	BOTH(OLD("Runtime", "cudaLaunchKernel", ts, "1", "\"correlation\":" id), \
	     OLD_KERNEL(kernel_ts, id))
#define EQUAL_OPS BOTH(NUMBERED_OP("inner", "1", "8", "12"), NUMBERED_OP("outer", "1", "8", "11"))
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"

static const struct view_case host_cases[] = {
	{ "nothing", "[]", "name", "" },
	{ "calls and kernels without operators", "call l 1 0 +2 #1; kernel k 7 3 +4 #1", "name",
	  "" },
	{ "annotations and frames are no operators",
	  "note n 1 0 +9; frame f 1 1 +5; overhead o 1 2 +1", "name", "" },
	{ "nesting by time", "op a 1 0 +10; op b 1 2 +3; op c 1 3 +1", TIMES,
	  "a,1,7000,10000,-,-\nb,1,2000,3000,-,-\nc,1,1000,1000,-,-" },
	{ "nesting by time, whatever the order of the file",
	  "op c 1 3 +1; op b 1 2 +3; op a 1 0 +10", HOST,
	  "a,1,7000,10000\nb,1,2000,3000\nc,1,1000,1000" },
	{ "an end is outside: neighbours are no children", "op a 1 0 +5; op b 1 5 +2", HOST,
	  "a,1,5000,5000\nb,1,2000,2000" },
	{ "calls of one name are summed", "op a 1 0 +5; op a 1 6 +3; op b 1 7 +1; op a 2 0 +4",
	  HOST, "a,3,11000,12000\nb,1,1000,1000" },
	{ "runtime and driver calls are children",
	  "op a 1 0 +10; call x 1 1 +2; driver y 1 5 +1; call x 1 7 +1", HOST, "a,1,6000,10000" },
	{ "other rows are no children", "op a 1 0 +10; note n 1 1 +4; frame f 1 6 +3", HOST,
	  "a,1,10000,10000" },
	{ "an operator behind annotation and frame is a child",
	  "op a 1 0 +10; note n 1 1 +8; frame f 1 2 +6; op b 1 3 +4; call x 1 4 +1", HOST,
	  "a,1,6000,10000\nb,1,3000,4000" },
	{ "what a grandchild covers is not taken twice",
	  "op a 1 0 +20; op b 1 2 +10; call x 1 4 +5; driver y 1 5 +1", HOST,
	  "a,1,10000,20000\nb,1,5000,10000" },
	{ "children beyond the end are clipped", "op a 1 0 +10; op b 1 8 +6", HOST,
	  "a,1,8000,10000\nb,1,6000,6000" },
	{ "calls, too", "op a 1 0 +10; call x 1 7 +60", HOST, "a,1,7000,10000" },
	{ "a grandchild beyond both shortens its parent only",
	  "op a 1 0 +10; op b 1 2 +4; op c 1 5 +10", HOST,
	  "c,1,10000,10000\na,1,6000,10000\nb,1,3000,4000" },
	{ "overlapping children count once", "op a 1 0 +20; call x 1 2 +6; call y 1 5 +6", HOST,
	  "a,1,11000,20000" },
	{ "one inside of another, too", "op a 1 0 +20; call x 1 2 +9; driver y 1 3 +2", HOST,
	  "a,1,11000,20000" },
	{ "an operator that begins in a call is the operator's child",
	  "op a 1 0 +20; call x 1 2 +6; op b 1 5 +6", HOST, "a,1,11000,20000\nb,1,6000,6000" },
	{ "children that cover all", "op a 1 0 +5; op b 1 0 +3; call x 1 3 +2", HOST,
	  "b,1,3000,3000\na,1,0,5000" },
	{ "without duration nothing is inside", "op z 1 5 +0; call x 1 5 +3", HOST, "z,1,0,0" },
	{ "threads do not nest in each other", "op a 1 0 +10; op b 2 2 +3; call x 3 1 +1", HOST,
	  "a,1,10000,10000\nb,1,3000,3000" },
	{ "nor do equal threads of two processes", "op a 1/1 0 +10; op b 2/1 2 +3", HOST,
	  "a,1,10000,10000\nb,1,3000,3000" },
	{ "equal ranges nest by External id", "[" EQUAL_OPS "]", HOST,
	  "inner,1,8000,8000\nouter,1,0,8000" },
	{ "a call with the range of its operator is in it, whatever its number",
	  "[" BOTH(LAUNCH("1", "8"), NUMBERED_OP("a", "1", "8", "11")) "]", HOST, "a,1,0,8000" },
	{ "a call that starts with its operator and outlasts it is in it",
	  "op a 1 1 +4; call x 1 1 +6", HOST, "a,1,0,4000" },
};

static const struct view_case merging_cases[] = {
	{ "an only child of the same name counts once", "op to 1 0 +10; op to 1 2 +6", HOST,
	  "to,1,10000,10000" },
	{ "three in a row, with calls, kernels and children of all",
	  "op to 1 0 +20; op to 1 2 +16; op to 1 4 +10; op copy 1 5 +3; call x 1 6 +1 #1;"
	  "call x 1 9 +2 #2; call x 1 15 +1 #3; call x 1 19 +1 #4;"
	  "kernel k 7 30 +1 #1; kernel k 7 40 +2 #2; kernel k 7 50 +3 #3; kernel k 7 60 +4 #4",
	  TIMES, "to,1,13000,20000,9000,10000\ncopy,1,2000,3000,1000,1000" },
	{ "behind an annotation", "op to 1 0 +10; note n 1 1 +8; op to 1 2 +6", HOST,
	  "to,1,10000,10000" },
	{ "calls are no second child",
	  "op to 1 0 +10; call x 1 0.5 +1 #1; op to 1 2 +6; kernel k 7 9 +4 #1", TIMES,
	  "to,1,9000,10000,4000,4000" },
	{ "a second child of the same name: all count", "op to 1 0 +10; op to 1 1 +2; op to 1 5 +3",
	  HOST, "to,3,10000,15000" },
	{ "a second child of another name: all count",
	  "op to 1 0 +10; op to 1 1 +2; op other 1 5 +3", HOST,
	  "to,2,7000,12000\nother,1,3000,3000" },
	{ "only the pair of a chain that is alone",
	  "op to 1 0 +20; op to 1 1 +18; op to 1 2 +3; op to 1 6 +4", HOST, "to,3,20000,27000" },
	{ "another name between: nothing is merged", "op a 1 0 +10; op b 1 1 +8; op a 1 2 +6", HOST,
	  "a,2,8000,16000\nb,1,2000,8000" },
	{ "an only child of another name stays", "op a 1 0 +10; op b 1 1 +8", HOST,
	  "b,1,8000,8000\na,1,2000,10000" },
	{ "the same name one after the other", "op a 1 0 +4; op a 1 4 +4", HOST, "a,2,8000,8000" },
	{ "the same name at the same time elsewhere", "op a 1 0 +10; op a 2 2 +4", HOST,
	  "a,2,14000,14000" },
};

static const struct view_case device_cases[] = {
	{ "self and total",
	  "op a 1 0 +20; call l 1 1 +1 #1; op b 1 5 +9; call l 1 6 +1 #2; op c 1 8 +3;"
	  "call l 1 9 +1 #3; kernel k 7 30 +1 #1; kernel k 7 40 +2 #2; kernel k 7 50 +4 #3",
	  TIMES, "c,1,2000,3000,4000,4000\nb,1,5000,9000,2000,6000\na,1,10000,20000,1000,7000" },
	{ "an operator in itself has its time in each total",
	  "op a 1 0 +20; op b 1 1 +9; op a 1 2 +5; call l 1 3 +1 #1; kernel k 7 30 +4 #1", DEVICE,
	  "a,4000,8000\nb,0,4000" },
	{ "through annotations and frames",
	  "op a 1 0 +20; note n 1 1 +18; frame f 1 2 +16; call l 1 3 +1 #1; kernel k 7 30 +4 #1",
	  TIMES, "a,1,19000,20000,4000,4000" },
	{ "an annotation that outlives its operator carries nothing to it",
	  "op a 1 0 +10; note n 1 5 +25; call l 1 20 +1 #1; kernel k 7 40 +4 #1", TIMES "+notes",
	  "a,1,10000,10000,-,-\n"
	  "No device work is linked to an operator: see the kernels view." },
	{ "but to the one that is still open",
	  "op p 1 0 +40; op a 1 0 +10; note n 1 5 +25; call l 1 20 +1 #1; op b 1 22 +3;"
	  "kernel k 7 50 +4 #1",
	  TIMES, "p,1,26000,40000,4000,4000\na,1,10000,10000,0,0\nb,1,3000,3000,0,0" },
	{ "a call that outlives its operator does not, either",
	  "op a 1 0 +10; call x 1 5 +25; driver l 1 20 +1 #1; kernel k 7 40 +4 #1", TIMES,
	  "a,1,5000,10000,-,-" },
	{ "two that overlap: the one that is open, and what it began in",
	  "op a 1 0 +10; op b 1 5 +25; call l 1 20 +1 #1; kernel k 7 40 +4 #1", DEVICE,
	  "b,4000,4000\na,0,4000" },
	{ "copies, memsets and driver calls",
	  "op a 1 0 +20; call m 1 1 +1 #1; call s 1 3 +1 #2; driver cuLaunchKernel 1 5 +1 #3;"
	  "copy c 7 30 +1 #1; set s 7 40 +2 #2; kernel k 8 30 +4 #3",
	  DEVICE, "a,7000,7000" },
	{ "a graph launch owns all that it ran",
	  "op a 1 0 +9; call cudaGraphLaunch 1 1 +5 #1; kernel k 7 10 +1 #1; kernel k 8 10 +2 #1;"
	  "kernel j 7 20 +4 #1; copy c 7 30 +8 #1; set s 7 40 +16 #1",
	  TIMES, "a,1,4000,9000,31000,31000" },
	{ "devices and streams are summed, not united",
	  "op a 1 0 +9; call l 1 1 +1 #1; call l 1 3 +1 #2; kernel k 0/7 10 +4 #1;"
	  "kernel k 1/7 10 +4 #2",
	  DEVICE, "a,8000,8000" },
	{ "the device's annotations and waits are no device time",
	  "op a 1 0 +9; call l 1 1 +1 #1; mark m 7 10 +4 #1; sync s 7 10 +4 #1",
	  TIMES ",device_percent,tensor_percent", "a,1,8000,9000,-,-,-,-" },
	{ "orphans are nobody's",
	  "op a 1 0 +9; call l 1 1 +1 #1; kernel k 7 10 +4 #9; kernel j 7 20 +4",
	  TIMES ",device_percent,tensor_percent", "a,1,8000,9000,-,-,-,-" },
	{ "a launch outside is nobody's, also of the thread beside",
	  "op a 1 0 +9; call l 1 9 +1 #1; call l 2 3 +1 #2; kernel k 7 20 +4 #1;"
	  "kernel k 7 30 +4 #2",
	  TIMES ",device_percent", "a,1,9000,9000,-,-,-" },
	{ "its start decides", "op a 1 0 +9; call l 1 8 +50 #1; kernel k 7 20 +4 #1", DEVICE,
	  "a,4000,4000" },
	{ "a call with the range of its operator launches for it",
	  "[" BOTH(BOTH(LAUNCH("1", "8"), NUMBERED_OP("a", "1", "8", "11")),
		   OLD_KERNEL("10", "3")) "]",
	  DEVICE, "a,4000,4000" },
	{ "equal operators: the inner one launches",
	  "[" BOTH(EQUAL_OPS, BOTH(LAUNCH("2", "1"), OLD_KERNEL("10", "3"))) "]", TIMES,
	  "inner,1,7000,8000,4000,4000\nouter,1,0,8000,0,4000" },
	{ "shares: of all operators' device time, and of its own in tensor cores",
	  "op mm 1 0 +4; call l 1 1 +1 #1; call l 1 2 +1 #2; op add 1 5 +2; call l 1 6 +0.5 #3;"
	  "op view 1 8 +1; kernel volta_h884gemm 7 10 +6 #1; kernel k 7 20 +2 #2;"
	  "kernel k 7 30 +2 #3; kernel volta_h884gemm 7 40 +90 #9",
	  "name,device_self_ns,device_percent,tensor_percent",
	  "mm,8000,80.00,75.00\nadd,2000,20.00,0.00\nview,0,0.00,-" },
	{ "copies are in the base of the tensor cores' share",
	  "op a 1 0 +9; call l 1 1 +1 #1; call m 1 3 +1 #2; kernel volta_h884gemm 7 10 +3 #1;"
	  "copy c 7 20 +1 #2",
	  "name,device_self_ns,tensor_percent", "a,4000,75.00" },
	{ "what a child runs in tensor cores is the child's",
	  "op a 1 0 +9; call l 1 1 +1 #1; op b 1 3 +4; call l 1 4 +1 #2; kernel k 7 10 +1 #1;"
	  "kernel volta_h884gemm 7 20 +3 #2",
	  "name,device_self_ns,tensor_percent", "b,3000,100.00\na,1000,0.00" },
	{ "device time comes first, then host time",
	  "op x 1 0 +50; op y 1 60 +5; call l 1 61 +1 #1; op z 1 70 +60; kernel k 7 80 +1 #1",
	  "name", "y\nz\nx" },
	{ "all without device rows", "op a 1 0 +9; call l 1 1 +1 #1",
	  TIMES ",device_percent,tensor_percent", "a,1,8000,9000,-,-,-,-" },
};

static const struct view_case old_cases[] = {
	{ "annotations that old writers kept as operators are none",
	  "[" BOTH(BOTH(OLD_OP("ProfilerStep#3", "0", "90"), OLD_OP(LOADER, "1", "5")),
		   BOTH(OLD_OP("Optimizer.step#SGD.step", "10", "5"),
			OLD_OP("Optimizer.zero_grad#SGD.zero_grad", "20", "5"))) "]",
	  "name", "" },
	{ "nor are those around collectives and models",
	  "[" BOTH(BOTH(OLD_OP("nccl:all_reduce", "30", "5"), OLD_OP("gloo:broadcast", "40", "5")),
		   BOTH(OLD_OP("DataParallel.forward", "50", "5"),
			OLD_OP("DistributedDataParallel.forward", "60", "5"))) "]",
	  "name", "" },
	{ "operators in them have no parent",
	  "[" BOTH(BOTH(OLD_OP("ProfilerStep#3", "0", "90"), OLD_OP("aten::mm", "10", "5")),
		   BOTH(OLD_LAUNCHED("12", "20", "1"), OLD_LAUNCHED("30", "40", "2"))) "]",
	  TIMES, "aten::mm,1,4000,5000,4000,4000" },
	{ "and those around them are charged with what is in them",
	  "[" BOTH(BOTH(OLD_OP("c10d::allreduce_", "0", "20"),
			OLD_OP("nccl:all_reduce", "2", "16")),
		   OLD_LAUNCHED("4", "30", "1")) "]",
	  TIMES, "c10d::allreduce_,1,19000,20000,4000,4000" },
	{ "the same names in today's category",
	  "op ProfilerStep#3 1 0 +9; op nccl:all_reduce 1 1 +2; note Optimizer.step#SGD.step 1 5 "
	  "+1",
	  "name", "" },
	{ "names that only begin like them are operators",
	  "op ProfilerStepper 1 0 +4; op nccl 1 5 +3; op DataParallel.forwarded 1 9 +2", "name",
	  "ProfilerStepper\nnccl\nDataParallel.forwarded" },
};

static void test_host(void **state)
{
	(void)state;
	view_cases_run("operators", host_cases, SS_COUNT(host_cases));
}

static void test_merging(void **state)
{
	(void)state;
	view_cases_run("operators", merging_cases, SS_COUNT(merging_cases));
}

static void test_device(void **state)
{
	(void)state;
	view_cases_run("operators", device_cases, SS_COUNT(device_cases));
}

static void test_old_writers(void **state)
{
	(void)state;
	view_cases_run("operators", old_cases, SS_COUNT(old_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("operators", "op a 1 0 +9; call l 1 1 +1 #1; kernel k 7 10 +4 #1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),      cmocka_unit_test(test_merging),
		cmocka_unit_test(test_device),    cmocka_unit_test(test_old_writers),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
