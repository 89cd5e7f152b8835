/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsdp.c - layout: parameters are sharded over the ranks; each block's are
 * gathered before it is used and its gradients are reduced and scattered after.
 *
 * With prefetch the next block's parameters are asked for before this block's
 * work is launched, so that they travel while it computes.
 */
#include "sim/programs/step.h"

struct pass {
	struct ss_sim_share share;
	uint32_t ranks;
};

/* Units: 0 is what stands before and after the blocks, i + 1 is block i. */
static uint64_t unit_elements(const struct pass *pass, uint32_t unit)
{
	const struct ss_sim_model *model = &pass->share.plan->model;
	uint64_t count = unit ? ss_sim_block_parameters(model, unit - 1, 1)
			      : ss_sim_stem_parameters(model) + ss_sim_head_parameters(model);

	return (count + pass->ranks - 1) / pass->ranks * pass->ranks;
}

static uint32_t gather(struct ss_sim_program *program, const struct pass *pass, uint32_t unit)
{
	uint64_t elements = unit_elements(pass, unit);

	return ss_sim_collect(program,
			      &(struct ss_sim_collective){ .kind = SS_SIM_NCCL_ALL_GATHER,
							   .role = SS_SIM_GROUP_WORLD,
							   .dtype = pass->share.plan->model.dtype,
							   .in_count = elements / pass->ranks,
							   .out_count = elements,
							   .stream = SS_SIM_COMM });
}

static uint32_t scatter(struct ss_sim_program *program, const struct pass *pass, uint32_t unit)
{
	uint64_t elements = unit_elements(pass, unit);
	uint32_t done;

	ss_sim_note(program, "FullyShardedDataParallel._post_backward_hook");
	done = ss_sim_collect(program,
			      &(struct ss_sim_collective){ .kind = SS_SIM_NCCL_REDUCE_SCATTER,
							   .role = SS_SIM_GROUP_WORLD,
							   .dtype = pass->share.plan->model.dtype,
							   .in_count = elements,
							   .out_count = elements / pass->ranks,
							   .stream = SS_SIM_COMM });
	ss_sim_end(program);
	return done;
}

static bool is_ahead(const struct ss_sim_plan *plan, uint32_t block)
{
	return block < plan->prefetch_layers;
}

static void forward(struct ss_sim_program *program, const struct pass *pass)
{
	const struct ss_sim_plan *plan = pass->share.plan;
	uint32_t layers = plan->model.layers, ready, next;

	ss_sim_frame(program, SS_SIM_LINE_FORWARD);
	ss_sim_note(program, "FullyShardedDataParallel.forward");
	ready = gather(program, pass, 0);
	next = is_ahead(plan, 0) ? gather(program, pass, 1) : 0;
	ss_sim_wait(program, SS_SIM_COMPUTE, ready);
	ss_sim_stem_forward(program, &pass->share);
	ss_sim_nonzeros(program, plan);
	for (uint32_t i = 0; i < layers; i++) {
		ss_sim_note(program, "FullyShardedDataParallel.forward");
		ready = is_ahead(plan, i) ? next : gather(program, pass, i + 1);
		if (i + 1 < layers && is_ahead(plan, i + 1))
			next = gather(program, pass, i + 2);
		ss_sim_wait(program, SS_SIM_COMPUTE, ready);
		ss_sim_block_forward(program, &pass->share, i);
		ss_sim_end(program);
	}
	ss_sim_head_forward(program, &pass->share);
	ss_sim_end(program);
	ss_sim_frame_end(program);
}

static void backward(struct ss_sim_program *program, const struct pass *pass)
{
	const struct ss_sim_plan *plan = pass->share.plan;
	uint32_t layers = plan->model.layers, ready, next, done = 0;

	ss_sim_backward_begin(program);
	next = is_ahead(plan, layers - 1) ? gather(program, pass, layers) : 0;
	ss_sim_head_backward(program, &pass->share, NULL, NULL);
	for (uint32_t i = layers; i-- > 0;) {
		ss_sim_note(program, "FullyShardedDataParallel._pre_backward_hook");
		ready = is_ahead(plan, i) ? next : gather(program, pass, i + 1);
		if (i > 0 && is_ahead(plan, i - 1))
			next = gather(program, pass, i);
		ss_sim_wait(program, SS_SIM_COMPUTE, ready);
		ss_sim_end(program);
		ss_sim_block_backward(program, &pass->share, i, NULL, NULL);
		done = scatter(program, pass, i + 1);
		if (!is_ahead(plan, i))
			ss_sim_wait(program, SS_SIM_COMPUTE, done);
	}
	ss_sim_stem_backward(program, &pass->share, NULL, NULL);
	done = scatter(program, pass, 0);
	ss_sim_wait(program, SS_SIM_COMPUTE, done);
	ss_sim_backward_end(program);
}

static void passes(struct ss_sim_program *program, void *context, uint32_t micro)
{
	(void)micro;
	forward(program, context);
	backward(program, context);
}

static void validate(struct ss_sim_program *program, void *context)
{
	struct pass pass = *(struct pass *)context;

	pass.share.training = false;
	forward(program, &pass);
}

static void build(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
		  struct ss_sim_program *out)
{
	struct ss_sim_tape tape;
	struct pass pass = { ss_sim_whole(plan, part, &tape), plan->rank_count };
	struct ss_sim_body body = ss_sim_whole_body(&pass.share);

	body.passes = passes;
	body.validate = validate;
	body.context = &pass;
	body.parameters /= plan->rank_count;
	body.tensors = plan->model.layers + 1; /* flat, one a unit */
	ss_sim_train_step(out, plan, &body);
}

static void defaults(struct ss_sim_plan *plan)
{
	plan->prefetch_layers = UINT32_MAX;
	if (plan->model.batch >= 4)
		plan->model.batch /= 2; /* memory went into parameters */
}

static enum ss_status check(const struct ss_sim_plan *plan, struct ss_error *err)
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
	.defaults = defaults,
	.check = check,
	.build = build,
};
