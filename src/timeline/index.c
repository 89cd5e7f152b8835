/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index.c - makes the parts of an index one after the other.
 */
#include <string.h>

#include "base/search.h"
#include "base/sort.h"
#include "timeline/index.h"
#include "timeline/range/range.h"

/* --- gaps -------------------------------------------------------------------------- */

static uint8_t gap_largest_cause(const struct ss_idle *idle, const struct ss_idle_gap *gap)
{
	const struct ss_idle_piece *largest = NULL;

	for (uint32_t i = gap->piece_from; i < gap->piece_to; i++)
		if (!largest || idle->pieces[i].ns > largest->ns ||
		    /* as ss_idle_gap_cause() has it */
		    (idle->pieces[i].ns == largest->ns && idle->pieces[i].cause == SS_IDLE_UNKNOWN))
			largest = &idle->pieces[i];
	return (uint8_t)(largest ? largest->cause : SS_IDLE_UNKNOWN);
}

static bool gap_columns_make(struct ss_gap_columns *gaps, const struct ss_idle *idle,
			     struct ss_memory *memory)
{
	size_t room = (size_t)idle->gap_count + 1;

	gaps->count = idle->gap_count;
	gaps->start_ns = ss_memory_resize(memory, NULL, 0, room * sizeof(*gaps->start_ns));
	gaps->dur_ns = ss_memory_resize(memory, NULL, 0, room * sizeof(*gaps->dur_ns));
	gaps->cause = ss_memory_resize(memory, NULL, 0, room);
	if (!gaps->start_ns || !gaps->dur_ns || !gaps->cause)
		return false;
	for (uint32_t i = 0; i < idle->gap_count; i++) {
		gaps->start_ns[i] = idle->gaps[i].start_ns;
		gaps->dur_ns[i] = idle->gaps[i].end_ns - idle->gaps[i].start_ns;
		gaps->cause[i] = gap_largest_cause(idle, &idle->gaps[i]);
	}
	return true;
}

static void gap_columns_release(struct ss_gap_columns *gaps, struct ss_memory *memory)
{
	size_t room = (size_t)gaps->count + 1;

	SS_FREE(memory, gaps->start_ns, room);
	SS_FREE(memory, gaps->dur_ns, room);
	ss_memory_free(memory, gaps->cause, room);
	*gaps = (struct ss_gap_columns){ 0 };
}

static enum ss_status index_make_gap_lanes(struct ss_index *index, struct ss_error *err)
{
	const struct ss_idle *idle = &index->idle;
	struct ss_lane_rows rows = { index->gaps.start_ns, index->gaps.dur_ns, NULL,
				     index->gaps.cause };
	SS_SCRATCH(scratch, index->memory);
	uint32_t *from;

	if (!SS_ALLOC(&scratch, from, (size_t)idle->device_count + 1))
		return ss_fail_memory(err, "the idle tracks");
	for (uint32_t i = 0; i < idle->device_count; i++)
		from[i] = idle->devices[i].gap_from;
	from[idle->device_count] = idle->gap_count;
	return ss_lanes_init_plain(&index->gap_lanes, rows, from, idle->device_count, index->memory,
				   err);
}

/* --- waits ------------------------------------------------------------------------- */

SS_COMPARATOR(row_wait_compare, struct ss_row_wait, SS_ASCENDING(row))

static bool index_find_waits(struct ss_index *index, const struct ss_joined *joined, uint32_t rank)
{
	const struct ss_digest *digest = rank == SS_NO_ROW ? NULL : &joined->ranks[rank];

	if (!digest)
		return true;
	if (!SS_GROW(index->memory, index->waits, index->wait_capacity, digest->arrival_count))
		return false;
	for (uint32_t i = 0; i < digest->arrival_count; i++) {
		const struct ss_arrival *arrival = &digest->arrivals[i];
		uint32_t number = joined->collective_of[rank][i];
		int64_t stay_ns = arrival->end_ns - arrival->start_ns, wait_ns;

		if (number == SS_NO_COLLECTIVE || !joined->collectives[number].is_symmetric)
			continue;
		wait_ns = stay_ns - joined->collectives[number].transfer_ns;
		if (wait_ns > 0)
			index->waits[index->wait_count++] = (struct ss_row_wait){
				arrival->row,
				(uint8_t)(255.0 * (double)wait_ns / (double)stay_ns + 0.5)
			};
	}
	SS_SORT(index->waits, index->wait_count, row_wait_compare);
	return true;
}

uint8_t ss_index_wait(const struct ss_index *index, uint32_t row)
{
	uint32_t low = 0, high = index->wait_count;

	SS_SEARCH(low, high, at, index->waits[at].row < row);
	return low < index->wait_count && index->waits[low].row == row ? index->waits[low].part : 0;
}

/* --- all of it --------------------------------------------------------------------- */

/* All but the busy time. */
static void index_release_parts(struct ss_index *index)
{
	struct ss_memory *memory = index->memory;

	ss_curves_release(&index->curves);
	ss_lanes_release(&index->gap_lanes);
	ss_lanes_release(&index->lanes);
	ss_colors_release(&index->colors);
	ss_tracks_release(&index->tracks);
	gap_columns_release(&index->gaps, memory);
	ss_idle_release(&index->idle);
	SS_FREE(memory, index->waits, index->wait_capacity);
	index->waits = NULL;
	index->wait_count = index->wait_capacity = 0;
}

static enum ss_status index_make(struct ss_index *index, const struct ss_timeline *timeline,
				 uint32_t file, struct ss_error *err)
{
	const struct ss_trace *trace = index->trace;
	struct ss_memory *memory = index->memory;

	SS_TRY(ss_idle_init(&index->idle, trace, memory, err));
	if (!gap_columns_make(&index->gaps, &index->idle, memory) ||
	    !index_find_waits(index, &timeline->job->joined, timeline->files[file].rank_index))
		return ss_fail_memory(err, "the index of the timeline");
	SS_TRY(index_make_gap_lanes(index, err));
	SS_TRY(ss_tracks_init(&index->tracks, trace, &index->idle, memory, err));
	SS_TRY(ss_colors_init(&index->colors, trace, memory, err));
	SS_TRY(ss_curves_init(&index->curves, trace, memory, err));
	return ss_lanes_init(&index->lanes, trace, &index->colors, memory, err);
}

/* The index of the file, created empty on first use; NULL: no memory. */
static struct ss_index *index_open(struct ss_timeline *timeline, uint32_t file)
{
	struct ss_timeline_file *own = &timeline->files[file];

	assert(own->trace);
	if (own->index)
		return own->index;
	own->index = ss_memory_resize(timeline->memory, NULL, 0, sizeof(*own->index));
	if (own->index)
		*own->index = (struct ss_index){ .memory = timeline->memory, .trace = own->trace };
	return own->index;
}

enum ss_status ss_index_of(struct ss_timeline *timeline, uint32_t file, struct ss_index **out,
			   struct ss_error *err)
{
	struct ss_index *index = index_open(timeline, file);
	enum ss_status status;

	*out = index;
	if (!index)
		return ss_fail_memory(err, "the index of the timeline");
	if (index->is_made)
		return SS_OK;
	status = index_make(index, timeline, file, err);
	index->is_made = status == SS_OK;
	if (status != SS_OK)
		index_release_parts(index);
	return status;
}

enum ss_status ss_index_busy(struct ss_timeline *timeline, uint32_t file,
			     const struct ss_busy **out, struct ss_error *err)
{
	struct ss_index *index = index_open(timeline, file);

	*out = index ? &index->busy : NULL;
	if (!index)
		return ss_fail_memory(err, "the index of the timeline");
	return index->busy.memory ? SS_OK
				  : ss_busy_init(&index->busy, index->trace, index->memory, err);
}

static bool slice_is_longer(const struct ss_slices *slices, uint32_t row, uint32_t than)
{
	if (slices->dur_ns[row] != slices->dur_ns[than])
		return slices->dur_ns[row] > slices->dur_ns[than];
	return slices->start_ns[row] < slices->start_ns[than];
}

static void index_sum_names(const struct ss_slices *slices, struct ss_name_sum *sums)
{
	for (uint32_t row = 0; row < slices->count; row++) {
		struct ss_name_sum *sum = &sums[slices->name[row]];

		sum->kinds |= UINT32_C(1) << slices->kind[row];
		sum->total_ns = ss_ns_sum(sum->total_ns, slices->dur_ns[row]);
		if (!sum->count++ || slice_is_longer(slices, row, sum->longest))
			sum->longest = row;
	}
}

enum ss_status ss_index_names(struct ss_timeline *timeline, uint32_t file,
			      const struct ss_name_sum **out, struct ss_error *err)
{
	struct ss_index *index = index_open(timeline, file);
	size_t bytes;

	*out = index ? index->name_sums : NULL;
	if (*out)
		return SS_OK;
	if (!index)
		return ss_fail_memory(err, "the index of the timeline");
	bytes = ((size_t)index->trace->names.count + 1) * sizeof(*index->name_sums);
	index->name_sums = ss_memory_zeroed(index->memory, bytes);
	if (!index->name_sums)
		return ss_fail_memory(err, "the index of the timeline");
	index_sum_names(&index->trace->slices, index->name_sums);
	*out = index->name_sums;
	return SS_OK;
}

void ss_index_release(struct ss_index *index)
{
	struct ss_memory *memory;

	if (!index)
		return;
	memory = index->memory;
	ss_places_release(&index->places);
	for (int i = 0; i < SS_PAINT_COUNT; i++)
		ss_paints_release(&index->paints[i], index->trace, memory);
	SS_FREE(memory, index->name_sums, (size_t)index->trace->names.count + 1);
	ss_memory_free(memory, index->block_ends,
		       SS_BLOCKS(index->trace->slices.count) * sizeof(*index->block_ends));
	index_release_parts(index);
	ss_busy_release(&index->busy);
	ss_memory_free(memory, index, sizeof(*index));
}
