/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline.c - layout: the blocks are split into stages; micro-batches go through
 * them one forward, one backward (1F1B). Ranks beyond one pipeline are data
 * parallel.
 *
 * A stage first runs as many forward passes as there are stages after it, then
 * alternates, then drains. A stage sends an activation and receives a gradient in
 * the same call, so neighbours always communicate in the same order.
 */
#include <string.h>

#include "sim/plan.h"
#include "sim/programs/step.h"

#define FLIGHT_MAX 64u

struct pipeline_pass {
	struct ss_sim_share share;
	struct ss_sim_tape *tapes; /* of the micro-batches in flight */
	struct ss_sim_buckets buckets;
	uint32_t stage, stages, micro_batches;
	bool data_parallel;
};

static bool pipeline_is_first_stage(const struct pipeline_pass *pass)
{
	return pass->stage == 0;
}

static bool pipeline_is_last_stage(const struct pipeline_pass *pass)
{
	return pass->stage + 1 == pass->stages;
}

/* One send or receive with a neighbour; compute waits for what arrives. */
static void pipeline_exchange(struct ss_sim_program *program, const struct pipeline_pass *pass,
			      bool next, bool sends)
{
	uint64_t elements = ss_sim_activation_elements(&pass->share, pass->share.first);
	uint32_t done =
		ss_sim_call_collective(program,
				       &(struct ss_sim_collective){
					       .kind = SS_SIM_NCCL_SEND_RECV,
					       .role = next ? SS_SIM_GROUP_NEXT : SS_SIM_GROUP_BACK,
					       .dtype = pass->share.plan->model.dtype,
					       .in_count = elements,
					       .out_count = elements,
					       .stream = next ? SS_SIM_COMM_NEXT : SS_SIM_COMM_BACK,
					       .send = sends,
				       });

	ss_sim_wait(program, SS_SIM_COMPUTE, done);
}

static void pipeline_forward(struct ss_sim_program *program, struct pipeline_pass *pass,
			     uint32_t micro)
{
	pass->share.tape = &pass->tapes[micro % pass->stages];
	ss_sim_frame(program, SS_SIM_LINE_FORWARD);
	if (pipeline_is_first_stage(pass))
		ss_sim_stem_forward(program, &pass->share);
	if (micro == 0)
		ss_sim_nonzeros(program, pass->share.plan);
	for (uint32_t i = 0; i < pass->share.count; i++)
		ss_sim_block_forward(program, &pass->share, pass->share.first + i);
	if (pipeline_is_last_stage(pass))
		ss_sim_head_forward(program, &pass->share);
	ss_sim_frame_end(program);
}

static void pipeline_backward(struct ss_sim_program *program, struct pipeline_pass *pass,
			      uint32_t micro)
{
	pass->share.tape = &pass->tapes[micro % pass->stages];
	pass->buckets.held = !pass->data_parallel || micro + 1 < pass->micro_batches;
	ss_sim_backward_begin(program);
	if (pipeline_is_last_stage(pass))
		ss_sim_head_backward(program, &pass->share, ss_sim_buckets_add, &pass->buckets);
	for (uint32_t i = pass->share.count; i-- > 0;)
		ss_sim_block_backward(program, &pass->share, pass->share.first + i,
				      ss_sim_buckets_add, &pass->buckets);
	if (pipeline_is_first_stage(pass))
		ss_sim_stem_backward(program, &pass->share, ss_sim_buckets_add, &pass->buckets);
	ss_sim_buckets_finish(program, &pass->buckets);
	ss_sim_backward_end(program);
}

/* Alternates forward and backward, and exchanges with the neighbours in between. */
static void pipeline_take_turns(struct ss_sim_program *program, struct pipeline_pass *pass,
				uint32_t warm)
{
	uint32_t turns = pass->micro_batches - warm;

	for (uint32_t i = 0; i < turns; i++) {
		pipeline_forward(program, pass, warm + i);
		if (!pipeline_is_last_stage(pass))
			pipeline_exchange(program, pass, true, true);
		pipeline_backward(program, pass, i);
		if (!pipeline_is_first_stage(pass))
			pipeline_exchange(program, pass, false, true);
	}
}

static void pipeline_passes(struct ss_sim_program *program, void *context, uint32_t micro)
{
	struct pipeline_pass *pass = context;
	uint32_t behind = pass->stages - 1 - pass->stage;
	uint32_t warm = behind < pass->micro_batches ? behind : pass->micro_batches;

	(void)micro;
	for (uint32_t i = 0; i < warm; i++) {
		if (!pipeline_is_first_stage(pass))
			pipeline_exchange(program, pass, false, false);
		pipeline_forward(program, pass, i);
		pipeline_exchange(program, pass, true, true);
	}
	if (!pipeline_is_first_stage(pass) && warm < pass->micro_batches)
		pipeline_exchange(program, pass, false, false);
	pipeline_take_turns(program, pass, warm);
	for (uint32_t i = pass->micro_batches - warm; i < pass->micro_batches; i++) {
		pipeline_exchange(program, pass, true, false);
		pipeline_backward(program, pass, i);
		if (!pipeline_is_first_stage(pass))
			pipeline_exchange(program, pass, false, true);
	}
}

/* The number of blocks that cost as much as the head. */
static uint32_t pipeline_head_blocks(const struct ss_sim_model *model)
{
	return (model->vocabulary + 6 * model->hidden) / (12 * model->hidden);
}

/* The first block of a stage; the last stage has the head and so fewer blocks. */
static uint32_t pipeline_first_block(const struct ss_sim_plan *plan, uint32_t stage)
{
	uint32_t layers = plan->model.layers, head = pipeline_head_blocks(&plan->model), block;

	/* but at least one */
	while (head && (plan->pipe - 1) * (layers + head) / plan->pipe >= layers)
		head--;
	block = stage * (layers + head) / plan->pipe;
	return block < layers ? block : layers;
}

static void pipeline_build(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
			   struct ss_sim_program *out)
{
	uint32_t stages = plan->pipe;
	size_t tape_bytes = stages * sizeof(struct ss_sim_tape);
	struct pipeline_pass pass = {
		.tapes = ss_memory_resize(out->memory, NULL, 0, tape_bytes),
		.stage = part->stage,
		.stages = stages,
		.micro_batches = plan->micro_batches,
		.data_parallel = ss_sim_data_count(plan) > 1,
	};
	struct ss_sim_body body = { .passes = pipeline_passes, .context = &pass, .micro_steps = 1 };

	if (!pass.tapes) {
		out->failed = true;
		return;
	}
	memset(pass.tapes, 0, tape_bytes);
	pass.share = ss_sim_share_whole(plan, part, &pass.tapes[0]);
	if (plan->tensor > 1) {
		pass.share.reduce = ss_sim_tensor_reduce;
		pass.share.context = &pass.share;
	}
	pass.share.first = pipeline_first_block(plan, part->stage);
	pass.share.count = pipeline_first_block(plan, part->stage + 1) - pass.share.first;
	body.parameters = ss_sim_share_parameters(&pass.share, pipeline_is_first_stage(&pass),
						  pipeline_is_last_stage(&pass));
	body.tensors = ss_sim_parameter_tensors(&plan->model) / stages + 1;
	ss_sim_buckets_init(&pass.buckets, plan, SS_SIM_GROUP_DATA, SS_SIM_COMM);
	ss_sim_train_step(out, plan, &body);
	ss_memory_free(out->memory, pass.tapes, tape_bytes);
}

static void pipeline_defaults(struct ss_sim_plan *plan)
{
	plan->pipe = 4;
	plan->micro_batches = 32;
	plan->model.batch = 1;
	plan->model.layers = 20 - pipeline_head_blocks(&plan->model); /* five per stage */
	plan->bucket_bytes = UINT64_C(40) << 20;
}

static enum ss_status pipeline_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	if (plan->pipe < 2 || plan->rank_count % plan->pipe)
		return ss_fail(err, SS_ERR_USAGE,
			       "layout 'pipeline' needs a multiple of %u ranks, not %u", plan->pipe,
			       plan->rank_count);
	if (plan->pipe > FLIGHT_MAX || plan->model.layers < plan->pipe)
		return ss_fail(err, SS_ERR_USAGE, "%u layers cannot be split into %u stages",
			       plan->model.layers, plan->pipe);
	if (plan->micro_batches < plan->pipe)
		return ss_fail(err, SS_ERR_USAGE, "%u micro-batches cannot fill %u stages",
			       plan->micro_batches, plan->pipe);
	return SS_OK;
}

const struct ss_sim_layout ss_sim_layout_pipeline = {
	.name = "pipeline",
	.summary = "pipeline parallel: stages of blocks, schedule 1F1B",
	.training = true,
	.splits_matrices = true,
	.splits_stages = true,
	.ranks = 4,
	.defaults = pipeline_defaults,
	.check = pipeline_check,
	.build = pipeline_build,
};
