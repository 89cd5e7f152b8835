/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pageable_copy.c - cause: batches are copied from pageable memory, and the
 * host waits for each copy.
 */
#include "sim/cause.h"

static void pageable_copy_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* a batch of this size is no fault; where it lies in memory is */
	plan->input_bytes = (uint64_t)((double)ss_sim_part_of_step(fault) *
				       plan->device->pageable_rate / 1e9);
	plan->pageable = !fault->fixed;
}

const struct ss_sim_cause ss_sim_cause_pageable_copy = {
	.name = "pageable-copy",
	.summary = "batches are copied from pageable memory",
	.fix = "DataLoader(pin_memory=True) and .to(device, non_blocking=True)",
	.op = "Memcpy HtoD (Pageable -> Device)",
	.line = "train.py:38",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = pageable_copy_plant,
};
