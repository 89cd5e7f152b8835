/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chores.c - what a training loop does besides training: validation, callbacks,
 * and a pause that only a Python frame shows.
 */
#include "sim/programs/step.h"

#define CALLBACK_PIECES 8u /* each with noise of its own */
#define EVAL_NS 180000     /* model.eval() and model.train() walk the modules */

void ss_sim_lone_pause(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	struct ss_sim_condition condition = { .rank = -1,
					      .every = UINT32_MAX,
					      .at = plan->lone_step };
	uint32_t mark;

	if (!plan->lone_step)
		return;
	mark = ss_sim_when(program, &condition);
	ss_sim_frame(program, SS_SIM_LINE_LONE);
	ss_sim_work(program, plan->lone_ns);
	ss_sim_frame_end(program);
	ss_sim_when_end(program, mark);
}

/* The callbacks of a trainer, as transformers calls them. */
void ss_sim_callbacks(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	if (!plan->callback_ns)
		return;
	ss_sim_frame(program, "transformers/trainer_callback.py(533): on_step_end");
	ss_sim_frame(program, "transformers/trainer_callback.py(556): call_event");
	ss_sim_frame(program, SS_SIM_LINE_CALLBACK);
	for (uint32_t i = 0; i < CALLBACK_PIECES; i++)
		ss_sim_work(program, plan->callback_ns / CALLBACK_PIECES + i);
	for (int i = 0; i < 3; i++)
		ss_sim_frame_end(program);
}

static void program_walk_modules(struct ss_sim_program *program, const char *frame)
{
	ss_sim_frame(program, frame);
	ss_sim_work(program, EVAL_NS);
	ss_sim_frame_end(program);
}

void ss_sim_validate(struct ss_sim_program *program, const struct ss_sim_plan *plan,
		     const struct ss_sim_body *body)
{
	struct ss_sim_condition condition = { .rank = -1, .every = plan->validate_every };
	uint32_t mark;

	if (!plan->validate_every || !body->validate)
		return;
	condition.at = SS_SIM_WARMUP_STEPS % plan->validate_every;
	mark = ss_sim_when(program, &condition);
	ss_sim_frame(program, SS_SIM_LINE_VALIDATE);
	program_walk_modules(program, "torch/nn/modules/module.py(2916): eval");
	for (uint32_t i = 0; i < plan->validate_passes; i++) {
		uint32_t batch = ss_sim_to_device(program, plan);

		body->validate(program, body->context);
		ss_sim_free(program, batch);
	}
	ss_sim_item(program); /* the mean loss */
	program_walk_modules(program, "torch/nn/modules/module.py(2893): train");
	ss_sim_frame_end(program);
	ss_sim_when_end(program, mark);
}
