/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.c - the keys of arguments, and reading them.
 */
#include "trace/args.h"

#include <math.h>

#include "base/hash/hash.h"
#include "read/number.h"

static const struct {
	const char *key;
	uint8_t arg;
} keys[] = {
	{ "External id", SS_ARG_EXTERNAL_ID },
	{ "external id", SS_ARG_EXTERNAL_ID },
	{ "correlation", SS_ARG_CORRELATION },
	{ "correlationId", SS_ARG_CORRELATION },
	{ "device", SS_ARG_DEVICE },
	{ "deviceId", SS_ARG_DEVICE },
	{ "stream", SS_ARG_STREAM },
	{ "streamId", SS_ARG_STREAM },
	{ "Sequence number", SS_ARG_SEQUENCE },
	{ "Fwd thread id", SS_ARG_FWD_THREAD },
	{ "Input Dims", SS_ARG_INPUT_DIMS },
	{ "Input dims", SS_ARG_INPUT_DIMS },
	{ "Input type", SS_ARG_INPUT_TYPE },
	{ "Input Strides", SS_ARG_INPUT_STRIDES },
	{ "Concrete Inputs", SS_ARG_CONCRETE_INPUTS },
	{ "Call stack", SS_ARG_CALL_STACK },
	{ "Module Hierarchy", SS_ARG_MODULE },
	{ "kernel_file", SS_ARG_KERNEL_FILE },
	{ "kernel_kwargs", SS_ARG_KERNEL_KWARGS },
	{ "grid", SS_ARG_GRID },
	{ "block", SS_ARG_BLOCK },
	{ "registers per thread", SS_ARG_REGISTERS },
	{ "registersPerThread", SS_ARG_REGISTERS },
	{ "shared memory", SS_ARG_SHARED_MEMORY },
	{ "blocks per SM", SS_ARG_BLOCKS_PER_SM },
	{ "warps per SM", SS_ARG_WARPS_PER_SM },
	{ "est. achieved occupancy %", SS_ARG_OCCUPANCY },
	{ "graph id", SS_ARG_GRAPH_ID },
	{ "graph node id", SS_ARG_GRAPH_NODE },
	{ "bytes", SS_ARG_BYTES },
	{ "size", SS_ARG_BYTES },
	{ "Collective name", SS_ARG_COLLECTIVE },
	{ "dtype", SS_ARG_DTYPE },
	{ "In msg nelems", SS_ARG_IN_NELEMS },
	{ "Out msg nelems", SS_ARG_OUT_NELEMS },
	{ "In split size", SS_ARG_IN_SPLIT },
	{ "Out split size", SS_ARG_OUT_SPLIT },
	{ "Group size", SS_ARG_GROUP_SIZE },
	{ "Process Group Name", SS_ARG_GROUP_NAME },
	{ "Process Group ID", SS_ARG_GROUP_NAME },
	{ "Process Group Description", SS_ARG_GROUP_DESCRIPTION },
	{ "Process Group Ranks", SS_ARG_GROUP_RANKS },
	{ "Src Rank", SS_ARG_SRC_RANK },
	{ "Dst Rank", SS_ARG_DST_RANK },
	{ "Seq", SS_ARG_SEQ },
	{ "wait_on_stream", SS_ARG_WAIT_STREAM },
	{ "wait_on_cuda_event_record_corr_id", SS_ARG_WAIT_CORRELATION },
	{ "wait_on_cuda_event_id", SS_ARG_WAIT_EVENT },
	{ "Device Type", SS_ARG_MEMORY_DEVICE_TYPE },
	{ "Device Id", SS_ARG_MEMORY_DEVICE_ID },
	{ "Addr", SS_ARG_MEMORY_ADDRESS },
	{ "Bytes", SS_ARG_MEMORY_BYTES },
	{ "Total Allocated", SS_ARG_MEMORY_ALLOCATED },
	{ "Total Reserved", SS_ARG_MEMORY_RESERVED },
	{ "name", SS_ARG_META_NAME },
	{ "Ev Idx", SS_ARG_NONE },
	{ "Record function id", SS_ARG_NONE },
	{ "Profiler Event Index", SS_ARG_NONE },
	{ "Python id", SS_ARG_NONE },
	{ "Python parent id", SS_ARG_NONE },
	{ "Python module id", SS_ARG_NONE },
	{ "Trace name", SS_ARG_NONE },
	{ "Trace iteration", SS_ARG_NONE },
	{ "cbid", SS_ARG_NONE },
	{ "cid", SS_ARG_NONE },
	{ "context", SS_ARG_NONE },
	{ "queued", SS_ARG_NONE },
	{ "finished", SS_ARG_NONE },
	{ "Device", SS_ARG_NONE },
	{ "external ts", SS_ARG_NONE },
	{ "memory bandwidth (GB/s)", SS_ARG_NONE },
	{ "Op count", SS_ARG_NONE },
	{ "raw_pid", SS_ARG_NONE },
	{ "raw_tid", SS_ARG_NONE },
	{ "start_ns", SS_ARG_NONE },
	{ "end_ns", SS_ARG_NONE },
};

/* Cheap and, with the keys above, nearly without collisions: length, ends and middle. */
static inline uint32_t key_slot(const char *key, uint32_t length)
{
	uint32_t first = (unsigned char)key[0], last = (unsigned char)key[length - 1];
	uint32_t middle = (unsigned char)key[length / 2];

	return (length * 31 + first * 7 + middle * 3 + last) & 511;
}

void ss_arg_index_init(struct ss_arg_index *index)
{
	*index = (struct ss_arg_index){ { 0 } };
	for (size_t i = 0; i < SS_COUNT(keys); i++) {
		uint32_t slot = key_slot(keys[i].key, (uint32_t)strlen(keys[i].key));

		while (index->slots[slot])
			slot = (slot + 1) & 511;
		index->slots[slot] = (uint8_t)(i + 1);
	}
}

enum ss_arg ss_arg_find(const struct ss_arg_index *index, const struct ss_json_span *key)
{
	uint32_t slot;

	if (key->length == 0)
		return SS_ARG_NONE;
	slot = key_slot(key->text, key->length);
	for (; index->slots[slot]; slot = (slot + 1) & 511)
		if (ss_json_is(key, keys[index->slots[slot] - 1].key))
			return keys[index->slots[slot] - 1].arg;
	return SS_ARG_OTHER;
}

const char *ss_arg_key(enum ss_arg arg)
{
	for (size_t i = 0; i < SS_COUNT(keys); i++)
		if (keys[i].arg == arg)
			return keys[i].key;
	return NULL;
}

enum ss_json_result ss_args_read(const struct ss_arg_index *index, struct ss_json *json,
				 struct ss_arg_values *out)
{
	enum ss_json_result result;

	if (*json->at != '{')
		return ss_json_value(json, &out->values[SS_ARG_NONE]);
	json->at++;
	for (bool first = true;; first = false) {
		struct ss_json_span key;
		enum ss_arg arg;

		result = ss_json_key(json, first, &key);
		if (result != SS_JSON_OK || key.type == SS_JSON_NONE)
			return result;
		arg = ss_arg_find(index, &key);
		result = ss_json_value(json, &out->values[arg]);
		if (result != SS_JSON_OK)
			return result;
		out->seen |= (uint64_t)1 << arg;
	}
}

/* A whole number, -1 when absent; *odd counts values that are not numbers. */
static int64_t read_i64(const struct ss_arg_values *args, enum ss_arg arg, uint32_t *odd)
{
	int64_t value;

	if (!ss_args_have(args, arg))
		return -1;
	if (ss_json_i64(&args->values[arg], &value))
		return value;
	(*odd)++;
	return -1;
}

/* A fraction; NaN when absent. */
static double read_double(const struct ss_arg_values *args, enum ss_arg arg, uint32_t *odd)
{
	const struct ss_json_span *span = &args->values[arg];
	double value;

	if (!ss_args_have(args, arg))
		return NAN;
	if (span->type <= SS_JSON_BARE && ss_number_double(span->text, span->length, &value))
		return value;
	(*odd)++;
	return NAN;
}

static int32_t clip32(int64_t value)
{
	return value > INT32_MAX ? INT32_MAX : value < -1 ? -1 : (int32_t)value;
}

/* True when the list has only digits, signs and commas. */
static bool span_is_number_list(const struct ss_json_span *span)
{
	for (uint32_t i = 1; i + 1 < span->length; i++)
		if ((unsigned char)span->text[i] > ' ' && !strchr("0123456789-,", span->text[i]))
			return false;
	return true;
}

/* "[32, 1, 1]" */
static void read_three(const struct ss_arg_values *args, enum ss_arg arg, int32_t out[3],
		       uint32_t *odd)
{
	const struct ss_json_span *span = &args->values[arg];
	const char *at = span->text, *end;
	uint32_t count = 0;

	out[0] = out[1] = out[2] = -1;
	if (!ss_args_have(args, arg))
		return;
	if (span->type != SS_JSON_ARRAY) {
		(*odd)++;
		return;
	}
	for (end = at + span->length; at < end && count < 3; at++) {
		const char *start = at;
		int64_t value;

		while (at < end && *at >= '0' && *at <= '9')
			at++;
		if (at > start && ss_number_i64(start, (size_t)(at - start), &value))
			out[count++] = clip32(value);
	}
	*odd += count < 3 || !span_is_number_list(span);
}

void ss_args_fill_kernel(const struct ss_arg_values *args, struct ss_kernel_args *out,
			 uint32_t *odd)
{
	memset(out, 0, sizeof(*out));
	read_three(args, SS_ARG_GRID, out->grid, odd);
	read_three(args, SS_ARG_BLOCK, out->block, odd);
	out->registers = clip32(read_i64(args, SS_ARG_REGISTERS, odd));
	out->shared_bytes = read_i64(args, SS_ARG_SHARED_MEMORY, odd);
	out->graph_id = read_i64(args, SS_ARG_GRAPH_ID, odd);
	out->graph_node = read_i64(args, SS_ARG_GRAPH_NODE, odd);
	out->blocks_per_sm = read_double(args, SS_ARG_BLOCKS_PER_SM, odd);
	out->warps_per_sm = read_double(args, SS_ARG_WARPS_PER_SM, odd);
	out->occupancy_percent = read_double(args, SS_ARG_OCCUPANCY, odd);
}

void ss_args_fill_comm(const struct ss_arg_values *args, struct ss_comm_args *out, uint32_t *odd)
{
	memset(out, 0, sizeof(*out));
	out->group_size = clip32(read_i64(args, SS_ARG_GROUP_SIZE, odd));
	out->in_nelems = read_i64(args, SS_ARG_IN_NELEMS, odd);
	out->out_nelems = read_i64(args, SS_ARG_OUT_NELEMS, odd);
	out->src_rank = read_i64(args, SS_ARG_SRC_RANK, odd);
	out->dst_rank = read_i64(args, SS_ARG_DST_RANK, odd);
}
