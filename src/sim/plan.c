/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c - the healthy job that every plan starts from, the layouts by name, and the clocks of the
 * hosts, drawn from the seed.
 */
#include "sim/plan.h"

#include <string.h>

#include "sim/noise.h"

#define SS_SIM_LAYOUT(name) extern const struct ss_sim_layout ss_sim_layout_##name;
#include "layouts.inc"
#undef SS_SIM_LAYOUT

#define SS_SIM_LAYOUT(name) &ss_sim_layout_##name,
const struct ss_sim_layout *const ss_sim_layouts[] = {
#include "layouts.inc"
};
#undef SS_SIM_LAYOUT

const size_t ss_sim_layout_count = SS_COUNT(ss_sim_layouts);

#define HOST_RANKS 8u

const struct ss_sim_layout *ss_sim_layout_find(const char *name)
{
	for (size_t i = 0; i < ss_sim_layout_count; i++)
		if (strcmp(ss_sim_layouts[i]->name, name) == 0)
			return ss_sim_layouts[i];
	return NULL;
}

/* A size that keeps each device busy: the larger the device, the more samples. */
static struct ss_sim_model model_for_device(const struct ss_sim_device *device)
{
	bool small = device->arch == SS_SIM_VOLTA || device->arch == SS_SIM_AMPERE;

	return (struct ss_sim_model){
		.network = SS_SIM_TRANSFORMER,
		.layers = 12,
		.hidden = small ? 1536 : 2048,
		.heads = small ? 12 : 16,
		.vocabulary = 32000,
		.sequence = 2048,
		.batch = small ? 2 : 4,
		.dtype = SS_SIM_HALF,
	};
}

void ss_sim_plan_init(struct ss_sim_plan *plan, const struct ss_sim_layout *layout,
		      const struct ss_sim_device *device, uint32_t ranks)
{
	*plan = (struct ss_sim_plan){
		.layout = layout,
		.device = device,
		.seed = 1,
		.rank_count = ranks,
		.host_ranks = HOST_RANKS,
		.step_count = 5,
		.model = model_for_device(device),
		.tensor = 1,
		.pipe = 1,
		.with_stack = true,
		.with_shapes = true,
		.with_memory = true,
		.host_permille = 1000,
		.loader_workers = 8,
		.fetch_ns = 60000000,
		.accumulate = 1,
		.micro_batches = 1,
		.slow_device = { .rank = -1 },
		.slow_host = { .rank = -1 },
		.slow_link = { .rank = -1 },
		.more_work = { .rank = -1 },
	};
	layout->defaults(plan);
	plan->input_bytes = UINT64_C(16) * plan->model.batch * plan->model.sequence;
}

void ss_sim_plan_make_small(struct ss_sim_plan *plan)
{
	plan->model.hidden = 1024;
	plan->model.heads = 16;
	plan->model.sequence = plan->device->arch == SS_SIM_BLACKWELL ? 2048
			       : plan->device->arch >= SS_SIM_HOPPER  ? 1024
								      : 512;
	plan->model.batch = 4;
	plan->input_bytes = UINT64_C(16) * plan->model.batch * plan->model.sequence;
}

void ss_sim_plan_make_cnn(struct ss_sim_plan *plan)
{
	plan->model = (struct ss_sim_model){
		.network = SS_SIM_CNN,
		.layers = 16,
		.hidden = 64,
		.heads = 1,
		.vocabulary = 1000,
		.sequence = 224,
		.batch = 96,
		.dtype = SS_SIM_HALF,
	};
	plan->input_bytes = UINT64_C(3) * 2 * plan->model.batch * plan->model.sequence *
			    plan->model.sequence;
}

enum ss_status ss_sim_plan_check(const struct ss_sim_plan *plan, struct ss_error *err)
{
	const struct ss_sim_odd_rank *const odd[] = { &plan->slow_device, &plan->slow_host,
						      &plan->slow_link, &plan->more_work };

	if (!plan->rank_count || plan->rank_count > SS_SIM_RANKS_MAX)
		return ss_fail(err, SS_ERR_USAGE, "a job can have 1 to %u ranks, not %u",
			       SS_SIM_RANKS_MAX, plan->rank_count);
	if (!plan->step_count || plan->step_count > SS_SIM_STEPS_MAX)
		return ss_fail(err, SS_ERR_USAGE, "a job can record 1 to %u steps, not %u",
			       SS_SIM_STEPS_MAX, plan->step_count);
	if ((plan->tensor > 1 && !plan->layout->splits_matrices) ||
	    (plan->pipe > 1 && !plan->layout->splits_stages))
		return ss_fail(err, SS_ERR_USAGE, "the layout '%s' cannot split the network",
			       plan->layout->name);
	if (plan->rank_count % (plan->tensor * plan->pipe))
		return ss_fail(
			err, SS_ERR_USAGE,
			"%u ranks are not a multiple of %u (tensor parallel) times %u (stages)",
			plan->rank_count, plan->tensor, plan->pipe);
	for (size_t i = 0; i < SS_COUNT(odd); i++)
		if (odd[i]->permille && odd[i]->rank >= 0 &&
		    (uint32_t)odd[i]->rank >= plan->rank_count)
			return ss_fail(err, SS_ERR_USAGE, "no rank %d: the job has %u ranks",
				       odd[i]->rank, plan->rank_count);
	return plan->layout->check(plan, err);
}

/* --- clocks of hosts ----------------------------------------------------------------- */

/* A number from -limit to limit, the same for all ranks of the host. */
static int64_t clock_draw(const struct ss_sim_plan *plan, uint32_t host, uint32_t key,
			  int64_t limit)
{
	uint64_t random = ss_sim_random(plan->seed, host, 0, key, SS_SIM_NOISE_CLOCK);

	return limit <= 0 ? 0 : (int64_t)(random % (2 * (uint64_t)limit + 1)) - limit;
}

struct ss_sim_clock ss_sim_clock_of(const struct ss_sim_plan *plan, uint32_t rank)
{
	uint32_t host = rank / plan->host_ranks;

	if (!host)
		return (struct ss_sim_clock){ 0 };
	return (struct ss_sim_clock){
		.offset_ns = clock_draw(plan, host, 1, plan->clock_offset_ns),
		.drift_ppb = clock_draw(plan, host, 2, plan->drift_ppb),
	};
}

int64_t ss_sim_clock_show(const struct ss_sim_clock *clock, int64_t true_ns)
{
	/* in two parts, so that a day of nanoseconds times the drift does not overflow */
	int64_t drift_ns = true_ns / 1000000 * clock->drift_ppb / 1000 +
			   true_ns % 1000000 * clock->drift_ppb / 1000000000;

	return SS_SIM_EPOCH_NS + true_ns + clock->offset_ns + drift_ns;
}

/* One row per setting: name, meaning, field, limits. */

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
	{ "run-noise", "how much equal runs differ, in units of 0.01 %", FIELD(run_noise_ppm), 100,
	  0, 1000 },
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

/*
 * Process groups and channels of a regular grid of ranks.
 *
 * Tensor-parallel ranks are neighbours (they need the fastest links), then come
 * data-parallel ranks; the stages of a pipeline are farthest apart.
 */

uint32_t ss_sim_data_count(const struct ss_sim_plan *plan)
{
	return plan->rank_count / plan->tensor / plan->pipe;
}

struct ss_sim_place ss_sim_place_of(const struct ss_sim_plan *plan, uint32_t rank)
{
	uint32_t data = ss_sim_data_count(plan);

	return (struct ss_sim_place){
		.tensor = rank % plan->tensor,
		.data = rank / plan->tensor % data,
		.stage = rank / plan->tensor / data,
	};
}

static bool plan_is_mixed(const struct ss_sim_plan *plan)
{
	uint32_t kinds = (plan->tensor > 1) + (plan->pipe > 1) + (ss_sim_data_count(plan) > 1);

	return kinds > 1 || plan->pipe > 1;
}

static struct ss_sim_ranks data_parallel_ranks(const struct ss_sim_plan *plan,
					       struct ss_sim_place at)
{
	uint32_t data = ss_sim_data_count(plan);

	return (struct ss_sim_ranks){ at.stage * data * plan->tensor + at.tensor, plan->tensor,
				      data };
}

static struct ss_sim_ranks tensor_parallel_ranks(const struct ss_sim_plan *plan,
						 struct ss_sim_place at)
{
	uint32_t data = ss_sim_data_count(plan);

	return (struct ss_sim_ranks){ (at.stage * data + at.data) * plan->tensor, 1, plan->tensor };
}

static struct ss_sim_ranks pipeline_ranks(const struct ss_sim_plan *plan, struct ss_sim_place at)
{
	uint32_t stride = ss_sim_data_count(plan) * plan->tensor;

	return (struct ss_sim_ranks){ at.data * plan->tensor + at.tensor, stride, plan->pipe };
}

/*
 * Ids of process groups: 0 is the world; then the data, tensor and pipeline
 * groups, each kind in the order of its first ranks.
 */
static struct ss_sim_group group_of_role(const struct ss_sim_plan *plan, struct ss_sim_place at,
					 enum ss_sim_group_role role)
{
	uint32_t data = ss_sim_data_count(plan);
	uint32_t data_groups = plan->tensor * plan->pipe, tensor_groups = data * plan->pipe;

	switch (role) {
	case SS_SIM_GROUP_DATA:
		return (struct ss_sim_group){ 1 + at.stage * plan->tensor + at.tensor,
					      "DATA_PARALLEL_GROUP",
					      data_parallel_ranks(plan, at) };
	case SS_SIM_GROUP_TENSOR:
		return (struct ss_sim_group){ 1 + data_groups + at.stage * data + at.data,
					      "TENSOR_MODEL_PARALLEL_GROUP",
					      tensor_parallel_ranks(plan, at) };
	case SS_SIM_GROUP_NEXT:
	case SS_SIM_GROUP_BACK:
		return (struct ss_sim_group){ 1 + data_groups + tensor_groups +
						      at.data * plan->tensor + at.tensor,
					      "PIPELINE_MODEL_PARALLEL_GROUP",
					      pipeline_ranks(plan, at) };
	case SS_SIM_GROUP_WORLD:
	case SS_SIM_GROUP_ROLES:
		break;
	}
	return (struct ss_sim_group){ 0, "default_pg", { 0, 1, plan->rank_count } };
}

struct ss_sim_group ss_sim_group_of(const struct ss_sim_plan *plan, uint32_t rank,
				    enum ss_sim_group_role role)
{
	return group_of_role(plan, ss_sim_place_of(plan, rank),
			     plan_is_mixed(plan) ? role : SS_SIM_GROUP_WORLD);
}

uint32_t ss_sim_groups_of(const struct ss_sim_plan *plan, uint32_t rank,
			  struct ss_sim_group out[SS_SIM_RANK_GROUPS_MAX])
{
	static const enum ss_sim_group_role roles[] = { SS_SIM_GROUP_WORLD, SS_SIM_GROUP_DATA,
							SS_SIM_GROUP_TENSOR, SS_SIM_GROUP_NEXT };
	uint32_t count = 0;

	for (size_t i = 0; i < SS_COUNT(roles); i++) {
		struct ss_sim_group group = ss_sim_group_of(plan, rank, roles[i]);

		if (i && (!plan_is_mixed(plan) || group.ranks.count < 2))
			continue;
		out[count++] = group;
	}
	return count;
}

/*
 * Channels: the groups by id, then the pairs of neighbouring stages, one for
 * each rank that has a stage after its own.
 */
static uint32_t group_count(const struct ss_sim_plan *plan)
{
	uint32_t data = ss_sim_data_count(plan);

	if (!plan_is_mixed(plan))
		return 1;
	return 1 + plan->tensor * plan->pipe + data * plan->pipe + data * plan->tensor;
}

uint32_t ss_sim_channel_count(const struct ss_sim_plan *plan)
{
	return group_count(plan) + (plan->pipe - 1) * ss_sim_data_count(plan) * plan->tensor;
}

uint32_t ss_sim_channel_of(const struct ss_sim_plan *plan, uint32_t rank,
			   enum ss_sim_group_role role)
{
	uint32_t stride = ss_sim_data_count(plan) * plan->tensor;

	if (role == SS_SIM_GROUP_NEXT)
		return group_count(plan) + rank;
	if (role == SS_SIM_GROUP_BACK)
		return group_count(plan) + rank - stride;
	return ss_sim_group_of(plan, rank, role).id;
}

struct ss_sim_ranks ss_sim_channel_ranks(const struct ss_sim_plan *plan, uint32_t channel)
{
	uint32_t data = ss_sim_data_count(plan), groups = group_count(plan);
	struct ss_sim_place at = { 0 };

	if (channel >= groups)
		return (struct ss_sim_ranks){ channel - groups, data * plan->tensor, 2 };
	if (channel == 0)
		return (struct ss_sim_ranks){ 0, 1, plan->rank_count };
	channel--;
	if (channel < plan->tensor * plan->pipe) {
		at.stage = channel / plan->tensor;
		at.tensor = channel % plan->tensor;
		return data_parallel_ranks(plan, at);
	}
	channel -= plan->tensor * plan->pipe;
	if (channel < data * plan->pipe) {
		at.stage = channel / data;
		at.data = channel % data;
		return tensor_parallel_ranks(plan, at);
	}
	channel -= data * plan->pipe;
	at.data = channel / plan->tensor;
	at.tensor = channel % plan->tensor;
	return pipeline_ranks(plan, at);
}
