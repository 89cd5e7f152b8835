/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx.c - NVTX ranges of an export: annotations, PyTorch's operators, NCCL's calls.
 *
 * torch.autograd.profiler.emit_nvtx() writes an operator as a range whose text has tags behind the
 * name: "aten::mm, seq = 4, op_id = 17, sizes = [[8, 8], [8, 8]]" (torch/csrc/profiler/util.cpp,
 * getNvtxStr). NCCL describes each call in a payload: a header of 32 bytes with the number of a
 * schema, then fields that the schema places. Schemas that hold schemas are not followed.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "trace/nsys/nsys.h"

/* Before the fields of a payload; the number of its schema stands at byte 8. */
#define HEADER_BYTES 32
#define HEADER_SCHEMA 8

/* --- payloads ------------------------------------------------------------------------------ */

/* Bytes of a number by its type (nvToolsExtPayload.h: NVTX_PAYLOAD_ENTRY_TYPE_*); 0: another. */
static int32_t payload_width(int64_t type)
{
	switch (type) {
	case 5: /* int, unsigned, int32, uint32 */
	case 6:
	case 15:
	case 16:
		return 4;
	case 7: /* long, unsigned long, long long, int64, uint64, size */
	case 8:
	case 9:
	case 10:
	case 17:
	case 18:
	case 22:
		return 8;
	default:
		return 0;
	}
}

static struct nsys_schema *payload_find_schema(const struct nsys_load *nsys, int64_t id)
{
	for (uint32_t i = 0; i < nsys->schema_count; i++)
		if (nsys->schemas[i].id == id)
			return &nsys->schemas[i];
	return NULL;
}

/* Schemas that a file can declare; NCCL has about ten. */
#define SCHEMAS_MAX 256

static enum ss_status payload_take_entry(void *context, const struct ss_database_row *row,
					 struct ss_error *err)
{
	static const char *const names[NSYS_FIELDS] = { "NCCL communicator ID",
							"Message size [bytes]", "No. of ranks" };
	struct ss_import *import = context;
	struct nsys_load *nsys = import->own;
	int64_t id = ss_database_number(row, 0, -1), offset = ss_database_number(row, 3, 0);
	struct nsys_schema *schema = payload_find_schema(nsys, id);
	size_t length;
	const char *name = ss_database_text(row, 1, &length);

	for (int i = 0; i < NSYS_FIELDS; i++) {
		if (!name || strcmp(name, names[i]) != 0 || offset < 0 || offset > UINT16_MAX)
			continue;
		if (!schema) {
			if (nsys->schema_count == SCHEMAS_MAX)
				return SS_OK;
			if (!SS_GROW(import->memory, nsys->schemas, nsys->schema_capacity,
				     nsys->schema_count))
				return ss_fail_memory(err, "the payloads");
			schema = &nsys->schemas[nsys->schema_count++];
			*schema = (struct nsys_schema){ .id = id, .offset = { -1, -1, -1 } };
		}
		schema->offset[i] = (int32_t)offset;
		schema->width[i] = payload_width(ss_database_number(row, 2, -1));
	}
	return SS_OK;
}

/* A field of a payload; -1: it has none. Communicators are any 64 bits. */
static bool payload_read(const struct nsys_schema *schema, const char *bytes, size_t length,
			 enum nsys_field field, uint64_t *out)
{
	size_t at = HEADER_BYTES + (size_t)schema->offset[field];

	*out = 0;
	if (schema->offset[field] < 0 || !schema->width[field] ||
	    at + (size_t)schema->width[field] > length)
		return false;
	for (int i = 0; i < schema->width[field]; i++)
		*out |= (uint64_t)(unsigned char)bytes[at + i] << 8 * i;
	return true;
}

static const struct nsys_schema *payload_schema(const struct nsys_load *nsys, const char *bytes,
						size_t length)
{
	uint32_t id = 0;

	if (!bytes || length < HEADER_BYTES)
		return NULL;
	for (int i = 0; i < 4; i++)
		id |= (uint32_t)(unsigned char)bytes[HEADER_SCHEMA + i] << 8 * i;
	return payload_find_schema(nsys, id);
}

/* Communicators that a process can make; jobs have some hundred. */
#define COMMUNICATORS_MAX 1024

static int64_t payload_ranks(const struct nsys_load *nsys, uint64_t communicator)
{
	for (uint32_t i = 0; i < nsys->communicator_count; i++)
		if (nsys->communicators[i].id == communicator)
			return nsys->communicators[i].ranks;
	return -1;
}

/* Where a communicator is made, its size is known. */
static enum ss_status payload_take_communicator(void *context, const struct ss_database_row *row,
						struct ss_error *err)
{
	struct ss_import *import = context;
	struct nsys_load *nsys = import->own;
	size_t length;
	const char *bytes = ss_database_text(row, 0, &length);
	const struct nsys_schema *schema = payload_schema(nsys, bytes, length);
	uint64_t id, ranks;

	if (!schema || !payload_read(schema, bytes, length, NSYS_COMMUNICATOR, &id) ||
	    !payload_read(schema, bytes, length, NSYS_RANKS, &ranks) || !ranks ||
	    ranks > INT32_MAX || payload_ranks(nsys, id) >= 0 ||
	    nsys->communicator_count == COMMUNICATORS_MAX)
		return SS_OK;
	if (!SS_GROW(import->memory, nsys->communicators, nsys->communicator_capacity,
		     nsys->communicator_count))
		return ss_fail_memory(err, "the communicators");
	nsys->communicators[nsys->communicator_count++] =
		(struct nsys_communicator){ id, (int64_t)ranks };
	return SS_OK;
}

/* --- collectives --------------------------------------------------------------------------- */

/* NCCL's calls in PyTorch's words; what one rank gives and gets, in messages or all of them. */
static const struct collective {
	const char *call, *name;
	bool gives_all, gets_all;
} collectives[] = {
	{ "ncclAllReduce", "allreduce", false, false },
	{ "ncclAllGather", "allgather", false, true },
	{ "ncclReduceScatter", "reduce_scatter", true, false },
	{ "ncclBroadcast", "broadcast", false, false },
	{ "ncclReduce", "reduce", false, false },
	{ "ncclAlltoAll", "all_to_all", true, true },
	{ "ncclSend", "send", false, false },
	{ "ncclRecv", "recv", false, false },
};

static int64_t collective_bytes(uint64_t bytes, int64_t ranks, bool all)
{
	int64_t product;

	if (bytes > INT64_MAX || (all && ranks < 0))
		return -1;
	return __builtin_mul_overflow((int64_t)bytes, all ? ranks : 1, &product) ? -1 : product;
}

/* Describes a call of NCCL by its payload, as PyTorch's own record would. */
static void nvtx_add_collective(struct nsys_load *nsys, uint32_t event, const char *name,
				size_t name_length, const char *bytes, size_t length)
{
	const struct nsys_schema *schema = payload_schema(nsys, bytes, length);
	struct ss_batch *batch = &nsys->import->batch;
	const struct collective *known = NULL;
	struct ss_comm_args args = { .src_rank = -1, .dst_rank = -1 };
	uint64_t communicator, size;
	int64_t ranks;
	char group[32];

	for (size_t i = 0; i < SS_COUNT(collectives) && !known; i++)
		if (strlen(collectives[i].call) == name_length &&
		    memcmp(collectives[i].call, name, name_length) == 0)
			known = &collectives[i];
	if (!known || !schema ||
	    !payload_read(schema, bytes, length, NSYS_COMMUNICATOR, &communicator) ||
	    !payload_read(schema, bytes, length, NSYS_BYTES, &size))
		return;
	snprintf(group, sizeof(group), "0x%llx", (unsigned long long)communicator);
	ranks = payload_ranks(nsys, communicator);
	args.collective = ss_batch_text(batch, &batch->texts, known->name, strlen(known->name));
	args.dtype = ss_batch_text(batch, &batch->texts, "Byte", 4); /* sizes are in bytes */
	args.group_name = ss_batch_text(batch, &batch->texts, group, strlen(group));
	args.group_size = (int32_t)ranks;
	args.in_nelems = collective_bytes(size, ranks, known->gives_all);
	args.out_nelems = collective_bytes(size, ranks, known->gets_all);
	if (SS_BATCH_RESERVE(batch, comms))
		batch->comms[batch->comms_count++] = (struct ss_event_comm){
			event, ss_batch_record(batch, &batch->comm_args, &args), -1
		};
}

/* --- ranges -------------------------------------------------------------------------------- */

/* ENUM_NSYS_EVENT_TYPE: NvtxPushPopRange, NvtxStartEndRange, and the same of nvtxt files. */
enum nvtx_type { PUSH_POP = 59, START_END = 60, TEXT_PUSH_POP = 70, TEXT_START_END = 71 };

/* Where a tag begins in the text; its length where there is none. */
static size_t nvtx_find_tag(const char *text, size_t length, const char *tag)
{
	size_t wanted = strlen(tag);

	for (size_t i = 0; i + wanted <= length; i++)
		if (text[i] == ',' && memcmp(text + i, tag, wanted) == 0)
			return i;
	return length;
}

static int64_t nvtx_tag_number(const char *text, size_t length)
{
	int64_t value = 0;

	for (size_t i = 0; i < length && ss_char_is_digit(text[i]) && value < INT32_MAX; i++)
		value = value * 10 + (text[i] - '0');
	return value;
}

/* Tags of an operator; true: there are any. The name ends where the first begins. */
struct nvtx_tags {
	size_t name_length;
	int64_t sequence, id; /* -1 and 0: none */
	const char *sizes;
	size_t sizes_length;
};

static bool nvtx_read_tags(const char *text, size_t length, struct nvtx_tags *out)
{
	static const char seq[] = ", seq = ", op[] = ", op_id = ", sizes[] = ", sizes = ";
	size_t at_seq = nvtx_find_tag(text, length, seq);
	size_t at_op = nvtx_find_tag(text, length, op);
	size_t at_sizes = nvtx_find_tag(text, length, sizes);

	*out = (struct nvtx_tags){ .name_length = length, .sequence = -1 };
	if (at_seq < length) {
		size_t from = at_seq + sizeof(seq) - 1;

		out->sequence = nvtx_tag_number(text + from, length - from);
	}
	if (at_op < length) {
		size_t from = at_op + sizeof(op) - 1;

		out->id = nvtx_tag_number(text + from, length - from);
	}
	if (at_sizes < length) {
		size_t from = at_sizes + sizeof(sizes) - 1;

		out->sizes = text + from;
		out->sizes_length = nvtx_find_tag(text + from, length - from, ", input_op_ids = ");
	}
	out->name_length = at_seq < at_op ? at_seq : at_op;
	out->name_length = at_sizes < out->name_length ? at_sizes : out->name_length;
	return out->name_length < length;
}

static uint32_t nvtx_op_args(struct ss_batch *batch, const struct nvtx_tags *tags)
{
	struct ss_op_args args = { 0 };

	if (!tags->sizes_length)
		return SS_NO_ARGS;
	args.input_dims = ss_batch_text(batch, &batch->texts, tags->sizes, tags->sizes_length);
	return ss_batch_record(batch, &batch->op_args, &args);
}

static enum ss_status nvtx_take_range(void *context, const struct ss_database_row *row,
				      struct ss_error *err)
{
	struct ss_import *import = context;
	struct nsys_load *nsys = import->own;
	struct ss_batch *batch = &import->batch;
	struct ss_named_slice slice = nsys_thread_slice(row);
	int64_t type = ss_database_number(row, 3, 0);
	struct nvtx_tags tags;
	const char *payload;
	size_t payload_length;
	uint32_t event;

	(void)err;
	if ((type != PUSH_POP && type != START_END && type != TEXT_PUSH_POP &&
	     type != TEXT_START_END) ||
	    !nsys_is_wanted(nsys, ss_database_number(row, 2, 0)))
		return SS_OK;
	if (ss_database_is_null(row, 1)) {
		ss_quality_add(&batch->quality, SS_ODD_BEGIN_WITHOUT_END, 1);
		return SS_OK;
	}
	slice.name = ss_database_text(row, 6, &slice.name_length);
	if (!slice.name)
		slice.name = ss_import_text(import, 0, ss_database_number(row, 4, -1),
					    &slice.name_length);
	slice.category = "user_annotation";
	if (nvtx_read_tags(slice.name, slice.name_length, &tags)) {
		slice.category = "cpu_op";
		slice.name_length = tags.name_length;
		slice.id = tags.id;
		slice.args = nvtx_op_args(batch, &tags);
	} else if (type == START_END || type == TEXT_START_END) {
		/* they need not nest, and can end on another thread */
		slice.category = "nvtx-start-end";
	}
	event = ss_batch_add_named(batch, &slice);
	if (event == SS_NO_ROW)
		return SS_OK;
	if (tags.sequence >= 0 && SS_BATCH_RESERVE(batch, sequences))
		batch->sequences[batch->sequences_count++] = (struct ss_event_sequence){
			.event = event,
			.fwd_thread = (batch->name_flags[batch->events[event].name] &
				       SS_NAME_BACKWARD) != 0,
			.sequence = tags.sequence
		};
	payload = ss_database_text(row, 5, &payload_length);
	if (payload)
		nvtx_add_collective(nsys, event, slice.name, slice.name_length, payload,
				    payload_length);
	return SS_OK;
}

enum ss_status nsys_read_nvtx(struct nsys_load *nsys, struct ss_error *err)
{
	static const char *const names[] = { "NVTX_EVENTS_V3", "NVTX_EVENTS_V2", "NVTX_EVENTS" };
	struct ss_import *import = nsys->import;
	const char *table = NULL;

	for (size_t i = 0; i < SS_COUNT(names) && !table; i++)
		if (ss_database_has(import->database, names[i]))
			table = names[i];
	SS_TRY(ss_sqlite_each(import, "NVTX_PAYLOAD_SCHEMA_ENTRIES", "schemaId name type offset",
			      payload_take_entry, err));
	if (nsys->schema_count)
		SS_TRY(ss_sqlite_each(import, table, "binaryData", payload_take_communicator, err));
	return ss_sqlite_each(import, table, "start end globalTid eventType textId binaryData text",
			      nvtx_take_range, err);
}
