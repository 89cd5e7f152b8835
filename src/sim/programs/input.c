/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - how a training loop gets its next batch: from the DataLoader's
 * workers, or made in the training process.
 */
#include "sim/programs/step.h"

#define COLLATE_NS 90000
#define FORK_NS 1300000 /* of one worker, in the training process */
#define TEXTS_MAX 8u    /* of a batch, each tokenized by a call */

#define NEXT_NOTE "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

/* The __next__ call at the end of an epoch; it stops workers that are not persistent. */
static void input_end_epoch(struct ss_sim_program *program, int64_t stop_ns)
{
	ss_sim_note(program, NEXT_NOTE);
	if (stop_ns) {
		ss_sim_frame(program, "torch/utils/data/dataloader.py(1593): _shutdown_workers");
		ss_sim_work(program, stop_ns);
		ss_sim_frame_end(program);
	}
	ss_sim_end(program);
}

static void input_start_workers(struct ss_sim_program *program, const struct ss_sim_plan *plan,
				int64_t forks_ns)
{
	ss_sim_frame(program, "torch/utils/data/dataloader.py(433): _get_iterator");
	ss_sim_frame(program, "torch/utils/data/dataloader.py(1101): __init__");
	for (uint32_t i = 0; i < plan->loader_workers; i++) {
		ss_sim_frame(program, "multiprocessing/process.py(110): start");
		ss_sim_frame(program, "multiprocessing/popen_fork.py(62): _launch");
		ss_sim_work(program, forks_ns / plan->loader_workers);
		ss_sim_frame_end(program);
		ss_sim_frame_end(program);
	}
	ss_sim_frame_end(program);
	ss_sim_frame_end(program);
}

/* Between two epochs: without persistent_workers the loader stops and starts its workers. */
static void input_change_epoch(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	struct ss_sim_condition condition = { .rank = -1,
					      .every = plan->epoch_steps,
					      .at = SS_SIM_WARMUP_STEPS % plan->epoch_steps };
	uint32_t mark = ss_sim_when(program, &condition);
	int64_t forks_ns = FORK_NS * plan->loader_workers, stop_ns = plan->restart_ns / 4;

	if (forks_ns > plan->restart_ns / 4)
		forks_ns = plan->restart_ns / 4;
	input_end_epoch(program, stop_ns);
	ss_sim_frame(program, "torch/utils/data/dataloader.py(492): __iter__");
	if (plan->restart_ns) {
		input_start_workers(program, plan, forks_ns);
	} else {
		ss_sim_frame(program, "torch/utils/data/dataloader.py(1235): _reset");
		ss_sim_frame_end(program);
	}
	ss_sim_epoch(program, plan->restart_ns - stop_ns - forks_ns);
	ss_sim_frame_end(program);
	ss_sim_when_end(program, mark);
}

/* collate_fn of texts: the batch is tokenized while it is put together. */
static void input_collate_texts(struct ss_sim_program *program, const struct ss_sim_plan *plan)
{
	uint32_t texts = plan->model.batch < TEXTS_MAX ? plan->model.batch : TEXTS_MAX;

	ss_sim_frame(program, "torch/utils/data/_utils/fetch.py(47): fetch");
	ss_sim_frame(program, SS_SIM_LINE_COLLATE);
	for (uint32_t i = 0; i < texts; i++) {
		ss_sim_frame(program, SS_SIM_LINE_TOKENIZE);
		ss_sim_work(program, plan->fetch_ns / texts + i); /* its own noise */
		ss_sim_frame_end(program);
	}
	ss_sim_op(program, "aten::stack");
	ss_sim_work(program, COLLATE_NS);
	ss_sim_end(program);
	ss_sim_frame_end(program);
	ss_sim_frame_end(program);
}

void ss_sim_fetch_batch(struct ss_sim_program *program, const struct ss_sim_plan *plan, bool first)
{
	ss_sim_frame(program, SS_SIM_LINE_NEXT);
	if (plan->loader_workers) {
		if (first && plan->epoch_steps)
			input_change_epoch(program, plan);
		ss_sim_note(program, NEXT_NOTE);
		ss_sim_input(program);
		ss_sim_end(program);
		ss_sim_frame_end(program);
		return;
	}
	ss_sim_note(program, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
	if (plan->tokenizes) {
		input_collate_texts(program, plan);
	} else {
		ss_sim_frame(program, SS_SIM_LINE_DATASET);
		ss_sim_work(program, plan->fetch_ns);
		ss_sim_frame_end(program);
		ss_sim_op(program, "aten::stack");
		ss_sim_work(program, COLLATE_NS);
		ss_sim_end(program);
	}
	ss_sim_end(program);
	ss_sim_frame_end(program);
}
