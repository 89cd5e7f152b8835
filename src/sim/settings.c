/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.c - one row per setting: name, meaning, field, limits.
 */
#include <string.h>

#include "sim/plan.h"

#define FIELD(name) offsetof(struct ss_sim_plan, name), sizeof(((struct ss_sim_plan *)0)->name)

const struct ss_sim_setting ss_sim_settings[] = {
	{ "layers", "blocks of the network", FIELD(model.layers), 1, 1, 256 },
	{ "hidden", "width of the network", FIELD(model.hidden), 1, 8, 65536 },
	{ "heads", "attention heads", FIELD(model.heads), 1, 1, 1024 },
	{ "vocabulary", "number of tokens or classes", FIELD(model.vocabulary), 1, 2, 1000000 },
	{ "sequence", "tokens per sample, or pixels per image side", FIELD(model.sequence), 1, 16,
	  1000000 },
	{ "batch", "samples per rank and micro-batch", FIELD(model.batch), 1, 1, 65536 },
	{ "host-ranks", "ranks per host", FIELD(host_ranks), 1, 1, 64 },
	{ "tensor", "ranks that share each matrix", FIELD(tensor), 1, 1, 64 },
	{ "pipe", "pipeline stages", FIELD(pipe), 1, 1, 64 },
	{ "micro-batches", "micro-batches per step, in a pipeline", FIELD(micro_batches), 1, 1,
	  1024 },
	{ "accumulate", "micro-batches per gradient reduction", FIELD(accumulate), 1, 1, 64 },
	{ "bucket-mb", "DDP's bucket_cap_mb", FIELD(bucket_bytes), 1 << 20, 1, 1000000 },
	{ "find-unused", "DDP's find_unused_parameters: 0 or 1", FIELD(find_unused), 1, 0, 1 },
	{ "prefetch-layers", "blocks that FSDP gathers ahead of use", FIELD(prefetch_layers), 1, 0,
	  256 },
	{ "workers", "DataLoader workers; 0: in the training process", FIELD(loader_workers), 1, 0,
	  16 },
	{ "fetch-us", "CPU time per batch", FIELD(fetch_ns), 1000, 0, 100000000 },
	{ "input-kb", "size of one batch", FIELD(input_bytes), 1024, 1, 100000000 },
	{ "compiled", "torch.compile: 0 or 1", FIELD(compiled), 1, 0, 1 },
	{ "graphs", "decode replays CUDA graphs: 0 or 1", FIELD(graphs), 1, 0, 1 },
	{ "prompt", "tokens per prompt", FIELD(prompt), 1, 16, 1000000 },
	{ "prefill-every", "steps between two prefills; 0: never", FIELD(prefill_every), 1, 0,
	  1000 },
	{ "stack", "record Python frames and modules: 0 or 1", FIELD(with_stack), 1, 0, 1 },
	{ "shapes", "record shapes: 0 or 1", FIELD(with_shapes), 1, 0, 1 },
	{ "memory", "record allocations: 0 or 1", FIELD(with_memory), 1, 0, 1 },
};

const size_t ss_sim_setting_count = SS_COUNT(ss_sim_settings);

static const struct ss_sim_setting *setting_find(const char *name, size_t length)
{
	for (size_t i = 0; i < ss_sim_setting_count; i++)
		if (strlen(ss_sim_settings[i].name) == length &&
		    memcmp(ss_sim_settings[i].name, name, length) == 0)
			return &ss_sim_settings[i];
	return NULL;
}

static void setting_store(struct ss_sim_plan *plan, const struct ss_sim_setting *setting,
			  uint64_t value)
{
	char *at = (char *)plan + setting->offset;
	uint32_t narrow = (uint32_t)(value * setting->scale);
	bool flag = value != 0;

	value *= setting->scale;
	if (setting->bytes == sizeof(flag))
		memcpy(at, &flag, sizeof(flag));
	else if (setting->bytes == sizeof(narrow))
		memcpy(at, &narrow, sizeof(narrow));
	else
		memcpy(at, &value, sizeof(value));
}

/* One "name=number"; *list moves behind it. */
static enum ss_status setting_apply_next(struct ss_sim_plan *plan, const char **list,
					 struct ss_error *err)
{
	size_t length = strcspn(*list, "=,");
	const struct ss_sim_setting *setting = setting_find(*list, length);
	const char *at = *list + length;
	uint64_t value = 0;

	if (!setting)
		return ss_fail(err, SS_ERR_USAGE,
			       "no setting called '%.*s'; option 'list-settings' lists them",
			       (int)(length < 60 ? length : 60), *list);
	if (*at == '=')
		at++;
	if (*at < '0' || *at > '9')
		return ss_fail(err, SS_ERR_USAGE,
			       "the setting '%s' takes a number, such as %s=%llu", setting->name,
			       setting->name, (unsigned long long)setting->least);
	for (; *at >= '0' && *at <= '9' && value <= setting->most; at++)
		value = value * 10 + (uint64_t)(*at - '0');
	if ((*at && *at != ',' && value <= setting->most) || value < setting->least ||
	    value > setting->most)
		return ss_fail(err, SS_ERR_USAGE,
			       "the setting '%s' takes a number from %llu to %llu", setting->name,
			       (unsigned long long)setting->least,
			       (unsigned long long)setting->most);
	setting_store(plan, setting, value);
	*list = at + (*at == ',');
	return SS_OK;
}

enum ss_status ss_sim_settings_apply(struct ss_sim_plan *plan, const char *list,
				     struct ss_error *err)
{
	while (list && *list)
		SS_TRY(setting_apply_next(plan, &list, err));
	return SS_OK;
}
