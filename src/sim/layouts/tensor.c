/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor.c - layout: the matrices of each block are split over neighbouring
 * ranks, which sum their parts twice per block, forward and backward. Ranks
 * beyond one such group are data parallel.
 */
#include "sim/plan.h"
#include "sim/programs/step.h"

struct tensor_layout_pass {
	struct ss_sim_share share;
	struct ss_sim_buckets buckets;
	bool data_parallel;
};

static void tensor_layout_passes(struct ss_sim_program *program, void *context, uint32_t micro)
{
	struct tensor_layout_pass *pass = context;

	pass->buckets.held = !pass->data_parallel || micro + 1 < pass->share.plan->accumulate;
	ss_sim_frame(program, SS_SIM_LINE_FORWARD);
	ss_sim_network_forward(program, &pass->share);
	ss_sim_frame_end(program);
	ss_sim_backward_begin(program);
	ss_sim_network_backward(program, &pass->share, ss_sim_buckets_add, &pass->buckets);
	ss_sim_buckets_finish(program, &pass->buckets);
	ss_sim_backward_end(program);
}

static void tensor_layout_validate(struct ss_sim_program *program, void *context)
{
	ss_sim_network_evaluate(program, &((struct tensor_layout_pass *)context)->share);
}

static void tensor_layout_build(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
				struct ss_sim_program *out)
{
	struct ss_sim_tape tape;
	struct tensor_layout_pass pass = { .share = ss_sim_share_whole(plan, part, &tape),
					   .data_parallel = ss_sim_data_count(plan) > 1 };
	struct ss_sim_body body = ss_sim_body_whole(&pass.share);

	body.passes = tensor_layout_passes;
	body.validate = tensor_layout_validate;
	body.context = &pass;
	pass.share.reduce = ss_sim_tensor_reduce;
	pass.share.context = &pass.share;
	ss_sim_buckets_init(&pass.buckets, plan, SS_SIM_GROUP_DATA, SS_SIM_COMM);
	ss_sim_train_step(out, plan, &body);
}

static void tensor_layout_defaults(struct ss_sim_plan *plan)
{
	plan->tensor = 4;
	plan->model.hidden *= 4; /* networks are split when they do not fit one device */
	plan->model.heads *= 4;
	plan->model.layers = 6;
	plan->bucket_bytes = UINT64_C(40) << 20;
}

static enum ss_status tensor_layout_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	if (plan->tensor < 2 || plan->rank_count % plan->tensor)
		return ss_fail(err, SS_ERR_USAGE,
			       "layout 'tensor' needs a multiple of %u ranks, not %u", plan->tensor,
			       plan->rank_count);
	if (plan->tensor > plan->host_ranks)
		return ss_fail(err, SS_ERR_USAGE,
			       "a tensor-parallel group of %u does not fit into a host of %u ranks",
			       plan->tensor, plan->host_ranks);
	if (plan->model.network == SS_SIM_CNN)
		return ss_fail(err, SS_ERR_USAGE, "layout 'tensor' needs a transformer");
	return SS_OK;
}

const struct ss_sim_layout ss_sim_layout_tensor = {
	.name = "tensor",
	.summary = "tensor parallel within a host, data parallel across hosts",
	.training = true,
	.splits_matrices = true,
	.ranks = 4,
	.defaults = tensor_layout_defaults,
	.check = tensor_layout_check,
	.build = tensor_layout_build,
};
