/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c - causes: batches and requests come too late, or are copied slowly.
 */
#include "sim/cause.h"

static void input_without_workers_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* what a batch costs is a circumstance; who pays for it is the fault */
	plan->fetch_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);
	plan->loader_workers = fault->fixed ? 8 : 0;
}

const struct ss_sim_cause ss_sim_cause_input_in_process = {
	.name = "input-in-process",
	.summary = "the training process makes its batches itself: num_workers=0",
	.fix = "DataLoader(num_workers=8, pin_memory=True, persistent_workers=True)",
	.op = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	.line = "dataset.py:22",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = input_without_workers_plant,
};

#define FEW 2

/* Every step waits for its batch. */
static void input_few_workers_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	plan->loader_workers = fault->fixed ? 12 : FEW;
	plan->fetch_ns = FEW * (fault->base->step_ns + ss_sim_part_of_step(fault)) /
			 plan->accumulate;
}

const struct ss_sim_cause ss_sim_cause_input_few_workers = {
	.name = "input-few-workers",
	.summary = "two DataLoader workers make batches more slowly than the GPU uses them",
	.fix = "DataLoader(num_workers=12)",
	.op = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
	.line = "train.py:33",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = input_few_workers_plant,
};

#define EVERY 3

/* The first batch of each epoch waits for the workers. */
static void worker_restart_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* short epochs of cheap batches are no fault */
	plan->epoch_steps = EVERY;
	plan->fetch_ns = fault->base->step_ns / 20;
	if (!fault->fixed)
		plan->restart_ns = ss_sim_slack_ns(fault) + EVERY * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_worker_restart = {
	.name = "worker-restart",
	.summary = "the DataLoader restarts its workers in every epoch",
	.fix = "DataLoader(persistent_workers=True)",
	.op = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__",
	.line = "train.py:33",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = worker_restart_plant,
};

static void tokenize_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	plan->tokenizes = true;
	input_without_workers_plant(plan, fault);
}

const struct ss_sim_cause ss_sim_cause_tokenize = {
	.name = "tokenize",
	.summary = "collate_fn tokenizes each batch in the training process",
	.fix = "tokenize the dataset once before training, or DataLoader(num_workers=8)",
	.op = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
	.line = "text.py:18",
	.part = "input",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = tokenize_plant,
};

static void host_tokenizer_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->tokenizer_ns = ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_host_tokenizer = {
	.name = "host-tokenizer",
	.summary = "requests are tokenized on the thread that launches the model's kernels",
	.fix = "tokenize in a separate process, ahead of the forward pass that needs it",
	.op = "tokenizer",
	.line = "server.py:27",
	.layouts = { "inference" },
	.plant = host_tokenizer_plant,
};

/* The host waits for each copy. */
static void pageable_copy_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	/* a batch of this size is no fault; where it lies in memory is */
	plan->input_bytes = (uint64_t)((double)ss_sim_part_of_step(fault) *
				       plan->device->pageable_rate / 1e9);
	plan->pageable = !fault->fixed;
}

const struct ss_sim_cause ss_sim_cause_pageable_copy = {
	.name = "pageable-copy",
	.summary = "batches are copied from pageable memory",
	.fix = "DataLoader(pin_memory=True) and .to(device, non_blocking=True)",
	.op = "Memcpy HtoD (Pageable -> Device)",
	.line = "train.py:38",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = pageable_copy_plant,
};
