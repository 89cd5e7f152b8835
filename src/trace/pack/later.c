/* SPDX-License-Identifier: Apache-2.0 */
/*
 * later.c - unpacks, checks and completes groups of columns.
 */
#include "trace/pack/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/system/thread.h"
#include "read/codec.h"
#include "trace/finish/finish.h"
#include "trace/outward.h"
#include "trace/pack/unpack.h"

/* --- parts ----------------------------------------------------------------------- */

/* Replaces the frame of a part by its data. */
static enum ss_status decompress(struct ss_memory *memory, struct ss_unpacked *part)
{
	size_t bytes = (size_t)part->bytes;
	void *data = NULL;

	if (!part->frame_bytes)
		return SS_OK;
	if (bytes) {
		data = ss_memory_resize(memory, NULL, 0, bytes);
		if (!data)
			return SS_ERR_LIMIT;
		ss_memory_populate(data, bytes);
	}
	if (!ss_zstd_read(part->data, part->frame_bytes, data, bytes)) {
		ss_memory_free(memory, data, bytes);
		return SS_ERR_FORMAT;
	}
	ss_memory_free(memory, part->data, part->capacity);
	part->data = data;
	part->capacity = bytes;
	part->frame_bytes = 0;
	return SS_OK;
}

static enum ss_status later_fail_part(enum ss_pack_part part, enum ss_status status,
				      struct ss_error *err)
{
	if (status == SS_OK)
		return SS_OK;
	return status == SS_ERR_FORMAT
		       ? ss_unpack_fail(err, "'%s' cannot be unpacked", ss_pack_parts[part].name)
		       : ss_fail_memory(err, "the events of this trace");
}

enum ss_status ss_unpack_part(struct ss_memory *memory, enum ss_pack_part index,
			      struct ss_unpacked *part, struct ss_error *err)
{
	return later_fail_part(index, decompress(memory, part), err);
}

uint32_t ss_pack_group(enum ss_pack_part part)
{
	for (size_t i = 0; i < SS_PACK_COLUMNS; i++)
		if (ss_pack_columns[i].part == part)
			return ss_pack_columns[i].group;
	return part == SS_PART_SYNCS ? SS_COLUMNS_SYNCS : 0;
}

/* Parts that are unpacked together: the longest first, so that threads end together. */
struct unpack_work {
	struct ss_memory *memory;
	struct ss_unpacked *parts;
	struct pending_part {
		enum ss_pack_part part;
		size_t frame_bytes;
		enum ss_status status;
	} items[SS_PARTS];
	uint32_t count, threads;
};

SS_COMPARATOR(pending_part_compare_length, struct pending_part, SS_DESCENDING(frame_bytes))

static void unpack_share(void *context, uint32_t index)
{
	struct unpack_work *work = context;

	for (uint32_t i = index; i < work->count; i += work->threads)
		work->items[i].status = decompress(work->memory, &work->parts[work->items[i].part]);
}

static enum ss_status unpack_parts(struct ss_trace *trace, uint32_t columns, uint32_t threads,
				   struct ss_error *err)
{
	struct unpack_work work = { .memory = trace->memory, .parts = trace->later->parts };

	for (uint32_t part = 0; part < SS_PARTS; part++)
		if (work.parts[part].frame_bytes && (ss_pack_group(part) & columns))
			work.items[work.count++] =
				(struct pending_part){ part, work.parts[part].frame_bytes, SS_OK };
	if (!work.count)
		return SS_OK;
	qsort(work.items, work.count, sizeof(work.items[0]), pending_part_compare_length);
	work.threads = threads < work.count ? threads : work.count;
	ss_thread_run(work.threads, unpack_share, &work);
	for (uint32_t i = 0; i < work.count; i++)
		SS_TRY(later_fail_part(work.items[i].part, work.items[i].status, err));
	return SS_OK;
}

/* --- what becomes of them --------------------------------------------------------- */

/* The blocks of the parts become those of the trace. */
static void later_take_columns(struct ss_trace *trace, uint32_t columns)
{
	char *at = (char *)trace;

	for (size_t i = 0; i < SS_PACK_COLUMNS; i++) {
		const struct ss_pack_column *column = &ss_pack_columns[i];
		struct ss_unpacked *part = &trace->later->parts[column->part];

		if (!(column->group & columns) || !part->data)
			continue;
		memcpy(at + column->data, &part->data, sizeof(part->data));
		part->data = NULL;
	}
}

static enum ss_status later_take_syncs(struct ss_trace *trace, struct ss_error *err)
{
	struct ss_unpacked *part = &trace->later->parts[SS_PART_SYNCS];
	const struct ss_pack_sync *from = part->data;

	if (!from)
		return SS_OK;
	if (!SS_RESERVE(trace->memory, trace->syncs, trace->sync_capacity, part->count))
		return ss_fail_memory(err, "the waits");
	for (uint32_t i = 0; i < part->count; i++)
		trace->syncs[i] = (struct ss_sync_row){ from[i].row, from[i].stream,
							from[i].wait_stream,
							from[i].wait_correlation };
	ss_memory_free(trace->memory, part->data, part->capacity);
	part->data = NULL;
	return SS_OK;
}

/* Allocates a column that is computed, not read; it stays when a later allocation fails. */
static bool later_allocate_column(struct ss_trace *trace, void **column, size_t item_bytes)
{
	size_t bytes = trace->slices.count * item_bytes;

	if (*column || !bytes)
		return true;
	*column = ss_memory_resize(trace->memory, NULL, 0, bytes);
	if (*column)
		ss_memory_populate(*column, bytes);
	return *column != NULL;
}

static enum ss_status later_make_tracks(struct ss_trace *trace, struct ss_error *err)
{
	if (!later_allocate_column(trace, (void **)&trace->slices.track,
				   sizeof(*trace->slices.track)))
		return ss_fail_memory(err, "the tracks of the events");
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		for (uint32_t k = 0; k < track->row_count; k++)
			trace->slices.track[track->first_row + k] = i;
	}
	return SS_OK;
}

/* Tracks have their depth from the pack: it is computed again and compared. */
static enum ss_status later_make_nesting(struct ss_trace *trace, uint32_t threads,
					 struct ss_error *err)
{
	struct ss_slices *slices = &trace->slices;
	struct ss_trace nested;
	struct ss_arena scratch;
	bool is_same = true;

	if (!later_allocate_column(trace, (void **)&slices->parent, sizeof(*slices->parent)) ||
	    !later_allocate_column(trace, (void **)&slices->depth, sizeof(*slices->depth)))
		return ss_fail_memory(err, "the nesting of the events");
	ss_arena_init(&scratch, trace->memory);
	nested = *trace;
	nested.slices.id = NULL; /* oddities of nesting were counted when the trace was packed */
	if (!SS_ALLOC(&scratch, nested.tracks, (size_t)trace->track_count + 1)) {
		ss_arena_release(&scratch);
		return ss_fail_memory(err, "the nesting of the events");
	}
	for (uint32_t i = 0; i < trace->track_count; i++) {
		nested.tracks[i] = trace->tracks[i];
		nested.tracks[i].depth_max = 0;
		nested.tracks[i].has_ops = false;
	}
	ss_finish_nest(&nested, threads);
	for (uint32_t i = 0; i < trace->track_count; i++)
		is_same = is_same && nested.tracks[i].depth_max == trace->tracks[i].depth_max &&
			  nested.tracks[i].has_ops == trace->tracks[i].has_ops;
	ss_arena_release(&scratch);
	return is_same ? ss_outward_init(trace, err)
		       : ss_unpack_fail(err, "tracks and their events do not match");
}

/* --- the whole ------------------------------------------------------------------- */

#define OF_SLICES                                                                                \
	(SS_COLUMNS_START | SS_COLUMNS_DUR | SS_COLUMNS_NAME | SS_COLUMNS_ARGS | SS_COLUMNS_ID | \
	 SS_COLUMNS_CATEGORY | SS_COLUMNS_LINK | SS_COLUMNS_TRACK | SS_COLUMNS_NESTING |         \
	 SS_COLUMNS_COMMS | SS_COLUMNS_SEQUENCES | SS_COLUMNS_SYNCS | SS_COLUMNS_OTHERS)

static uint32_t columns_with_needed(uint32_t columns)
{
	if (columns & SS_COLUMNS_NESTING)
		columns |= SS_COLUMNS_START | SS_COLUMNS_NAME | SS_COLUMNS_COMMS;
	if (columns & SS_COLUMNS_START)
		columns |= SS_COLUMNS_DUR;
	return columns & OF_SLICES ? columns | SS_COLUMNS_KIND : columns;
}

enum ss_status ss_trace_need_columns(struct ss_trace *trace, uint32_t columns, uint32_t threads,
				     struct ss_error *err)
{
	struct ss_pack_pending *later = trace->later;

	if (!later)
		return SS_OK;
	columns = columns_with_needed(columns & SS_COLUMNS_ALL) & ~later->there;
	if (!columns)
		return SS_OK;
	SS_TRY(unpack_parts(trace, columns, threads ? threads : 1, err));
	later_take_columns(trace, columns);
	if (columns & SS_COLUMNS_SYNCS)
		SS_TRY(later_take_syncs(trace, err));
	SS_TRY(ss_unpack_check_columns(trace, columns, err));
	if (columns & SS_COLUMNS_TRACK)
		SS_TRY(later_make_tracks(trace, err));
	if (columns & SS_COLUMNS_NESTING)
		SS_TRY(later_make_nesting(trace, threads, err));
	later->there |= columns;
	return SS_OK;
}

bool ss_trace_is_untouched(const struct ss_trace *trace)
{
	return trace->later && !trace->later->there;
}

bool ss_trace_is_whole(const struct ss_trace *trace)
{
	return !trace->later || trace->later->there == SS_COLUMNS_ALL;
}

void ss_pack_pending_release(struct ss_trace *trace)
{
	struct ss_pack_pending *later = trace->later;

	if (!later)
		return;
	for (uint32_t i = 0; i < SS_PARTS; i++)
		ss_memory_free(trace->memory, later->parts[i].data, later->parts[i].capacity);
	ss_memory_free(trace->memory, later, sizeof(*later));
	trace->later = NULL;
}
