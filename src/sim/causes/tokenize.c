/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tokenize.c - cause: collate_fn tokenizes texts in the training process.
 */
#include "sim/cause.h"

static void tokenize_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* what tokenizing costs is a circumstance; who pays for it is the fault */
	plan->tokenizes = true;
	plan->fetch_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);
	plan->loader_workers = fault->fixed ? 8 : 0;
}

const struct ss_sim_cause ss_sim_cause_tokenize = {
	.name = "tokenize",
	.summary = "collate_fn tokenizes each batch in the training process",
	.fix = "tokenize the dataset once before training, or DataLoader(num_workers=8)",
	.op = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	.line = "text.py:18",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = tokenize_plant,
};
