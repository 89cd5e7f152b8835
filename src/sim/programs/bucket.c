/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bucket.c - DistributedDataParallel's buckets: gradients are reduced together
 * when enough of them are there, while backward goes on.
 */
#include "sim/programs/step.h"

/* DDP's first bucket is small, so that communication begins early. */
#define FIRST_BUCKET_BYTES (UINT64_C(1) << 20)

void ss_sim_buckets_init(struct ss_sim_buckets *buckets, const struct ss_sim_plan *plan,
			 enum ss_sim_group_role role, enum ss_sim_stream stream)
{
	uint64_t first = plan->bucket_bytes < FIRST_BUCKET_BYTES ? plan->bucket_bytes
								 : FIRST_BUCKET_BYTES;

	/* one bucket for everything: there is no small first one either */
	if (plan->bucket_bytes >= UINT64_C(1) << 32)
		first = plan->bucket_bytes;
	*buckets = (struct ss_sim_buckets){
		.plan = plan,
		.role = role,
		.stream = stream,
		.limit_elements = first / ss_sim_dtype_bytes(plan->model.dtype),
	};
}

static void bucket_reduce(struct ss_sim_program *program, struct ss_sim_buckets *buckets)
{
	const struct ss_sim_plan *plan = buckets->plan;

	if (!buckets->elements)
		return;
	buckets->done[buckets->count++] =
		ss_sim_collect(program, &(struct ss_sim_collective){ .kind = SS_SIM_NCCL_ALL_REDUCE,
								     .role = buckets->role,
								     .dtype = plan->model.dtype,
								     .in_count = buckets->elements,
								     .out_count = buckets->elements,
								     .stream = buckets->stream });
	buckets->elements = 0;
	buckets->limit_elements = plan->bucket_bytes / ss_sim_dtype_bytes(plan->model.dtype);
}

void ss_sim_buckets_add(struct ss_sim_program *program, void *context,
			const struct ss_sim_gradient *gradient)
{
	struct ss_sim_buckets *buckets = context;

	if (buckets->held)
		return;
	buckets->elements += gradient->elements;
	/* the last places are kept for what is left at the end, and for the map */
	if (buckets->elements >= buckets->limit_elements && buckets->count + 2 < SS_SIM_BUCKETS_MAX)
		bucket_reduce(program, buckets);
}

static const struct ss_sim_tensors int_scalar = { { "[]" }, { "int" } };

/* Which parameters any rank has used: a map of int32 that is reduced behind the last bucket. */
static void used_map_reduce(struct ss_sim_program *program, struct ss_sim_buckets *buckets)
{
	ss_sim_op(program, "aten::copy_");
	ss_sim_copy(program, SS_SIM_HTOD_PINNED, 4 * (uint64_t)buckets->used_map, SS_SIM_COMPUTE);
	ss_sim_end(program);
	buckets->done[buckets->count++] =
		ss_sim_collect(program, &(struct ss_sim_collective){ .kind = SS_SIM_NCCL_ALL_REDUCE,
								     .role = buckets->role,
								     .dtype = SS_SIM_INT32,
								     .in_count = buckets->used_map,
								     .out_count = buckets->used_map,
								     .stream = buckets->stream });
}

/* The reducer asks its own copy of the map, on the host, for each parameter. */
static void used_map_read(struct ss_sim_program *program, const struct ss_sim_buckets *buckets)
{
	for (uint32_t i = 0; i < buckets->used_map; i++) {
		ss_sim_op_shaped(program, "aten::item", &int_scalar);
		ss_sim_op_shaped(program, "aten::_local_scalar_dense", &int_scalar);
		ss_sim_end(program);
		ss_sim_end(program);
	}
}

void ss_sim_buckets_finish(struct ss_sim_program *program, struct ss_sim_buckets *buckets)
{
	if (buckets->held)
		return;
	bucket_reduce(program, buckets);
	if (buckets->used_map)
		used_map_reduce(program, buckets);
	for (uint32_t i = 0; i < buckets->count; i++)
		ss_sim_wait(program, SS_SIM_COMPUTE, buckets->done[i]);
	used_map_read(program, buckets);
	buckets->count = 0;
}
