/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fragmentation.c - cause: sizes change from step to step, so that cached
 * blocks never fit.
 */
#include "sim/cause.h"

static void fragmentation_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->fragment_permille = 20 + fault->permille / 4;
	plan->fragment_min_bytes = (UINT64_C(1) << 20) * (fault->permille < 500 ? 48 : 1);
}

const struct ss_sim_cause ss_sim_cause_fragmentation = {
	.name = "fragmentation",
	.summary = "activations change size in every step and never fit the cached blocks",
	.fix = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or pad to fixed lengths",
	.op = "cudaMalloc",
	.line = "dataset.py:22",
	.layouts = { "single", "ddp", "fsdp" },
	.plant = fragmentation_plant,
};
