/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fp32_matmul.c - cause: matrices are multiplied in FP32, without tensor
 * cores.
 */
#include "sim/cause.h"

static void fp32_matmul_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->fp32_layers = plan->model.layers * fault->permille / 3000 + 1;
}

const struct ss_sim_cause ss_sim_cause_fp32_matmul = {
	.name = "fp32-matmul",
	.summary = "matmuls in FP32 do not use tensor cores",
	.fix = "torch.autocast(\"cuda\", dtype=torch.bfloat16), or "
	       "torch.set_float32_matmul_precision(\"high\")",
	.op = "aten::addmm",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = fp32_matmul_plant,
};
