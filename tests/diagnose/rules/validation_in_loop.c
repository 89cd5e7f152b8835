/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule validation-in-loop. Three steps of 10 ms on a CPU: a forward product with its
 * backward and the optimizer take 3 ms, then a step may run forward passes for 6 ms.
 */
#include "support/rule_cases.h"

#define TRAINS(n)                                                                      \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op aten::mm 1 " n "0100 +900 =" n \
	"; op MmBackward0 1 " n "1100 +900 !" n "; note Optimizer.step#SGD.step 1 " n "2100 +800;"
#define STEPS(more) TRAINS("1") more TRAINS("2") TRAINS("3")
#define EVERY(a, b, c) TRAINS("1") a TRAINS("2") b TRAINS("3") c
#define IN(kind, name) kind " " name " 1 13000 +6000;"
#define EVAL "frame torch/nn/modules/module.py(2900):eval 1 13010 +10;"
#define PASS "op aten::mm 1 13100 +2000; op aten::mm 1 16000 +2500;"
#define PASS_AT(n) "op aten::mm 1 " n "3100 +2000; op aten::mm 1 " n "6000 +2500;"
#define SAID(name, ms) name " runs forward passes without backward for " ms " ms per step"

/* The same with a device: what validation launched goes with it. */
#define ON_DEVICE(n)                                                                           \
	"note ProfilerStep#" n " 1 " n "0000 +10000; op aten::mm 1 " n "0100 +100 =" n         \
	"; call cudaLaunchKernel 1 " n "0110 +10 #" n "1; kernel gemm 0/7 " n "0120 +900 #" n  \
	"1; op MmBackward0 2 " n "0300 +100 !" n "; call cudaLaunchKernel 2 " n "0310 +10 #" n \
	"2; kernel gemm 0/7 " n "1020 +900 #" n "2;"
#define DEVICE_PASS                                                           \
	"frame train.py(9):validate 1 12000 +6000; op aten::mm 1 12100 +100;" \
	"call cudaLaunchKernel 1 12110 +10 #91; kernel gemm 0/7 12120 +5000 #91;"

static const struct rule_case cases[] = {
	{ "a function that validates", STEPS(IN("frame", "train.py(9):validate") PASS),
	  "warning 2000.0 high\n" SAID("train.py(9):validate", "2.00") " (train.py(9):validate)" },
	{ "a range that says so", STEPS(IN("note", "evaluation") PASS),
	  "warning 2000.0 high\n" SAID("evaluation", "2.00") },
	{ "Trainer.evaluate of transformers",
	  STEPS("frame transformers/trainer.py(3000):_maybe_log_save_evaluate 1 12950 +6100;" IN(
		  "frame", "transformers/trainer.py(4200):evaluate") PASS),
	  "warning 2000.0 high\n" SAID("transformers/trainer.py(4200):evaluate",
				       "2.00") " (transformers/trainer.py(4200):evaluate)" },
	{ "the validation loop of Lightning",
	  STEPS(IN("frame", "lightning/pytorch/loops/evaluation_loop.py(120):run") PASS),
	  "warning 2000.0 high\n" SAID(
		  "lightning/pytorch/loops/evaluation_loop.py(120):run",
		  "2.00") " (lightning/pytorch/loops/evaluation_loop.py(120):run)" },
	{ "what it launched goes with it",
	  ON_DEVICE("1") DEVICE_PASS ON_DEVICE("2")
		  ON_DEVICE("3") "note ProfilerStep#4 1 40000 +10000",
	  "warning 2000.0 high\n" SAID("train.py(9):validate", "2.00") " (train.py(9):validate)" },
	{ "no name: forward passes in one of three steps", STEPS(PASS),
	  "warning 1800.0 medium\nsome steps run forward passes without backward: 1.80 ms per "
	  "step" },
	{ "no name, but model.eval() is called",
	  STEPS(IN("frame", "train.py(9):_metrics") EVAL PASS),
	  "warning 2000.0 high\n" SAID("train.py(9):_metrics", "2.00") " (train.py(9):_metrics)" },
	{ "a teacher computes in every step", EVERY(PASS_AT("1"), PASS_AT("2"), PASS_AT("3")), "" },
	{ "a function that trains is called so",
	  STEPS("frame train.py(9):test_model 1 10050 +9000;" PASS_AT("1")),
	  "warning 1800.0 medium\nsome steps run forward passes without backward: 1.80 ms per "
	  "step (train.py(9):test_model)" },
	{ "one that takes no time, behind operators of the same start",
	  STEPS("frame train.py(9):validate 1 13100 +0;" PASS_AT("1")),
	  "warning 1800.0 medium\nsome steps run forward passes without backward: 1.80 ms per "
	  "step" },
	{ "nothing is computed: model.eval() alone", STEPS(IN("frame", "train.py(9):eval_mode")),
	  "" },
	{ "the file ends before the backward of its last step",
	  STEPS("") "note ProfilerStep#4 1 40000 +10000; op aten::mm 1 40100 +900;", "" },
	{ "a metric is no forward pass", STEPS("op aten::linalg_vector_norm 1 13100 +2000;"), "" },
	{ "a forward pass that is trained",
	  STEPS("op aten::mm 1 13100 +2000 =9; op MmBackward0 1 "
		"16000 +1000 !9;"),
	  "" },
	{ "nothing is trained in the file",
	  "note ProfilerStep#1 1 10000 +10000;" IN("frame", "train.py(9):validate") PASS
	  "note ProfilerStep#2 1 20000 +10000; note ProfilerStep#3 1 30000 +10000",
	  "" },
	{ "outside of the steps",
	  "frame train.py(9):validate 1 2000 +6000; op aten::mm 1 3000 +100;" STEPS(""), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("validation-in-loop", cases, cases[0].trace)
