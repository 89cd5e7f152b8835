/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pauses.c - causes: the loop stops for something that is not training.
 */
#include "sim/cause.h"

#define EVERY 2
#define FORWARDS 3 /* that take as long as a step */

static void validation_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->validate_every = EVERY;
	plan->validate_passes = EVERY * fault->permille * FORWARDS / 1000 + 1;
}

const struct ss_sim_cause ss_sim_cause_validation = {
	.name = "validation",
	.summary = "validation inside the training loop: extra forward passes in every second step",
	.fix = "validate once per epoch, on fewer batches, or in a separate job",
	.op = "validate",
	.line = "train.py:87",
	.layouts = { "single", "ddp", "fsdp", "tensor" },
	.plant = validation_plant,
};

/* They run while the GPU has nothing to do. */
static void callbacks_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		plan->callback_ns = ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_callbacks = {
	.name = "callbacks",
	.summary = "a trainer callback runs on the host at the end of every step",
	.fix = "do less in on_step_end, or only every 100 steps",
	.op = "on_step_end",
	.line = "callbacks.py:12",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = callbacks_plant,
};

static void pause_set(struct ss_sim_plan *plan, enum ss_sim_pause kind, int64_t ns)
{
	plan->pause_every = EVERY;
	plan->pause_kind = kind;
	plan->pause_ns = ns;
}

static void idle_checkpoint_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		pause_set(plan, SS_SIM_PAUSE_CHECKPOINT, EVERY * ss_sim_part_of_step(fault));
}

const struct ss_sim_cause ss_sim_cause_idle_checkpoint = {
	.name = "idle-checkpoint",
	.summary = "all ranks stop together to write a checkpoint",
	.fix = "save asynchronously (torch.distributed.checkpoint.async_save) or less often",
	.op = "aten::copy_",
	.line = "train.py:63",
	.part = "pause",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = idle_checkpoint_plant,
};

static void idle_gc_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		pause_set(plan, SS_SIM_PAUSE_GC,
			  ss_sim_slack_ns(fault) + EVERY * ss_sim_part_of_step(fault));
}

const struct ss_sim_cause ss_sim_cause_idle_gc = {
	.name = "idle-gc",
	.summary = "all ranks stop together for Python's garbage collector",
	.fix = "gc.disable(), gc.collect() at chosen steps, gc.freeze() after startup",
	.op = "gc.collect",
	.line = "train.py:67",
	.part = "pause",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = idle_gc_plant,
};

static void idle_logging_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (!fault->fixed)
		pause_set(plan, SS_SIM_PAUSE_LOGGING, EVERY * ss_sim_part_of_step(fault));
}

const struct ss_sim_cause ss_sim_cause_idle_logging = {
	.name = "idle-logging",
	.summary = "all ranks stop together to log metrics",
	.fix = "log from a background thread, and only on rank 0",
	.op = "aten::item",
	.line = "train.py:71",
	.part = "pause",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = idle_logging_plant,
};

/* How far the host may be ahead by then: it gains in each step, and its queue has an end. */
static int64_t lone_pause_lead_ns(const struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	int64_t gained_ns = ss_sim_slack_ns(fault) * (plan->step_count / 2 + 1);
	int64_t most_ns = 2 * fault->base->step_ns;

	return gained_ns < most_ns ? gained_ns : most_ns;
}

static void lone_pause_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->lone_step = SS_SIM_WARMUP_STEPS + plan->step_count / 2;
	plan->lone_ns = lone_pause_lead_ns(plan, fault) +
			plan->step_count * ss_sim_part_of_step(fault);
}

const struct ss_sim_cause ss_sim_cause_lone_pause = {
	.name = "lone-pause",
	.summary = "one step pauses for a long time; without stacks the reason is unknown",
	.fix = "record with with_stack=True, then look at what the host does in that step",
	.op = "refresh_schedule",
	.line = "train.py:83",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = lone_pause_plant,
};

#define FLUSHES 3

/* Recording makes each op slower, too. */
static void profiler_overhead_plant(struct ss_sim_plan *plan, const struct ss_sim_fault *fault)
{
	if (fault->fixed)
		return;
	plan->host_permille = 1000 + fault->permille / 2;
	plan->flush_count = FLUSHES;
	plan->flush_ns = (ss_sim_slack_ns(fault) + ss_sim_part_of_step(fault)) / FLUSHES;
}

const struct ss_sim_cause ss_sim_cause_profiler_overhead = {
	.name = "profiler-overhead",
	.summary = "the profiler stops the host to flush its buffers",
	.fix = "record fewer steps and no stacks, or raise the buffer size",
	.op = "Buffer Flush",
	.layouts = { "single", "ddp", "fsdp", "tensor", "pipeline" },
	.plant = profiler_overhead_plant,
};
