/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preset.c - the presets: jobs, and the causes that each of them has.
 *
 * Every cause occurs in two jobs of different layouts, severe and mild. The seed
 * of a preset follows from its name, so adding one changes no other.
 */
#include <stdio.h>
#include <string.h>

#include "base/hash/hash.h"
#include "sim/plan.h"
#include "sim/job.h"

#define SEVERE 600
#define MILD 200

struct preset_job {
	const char *name, *layout, *device;
	uint32_t ranks;
	enum ss_sim_size_kind size;
	const char *settings;
};

static const struct preset_job preset_jobs[] = {
	{ "gpu1", "single", "h100", 1, SS_SIM_NORMAL, NULL },
	{ "v100", "single", "v100", 1, SS_SIM_NORMAL, NULL },
	{ "cnn1", "single", "a100", 1, SS_SIM_IMAGES, NULL },
	{ "small1", "single", "a100", 1, SS_SIM_SMALL, NULL },
	{ "mi300", "single", "mi300x", 1, SS_SIM_NORMAL, NULL },
	{ "ddp8", "ddp", "h100", 8, SS_SIM_NORMAL, NULL },
	{ "ddp4-mi300", "ddp", "mi300x", 4, SS_SIM_NORMAL, NULL },
	{ "cnn8", "ddp", "a100", 8, SS_SIM_IMAGES, NULL },
	{ "small8", "ddp", "h100", 8, SS_SIM_SMALL, NULL },
	{ "ddp16", "ddp", "b200", 16, SS_SIM_NORMAL, NULL },
	{ "fsdp8", "fsdp", "h100", 8, SS_SIM_NORMAL, NULL },
	{ "fsdp16", "fsdp", "a100", 16, SS_SIM_NORMAL, NULL },
	{ "fsdp8-mi300", "fsdp", "mi300x", 8, SS_SIM_NORMAL, NULL },
	{ "tp4", "tensor", "h100", 4, SS_SIM_NORMAL, NULL },
	{ "tp8", "tensor", "a100", 8, SS_SIM_NORMAL, NULL },
	{ "pp4", "pipeline", "h100", 4, SS_SIM_NORMAL, NULL },
	{ "pp8", "pipeline", "a100", 8, SS_SIM_NORMAL, NULL },
	{ "serve1", "inference", "h100", 1, SS_SIM_NORMAL, NULL },
	{ "serve4", "inference", "a100", 4, SS_SIM_NORMAL, NULL },
	{ "serve-mi300", "inference", "mi300x", 1, SS_SIM_NORMAL, NULL },
	{ "gpu1-compiled", "single", "h100", 1, SS_SIM_NORMAL, "compiled=1" },
	{ "ddp8-accumulate", "ddp", "h100", 8, SS_SIM_NORMAL,
	  "accumulate=4,batch=1,fetch-us=15000" },
	{ "ddp8-unused", "ddp", "a100", 8, SS_SIM_NORMAL, "find-unused=1,bucket-mb=50" },
	{ "tp2pp2dp2", "pipeline", "h100", 8, SS_SIM_NORMAL,
	  "tensor=2,pipe=2,hidden=8192,heads=64,layers=8,micro-batches=32,vocabulary=4096" },
	{ "ddp8-plain", "ddp", "h100", 8, SS_SIM_NORMAL, "stack=0" },
	{ "gpu1-plain", "single", "h100", 1, SS_SIM_NORMAL, "stack=0,shapes=0,memory=0" },
	{ "fsdp8-plain", "fsdp", "h100", 8, SS_SIM_NORMAL, "stack=0" },
	{ "serve1-plain", "inference", "h100", 1, SS_SIM_NORMAL, "stack=0" },
};

/* Which jobs each cause is planted in. */
static const struct {
	const char *cause, *jobs[2];
} single_causes[] = {
	{ "input-in-process", { "ddp8", "cnn1" } },
	{ "input-few-workers", { "cnn8", "fsdp8" } },
	{ "sync-item", { "ddp8", "fsdp8-mi300" } },
	{ "sync-print", { "gpu1", "tp4" } },
	{ "sync-nonzero", { "fsdp8", "serve1" } },
	{ "launch-bound", { "small8", "serve1" } },
	{ "exposed-comm", { "ddp16", "fsdp8" } },
	{ "straggler", { "ddp8", "fsdp16" } },
	{ "straggler-work", { "ddp16", "fsdp8" } },
	{ "straggler-host", { "ddp8", "pp8" } },
	{ "straggler-link", { "tp8", "pp8" } },
	{ "pageable-copy", { "cnn8", "mi300" } },
	{ "fp32-matmul", { "gpu1", "ddp4-mi300" } },
	{ "low-occupancy", { "tp4", "v100" } },
	{ "memory-leak", { "gpu1", "fsdp8" } },
	{ "fragmentation", { "gpu1", "ddp8" } },
	{ "allocator-thrash", { "ddp8", "v100" } },
	{ "idle-checkpoint", { "fsdp8", "ddp16" } },
	{ "idle-gc", { "small8", "pp4" } },
	{ "idle-logging", { "ddp8", "tp8" } },
	{ "profiler-overhead", { "small1", "ddp8" } },
	{ "recompilation", { "gpu1", "small8" } },
	{ "graph-break", { "small1", "small8" } },
	{ "pipeline-bubble", { "pp4", "pp8" } },
	{ "imbalance", { "ddp8", "fsdp16" } },
	{ "optimizer-loop", { "small1", "small8" } },
	{ "unused-parameters", { "small8", "ddp8" } },
	{ "no-sync", { "ddp8-accumulate", "cnn8" } },
	{ "small-buckets", { "small8", "cnn8" } },
	{ "validation", { "gpu1", "fsdp8" } },
	{ "worker-restart", { "cnn8", "gpu1" } },
	{ "tokenize", { "gpu1", "ddp8" } },
	{ "host-tokenizer", { "serve1", "serve4" } },
	{ "callbacks", { "small1", "ddp8" } },
	{ "casts", { "gpu1", "tp4" } },
	{ "unfused-chain", { "gpu1", "ddp8" } },
	{ "recomputed-activations", { "gpu1", "ddp8" } },
	{ "oversubscribed", { "small8", "fsdp8" } },
	{ "lone-pause", { "gpu1", "ddp8-plain" } },
	{ "first-launch", { "small1", "ddp8" } },
};

/* Several things at once; severities in thousandths. */
static const struct {
	const char *name, *job;
	struct {
		const char *cause;
		uint32_t permille;
	} causes[SS_SIM_CAUSES_MAX];
} combined_causes[] = {
	{ SS_SIM_PRESET_DEMO,
	  "ddp8",
	  { { "input-in-process", 100 }, { "sync-item", 120 }, { "straggler", 350 } } },
	{ "gpu1-copies-and-fp32", "gpu1", { { "pageable-copy", 300 }, { "fp32-matmul", 300 } } },
	{ "fsdp8-exposed-and-copies",
	  "fsdp8",
	  { { "exposed-comm", 900 }, { "pageable-copy", 150 } } },
	{ "tp8-link-and-print", "tp8", { { "straggler-link", 300 }, { "sync-print", 200 } } },
	{ "pp8-bubble-and-straggler", "pp8", { { "pipeline-bubble", 600 }, { "straggler", 600 } } },
	{ "small8-launches-and-optimizer",
	  "small8",
	  { { "launch-bound", 400 }, { "optimizer-loop", 500 } } },
	{ "ddp16-checkpoint-and-work",
	  "ddp16",
	  { { "idle-checkpoint", 300 }, { "straggler-work", 300 } } },
	{ "mi300-four",
	  "ddp4-mi300",
	  { { "input-in-process", 200 },
	    { "sync-print", 150 },
	    { "allocator-thrash", 150 },
	    { "memory-leak", 500 } } },
};

static const struct preset_job *preset_job_find(const char *name)
{
	for (size_t i = 0; i < SS_COUNT(preset_jobs); i++)
		if (strcmp(preset_jobs[i].name, name) == 0)
			return &preset_jobs[i];
	return NULL;
}

static void preset_init(struct ss_sim_preset *out, const struct preset_job *job)
{
	assert(job);
	*out = (struct ss_sim_preset){
		.layout = ss_sim_layout_find(job->layout),
		.device = ss_sim_device_find(job->device),
		.ranks = job->ranks,
		.size = job->size,
		.settings = job->settings,
	};
}

static void preset_add_cause(struct ss_sim_preset *out, const char *cause, uint32_t permille)
{
	out->causes[out->cause_count++] = (struct ss_sim_planted){ ss_sim_cause_find(cause),
								   permille };
}

static void preset_set_seed(struct ss_sim_preset *out)
{
	/* seeds that can be typed */
	out->seed = ss_hash_bytes(out->name, strlen(out->name)) % 1000000 + 1;
}

static void preset_of_single_cause(size_t index, struct ss_sim_preset *out)
{
	const char *cause = single_causes[index / 4].cause;
	const char *job = single_causes[index / 4].jobs[index / 2 % 2];
	bool mild = index % 2 == 1;

	preset_init(out, preset_job_find(job));
	snprintf(out->name, sizeof(out->name), "%s-%s%s", job, cause, mild ? "-mild" : "");
	preset_add_cause(out, cause, mild ? MILD : SEVERE);
}

bool ss_sim_preset_at(size_t index, struct ss_sim_preset *out)
{
	if (index < SS_COUNT(preset_jobs)) {
		preset_init(out, &preset_jobs[index]);
		snprintf(out->name, sizeof(out->name), "%s-healthy", preset_jobs[index].name);
		preset_set_seed(out);
		return true;
	}
	index -= SS_COUNT(preset_jobs);
	if (index < 4 * SS_COUNT(single_causes)) {
		preset_of_single_cause(index, out);
		preset_set_seed(out);
		return true;
	}
	index -= 4 * SS_COUNT(single_causes);
	if (index >= SS_COUNT(combined_causes))
		return false;
	preset_init(out, preset_job_find(combined_causes[index].job));
	snprintf(out->name, sizeof(out->name), "%s", combined_causes[index].name);
	for (size_t i = 0; i < SS_SIM_CAUSES_MAX && combined_causes[index].causes[i].cause; i++)
		preset_add_cause(out, combined_causes[index].causes[i].cause,
				 combined_causes[index].causes[i].permille);
	preset_set_seed(out);
	return true;
}

bool ss_sim_preset_find(const char *name, struct ss_sim_preset *out)
{
	for (size_t i = 0; ss_sim_preset_at(i, out); i++)
		if (strcmp(out->name, name) == 0)
			return true;
	return false;
}

enum ss_status ss_sim_preset_plan(const struct ss_sim_preset *preset, struct ss_sim_plan *plan,
				  struct ss_error *err)
{
	ss_sim_plan_init(plan, preset->layout, preset->device, preset->ranks);
	plan->seed = preset->seed;
	if (preset->size == SS_SIM_IMAGES)
		ss_sim_plan_make_cnn(plan);
	if (preset->size == SS_SIM_SMALL)
		ss_sim_plan_make_small(plan);
	SS_TRY(ss_sim_settings_apply(plan, preset->settings, err));
	if (plan->rank_count > plan->host_ranks) {
		/* hosts that NTP synchronizes differ by this much */
		plan->clock_offset_ns = 3000000;
		plan->drift_ppb = 8000;
	}
	return SS_OK;
}
