/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digest_fields.c - the fields of a rank that a digest file stores, so that ranks can be compared.
 *
 * Writer and reader share this declaration. A new field of these structs that must outlive the
 * trace needs a line here; tests/digest.py finds missing ones.
 */
#include <string.h>

#include "load/digest_files.h"
#include "ranks/digest.h"

#define FILE_FIELD(member, ...) SS_FIELD(struct ss_job_file, member, __VA_ARGS__)
#define FILE_ARRAY(member, number, ...) \
	SS_FIELD_ARRAY(struct ss_job_file, member, number, __VA_ARGS__)
#define IN_FILE(member) offsetof(struct ss_job_file, member)
#define TEXT_ID .below = IN_FILE(digest.texts.count)

static const struct ss_field file_fields[] = {
	FILE_FIELD(subject.rank, SS_FIELD_I64),
	FILE_FIELD(subject.rank_by_name, SS_FIELD_BOOL),
	FILE_ARRAY(oddities, SS_SEVERITIES, SS_FIELD_U64),
	FILE_FIELD(events_hash, SS_FIELD_U64),
	FILE_FIELD(recording.is_noted, SS_FIELD_BOOL),
	FILE_FIELD(recording.has_clock, SS_FIELD_BOOL),
	FILE_FIELD(recording.start_ns, SS_FIELD_I64),
	FILE_FIELD(recording.end_ns, SS_FIELD_I64),
	FILE_FIELD(recording.world_size, SS_FIELD_I64),
	FILE_FIELD(recording.events, SS_FIELD_U64),
	FILE_FIELD(recording.first_step, SS_FIELD_U64),
	FILE_FIELD(recording.has_collectives, SS_FIELD_BOOL),
	FILE_FIELD(recording.is_cut, SS_FIELD_BOOL),
	FILE_FIELD(recording.is_damaged, SS_FIELD_BOOL),
	FILE_FIELD(recording.lacks_calls, SS_FIELD_BOOL),
	FILE_FIELD(recording.lacks_device, SS_FIELD_BOOL),
	FILE_FIELD(recording.lacks_stacks, SS_FIELD_BOOL),
	FILE_FIELD(recording.lacks_shapes, SS_FIELD_BOOL),
	FILE_FIELD(recording.lacks_memory, SS_FIELD_BOOL),
	FILE_FIELD(recording.recorder, SS_FIELD_U8, .limit = SS_RECORDERS),
	FILE_FIELD(recording.is_one_step, SS_FIELD_BOOL),
	FILE_FIELD(recording.step_anchor, SS_FIELD_U8),
	FILE_FIELD(recording.cut_steps, SS_FIELD_U32),
	FILE_ARRAY(recording.run, SS_RUN_FACTS, SS_FIELD_TEXT),
	FILE_FIELD(recording.trace_id, SS_FIELD_TEXT),
	FILE_FIELD(recording.device, SS_FIELD_TEXT),
	FILE_FIELD(digest.rank, SS_FIELD_I64),
	FILE_FIELD(digest.world_size, SS_FIELD_I64),
	FILE_FIELD(digest.host, SS_FIELD_U32, TEXT_ID),
	FILE_FIELD(digest.device_name, SS_FIELD_U32, TEXT_ID),
	FILE_FIELD(digest.device, SS_FIELD_I64),
	FILE_FIELD(digest.clock_mhz, SS_FIELD_I64, .range = SS_RANGE_SPAN),
	FILE_FIELD(digest.has_clock, SS_FIELD_BOOL),
	FILE_FIELD(digest.events, SS_FIELD_U64),
	FILE_FIELD(digest.base_ns, SS_FIELD_I64, .range = SS_RANGE_MOMENT),
	FILE_FIELD(digest.start_ns, SS_FIELD_I64, .range = SS_RANGE_MOMENT),
	FILE_FIELD(digest.end_ns, SS_FIELD_I64, .range = SS_RANGE_MOMENT),
	FILE_FIELD(digest.work, SS_FIELD_U64),
	FILE_FIELD(digest.has_sizes, SS_FIELD_BOOL),
	FILE_FIELD(digest.typical_ns, SS_FIELD_F64),
};

static const struct ss_field size_fields[] = {
	SS_FIELD(struct ss_device_size, device, SS_FIELD_I64),
	SS_FIELD(struct ss_device_size, bytes, SS_FIELD_I64, .range = SS_RANGE_SPAN),
};

/* A field of a whole arrival, under its name in that struct. */
#define IN_ARRIVAL(member) offsetof(struct ss_whole_arrival, arrival.member)
#define ARRIVAL(member, ...)                                                                   \
	{                                                                                      \
		.name = #member, .offset = IN_ARRIVAL(member), .count = 1, .type = __VA_ARGS__ \
	}
#define ARRIVAL_BEFORE(member) .from = SS_FROM_BEFORE, .base = IN_ARRIVAL(member)
#define ARRIVAL_ITEM(member) .from = SS_FROM_ITEM, .base = IN_ARRIVAL(member)

static const struct ss_field arrival_fields[] = {
	ARRIVAL(kind, SS_FIELD_U32, .limit = SS_COLLECTIVE_KINDS),
	ARRIVAL(group, SS_FIELD_U32, .below = IN_FILE(digest.group_count)),
	ARRIVAL(step, SS_FIELD_U32, ARRIVAL_BEFORE(step)),
	ARRIVAL(track, SS_FIELD_U32, ARRIVAL_BEFORE(track)),
	ARRIVAL(row, SS_FIELD_U32, ARRIVAL_BEFORE(row)),
	ARRIVAL(kernel, SS_FIELD_U64),
	ARRIVAL(shape, SS_FIELD_U64),
	ARRIVAL(bytes, SS_FIELD_I64, ARRIVAL_BEFORE(bytes), .range = SS_RANGE_KNOWN),
	ARRIVAL(sequence, SS_FIELD_I64, ARRIVAL_BEFORE(sequence)),
	ARRIVAL(start_ns, SS_FIELD_I64, ARRIVAL_BEFORE(start_ns), .range = SS_RANGE_MOMENT),
	ARRIVAL(end_ns, SS_FIELD_I64, ARRIVAL_ITEM(start_ns), .range = SS_RANGE_MOMENT),
	ARRIVAL(release_ns, SS_FIELD_I64, ARRIVAL_BEFORE(end_ns), .range = SS_RANGE_MAYBE),
	SS_FIELD_ARRAY(struct ss_whole_arrival, own_ns, SS_OWN_PARTS, SS_FIELD_I64,
		       .range = SS_RANGE_SPAN),
	ARRIVAL(hidden_ns, SS_FIELD_I64, .range = SS_RANGE_SPAN),
};

static const struct ss_field group_fields[] = {
	SS_FIELD(struct ss_rank_group, name, SS_FIELD_U32, TEXT_ID),
	SS_FIELD(struct ss_rank_group, description, SS_FIELD_U32, TEXT_ID),
	SS_FIELD(struct ss_rank_group, ranks, SS_FIELD_U64),
	SS_FIELD(struct ss_rank_group, size, SS_FIELD_I64, .range = SS_RANGE_KNOWN),
};

#define STEP(member, ...) SS_FIELD(struct ss_rank_step, member, SS_FIELD_I64, __VA_ARGS__)
#define STEP_SPAN(member) STEP(member, .range = SS_RANGE_SPAN)

static const struct ss_field step_fields[] = {
	SS_FIELD(struct ss_rank_step, number, SS_FIELD_U32, SS_BEFORE(struct ss_rank_step, number)),
	STEP(start_ns, SS_BEFORE(struct ss_rank_step, start_ns), .range = SS_RANGE_MOMENT),
	STEP(end_ns, SS_ITEM(struct ss_rank_step, start_ns), .range = SS_RANGE_MOMENT),
	STEP_SPAN(compute_ns),
	STEP_SPAN(comm_ns),
	STEP_SPAN(overlap_ns),
	STEP_SPAN(exposed_comm_ns),
	STEP_SPAN(exposed_copy_ns),
	SS_FIELD_ARRAY(struct ss_rank_step, idle_ns, SS_IDLE_CAUSES, SS_FIELD_I64,
		       .range = SS_RANGE_SPAN),
	STEP(host_start_ns, SS_ITEM(struct ss_rank_step, start_ns), .range = SS_RANGE_MOMENT),
	STEP(host_end_ns, SS_ITEM(struct ss_rank_step, host_start_ns), .range = SS_RANGE_MOMENT),
	STEP_SPAN(held_ns),
	STEP_SPAN(loose_ns),
	STEP_SPAN(input_ns),
};

static const struct ss_field kernel_fields[] = {
	SS_FIELD(struct ss_rank_kernel, name, SS_FIELD_U32, SS_BEFORE(struct ss_rank_kernel, name),
		 TEXT_ID),
	SS_FIELD(struct ss_rank_kernel, comm, SS_FIELD_BOOL),
	SS_FIELD(struct ss_rank_kernel, calls, SS_FIELD_I64, .range = SS_RANGE_SPAN),
	SS_FIELD(struct ss_rank_kernel, total_ns, SS_FIELD_I64, .range = SS_RANGE_SPAN),
};

static const struct ss_field phase_fields[] = {
	SS_FIELD(struct ss_rank_phase, calls, SS_FIELD_I64, .range = SS_RANGE_SPAN),
	SS_FIELD(struct ss_rank_phase, total_ns, SS_FIELD_I64, .range = SS_RANGE_SPAN),
};

static const struct ss_field gap_fields[] = {
	SS_FIELD(struct ss_rank_gap, start_ns, SS_FIELD_I64,
		 SS_BEFORE(struct ss_rank_gap, start_ns), .range = SS_RANGE_MOMENT),
	SS_FIELD(struct ss_rank_gap, end_ns, SS_FIELD_I64, SS_ITEM(struct ss_rank_gap, start_ns),
		 .range = SS_RANGE_MOMENT),
	SS_FIELD(struct ss_rank_gap, cause, SS_FIELD_U32, .limit = SS_IDLE_CAUSES),
	SS_FIELD(struct ss_rank_gap, host, SS_FIELD_U32, TEXT_ID),
};

/* A list `items` of `one`, counted in one_count and one_capacity. */
#define LIST(list, items_, one, type, list_fields)                                     \
	{                                                                              \
		.name = list, .items = IN_FILE(items_), .count = IN_FILE(one##_count), \
		.capacity = IN_FILE(one##_capacity), .item_bytes = sizeof(type),       \
		.fields = list_fields, .field_count = SS_COUNT(list_fields)            \
	}

static const struct ss_field_list lists[] = {
	LIST("sizes", recording.sizes, recording.size, struct ss_device_size, size_fields),
	LIST("groups", digest.groups, digest.group, struct ss_rank_group, group_fields),
	LIST("arrivals", digest.wholes, digest.whole, struct ss_whole_arrival, arrival_fields),
	LIST("steps", digest.steps, digest.step, struct ss_rank_step, step_fields),
	LIST("kernels", digest.kernels, digest.kernel, struct ss_rank_kernel, kernel_fields),
	LIST("modules", digest.modules, digest.module, struct ss_rank_kernel, kernel_fields),
	LIST("gaps", digest.gaps, digest.gap, struct ss_rank_gap, gap_fields),
	{ .name = "phases",
	  .items = IN_FILE(digest.phases),
	  .is_inside = true,
	  .exact = SS_PHASE_COUNT,
	  .item_bytes = sizeof(struct ss_rank_phase),
	  .fields = phase_fields,
	  .field_count = SS_COUNT(phase_fields) },
};

static const size_t texts[] = { IN_FILE(digest.texts) };

const struct ss_field_layout ss_digest_layout = {
	.fields = file_fields,
	.field_count = SS_COUNT(file_fields),
	.texts = texts,
	.text_count = SS_COUNT(texts),
	.lists = lists,
	.list_count = SS_COUNT(lists),
};

/*
 * --- bounds ---------------------------------------------------------------------------------
 *
 * A clock that is wrong once makes a step of decades, and any number can stand where a trace has
 * sizes. Readers refuse figures whose sums would not fit. Figures are bounded when a trace is
 * reduced, and not when a digest is written: answers from traces and from digests stay the same.
 */

static int64_t bound_value(enum ss_field_range range, int64_t value)
{
	struct ss_field_range_ends ends = ss_field_range_ends(range);

	if (range == SS_RANGE_MAYBE && value == INT64_MIN)
		return value;
	return value < ends.first ? ends.first : value > ends.last ? ends.last : value;
}

static void bound_field(const struct ss_field *field, char *item)
{
	for (size_t at = 0; at < field->count; at++) {
		char *place = item + field->offset + at * sizeof(int64_t);
		int64_t value;

		memcpy(&value, place, sizeof(value));
		value = bound_value(field->range, value);
		memcpy(place, &value, sizeof(value));
	}
}

/* The fields within the first `bytes` of an item. */
static void bound_fields(const struct ss_field *fields, size_t count, char *item, size_t bytes)
{
	for (size_t i = 0; i < count; i++)
		if (fields[i].type == SS_FIELD_I64 && fields[i].offset < bytes)
			bound_field(&fields[i], item);
}

void ss_job_digest_bound(struct ss_job_file *file)
{
	const struct ss_field_layout *layout = &ss_digest_layout;
	char *from = (char *)file;

	_Static_assert(offsetof(struct ss_whole_arrival, arrival) == 0,
		       "fields are where they are");
	bound_fields(layout->fields, layout->field_count, from, sizeof(*file));
	for (size_t i = 0; i < layout->list_count; i++) {
		const struct ss_field_list *list = &layout->lists[i];
		char *items = from + list->items;
		size_t item_bytes = list->item_bytes;
		uint32_t count = list->exact;

		if (!list->is_inside)
			memcpy(&items, from + list->items, sizeof(items));
		if (!list->exact)
			memcpy(&count, from + list->count, sizeof(count));
		/* their own parts were bounded when they were packed */
		if (list->items == offsetof(struct ss_job_file, digest.wholes)) {
			items = (char *)file->digest.arrivals;
			item_bytes = sizeof(*file->digest.arrivals);
			count = file->digest.arrival_count;
		}
		for (uint32_t k = 0; k < count; k++)
			bound_fields(list->fields, list->field_count,
				     items + (size_t)k * item_bytes, item_bytes);
	}
}
