/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exposed_comm.c - cause: exposed communication: one bucket for all gradients
 * (DDP), or parameters gathered only when they are needed (FSDP).
 */
#include "sim/cause.h"
#include "sim/networks/model.h"

static void exposed_comm_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	uint64_t parameters = 0;

	if (fault->fixed)
		return;
	if (plan->prefetch_layers) {
		plan->prefetch_layers = plan->model.layers * (1000 - fault->permille) / 1000;
		return;
	}
	for (uint32_t i = 0; i < plan->model.layers; i++)
		parameters += ss_sim_block_parameters(&plan->model, i, plan->tensor);
	plan->bucket_bytes = fault->permille >= 500
				     ? UINT64_C(1) << 40
				     : parameters * ss_sim_dtype_bytes(plan->model.dtype) *
					       (fault->permille + 500) / 1000;
}

const struct ss_sim_cause ss_sim_cause_exposed_comm = {
	.name = "exposed-comm",
	.summary = "communication waits for the end of backward, or compute waits for it",
	.fix = "DDP: bucket_cap_mb=25; FSDP: forward_prefetch=True, BackwardPrefetch.BACKWARD_PRE",
	.op = "record_param_comms",
	.part = "buckets",
	.layouts = { "ddp", "fsdp" },
	.plant = exposed_comm_plant,
};
