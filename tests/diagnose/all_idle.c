/*
 * The rule all-idle. Steps of 10 ms: a kernel of 1 ms is launched, then a function saves or logs
 * for 6 ms. Without it a step takes 4 ms.
 */
#include "support/rule_cases.h"

#define STEP(n, more)                                                                           \
	"note ProfilerStep#" n " 1 " n "0000 +10000; call cudaLaunchKernel 1 " n "0100 +10 #" n \
	";"                                                                                     \
	"kernel gemm 0/7 " n "0105 +1000 #" n ";" more
#define LAST "note ProfilerStep#4 1 40000 +10000"
#define STEPS(more) STEP("1", more) STEP("2", "") STEP("3", "") LAST
#define IN(frame) "frame " frame " 1 12000 +6000;"
#define SAID(frame) frame " runs 0.3x a step and launches nothing for 2.00 ms"

static const struct rule_case cases[] = {
	{ "torch.save", STEPS(IN("torch/serialization.py(901):_save")),
	  "warning 2000.0 high\n" SAID(
		  "torch/serialization.py(901):_save") " (torch/serialization.py(901):_save)" },
	{ "the function of the program around it is the whole of it",
	  STEPS("frame train.py(63):_keep 1 11500 +7000;" IN("torch/serialization.py(901):_save")),
	  "warning 2333.3 high\n"
	  "train.py(63):_keep runs 0.3x a step and launches nothing for 2.33 ms "
	  "(train.py(63):_keep)" },
	{ "a range that says so", STEPS("note save_model 1 12000 +6000;"),
	  "warning 2000.0 high\n" SAID("save_model") },
	{ "a logger", STEPS(IN("wandb/sdk/wandb_run.py(1731):_log")),
	  "warning 2000.0 high\n" SAID(
		  "wandb/sdk/wandb_run.py(1731):_log") " (wandb/sdk/wandb_run.py(1731):_log)" },
	{ "copies of a checkpoint are part of it",
	  STEPS("frame train.py(63):_save 1 11500 +7000; call cudaMemcpyAsync 1 11600 +5 #9;"
		"copy Memcpy\\u0020DtoH 0/7 11605 +8395 #9;"),
	  "warning 2333.3 high\ntrain.py(63):_save runs 0.3x a step and launches nothing for "
	  "2.33 ms (train.py(63):_save)" },
	{ "a function that reads a value and works with it belongs to the wait",
	  STEPS("frame train.py(55):_log_loss 1 11000 +7000; op aten::item 1 11001 +100;"
		"call cudaStreamSynchronize 1 11002 +98;"),
	  "" },
	{ "logits are no log", STEPS(IN("model.py(9):_logits")), "" },
	{ "a function that launches kernels computes",
	  STEPS(IN("train.py(7):_save") "call cudaLaunchKernel 1 17000 +10 #8;"
					"kernel gemm 0/7 17005 +100 #8;"),
	  "" },
	{ "too short", STEPS("frame train.py(7):_save 1 12000 +900;"), "" },
	{ "no names are recorded", STEPS(""), "" },
	{ "outside of the steps", STEPS("frame train.py(7):_save 1 2000 +6000;"), "" },
	{ "no steps", IN("train.py(7):_save"), "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("all-idle", cases, cases[0].trace)
