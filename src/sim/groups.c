/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.c - process groups and channels of a regular grid of ranks.
 *
 * Tensor-parallel ranks are neighbours (they need the fastest links), then come
 * data-parallel ranks; the stages of a pipeline are farthest apart.
 */
#include "sim/groups.h"

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
