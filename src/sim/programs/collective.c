/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collective.c - how c10d calls a collective (an op, record_param_comms, the nccl:... range, and on
 * the device a stream that waits for compute, the kernel, and an event after it), and the buckets
 * of DistributedDataParallel: gradients are reduced together when enough of them are ready, while
 * backward goes on.
 */
#include "sim/programs/program.h"
#include "sim/programs/step.h"

/* How c10d and NCCL name each kind of collective. */
struct collective_words {
	enum ss_sim_kernel_class kind;
	const char *op, *name, *note;
};

static const struct collective_words collective_table[] = {
	{ SS_SIM_NCCL_ALL_REDUCE, "c10d::allreduce_", "allreduce", "nccl:all_reduce" },
	{ SS_SIM_NCCL_ALL_GATHER, "c10d::_allgather_base_", "_allgather_base",
	  "nccl:_all_gather_base" },
	{ SS_SIM_NCCL_REDUCE_SCATTER, "c10d::_reduce_scatter_base_", "_reduce_scatter_base",
	  "nccl:_reduce_scatter_base" },
	{ SS_SIM_NCCL_BROADCAST, "c10d::broadcast_", "broadcast", "nccl:broadcast" },
};

static const struct collective_words send_words = { SS_SIM_NCCL_SEND_RECV, "c10d::send", "send",
						    "nccl:send" };
static const struct collective_words recv_words = { SS_SIM_NCCL_SEND_RECV, "c10d::recv_", "recv",
						    "nccl:recv" };

static const struct collective_words *collective_words_of(const struct ss_sim_collective *wish)
{
	for (size_t i = 0; i < SS_COUNT(collective_table); i++)
		if (collective_table[i].kind == wish->kind)
			return &collective_table[i];
	return wish->send ? &send_words : &recv_words;
}

/* c10d looks up the communicator and makes the work object before it launches. */
#define COMMS_BEGIN_NS 6000

static const char *comm_type_name(const struct ss_sim_device *device, enum ss_sim_dtype dtype)
{
	if (dtype == SS_SIM_FP32)
		return "Float";
	if (dtype == SS_SIM_INT32)
		return "Int";
	return device->arch == SS_SIM_VOLTA ? "Half" : "BFloat16";
}

static uint32_t program_add_comm(struct ss_sim_program *program,
				 const struct ss_sim_collective *wish,
				 const struct collective_words *words)
{
	uint64_t count = wish->in_count > wish->out_count ? wish->in_count : wish->out_count;
	struct ss_sim_kernel_wish kernel = {
		.class = wish->kind,
		.dtype = wish->dtype,
		.size = { count * ss_sim_dtype_bytes(wish->dtype) },
	};
	struct ss_sim_comm comm = {
		.name = ss_sim_text_id(program, words->name),
		.note = ss_sim_text_id(program, words->note),
		.dtype = ss_sim_text_id(program, comm_type_name(program->device, wish->dtype)),
		.role = wish->role,
		.in_count = wish->in_count,
		.out_count = wish->out_count,
		.bytes = kernel.size[0],
		.kernel = ss_sim_kernel_index(program, &kernel),
		.kind = wish->kind,
		.peer_ahead = wish->role == SS_SIM_GROUP_NEXT,
	};
	uint32_t index = ss_records_add(&program->comms, &comm);

	if (index == SS_NO_ID)
		program->failed = true;
	return index;
}

uint32_t ss_sim_call_collective(struct ss_sim_program *program,
				const struct ss_sim_collective *wish)
{
	const struct collective_words *words = collective_words_of(wish);
	uint32_t comm = program_add_comm(program, wish, words);
	struct ss_sim_range range = {
		.kind = SS_SIM_COMMS,
		.name = ss_sim_text_id(program, "record_param_comms"),
		.comm = comm + 1,
	};
	struct ss_sim_instruction *at;
	uint32_t ready, done;

	if (program->failed)
		return 0;
	ss_sim_op(program, wish->op ? wish->op : words->op);
	ss_sim_begin(program, &range, 0, COMMS_BEGIN_NS);
	ss_sim_note(program, words->note);
	ready = ss_sim_record(program, SS_SIM_COMPUTE);
	ss_sim_wait(program, wish->stream, ready);
	at = ss_sim_add(program, SS_SIM_COLLECT);
	at->what = comm;
	at->stream = (uint8_t)wish->stream;
	at->key = comm;
	done = ss_sim_record(program, wish->stream);
	ss_sim_end(program);
	ss_sim_end(program);
	ss_sim_end(program);
	return done;
}

/* --- DistributedDataParallel's buckets ----------------------------------------------- */

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
		ss_sim_call_collective(program,
				       &(struct ss_sim_collective){ .kind = SS_SIM_NCCL_ALL_REDUCE,
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
	/* two entries are reserved: for the rest at the end, and for the map */
	if (buckets->elements >= buckets->limit_elements && buckets->count + 2 < SS_SIM_BUCKETS_MAX)
		bucket_reduce(program, buckets);
}

static const struct ss_sim_tensors int_scalar = { { "[]" }, { "int" } };

/* The map of parameters that any rank used: int32, reduced after the last bucket. */
static void used_map_reduce(struct ss_sim_program *program, struct ss_sim_buckets *buckets)
{
	ss_sim_op(program, "aten::copy_");
	ss_sim_copy(program, SS_SIM_HTOD_PINNED, 4 * (uint64_t)buckets->used_map, SS_SIM_COMPUTE);
	ss_sim_end(program);
	buckets->done[buckets->count++] =
		ss_sim_call_collective(program,
				       &(struct ss_sim_collective){ .kind = SS_SIM_NCCL_ALL_REDUCE,
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
