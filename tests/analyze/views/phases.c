/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View phases: parts of the host's and the device's time that sum to the steps.
 */
#include "support/view_cases.h"

#define HOST "phase,host_ns"
#define BOTH "phase,host_ns,device_ns"
#define STEP "note ProfilerStep#1 1 0 +100;"
#define LOADER "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define OLD(name, ts, dur)                                                                        \
	"{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"" name "\",\"pid\":1,\"tid\":1,\"ts\":" ts \
	",\"dur\":" dur ",\"args\":{}}"

static const struct view_case host_cases[] = {
	{ "nothing", "[]", "phase", "" },
	{ "operators and launches are forward, the rest is Python",
	  STEP "op a 1 10 +20; call cudaLaunchKernel 1 50 +5",
	  "device,step,phase,host_ns,host_percent,device_ns,device_percent",
	  "-,-,forward,25000,25.00,-,-\n-,-,other,75000,75.00,-,-" },
	{ "all phases of a thread",
	  STEP "note " LOADER " 1 0 +10; op aten::mm 1 10 +20; op AddBackward0 1 40 +30;"
	       "op aten::mul 1 45 +5; note Optimizer.step#SGD.step 1 80 +10; op aten::add_ 1 82 +3",
	  HOST, "input,10000\nforward,20000\nbackward,30000\noptimizer,10000\nother,30000" },
	{ "only what lies in the step", STEP "op a 1 90 +30; op b 1 200 +50", HOST,
	  "forward,10000\nother,90000" },
	{ "autograd's thread works while the main one waits",
	  STEP "op a 1 10 +20; op AddBackward0 2 40 +30", HOST,
	  "forward,20000\nbackward,30000\nother,50000" },
	{ "what the main thread does itself comes first",
	  STEP "op a 1 10 +20; op AddBackward0 2 40 +30; op b 1 60 +20", HOST,
	  "forward,40000\nbackward,20000\nother,40000" },
	{ "what is between the functions of autograd's thread is backward, too",
	  STEP "op a 1 10 +20; op AddBackward0 2 40 +10; op aten::copy_ 2 55 +5", HOST,
	  "forward,20000\nbackward,15000\nother,65000" },
	{ "a thread beside that is not autograd's does not count",
	  STEP "op a 1 10 +20; op b 2 40 +30; op AddBackward0 2 80 +5", HOST,
	  "forward,20000\nbackward,5000\nother,75000" },
	{ "nor does backward of another process",
	  "note ProfilerStep#1 1/1 0 +100; op a 1/1 10 +20; op AddBackward0 2/2 40 +30", HOST,
	  "forward,20000\nother,80000" },
	{ "the main thread is that of the steps",
	  "op long 2 0 +90; note ProfilerStep#1 1 0 +100; op a 1 10 +20", HOST,
	  "forward,20000\nother,80000" },
	{ "unless nothing happens on it", STEP "op a 2 10 +20; frame f 1 0 +50", HOST,
	  "forward,20000\nother,80000" },
	{ "without steps, the one with most time in operators that are not backward",
	  "op a 1 0 +20; op AddBackward0 2 20 +80", HOST, "forward,20000\nbackward,80000" },
	{ "waits and questions outside of operators are none",
	  STEP "call cudaDeviceSynchronize 1 10 +20; call cudaEventQuery 1 40 +5; op a 1 60 +10",
	  HOST, "forward,10000\nother,90000" },
	{ "in an operator they are its own",
	  STEP "op a 1 10 +50; call cudaStreamSynchronize 1 20 +30", HOST,
	  "forward,50000\nother,50000" },
	{ "frames and ranges of other names are none",
	  STEP "frame f 1 10 +20; note mine 1 40 +20; op a 1 45 +5", HOST,
	  "forward,5000\nother,95000" },
	{ "operators that overlap count once", STEP "op a 1 10 +20; op b 1 20 +20", HOST,
	  "forward,30000\nother,70000" },
	{ "no optimizer in a file with backward is told",
	  STEP "op a 1 0 +40; op XBackward0 1 40 +60", HOST "+notes",
	  "forward,40000\n"
	  "backward,60000\n"
	  "The file has no optimizer range, so work after backward counts as forward. Use a "
	  "torch.optim.Optimizer, or record_function(\"optimizer\")." },
	{ "without operators nothing tells forward from backward",
	  STEP "call cudaLaunchKernel 1 10 +5 #1; kernel k 7 20 +30 #1", BOTH "+notes",
	  "other,-,30000\n"
	  "idle,-,70000\n"
	  "Operators are not recorded: use profile(activities=[ProfilerActivity.CPU, ...])." },
	{ "but a range does",
	  STEP "note backward 1 10 +9; call cudaLaunchKernel 1 11 +5 #1; kernel k 7 20 +30 #1",
	  BOTH, "backward,9000,30000\nother,91000,0\nidle,-,70000" },
	{ "without backward nothing is said", STEP "op a 1 0 +100", HOST "+notes",
	  "forward,100000" },
};

static const struct view_case range_cases[] = {
	{ "a range that is called forward", STEP "note forward 1 10 +40; op a 1 20 +5", HOST,
	  "forward,40000\nother,60000" },
	{ "as a word, whatever its case",
	  STEP "note Backward-Pass 1 10 +40; note my_OPTIMIZER_step 1 60 +10", HOST,
	  "backward,40000\noptimizer,10000\nother,50000" },
	{ "parts of words are no words",
	  STEP "note forwarded 1 10 +40; note optimizers 1 60 +10; op a 1 90 +1", HOST,
	  "forward,1000\nother,99000" },
	{ "around both it is none of them", STEP "note forward_backward 1 10 +40; op a 1 20 +5",
	  HOST, "forward,5000\nother,95000" },
	{ "it wins over what operators say", STEP "note forward 1 10 +40; op XBackward0 1 20 +10",
	  HOST, "forward,40000\nother,60000" },
	{ "ranges of PyTorch in it count",
	  STEP "note backward 1 10 +40; note Optimizer.zero_grad#S 1 20 +10", HOST,
	  "backward,30000\noptimizer,10000\nother,60000" },
	{ "backward of an optimizer's closure is backward",
	  STEP "note Optimizer.step#LBFGS.step 1 10 +50; op a 1 20 +10; op XBackward0 1 30 +20",
	  HOST, "backward,20000\noptimizer,30000\nother,50000" },
	{ "a checkpoint that is computed again is backward",
	  STEP "op CheckpointFunctionBackward 1 10 +40; note forward 1 15 +20; op a 1 20 +5",
	  HOST "+notes",
	  "backward,40000\n"
	  "other,60000\n"
	  "The file has no optimizer range, so work after backward counts as forward. Use a "
	  "torch.optim.Optimizer, or record_function(\"optimizer\")." },
	{ "operators of such names are no ranges",
	  STEP "op aten::threshold_backward 1 10 +40; op triton_fused_backward_3 1 60 +10", HOST,
	  "forward,50000\nother,50000" },
	{ "old writers kept a user's range as operator",
	  "[" OLD("ProfilerStep#1", "0", "100") "," OLD("## backward ##", "10",
							"40") "," OLD("aten::add", "20", "10") "]",
	  HOST, "backward,40000\nother,60000" },
	{ "the steps of engines are no phase",
	  "note step[DECODE 1 0 +50; note step[DECODE 1 50 +50; op forward_x 1 10 +20", HOST,
	  "forward,20000\nother,80000" },
};

static const struct view_case device_cases[] = {
	{ "by launch, each moment once, idle last",
	  STEP "op a 1 10 +5; call cudaLaunchKernel 1 11 +1 #1; op XBackward0 1 20 +5;"
	       "call cudaLaunchKernel 1 21 +1 #2; kernel k 7 30 +20 #1; kernel k 8 40 +20 #2;"
	       "kernel k 7 70 +5 #9",
	  "device,phase,host_ns,device_ns,device_percent",
	  "1,forward,5000,20000,20.00\n1,backward,5000,10000,10.00\n1,other,90000,5000,5.00\n"
	  "1,idle,-,65000,65.00" },
	{ "copies and memsets are device time, marks are none",
	  STEP "note " LOADER
	       " 1 0 +50; call cudaMemcpyAsync 1 5 +1 #1; call cudaMemsetAsync 1 7 +1 #2;"
	       "copy c 7 10 +10 #1; set s 7 20 +5 #2; mark m 7 30 +40",
	  BOTH, "input,50000,15000\nother,50000,0\nidle,-,85000" },
	{ "input behind forward is hidden",
	  STEP
	  "note " LOADER
	  " 1 0 +9; call cudaMemcpyAsync 1 5 +1 #1; op a 1 10 +1; call cudaLaunchKernel 1 10 +1 #2;"
	  "copy c 8 10 +30 #1; kernel k 7 20 +10 #2",
	  BOTH, "input,9000,20000\nforward,1000,10000\nother,90000,0\nidle,-,70000" },
	{ "the host counts its range, the device the effective step",
	  STEP "op a 1 10 +10; call cudaLaunchKernel 1 11 +1 #1; kernel k 7 50 +150 #1",
	  "phase,host_ns,host_percent,device_ns,device_percent",
	  "forward,10000,10.00,150000,75.00\nother,90000,90.00,0,0.00\nidle,-,-,50000,25.00" },
	{ "without host rows the host is not recorded", "kernel k 7 30 +20; kernel j 7 60 +20",
	  "phase,host_ns,host_percent,device_ns", "other,-,-,40000\nidle,-,-,10000" },
	{ "each device has its rows, the host's time is the same in all",
	  STEP "op a 1 0 +100; call cudaLaunchKernel 1 1 +1 #1; call cudaLaunchKernel 1 3 +1 #2;"
	       "kernel k 0/7 10 +90 #1; kernel k 1/7 10 +40 #2",
	  "device,phase,host_ns,device_ns",
	  "0,forward,100000,90000\n0,idle,-,10000\n1,forward,100000,40000\n1,idle,-,60000" },
	{ "a device that is never idle has no such row",
	  STEP "op a 1 0 +100; call cudaLaunchKernel 1 0 +1 #1; kernel k 7 0 +100 #1", BOTH,
	  "forward,100000,100000" },
	{ "a launch of autograd's thread is backward",
	  STEP
	  "op a 1 0 +10; op XBackward0 2 20 +10; op c 2 40 +5; call cudaLaunchKernel 2 41 +1 #1;"
	  "kernel k 7 50 +10 #1",
	  BOTH, "forward,10000,0\nbackward,15000,10000\nother,75000,0\nidle,-,90000" },
};

#define TWO "note ProfilerStep#1 1 0 +50; note ProfilerStep#2 1 50 +50;"

static const struct view_case step_cases[] = {
	{ "nothing", "[]", "step", "" },
	{ "each step has its own parts",
	  TWO "op a 1 10 +20; op b 1 40 +10; op b 1 50 +20; op XBackward0 1 70 +10",
	  "step,phase,host_ns,host_percent",
	  "0,forward,30000,60.00\n0,other,20000,40.00\n1,forward,20000,40.00\n"
	  "1,backward,10000,20.00\n1,other,20000,40.00" },
	{ "an operator around the start of a step is not all of it",
	  TWO "op a 1 40 +30; op b 1 80 +10", "step,phase,host_ns",
	  "0,forward,10000\n0,other,40000\n1,forward,10000\n1,other,40000" },
	{ "a step that is cut does not count",
	  TWO
	  "op a 1 10 +20; call cudaLaunchKernel 1 11 +1 #1; op b 1 60 +20; kernel k 7 20 +10 #1",
	  "step,phase,host_ns,device_ns",
	  "0,forward,20000,10000\n0,other,30000,0\n0,idle,-,40000" },
};

static void test_host(void **state)
{
	(void)state;
	view_cases_run("phases", host_cases, SS_COUNT(host_cases));
}

static void test_ranges(void **state)
{
	(void)state;
	view_cases_run("phases", range_cases, SS_COUNT(range_cases));
}

static void test_device(void **state)
{
	(void)state;
	view_cases_run("phases", device_cases, SS_COUNT(device_cases));
}

static void test_steps(void **state)
{
	(void)state;
	view_cases_run("phases/step", step_cases, SS_COUNT(step_cases));
}

static void test_no_memory(void **state)
{
	(void)state;
	view_memory_run("phases", STEP "op a 1 10 +5; call cudaLaunchKernel 1 11 +1 #1;"
				       "op XBackward0 2 20 +5; kernel k 7 30 +20 #1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_host),      cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_device),    cmocka_unit_test(test_steps),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
