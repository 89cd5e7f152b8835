/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule costly-place. Without a device: steps of 10 ms, of which 6 are training. With one: steps
 * of 20 ms, of which the GPU works 10 ms, and what the host does in between.
 */
#include "support/rule_cases.h"

/* An operator that backward answers, its answer, and the optimizer: 6 ms of step n. */
#define TRAIN(n)                                                                                \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op aten::linear 1 " n "0000 +2000 =" n ";" \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 " n "2000 +3000 !" n           \
	"; note Optimizer.step#SGD.step 1 " n "5000 +1000;"
#define EACH(more) TRAIN("1") more("1") TRAIN("2") more("2") TRAIN("3") more("3")
#define NO_MORE(n) ""
/* Ranks whose steps have 6 ms of training, and then nothing that is recorded. */
#define TRAINED(n, id, us)                                                                        \
	"note ProfilerStep#" n " 1 " n "0000 +" us "; op aten::linear 1 " n "0000 +2000 =" id ";" \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 " n "2000 +3000 !" id            \
	"; note Optimizer.step#SGD.step 1 " n "5000 +1000;"
#define RANK(one, two, three) TRAINED("1", "1", one) TRAINED("4", "2", two) TRAINED("7", "3", three)
#define OTHER RANK("12000", "12500", "12000") "\n---\n"
#define NORM(n) "op aten::norm 1 " n "6000 +4000;"
#define LOGS(n) "frame train.py(3):report 1 " n "6000 +4000; op aten::norm 1 " n "6000 +3900;"
#define SHORT(n)                                                                     \
	"op aten::norm 1 " n "6000 +500; op aten::linear 1 " n "6500 +3500 =9" n ";" \
	"op autograd::engine::evaluate_function:AddmmBackward0 1 " n "9999 +1 !9" n ";"

#define STEP(n, at)                                                                             \
	"note ProfilerStep#" n " 1 " at "000 +20000; call cudaLaunchKernel 1 " at "010 +10 #" n \
	";"                                                                                     \
	"kernel gemm 0/7 " at "025 +8000 #" n ";"
#define STEPS STEP("1", "10") STEP("2", "30") STEP("3", "50")
/* the launch that ends the gap of 10 ms */
#define SECOND(n, at) \
	"call cudaLaunchKernel 1 " at " +10 #" n "; kernel gemm 0/7 " at " +1900 #" n ";"
#define ENDS SECOND("11", "28050") SECOND("12", "48050") SECOND("13", "68050")
#define FUNCTION(name, at) "frame " name " 1 " at " +9900;"
#define PREPARES                             \
	FUNCTION("a.py(3):prepare", "18100") \
	FUNCTION("a.py(3):prepare", "38100") FUNCTION("a.py(3):prepare", "58100")

static const struct rule_case cases[] = {
	{ "an operator that no backward answers, at its position", EACH(NORM),
	  "warning 4000.0 medium\n"
	  "4.00 ms per step are more than normal between the optimizer and forward, beside "
	  "training\naten::norm takes 4.00 ms of it per step (1 call)" },
	{ "with stacks, in its function", EACH(LOGS),
	  "warning 4000.0 medium\n"
	  "4.00 ms per step are more than normal in train.py(3):report, beside training "
	  "(train.py(3):report)\naten::norm takes 3.90 ms of it per step (1 call)" },
	{ "less than a tenth of the step", EACH(SHORT), "" },
	{ "nothing is recorded: the usual step has it", EACH(NO_MORE),
	  "warning 4000.0 medium\n"
	  "4.00 ms per step are more than normal outside of all recorded events, beside "
	  "training" },
	{ "nothing is recorded, on one rank for longer: its number",
	  OTHER OTHER RANK("20000", "20500", "20000"),
	  "warning 5264.5 medium\n"
	  "8.83 ms per step are more than normal outside of all recorded events, beside "
	  "training\nthe usual step of rank 2 has 8.00 ms more of it than those of the others" },
	{ "longer on one rank, but not in all of its steps: no number",
	  OTHER OTHER RANK("20000", "12000", "20000"),
	  "warning 4402.3 medium\n"
	  "7.89 ms per step are more than normal outside of all recorded events, beside "
	  "training" },
	{ "the GPU is idle while a function runs", STEPS ENDS PREPARES,
	  "warning 9900.0 medium\n"
	  "the GPU is idle for 9.90 ms per step while the host is in a.py(3):prepare "
	  "(a.py(3):prepare)" },
	{ "saving has its own rule",
	  STEPS ENDS FUNCTION("a.py(3):_save", "18100") FUNCTION("a.py(3):_save", "38100")
		  FUNCTION("a.py(3):_save", "58100"),
	  "" },
	{ "nothing is recorded in the gap: where, and not why", STEPS ENDS, "" },
	{ "no steps", "op aten::norm 1 0 +10", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("costly-place", cases, cases[0].trace)
