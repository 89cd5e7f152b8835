/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.c - creates and frees traces and their columns.
 */
#include "trace/trace.h"

#include <string.h>

#include "base/hash/hash.h"
#include "base/search.h"
#include "trace/pack/pack.h"

int64_t ss_trace_start(const struct ss_trace *trace)
{
	int64_t base_ns = trace->info.base_time_ns > 0 ? trace->info.base_time_ns : 0, start_ns;

	return !__builtin_add_overflow(trace->origin_ns, base_ns, &start_ns) &&
			       start_ns >= SS_WALL_CLOCK_MIN
		       ? start_ns
		       : -1;
}

enum ss_status ss_trace_init(struct ss_trace *trace, struct ss_memory *memory, struct ss_error *err)
{
	memset(trace, 0, sizeof(*trace));
	trace->memory = memory;
	ss_arena_init(&trace->arena, memory);
	ss_quality_init(&trace->quality);
	if (!SS_ALLOC(&trace->arena, trace->categories, SS_CATEGORIES_MAX) ||
	    !SS_ALLOC(&trace->arena, trace->category_events, SS_CATEGORIES_MAX))
		return ss_fail_memory(err, "a trace");
	/* where categories beyond the limit go */
	trace->categories[SS_CATEGORIES_MAX - 1] = (struct ss_category){ "(others)", SS_KIND_OTHER,
									 false };
	trace->info = (struct ss_trace_info){
		.rank = -1,
		.world_size = -1,
		.group_count = -1,
		.schema_version = -1,
		.cuda_runtime = -1,
		.cuda_driver = -1,
		.cupti = -1,
		.hip_runtime = -1,
	};
	if (!ss_strings_init(&trace->names, memory) || !ss_strings_init(&trace->texts, memory) ||
	    !ss_records_init(&trace->op_args, memory, sizeof(struct ss_op_args)) ||
	    !ss_records_init(&trace->kernel_args, memory, sizeof(struct ss_kernel_args)) ||
	    !ss_records_init(&trace->copy_args, memory, sizeof(struct ss_copy_args)) ||
	    !ss_records_init(&trace->comm_args, memory, sizeof(struct ss_comm_args)) ||
	    !SS_RESERVE(memory, trace->name_flags, trace->name_flag_capacity, 1))
		return ss_fail_memory(err, "a trace");
	trace->name_flags[0] = 0;
	return SS_OK;
}

/* A column of slices or allocations: where its pointer lies, and how long an item is. */
struct trace_column {
	void **data;
	size_t item_bytes;
	bool loaded; /* filled by loading, not found afterwards */
};

#define COLUMN(field, is_loaded)                               \
	{                                                      \
		(void **)&(field), sizeof(*(field)), is_loaded \
	}
#define SLICE_COLUMNS 11
#define ALLOCATION_COLUMNS 9

static void slice_columns(struct ss_slices *slices, struct trace_column out[SLICE_COLUMNS])
{
	const struct trace_column columns[SLICE_COLUMNS] = {
		COLUMN(slices->start_ns, true), COLUMN(slices->dur_ns, true),
		COLUMN(slices->name, true),     COLUMN(slices->track, true),
		COLUMN(slices->args, true),     COLUMN(slices->id, true),
		COLUMN(slices->kind, true),     COLUMN(slices->category, true),
		COLUMN(slices->depth, false),   COLUMN(slices->parent, false),
		COLUMN(slices->link, false),
	};

	memcpy(out, columns, sizeof(columns));
}

static void allocation_columns(struct ss_allocations *rows,
			       struct trace_column out[ALLOCATION_COLUMNS])
{
	const struct trace_column columns[ALLOCATION_COLUMNS] = {
		COLUMN(rows->start_ns, true),       COLUMN(rows->address, true),
		COLUMN(rows->bytes, true),          COLUMN(rows->allocated_bytes, true),
		COLUMN(rows->reserved_bytes, true), COLUMN(rows->track, true),
		COLUMN(rows->device_id, true),      COLUMN(rows->device_type, true),
		COLUMN(rows->out_of_memory, true),
	};

	memcpy(out, columns, sizeof(columns));
}

/* Makes all loaded columns `wanted` rows long. A column that failed keeps its old length. */
static bool columns_resize(struct ss_memory *memory, struct trace_column *columns, int column_count,
			   uint32_t had, uint32_t wanted)
{
	for (int i = 0; i < column_count; i++) {
		size_t bytes = columns[i].item_bytes;
		void *moved;

		if (!columns[i].loaded)
			continue;
		moved = ss_memory_resize(memory, *columns[i].data, had * bytes, wanted * bytes);
		if (!moved && wanted) {
			/* undo, so that all columns stay equally long */
			while (i-- > 0)
				if (columns[i].loaded)
					*columns[i].data =
						ss_memory_resize(memory, *columns[i].data,
								 wanted * columns[i].item_bytes,
								 had * columns[i].item_bytes);
			return false;
		}
		*columns[i].data = moved;
	}
	return true;
}

static enum ss_status columns_reserve(struct ss_memory *memory, struct trace_column *columns,
				      int column_count, uint32_t *capacity, size_t count,
				      struct ss_error *err)
{
	uint32_t wanted;

	if (count <= *capacity)
		return SS_OK;
	if (count >= SS_NO_ROW - 1)
		return ss_fail(err, SS_ERR_LIMIT, "the file has more than %u events",
			       SS_NO_ROW - 2);
	wanted = *capacity < 1024 ? 1024 : *capacity;
	while (wanted < count)
		wanted = wanted > SS_NO_ROW / 3 * 2 ? SS_NO_ROW - 2 : wanted + wanted / 2;
	if (!columns_resize(memory, columns, column_count, *capacity, wanted))
		return ss_fail_memory(err, "the events of this trace");
	*capacity = wanted;
	return SS_OK;
}

enum ss_status ss_slices_reserve(struct ss_trace *trace, size_t count, struct ss_error *err)
{
	struct trace_column columns[SLICE_COLUMNS];

	slice_columns(&trace->slices, columns);
	return columns_reserve(trace->memory, columns, SLICE_COLUMNS, &trace->slices.capacity,
			       count, err);
}

enum ss_status ss_allocations_reserve(struct ss_trace *trace, size_t count, struct ss_error *err)
{
	struct trace_column columns[ALLOCATION_COLUMNS];

	allocation_columns(&trace->allocations, columns);
	return columns_reserve(trace->memory, columns, ALLOCATION_COLUMNS,
			       &trace->allocations.capacity, count, err);
}

enum ss_status ss_slices_finish(struct ss_trace *trace, struct ss_error *err)
{
	struct ss_slices *slices = &trace->slices;
	struct trace_column columns[SLICE_COLUMNS];

	slice_columns(slices, columns);
	if (slices->count && slices->capacity > slices->count) {
		columns_resize(trace->memory, columns, SLICE_COLUMNS, slices->capacity,
			       slices->count);
		slices->capacity = slices->count;
	}
	for (int i = 0; i < SLICE_COLUMNS; i++) {
		if (columns[i].loaded || !slices->capacity)
			continue;
		*columns[i].data = ss_memory_resize(trace->memory, NULL, 0,
						    slices->capacity * columns[i].item_bytes);
		if (!*columns[i].data)
			return ss_fail_memory(err, "the nesting of the events");
	}
	return SS_OK;
}

/* A column of slices; it may be gone already. */
static void slices_drop_column(struct ss_trace *trace, void **column, size_t item_bytes)
{
	ss_memory_free(trace->memory, *column, trace->slices.capacity * item_bytes);
	*column = NULL;
}

void ss_slices_drop_shown(struct ss_trace *trace)
{
	struct ss_slices *slices = &trace->slices;

	slices_drop_column(trace, (void **)&slices->category, sizeof(*slices->category));
	slices_drop_column(trace, (void **)&slices->depth, sizeof(*slices->depth));
}

void ss_slices_drop_ids(struct ss_trace *trace)
{
	slices_drop_column(trace, (void **)&trace->slices.id, sizeof(*trace->slices.id));
}

static void columns_release(struct ss_memory *memory, struct trace_column *columns,
			    int column_count, uint32_t capacity)
{
	for (int i = 0; i < column_count; i++)
		if (*columns[i].data)
			ss_memory_free(memory, *columns[i].data, capacity * columns[i].item_bytes);
}

#define FREE_ARRAY(trace, items, capacity) SS_FREE((trace)->memory, (items), capacity)

void ss_trace_release(struct ss_trace *trace)
{
	struct trace_column slices[SLICE_COLUMNS], allocations[ALLOCATION_COLUMNS];

	if (!trace->memory)
		return;
	ss_pack_pending_release(trace);
	slice_columns(&trace->slices, slices);
	columns_release(trace->memory, slices, SLICE_COLUMNS, trace->slices.capacity);
	allocation_columns(&trace->allocations, allocations);
	columns_release(trace->memory, allocations, ALLOCATION_COLUMNS,
			trace->allocations.capacity);
	FREE_ARRAY(trace, trace->counters, trace->counter_capacity);
	FREE_ARRAY(trace, trace->tracks, trace->track_capacity);
	FREE_ARRAY(trace, trace->comms, trace->comm_capacity);
	FREE_ARRAY(trace, trace->sequences, trace->sequence_capacity);
	FREE_ARRAY(trace, trace->syncs, trace->sync_capacity);
	FREE_ARRAY(trace, trace->others, trace->other_capacity);
	FREE_ARRAY(trace, trace->name_flags, trace->name_flag_capacity);
	FREE_ARRAY(trace, trace->info.devices, trace->info.device_capacity);
	FREE_ARRAY(trace, trace->info.groups, trace->info.group_capacity);
	ss_strings_release(&trace->names);
	ss_strings_release(&trace->texts);
	ss_records_release(&trace->op_args);
	ss_records_release(&trace->kernel_args);
	ss_records_release(&trace->copy_args);
	ss_records_release(&trace->comm_args);
	ss_arena_release(&trace->arena);
	memset(trace, 0, sizeof(*trace));
}

uint64_t ss_trace_hash_events(const struct ss_trace *trace)
{
	const struct ss_slices *slices = &trace->slices;
	uint64_t sum = 0, hash = SS_HASH_SEED;

	/* a sum of hashes: their order does not matter */
	for (uint32_t i = 0; i < slices->count; i++) {
		const struct ss_string *name = &trace->names.items[slices->name[i]];
		uint64_t own = ss_hash_mix(ss_hash_bytes(name->text, name->length),
					   (uint64_t)slices->start_ns[i]);

		sum += ss_hash_mix(own, (uint64_t)slices->dur_ns[i]) * SS_HASH_FACTOR;
	}
	if (!slices->count)
		return 0;
	hash = ss_hash_mix(hash, sum);
	hash = ss_hash_mix(hash, (uint64_t)ss_trace_start(trace));
	hash = ss_hash_mix(hash, (uint64_t)trace->origin_ns);
	hash = ss_hash_mix(hash, trace->event_count);
	return ss_hash_mix(hash, trace->file_bytes);
}

const struct ss_comm_row *ss_trace_comm(const struct ss_trace *trace, uint32_t row)
{
	uint32_t low = 0, high = trace->comm_count;

	SS_SEARCH(low, high, at, trace->comms[at].row < row);
	return low < trace->comm_count && trace->comms[low].row == row ? &trace->comms[low] : NULL;
}

/* --- figures of a whole track ---------------------------------------------------------------- */

void ss_track_sum_kinds(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out)
{
	const uint8_t *kinds = trace->slices.kind;
	const uint32_t end = track->first_row + track->row_count;
	/* runs of one kind are long: two alternating counters do not wait for each other */
	uint32_t counts[2][256] = { 0 };

	for (uint32_t row = track->first_row; row < end; row++)
		counts[row & 1][kinds[row]]++;
	for (int kind = 0; kind < SS_KIND_COUNT; kind++)
		out->kinds[kind] = counts[0][kind] + counts[1][kind];
}

/* The union of the rows, which are sorted by start. */
void ss_track_sum_times(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out)
{
	const struct ss_slices *slices = &trace->slices;
	int64_t busy_ns = 0, last_ns = INT64_MIN;

	if (!track->row_count)
		return;
	for (uint32_t i = 0; i < track->row_count; i++) {
		uint32_t row = track->first_row + i;
		int64_t start_ns = slices->start_ns[row], end_ns = ss_slice_end(slices, row);

		if (end_ns <= last_ns)
			continue;
		busy_ns += end_ns - (start_ns > last_ns ? start_ns : last_ns);
		last_ns = end_ns;
	}
	out->busy_ns = busy_ns;
	out->first_ns = slices->start_ns[track->first_row];
	out->last_ns = last_ns;
}

void ss_track_sum_links(const struct ss_trace *trace, const struct ss_track *track,
			struct ss_track_sums *out)
{
	const uint32_t *links = trace->slices.link;
	const uint32_t end = track->first_row + track->row_count;
	uint32_t unlinked = 0;

	for (uint32_t row = track->first_row; track->class == SS_TRACK_DEVICE && row < end; row++)
		unlinked += links[row] == SS_NO_ROW;
	out->unlinked = unlinked;
}

void ss_track_sum(const struct ss_trace *trace, uint32_t track, struct ss_track_sums *out)
{
	if (trace->track_sums) {
		*out = trace->track_sums[track];
		return;
	}
	memset(out, 0, sizeof(*out));
	if (!trace->tracks[track].row_count)
		return;
	ss_track_sum_kinds(trace, &trace->tracks[track], out);
	ss_track_sum_times(trace, &trace->tracks[track], out);
	ss_track_sum_links(trace, &trace->tracks[track], out);
}
