/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ddp.c - layout: every rank has the whole network, gradients are averaged in
 * buckets while backward goes on (DistributedDataParallel).
 */
#include "sim/programs/step.h"

/* Walking the graph for parameters that got no gradient, for each of their tensors. */
#define FIND_UNUSED_TENSOR_NS 9000

struct ddp_pass {
	struct ss_sim_share share;
	struct ss_sim_buckets buckets;
};

static void ddp_find_tensors(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	uint32_t tensors = ss_sim_parameter_tensors(&plan->model);

	if (!plan->find_unused)
		return;
	ss_sim_frame(program, "torch/nn/parallel/distributed.py(1604): _find_tensors");
	ss_sim_work(program, (int64_t)tensors * FIND_UNUSED_TENSOR_NS);
	ss_sim_frame_end(program);
}

/* find_unused_parameters: the reducer walks the graph from the output, before backward. */
static void ddp_search_unused(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	if (!plan->search_ns)
		return;
	ss_sim_frame(program, "torch/nn/parallel/distributed.py(1816): _post_forward");
	ss_sim_frame(program, "torch/nn/parallel/distributed.py(282): _find_tensors");
	ss_sim_frame_end(program);
	ss_sim_frame(program, "<built-in method prepare_for_backward of PyCapsule object at "
			      "0x7f468be44ff0>");
	ss_sim_op(program, "torch.distributed.ddp.reducer::search_unused_parameters");
	ss_sim_work(program, plan->search_ns);
	ss_sim_end(program);
	ss_sim_frame_end(program);
	ss_sim_frame_end(program);
}

static void ddp_passes(struct ss_sim_program *program, void *context, uint32_t micro)
{
	struct ddp_pass *pass = context;
	const struct ss_sim_plan *plan = pass->share.plan;

	pass->buckets.held = !plan->sync_each && micro + 1 < plan->accumulate;
	ss_sim_frame(program, SS_SIM_LINE_FORWARD);
	ss_sim_note(program, "DistributedDataParallel.forward");
	ss_sim_network_forward(program, &pass->share);
	ddp_find_tensors(program, plan);
	ddp_search_unused(program, plan);
	ss_sim_end(program);
	ss_sim_frame_end(program);
	ss_sim_backward_begin(program);
	ss_sim_network_backward(program, &pass->share, ss_sim_buckets_add, &pass->buckets);
	ss_sim_buckets_finish(program, &pass->buckets);
	ss_sim_backward_end(program);
}

static void ddp_validate(struct ss_sim_program *program, void *context)
{
	ss_sim_note(program, "DistributedDataParallel.forward");
	ss_sim_network_evaluate(program, &((struct ddp_pass *)context)->share);
	ss_sim_end(program);
}

static void ddp_build(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
		      struct ss_sim_program *out)
{
	struct ss_sim_tape tape;
	struct ddp_pass pass = { .share = ss_sim_share_whole(plan, part, &tape) };
	struct ss_sim_body body = ss_sim_body_whole(&pass.share);

	body.passes = ddp_passes;
	body.validate = ddp_validate;
	body.context = &pass;
	ss_sim_buckets_init(&pass.buckets, plan, SS_SIM_GROUP_WORLD, SS_SIM_COMM);
	if (plan->search_ns)
		pass.buckets.used_map = body.tensors;
	ss_sim_train_step(out, plan, &body);
}

static void ddp_defaults(struct ss_sim_plan *plan)
{
	plan->bucket_bytes = UINT64_C(25) << 20; /* torch's bucket_cap_mb */
}

static enum ss_status ddp_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	if (plan->rank_count < 2)
		return ss_fail(err, SS_ERR_USAGE, "layout 'ddp' needs at least 2 ranks");
	return SS_OK;
}

const struct ss_sim_layout ss_sim_layout_ddp = {
	.name = "ddp",
	.summary = "data parallel: DistributedDataParallel, gradients all-reduced in buckets",
	.training = true,
	.ranks = 8,
	.defaults = ddp_defaults,
	.check = ddp_check,
	.build = ddp_build,
};
