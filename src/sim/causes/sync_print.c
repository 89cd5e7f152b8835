/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_print.c - cause: the loop prints a tensor, which reads it value by value.
 */
#include "sim/cause.h"

#define PRINTS 2

static void sync_print_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->prints = PRINTS;
	plan->print_work_ns = ss_sim_part_of_step(fault) / PRINTS;
}

const struct ss_sim_cause ss_sim_cause_sync_print = {
	.name = "sync-print",
	.summary = "every step prints a tensor that is on the GPU",
	.fix = "print rarely, and only what is needed: tensor.detach().cpu()",
	.op = "aten::item",
	.line = "train.py:59",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = sync_print_plant,
};
