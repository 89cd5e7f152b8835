/* SPDX-License-Identifier: Apache-2.0 */
/*
 * single.c - layout: one GPU trains the whole network.
 */
#include "sim/programs/step.h"

struct single_gpu_pass {
	struct ss_sim_share share;
};

static void single_gpu_passes(struct ss_sim_program *program, void *context, uint32_t micro)
{
	const struct ss_sim_share *share = &((struct single_gpu_pass *)context)->share;

	(void)micro;
	ss_sim_frame(program, SS_SIM_LINE_FORWARD);
	ss_sim_network_forward(program, share);
	ss_sim_frame_end(program);
	ss_sim_backward_begin(program);
	ss_sim_network_backward(program, share, NULL, NULL);
	ss_sim_backward_end(program);
}

static void single_gpu_validate(struct ss_sim_program *program, void *context)
{
	ss_sim_network_evaluate(program, &((struct single_gpu_pass *)context)->share);
}

static void single_gpu_build(const struct ss_sim_plan *plan, const struct ss_sim_part *part,
			     struct ss_sim_program *out)
{
	struct ss_sim_tape tape;
	struct single_gpu_pass pass = { ss_sim_share_whole(plan, part, &tape) };
	struct ss_sim_body body = ss_sim_body_whole(&pass.share);

	body.passes = single_gpu_passes;
	body.validate = single_gpu_validate;
	body.context = &pass;
	ss_sim_train_step(out, plan, &body);
}

static void single_gpu_defaults(struct ss_sim_plan *plan)
{
	plan->host_ranks = 1;
}

static enum ss_status single_gpu_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	if (plan->rank_count != 1)
		return ss_fail(err, SS_ERR_USAGE, "layout 'single' has one rank, not %u",
			       plan->rank_count);
	return SS_OK;
}

const struct ss_sim_layout ss_sim_layout_single = {
	.name = "single",
	.summary = "one GPU trains the whole model",
	.training = true,
	.ranks = 1,
	.defaults = single_gpu_defaults,
	.check = single_gpu_check,
	.build = single_gpu_build,
};
