/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule input-stall. Three steps of 1,000 us: the training thread takes a batch and
 * launches one kernel, which runs until the end of the step. Everything starts after that
 * batch, so the step shrinks by what is removed of __next__.
 */
#include "support/rule_cases.h"

#define SINGLE "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
#define MULTI "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
#define PIPE "enumerate(DataPipe)#Batcher"

#define LAUNCH(n, at, dur)                                                             \
	"op aten::mm 1 " at " +10; call cudaLaunchKernel 1 " at " +10 #" n "; kernel " \
	"gemm 0/7 " at ".5 +" dur " #" n ";"

/* Step n at n thousand us: input of `dur` us, the launch behind it, a kernel of `busy` us. */
#define STEP(n, name, dur, busy)                    \
	"note ProfilerStep#" n " 1 " n "000 +1000;" \
	"note " name " 1 " n "000 +" dur ";" LAUNCH(n, n dur, busy)

#define STEPS(name, dur, busy)     \
	STEP("1", name, dur, busy) \
	STEP("2", name, dur, busy) STEP("3", name, dur, busy) "note ProfilerStep#4 1 4000 +1000"

#define SAID(name, ms) name " blocks the training thread for " ms " ms per step"

#define LINE(frame) " (" frame ")\n"
#define INNER(frame, what) frame " takes 0.15 ms of it per step: " what " (" frame ")"

/* A step whose batch is made by a function of the program. */
#define OWN(n)                                      \
	"note ProfilerStep#" n " 1 " n "000 +1000;" \
	"frame data.py(5):get_batch 1 " n "000 +500;" LAUNCH(n, n "500", "495")
#define MAKES(frame) frame " prepares batches on the training thread: 0.50 ms per step (" frame ")"

static const struct rule_case cases[] = {
	/* 500 us less the 200 that taking a batch costs at most */
	{ "a batch is made in the training process", STEPS(SINGLE, "500", "495"),
	  "warning 300.0 high\n" SAID(SINGLE, "0.50") },
	{ "workers are too slow", STEPS(MULTI, "500", "495"),
	  "warning 300.0 high\n" SAID(MULTI, "0.50") },
	{ "a DataPipe", STEPS(PIPE, "500", "495"), "warning 300.0 high\n" SAID(PIPE, "0.50") },
	/* one of the steps has its batch at once: the shortest is what stays */
	{ "workers that keep up now and then",
	  STEP("1", MULTI, "500", "495") STEP("2", MULTI, "100", "895")
		  STEP("3", MULTI, "500", "495") "note ProfilerStep#4 1 4000 +1000",
	  "warning 266.7 high\n" SAID(MULTI, "0.37") },
	{ "the line of the program",
	  "frame train.py(33):_next 1 1000 +500;" STEPS(SINGLE, "500", "495"),
	  "warning 300.0 high\n" SAID(SINGLE, "0.50") " (train.py(33):_next)" },
	{ "the function that its time goes to",
	  "frame torch/utils/data/dataloader.py(7):fetch 1 1010 +480;"
	  "frame data.py(5):collate 1 1020 +460; frame data.py(9):tokenize 1 1030 +440;"
	  "frame json/decoder.py(1):scan 1 1040 +100;" STEPS(SINGLE, "500", "495"),
	  "warning 300.0 high\n" SAID(SINGLE, "0.50")
		  LINE("torch/utils/data/dataloader.py(7):fetch")
			  INNER("data.py(9):tokenize", "tokenizing") },
	{ "only functions of libraries: the innermost",
	  "frame torchvision/a.py(5):__call__ 1 1020 +460;"
	  "frame torchvision/b.py(9):resize 1 1030 +440;" STEPS(SINGLE, "500", "495"),
	  "warning 300.0 high\n" SAID(SINGLE, "0.50") LINE("torchvision/a.py(5):__call__")
		  INNER("torchvision/b.py(9):resize", "transforms") },
	{ "a function of the program makes batches",
	  OWN("1") OWN("2") OWN("3") "note ProfilerStep#4 1 4000 +1000",
	  "warning 300.0 medium\n" MAKES("data.py(5):get_batch") },
	{ "tokenizing before a model that is not trained",
	  "frame transformers/tokenization_utils_base.py(2800):__call__ 1 1000 +500;" LAUNCH(
		  "1", "1500", "495") "note ProfilerStep#1 1 1000 +1000; note ProfilerStep#2 1 "
				      "2000 +1000",
	  "warning 300.0 medium\n"
	  "transformers/tokenization_utils_base.py(2800):__call__ prepares batches on the "
	  "training thread: 0.50 ms per step "
	  "(transformers/tokenization_utils_base.py(2800):__call__)" },
	{ "a function that is called so, and computes on the device",
	  "frame model.py(5):preprocess 1 1000 +600;" LAUNCH("1", "1500", "495")
		  LAUNCH("2", "2500", "495") "note ProfilerStep#1 1 1000 +1000; note "
					     "ProfilerStep#2 1 2000 +1000; note ProfilerStep#3 1 "
					     "3000 +1000",
	  "" },
	{ "a function that trains",
	  "frame train.py(5):load_data 1 1000 +600; op aten::mm 1 1100 +10 =1; op MmBackward0 1 "
	  "1300 +10 !1;" LAUNCH("1", "1700", "295") "note ProfilerStep#1 1 1000 +1000; note "
						    "ProfilerStep#2 1 2000 +1000",
	  "" },
	{ "a batch that is ready is no stall", STEPS(MULTI, "100", "895"), "" },
	{ "a thread of workers, not the one that trains",
	  "note ProfilerStep#1 1 1000 +1000; note " SINGLE
	  " 2 1000 +900;" LAUNCH("1", "1100", "800"),
	  "" },
	{ "outside of the steps",
	  "note " SINGLE
	  " 1 100 +800; note ProfilerStep#1 1 1000 +1000;" LAUNCH("1", "1100", "800"),
	  "" },
	{ "no DataLoader in the file", "note ProfilerStep#1 1 0 +1000; op aten::mm 1 0 +10", "" },
	{ "no steps", "note " SINGLE " 1 0 +1000", "" },
	{ "nothing", "[]", "" },
};

RULE_TESTS("input-stall", cases, cases[0].trace)
