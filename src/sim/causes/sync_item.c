/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync_item.c - cause: the loop reads numbers from the GPU (.item()), and the
 * Python work after each read can no longer overlap with queued kernels.
 */
#include "sim/cause.h"

#define ITEMS 12

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
