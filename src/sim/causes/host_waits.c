/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_waits.c - causes: the host reads results of the GPU, and waits for them.
 */
#include "sim/cause.h"

#define ITEMS 12

/* The Python work after each read can no longer overlap with queued kernels. */
static void sync_item_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->items_a_step = ITEMS;
	plan->item_work_ns = ss_sim_part_of_step(fault) / ITEMS;
}

const struct ss_sim_cause ss_sim_cause_sync_item = {
	.name = "sync-item",
	.summary = ".item() in the training loop makes the host wait for the GPU (host sync)",
	.fix = "keep losses on the GPU and read them every 100 steps",
	.op = "aten::item",
	.line = "train.py:55",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline", "inference" },
	.plant = sync_item_plant,
};

#define PRINTS 2

/* Printing reads the tensor value by value. */
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

#define CALLS 4

/* Only the GPU knows the size of the result, so the host waits in the middle of the step. */
static void sync_nonzero_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->nonzeros = CALLS;
	plan->nonzero_work_ns = ss_sim_part_of_step(fault) / CALLS;
}

const struct ss_sim_cause ss_sim_cause_sync_nonzero = {
	.name = "sync-nonzero",
	.summary = "nonzero() in forward makes the host wait for the GPU to learn a size",
	.fix = "use torch.where with three arguments, or a mask of fixed size",
	.op = "aten::nonzero",
	.line = "model.py:73",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline", "inference" },
	.plant = sync_nonzero_plant,
};
