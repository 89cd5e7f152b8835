/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups.h - which ranks are in which process group.
 *
 * A channel is a set of ranks whose kernels wait for each other: a process
 * group, or the pair of two neighbouring stages in a pipeline's group. Members
 * are first, first + stride, ...: all groups of a job are regular, so nothing is
 * stored for a rank.
 */
#ifndef SS_SIM_GROUPS_H
#define SS_SIM_GROUPS_H

#include "sim/plan.h"
#include "sim/programs/program.h"

/* Ranks first, first + stride, ..., `count` of them. */
struct ss_sim_ranks {
	uint32_t first, stride, count;
};

/* A process group as torch lists it in pg_config. */
struct ss_sim_group {
	uint32_t id;             /* its name is this number */
	const char *description; /* "default_pg", "TENSOR_MODEL_PARALLEL_GROUP" */
	struct ss_sim_ranks ranks;
};

/* rank = (stage * data_count + data) * tensor_count + tensor */
struct ss_sim_place {
	uint32_t data, stage, tensor;
};

uint32_t ss_sim_data_count(const struct ss_sim_plan *plan);
struct ss_sim_place ss_sim_place_of(const struct ss_sim_plan *plan, uint32_t rank);

/* The process groups that the rank is a member of, in order of id; returns how many. */
#define SS_SIM_RANK_GROUPS_MAX 4u
uint32_t ss_sim_groups_of(const struct ss_sim_plan *plan, uint32_t rank,
			  struct ss_sim_group out[SS_SIM_RANK_GROUPS_MAX]);

/* The process group behind a role; NEXT and BACK: the pipeline's. */
struct ss_sim_group ss_sim_group_of(const struct ss_sim_plan *plan, uint32_t rank,
				    enum ss_sim_group_role role);

/* Channels are numbered 0 .. ss_sim_channel_count() - 1 over the whole job. */
uint32_t ss_sim_channel_count(const struct ss_sim_plan *plan);
uint32_t ss_sim_channel_of(const struct ss_sim_plan *plan, uint32_t rank,
			   enum ss_sim_group_role role);
struct ss_sim_ranks ss_sim_channel_ranks(const struct ss_sim_plan *plan, uint32_t channel);

#endif
