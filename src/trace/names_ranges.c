/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names_ranges.c - ranges and operators by which a program's phases are known:
 * steps, input, optimizer, backward, compiling, garbage collection.
 */
#include "trace/names.h"

static const struct ss_name_pattern patterns[] = {
	{ SS_NAME_STARTS, "ProfilerStep#", SS_NAME_STEP },
	/* SGLang, vLLM, and what people call their own loops */
	{ SS_NAME_STARTS, "step[", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "execute_", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "train_step", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "## train_step", SS_NAME_STEP_LIKE },
	{ SS_NAME_STARTS, "enumerate(DataLoader)#", SS_NAME_DATALOADER },
	{ SS_NAME_STARTS, "enumerate(DataPipe)#", SS_NAME_DATALOADER },
	{ SS_NAME_STARTS, "Optimizer.step#", SS_NAME_OPTIMIZER_STEP },
	{ SS_NAME_STARTS, "Optimizer.zero_grad#", SS_NAME_ZERO_GRAD },
	{ SS_NAME_IS, "DataParallel.forward", SS_NAME_WRAPPER },
	{ SS_NAME_IS, "DistributedDataParallel.forward", SS_NAME_WRAPPER },
	{ SS_NAME_STARTS, "FullyShardedDataParallel.", SS_NAME_WRAPPER },
	{ SS_NAME_STARTS, "autograd::engine::evaluate_function: ", SS_NAME_BACKWARD },
	{ SS_NAME_STARTS, "Torch-Compiled Region", SS_NAME_COMPILE },
	{ SS_NAME_STARTS, "TorchDynamo Cache Lookup", SS_NAME_COMPILE },
	{ SS_NAME_ENDS, "(dynamo_timed)", SS_NAME_COMPILE },
	{ SS_NAME_IS, "Python GC", SS_NAME_GC },
	{ SS_NAME_IS, "<built-in function collect>", SS_NAME_GC }, /* gc.collect() */
	{ SS_NAME_STARTS, "nn.Module: ", SS_NAME_MODULE },
	{ SS_NAME_STARTS, "Iteration Start", SS_NAME_WINDOW },
	{ SS_NAME_IS, "Record Window End", SS_NAME_WINDOW },
	{ SS_NAME_IS, "[memory]", SS_NAME_MEMORY },
	{ SS_NAME_IS, "[OutOfMemory]", SS_NAME_OUT_OF_MEMORY },
};

const struct ss_name_table ss_names_ranges = { patterns, SS_COUNT(patterns) };
