/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsdp.c - layout: parameters are sharded over the ranks; each block's are
 * gathered before it is used and its gradients are reduced and scattered after.
 *
 * With prefetch, the gather of the next block is launched before this block's
 * work, so that the transfer overlaps with compute.
 */
#include "sim/programs/step.h"

struct fsdp_pass {
	struct ss_sim_share share;
	uint32_t ranks;
};

/* Elements of a unit: 0 is what comes before and after the blocks, i + 1 is block i. */
static uint64_t fsdp_unit_elements(const struct fsdp_pass *pass, uint32_t unit)
{
	const struct ss_sim_model *model = &pass->share.plan->model;
	uint64_t count = unit ? ss_sim_block_parameters(model, unit - 1, 1)
			      : ss_sim_stem_parameters(model) + ss_sim_head_parameters(model);

	return (count + pass->ranks - 1) / pass->ranks * pass->ranks;
}

static uint32_t fsdp_gather(struct ss_sim_program *program, const struct fsdp_pass *pass,
			    uint32_t unit)
{
	uint64_t elements = fsdp_unit_elements(pass, unit);

	return ss_sim_call_collective(program, &(struct ss_sim_collective){
						       .kind = SS_SIM_NCCL_ALL_GATHER,
						       .role = SS_SIM_GROUP_WORLD,
						       .dtype = pass->share.plan->model.dtype,
						       .in_count = elements / pass->ranks,
						       .out_count = elements,
						       .stream = SS_SIM_COMM });
}

static uint32_t fsdp_reduce_scatter(struct ss_sim_program *program, const struct fsdp_pass *pass,
				    uint32_t unit)
{
	uint64_t elements = fsdp_unit_elements(pass, unit);
	uint32_t done;

	ss_sim_note(program, "FullyShardedDataParallel._post_backward_hook");
	done = ss_sim_call_collective(program, &(struct ss_sim_collective){
						       .kind = SS_SIM_NCCL_REDUCE_SCATTER,
						       .role = SS_SIM_GROUP_WORLD,
						       .dtype = pass->share.plan->model.dtype,
						       .in_count = elements,
						       .out_count = elements / pass->ranks,
						       .stream = SS_SIM_COMM });
	ss_sim_end(program);
	return done;
}

static bool fsdp_is_prefetched(const struct ss_sim_plan *plan, uint32_t block)
{
	return block < plan->prefetch_layers;
}

static void fsdp_forward(struct ss_sim_program *program, const struct fsdp_pass *pass)
{
	const struct ss_sim_plan *plan = pass->share.plan;
	uint32_t layers = plan->model.layers, ready, next;

	ss_sim_frame(program, SS_SIM_LINE_FORWARD);
	ss_sim_note(program, "FullyShardedDataParallel.forward");
	ready = fsdp_gather(program, pass, 0);
	next = fsdp_is_prefetched(plan, 0) ? fsdp_gather(program, pass, 1) : 0;
	ss_sim_wait(program, SS_SIM_COMPUTE, ready);
	ss_sim_stem_forward(program, &pass->share);
	ss_sim_nonzeros(program, plan);
	for (uint32_t i = 0; i < layers; i++) {
		ss_sim_note(program, "FullyShardedDataParallel.forward");
		ready = fsdp_is_prefetched(plan, i) ? next : fsdp_gather(program, pass, i + 1);
		if (i + 1 < layers && fsdp_is_prefetched(plan, i + 1))
			next = fsdp_gather(program, pass, i + 2);
		ss_sim_wait(program, SS_SIM_COMPUTE, ready);
		ss_sim_block_forward(program, &pass->share, i);
		ss_sim_end(program);
	}
	ss_sim_head_forward(program, &pass->share);
	ss_sim_end(program);
	ss_sim_frame_end(program);
}

static void fsdp_backward(struct ss_sim_program *program, const struct fsdp_pass *pass)
{
	const struct ss_sim_plan *plan = pass->share.plan;
	uint32_t layers = plan->model.layers, ready, next, done = 0;

	ss_sim_backward_begin(program);
	next = fsdp_is_prefetched(plan, layers - 1) ? fsdp_gather(program, pass, layers) : 0;
	ss_sim_head_backward(program, &pass->share, NULL, NULL);
	for (uint32_t i = layers; i-- > 0;) {
		ss_sim_note(program, "FullyShardedDataParallel._pre_backward_hook");
		ready = fsdp_is_prefetched(plan, i) ? next : fsdp_gather(program, pass, i + 1);
		if (i > 0 && fsdp_is_prefetched(plan, i - 1))
			next = fsdp_gather(program, pass, i);
		ss_sim_wait(program, SS_SIM_COMPUTE, ready);
		ss_sim_end(program);
		ss_sim_block_backward(program, &pass->share, i, NULL, NULL);
		done = fsdp_reduce_scatter(program, pass, i + 1);
		if (!fsdp_is_prefetched(plan, i))
			ss_sim_wait(program, SS_SIM_COMPUTE, done);
	}
	ss_sim_stem_backward(program, &pass->share, NULL, NULL);
	done = fsdp_reduce_scatter(program, pass, 0);
	ss_sim_wait(program, SS_SIM_COMPUTE, done);
	ss_sim_backward_end(program);
}

static void fsdp_passes(struct ss_sim_program *program, void *context, uint32_t micro)
{
	(void)micro;
	fsdp_forward(program, context);
	fsdp_backward(program, context);
}

static void fsdp_validate(struct ss_sim_program *program, void *context)
{
	struct fsdp_pass pass = *(struct fsdp_pass *)context;

	pass.share.training = false;
	fsdp_forward(program, &pass);
}

static void fsdp_build(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
		       struct ss_sim_program *out)
{
	struct ss_sim_tape tape;
	struct fsdp_pass pass = { ss_sim_share_whole(plan, part, &tape), plan->rank_count };
	struct ss_sim_body body = ss_sim_body_whole(&pass.share);

	body.passes = fsdp_passes;
	body.validate = fsdp_validate;
	body.context = &pass;
	body.parameters /= plan->rank_count;
	body.tensors = plan->model.layers + 1; /* flat, one per unit */
	ss_sim_train_step(out, plan, &body);
}

static void fsdp_defaults(struct ss_sim_plan *plan)
{
	plan->prefetch_layers = UINT32_MAX;
	if (plan->model.batch >= 4)
		plan->model.batch /= 2; /* parameters take the memory */
}

static enum ss_status fsdp_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	if (plan->rank_count < 2)
		return ss_fail(err, SS_ERR_USAGE, "layout 'fsdp' needs at least 2 ranks");
	return SS_OK;
}

const struct ss_sim_layout ss_sim_layout_fsdp = {
	.name = "fsdp",
	.summary = "sharded data parallel (FSDP): parameters gathered block by block",
	.training = true,
	.ranks = 8,
	.defaults = fsdp_defaults,
	.check = fsdp_check,
	.build = fsdp_build,
};
