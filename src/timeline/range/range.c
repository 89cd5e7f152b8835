/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.c - sums up a time range file by file, and chooses what is shown.
 */
#include "timeline/range/range.h"

#include <stdlib.h>

#include "base/sort.h"
#include "timeline/range/sweep.h"

const char *ss_where_name(enum ss_where where)
{
	static const char *const names[] = { [SS_WHERE_HOST] = "host",
					     [SS_WHERE_DEVICE] = "device",
					     [SS_WHERE_OTHER] = "other",
					     [SS_WHERE_IDLE] = "idle" };

	return names[where];
}

static enum ss_status index_make_block_ends(struct ss_index *index, struct ss_error *err)
{
	const struct ss_slices *slices = &index->trace->slices;
	size_t count = SS_BLOCKS(slices->count);
	int64_t *ends;

	if (index->block_ends)
		return SS_OK;
	ends = ss_memory_resize(index->memory, NULL, 0, count * sizeof(*ends));
	if (!ends)
		return ss_fail_memory(err, "the ends of slices");
	for (size_t i = 0; i < count; i++)
		ends[i] = INT64_MIN;
	for (uint32_t row = 0; row < slices->count; row++) {
		int64_t end_ns = ss_slice_end(slices, row);

		if (end_ns > ends[row / SS_BLOCK_ROWS])
			ends[row / SS_BLOCK_ROWS] = end_ns;
	}
	index->block_ends = ends;
	return SS_OK;
}

/* --- names ------------------------------------------------------------------------------- */

SS_COMPARATOR(range_name_compare, struct ss_range_name,
	      SS_DESCENDING(total_ns) SS_DESCENDING(count) SS_ASCENDING(where) SS_ASCENDING(text))

static void range_keep_names(struct ss_range_sums *out, uint32_t room)
{
	out->all_names = out->name_count;
	if (out->name_count)
		qsort(out->names, out->name_count, sizeof(*out->names), range_name_compare);
	if (out->name_count > room)
		out->name_count = room;
}

/* --- files ------------------------------------------------------------------------------- */

/* Which of the tracks of the file are meant, by their place. */
static const bool *range_mark_tracks(const struct ss_range_file *wanted,
				     const struct ss_index *index, struct ss_arena *scratch)
{
	const struct ss_tracks *tracks = &index->tracks;
	uint32_t all = index->trace->track_count + index->idle.device_count;
	bool *asked = SS_ARENA_NEW(scratch, bool, (size_t)tracks->count + 1);
	bool *named = SS_ARENA_NEW(scratch, bool, (size_t)all + 1);

	if (!asked || !named)
		return NULL;
	for (uint32_t i = 0; i < wanted->track_count; i++)
		named[wanted->tracks[i]] = true;
	for (uint32_t i = 0; i < tracks->count; i++)
		asked[i] = wanted->track_count ? named[tracks->items[i].track]
					       : tracks->items[i].kind != SS_SHOWN_IDLE;
	return asked;
}

static bool range_sweep_file(struct ss_file_sweep *file, const struct ss_range_file *wanted)
{
	const struct ss_tracks *tracks = &file->index->tracks;
	size_t names = file->index->trace->names.count;
	struct ss_arena scratch;
	bool whole;

	ss_arena_init(&scratch, file->out->memory);
	file->name_ids = SS_ARENA_NEW(&scratch, uint32_t, names * SS_WHERE_IDLE + 1);
	file->asked = range_mark_tracks(wanted, file->index, &scratch);
	file->only_used = !wanted->track_count;
	whole = file->name_ids && file->asked;
	for (uint32_t i = 0; whole && i < tracks->count; i++)
		if (file->asked[i])
			whole = ss_timeline_range_sweep(file, i);
	whole = whole && ss_timeline_range_devices(file);
	ss_arena_release(&scratch);
	return whole;
}

/* From times of the timeline to those of a file; its ends are not lost by rounding. */
static void file_sweep_set_times(const struct ss_range_query *range,
				 const struct ss_timeline_file *own, struct ss_file_sweep *file)
{
	file->length_ns = range->to_ns - range->from_ns;
	file->from_ns = range->from_ns <= ss_timeline_moment(own, 0)
				? INT64_MIN
				: ss_timeline_own(own, range->from_ns);
	file->to_ns = range->to_ns >= ss_timeline_moment(own, own->trace->span_ns)
			      ? INT64_MAX
			      : ss_timeline_own(own, range->to_ns);
}

/* A name is identified by its text and place, a node by its parent and text. */
static bool range_init_sums(struct ss_file_sweep *file, struct ss_records *names,
			    struct ss_records *nodes, struct ss_range_sums *out)
{
	*file = (struct ss_file_sweep){ .names = names, .nodes = nodes, .out = out };
	return ss_strings_init(&out->texts, out->memory) &&
	       ss_records_init(names, out->memory, 2 * sizeof(uint32_t)) &&
	       ss_records_init(nodes, out->memory, 2 * sizeof(uint32_t));
}

static enum ss_status range_sweep_files(const struct ss_range_query *range,
					struct ss_timeline *timeline, struct ss_file_sweep *file,
					struct ss_error *err)
{
	for (uint32_t i = 0; i < range->file_count; i++) {
		file->file = range->files[i].file;
		SS_TRY(ss_index_of(timeline, file->file, &file->index, err));
		SS_TRY(index_make_block_ends(file->index, err));
		file_sweep_set_times(range, &timeline->files[file->file], file);
		if (!range_sweep_file(file, &range->files[i]))
			return ss_fail_memory(err, "what ran in the stretch");
	}
	range_keep_names(file->out, range->room);
	if (!ss_timeline_range_prune(file->out, range->tree_room))
		return ss_fail_memory(err, "what ran in the stretch");
	return SS_OK;
}

enum ss_status ss_timeline_range_run(const struct ss_range_query *range,
				     struct ss_timeline *timeline, struct ss_memory *memory,
				     struct ss_range_sums *out, struct ss_error *err)
{
	struct ss_records names = { 0 }, nodes = { 0 };
	struct ss_file_sweep file;
	enum ss_status status;

	*out = (struct ss_range_sums){ .memory = memory };
	status = range_init_sums(&file, &names, &nodes, out)
			 ? range_sweep_files(range, timeline, &file, err)
			 : ss_fail_memory(err, "what ran in the stretch");
	ss_memory_free(memory, file.open, file.open_capacity * sizeof(*file.open));
	ss_records_release(&names);
	ss_records_release(&nodes);
	if (status != SS_OK)
		ss_timeline_range_release(out);
	return status;
}

void ss_timeline_range_release(struct ss_range_sums *ranged)
{
	struct ss_memory *memory = ranged->memory;

	if (memory) {
		ss_memory_free(memory, ranged->tracks,
			       ranged->track_capacity * sizeof(*ranged->tracks));
		ss_memory_free(memory, ranged->names,
			       ranged->name_capacity * sizeof(*ranged->names));
		ss_memory_free(memory, ranged->nodes,
			       ranged->node_capacity * sizeof(*ranged->nodes));
		ss_memory_free(memory, ranged->devices,
			       ranged->device_capacity * sizeof(*ranged->devices));
		ss_strings_release(&ranged->texts);
	}
	*ranged = (struct ss_range_sums){ 0 };
}
