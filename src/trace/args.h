/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h - the arguments of events that views need, and how they are kept.
 *
 * A training loop repeats: millions of events share a few thousand sets of
 * shapes and launch configurations. So arguments are kept as records, each
 * distinct one once, and an event holds the number of its record. What is
 * different for every event (correlation, sequence number) lies elsewhere:
 * see trace.h.
 */
#ifndef SS_TRACE_ARGS_H
#define SS_TRACE_ARGS_H

#include <math.h>

#include "base/intern.h"
#include "read/json.h"

/* The values of an event that are read, whatever a writer calls them. */
enum ss_arg {
	SS_ARG_NONE = 0, /* what writers note for themselves */
	/* the event's own */
	SS_FIELD_NAME,
	SS_FIELD_PID,
	SS_FIELD_TID,
	SS_FIELD_TS,
	SS_FIELD_DUR,
	SS_FIELD_ID,
	/* its arguments */
	SS_ARG_EXTERNAL_ID,
	SS_ARG_CORRELATION,
	SS_ARG_DEVICE,
	SS_ARG_STREAM,
	SS_ARG_SEQUENCE,
	SS_ARG_FWD_THREAD,
	SS_ARG_INPUT_DIMS,
	SS_ARG_INPUT_TYPE,
	SS_ARG_INPUT_STRIDES,
	SS_ARG_CONCRETE_INPUTS,
	SS_ARG_CALL_STACK,
	SS_ARG_MODULE,
	SS_ARG_KERNEL_FILE,
	SS_ARG_KERNEL_KWARGS,
	SS_ARG_GRID,
	SS_ARG_BLOCK,
	SS_ARG_REGISTERS,
	SS_ARG_SHARED_MEMORY,
	SS_ARG_BLOCKS_PER_SM,
	SS_ARG_WARPS_PER_SM,
	SS_ARG_OCCUPANCY,
	SS_ARG_GRAPH_ID,
	SS_ARG_GRAPH_NODE,
	SS_ARG_BYTES,
	SS_ARG_COLLECTIVE,
	SS_ARG_DTYPE,
	SS_ARG_IN_NELEMS,
	SS_ARG_OUT_NELEMS,
	SS_ARG_IN_SPLIT,
	SS_ARG_OUT_SPLIT,
	SS_ARG_GROUP_SIZE,
	SS_ARG_GROUP_NAME,
	SS_ARG_GROUP_DESCRIPTION,
	SS_ARG_GROUP_RANKS,
	SS_ARG_SRC_RANK,
	SS_ARG_DST_RANK,
	SS_ARG_SEQ,
	SS_ARG_WAIT_STREAM,
	SS_ARG_WAIT_CORRELATION,
	SS_ARG_WAIT_EVENT,
	SS_ARG_MEMORY_DEVICE_TYPE,
	SS_ARG_MEMORY_DEVICE_ID,
	SS_ARG_MEMORY_ADDRESS,
	SS_ARG_MEMORY_BYTES,
	SS_ARG_MEMORY_ALLOCATED,
	SS_ARG_MEMORY_RESERVED,
	SS_ARG_META_NAME,
	SS_ARG_OTHER, /* what the program itself recorded: see emit_others() of kineto/emit.c */
	SS_ARG_COUNT, /* at most 64: they are counted in one word */
};

/* The values of one event, as they stand in the text. */
struct ss_arg_values {
	uint64_t seen; /* bit per enum ss_arg: which of the values below belong to this event */
	struct ss_json_span values[SS_ARG_COUNT];
};

/* Finds arguments by their key; made once per reader. */
struct ss_arg_index {
	uint8_t slots[512]; /* position in the table of keys + 1 */
};

void ss_arg_index_init(struct ss_arg_index *index);

/* The argument of a key; SS_ARG_NONE: nothing uses it. */
enum ss_arg ss_arg_find(const struct ss_arg_index *index, const struct ss_json_span *key);

/* A key that writers use for it; NULL: it has none. */
const char *ss_arg_key(enum ss_arg arg);

/* Reads the object at the cursor, adding to `out`; unknown keys are skipped. */
enum ss_json_result ss_args_read(const struct ss_arg_index *index, struct ss_json *json,
				 struct ss_arg_values *out);

static inline bool ss_args_have(const struct ss_arg_values *args, enum ss_arg arg)
{
	return args->seen >> arg & 1;
}

/* The value as written; type SS_JSON_NONE when it is absent. */
static inline struct ss_json_span ss_args_span(const struct ss_arg_values *args, enum ss_arg arg)
{
	return ss_args_have(args, arg) ? args->values[arg] : (struct ss_json_span){ 0 };
}

/* Operators and annotations; ids into ss_trace.texts, 0 when not recorded. */
struct ss_op_args {
	uint32_t input_dims; /* as written: "[[32, 3], []]" */
	uint32_t input_types;
	uint32_t input_strides;
	uint32_t concrete_inputs;
	uint32_t call_stack;
	uint32_t module;
	uint32_t kernel_file; /* Triton launches */
	uint32_t kernel_kwargs;
};

#define SS_OP_ARGS_TEXTS 8

/* Kernels, and calls that launch them; -1 and NaN when not recorded. */
struct ss_kernel_args {
	int32_t grid[3];
	int32_t block[3];
	int32_t registers;
	int32_t padding; /* records are compared as bytes */
	int64_t shared_bytes;
	int64_t graph_id;
	int64_t graph_node;
	double blocks_per_sm;
	double warps_per_sm;
	double occupancy_percent;
};

/*
 * Kineto's estimate of the occupancy; NaN where it is not recorded, and where it is 0 and cannot
 * be: its formula does not know that a block may ask for more than 48 KiB of shared memory.
 */
static inline double ss_kernel_occupancy(const struct ss_kernel_args *args)
{
	bool plain = args->shared_bytes <= 48 << 10;

	return args->occupancy_percent > 0 || plain ? args->occupancy_percent : (double)NAN;
}

/* Copies and memsets; -1 when not recorded. */
struct ss_copy_args {
	int64_t bytes;
};

/* Collectives, on record_param_comms and on their kernels; ids into ss_trace.texts. */
struct ss_comm_args {
	uint32_t collective;
	uint32_t dtype;
	uint32_t group_name;
	uint32_t group_description;
	uint32_t group_ranks;
	uint32_t in_split;
	uint32_t out_split;
	int32_t group_size; /* -1 when not recorded, as the rest */
	int64_t in_nelems;
	int64_t out_nelems;
	int64_t src_rank;
	int64_t dst_rank;
};

#define SS_COMM_ARGS_TEXTS 7

/* Fills the record from the arguments; texts are left to the caller. *odd counts non-numbers. */
void ss_args_fill_kernel(const struct ss_arg_values *args, struct ss_kernel_args *out,
			 uint32_t *odd);
void ss_args_fill_comm(const struct ss_arg_values *args, struct ss_comm_args *out, uint32_t *odd);

#endif
