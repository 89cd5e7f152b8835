/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule all-idle. Steps of 10 ms: a kernel of 1 ms is launched, then a function saves or logs
 * for 6 ms. Without it a step takes 4 ms. On a CPU an operator trains instead.
 */
#include "support/rule_cases.h"

#define STEP(n, more)                                                                           \
	"note ProfilerStep#" n " 1 " n "0000 +10000; call cudaLaunchKernel 1 " n "0100 +10 #" n \
	";"                                                                                     \
	"kernel gemm 0/7 " n "0105 +1000 #" n ";" more
#define LAST "note ProfilerStep#4 1 40000 +10000"
#define STEPS(more) STEP("1", more) STEP("2", "") STEP("3", "") LAST
#define IN(frame) "frame " frame " 1 12000 +6000;"
#define SAID(frame) frame " runs 0.3 times per step and launches nothing for 2.00 ms"

/* Logs with kernels of its own, in a job that trains. */
#define WAIT(at) "op aten::item 1 " at " +100; call cudaStreamSynchronize 1 " at " +98;"
#define LOG_ALL                                                                           \
	"op aten::mm 1 10090 +10 =1; op MmBackward0 2 10500 +10 !1;"                      \
	"frame train.py(55):log_all 1 11500 +7000; call cudaLaunchKernel 1 11600 +10 #8;" \
	"kernel norm 0/7 11605 +100 #8;"

/* Without a device: forward, backward and the optimizer take 3 ms of three steps of 10. */
#define TRAINS(n)                                                                              \
	"note ProfilerStep#" n " 1 " n "0000 +10000; frame train.py(5):train_step 1 " n        \
	"0010 +9900; op aten::mm 1 " n "0100 +900 =" n "; op MmBackward0 1 " n "1100 +900 !" n \
	"; note Optimizer.step#SGD.step 1 " n "2100 +800;"
#define ON_CPU(more) TRAINS("1") more TRAINS("2") TRAINS("3")
#define NORMS "op aten::linalg_vector_norm 1 13000 +2000; op aten::item 1 15000 +10;"
#define TAKES(frame, ms) \
	frame " takes " ms " ms per step (0.3 calls per step) and trains nothing (" frame ")"

static const struct rule_case cases[] = {
	{ "torch.save", STEPS(IN("torch/serialization.py(901):_save")),
	  "warning 2000.0 high\n" SAID(
		  "torch/serialization.py(901):_save") " (torch/serialization.py(901):_save)" },
	{ "the function of the program around it is the whole of it",
	  STEPS("frame train.py(63):_keep 1 11500 +7000;" IN("torch/serialization.py(901):_save")),
	  "warning 2333.3 high\n"
	  "train.py(63):_keep runs 0.3 times per step and launches nothing for 2.33 ms "
	  "(train.py(63):_keep)" },
	{ "a range that says so", STEPS("note save_model 1 12000 +6000;"),
	  "warning 2000.0 high\n" SAID("save_model") },
	{ "a logger", STEPS(IN("wandb/sdk/wandb_run.py(1731):_log")),
	  "warning 2000.0 high\n" SAID(
		  "wandb/sdk/wandb_run.py(1731):_log") " (wandb/sdk/wandb_run.py(1731):_log)" },
	{ "copies of a checkpoint are part of it",
	  STEPS("frame train.py(63):_save 1 11500 +7000; call cudaMemcpyAsync 1 11600 +5 #9;"
		"copy Memcpy\\u0020DtoH 0/7 11605 +8395 #9;"),
	  "warning 2333.3 high\n"
	  "train.py(63):_save runs 0.3 times per step and launches nothing for 2.33 ms "
	  "(train.py(63):_save)" },
	{ "a function that reads a value and works with it belongs to the wait",
	  STEPS("frame train.py(55):_log_loss 1 11000 +7000; op aten::item 1 11001 +100;"
		"call cudaStreamSynchronize 1 11002 +98;"),
	  "" },
	{ "a function that computes many values and waits for each",
	  STEPS(LOG_ALL WAIT("12001") WAIT("13001") WAIT("14001") WAIT("15001")),
	  "warning 2333.3 high\n" TAKES("train.py(55):log_all", "2.33") },
	{ "a norm that is computed and waited for belongs to the wait",
	  STEPS(LOG_ALL WAIT("12001")), "" },
	{ "a CPU: the function that saves, not the step around it",
	  ON_CPU("frame train.py(63):save_checkpoint 1 13000 +6000; op aten::clone 1 13100 +500;"
		 "frame torch/serialization.py(901):save 1 14000 +4000;"),
	  "warning 2000.0 high\n" TAKES("train.py(63):save_checkpoint", "2.00") },
	{ "a CPU: what is logged is computed first",
	  ON_CPU("frame train.py(55):log_all 1 12950 +6000;" NORMS),
	  "warning 2000.0 high\n" TAKES("train.py(55):log_all", "2.00") },
	{ "a CPU: a function without a name that reads values and changes none",
	  ON_CPU("frame train.py(55):_track 1 12950 +6000;" NORMS),
	  "warning 2000.0 medium\n" TAKES("train.py(55):_track", "2.00") },
	{ "a callback of the Trainer of transformers, and the program's own function in it",
	  ON_CPU("frame transformers/trainer_callback.py(557):call_event 1 12900 +6200;"
		 "frame transformers/trainer_callback.py(500):on_step_end 1 12950 +6100;"
		 "frame my/hooks.py(7):on_step_end 1 13000 +6000; op aten::std 1 13100 +500;"),
	  "warning 2066.7 high\nmy/hooks.py(7):on_step_end takes 2.07 ms per step (0.3 calls per "
	  "step) and trains nothing (my/hooks.py(7):on_step_end)" },
	{ "a callback of Lightning",
	  ON_CPU("frame lightning/pytorch/trainer/call.py(200):_call_callback_hooks 1 12900 +6200;"
		 "frame my/hooks.py(9):on_train_batch_end 1 13000 +6000;"),
	  "warning 2066.7 high\n" TAKES("my/hooks.py(9):on_train_batch_end", "2.07") },
	{ "the checkpoint of transformers, not what may log, save and evaluate",
	  ON_CPU("frame transformers/trainer.py(3000):_maybe_log_save_evaluate 1 12900 +6200;"
		 "frame transformers/trainer.py(3100):_save_checkpoint 1 13000 +6000;"),
	  "warning 2000.0 high\n" TAKES("transformers/trainer.py(3100):_save_checkpoint", "2.00") },
	{ "a CPU: below 5 % of a step it is no warning",
	  ON_CPU("frame train.py(55):log_all 1 13000 +1200;"),
	  "info 400.0 high\n" TAKES("train.py(55):log_all", "0.40") },
	{ "a CPU: an update that somebody wrote is training",
	  ON_CPU("frame train.py(55):_update 1 12950 +6000;" NORMS "op aten::mul_ 1 16000 +10;"),
	  "" },
	{ "a CPU: clipping is training",
	  ON_CPU("frame train.py(55):_track 1 12950 +6000;"
		 "frame torch/nn/utils/clip_grad.py(3):clip_grad_norm_ 1 12960 +5000;" NORMS),
	  "" },
	{ "a CPU: a scheduler's wrapper around the optimizer is training",
	  ON_CPU("frame train.py(55):_update 1 12950 +6000;"
		 "frame torch/optim/lr_scheduler.py(137):_wrapper 1 12960 +5900;" NORMS),
	  "" },
	{ "a CPU: a function that trains is called so",
	  ON_CPU("frame train.py(55):train_and_log 1 10050 +9000;"), "" },
	{ "a CPU: functions that only compute are not known",
	  ON_CPU("frame train.py(55):_prepare 1 12950 +6000; op aten::add 1 13000 +5000;"), "" },
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
