/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_leak.c - cause: every step keeps some tensors.
 */
#include "sim/cause.h"

static void memory_leak_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->leak_bytes = (UINT64_C(1) << 20) * (32 + fault->permille);
}

const struct ss_sim_cause ss_sim_cause_memory_leak = {
	.name = "memory-leak",
	.summary = "tensors of every step are kept, so memory grows",
	.fix = "append loss.item() or loss.detach() instead of the loss",
	.op = "aten::clone",
	.line = "train.py:79",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = memory_leak_plant,
};
