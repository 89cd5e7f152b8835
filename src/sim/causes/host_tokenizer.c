/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_tokenizer.c - cause: the server tokenizes requests on the thread that runs the
 * model.
 */
#include "sim/cause.h"

static void host_tokenizer_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->tokenizer_ns = ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_host_tokenizer = {
	.name = "host-tokenizer",
	.summary = "requests are tokenized on the thread that launches the model's kernels",
	.fix = "tokenize in a separate process, ahead of the forward pass that needs it",
	.op = "tokenizer",
	.line = "server.py:27",
	.layouts = { "inference" },
	.plant = host_tokenizer_plant,
};
