/* SPDX-License-Identifier: Apache-2.0 */
/*
 * range.c - sums up a time range file by file, and chooses what is shown.
 */
#include "timeline/range/range.h"

#include "base/sort.h"
#include "timeline/range/sweep.h"
#include "base/search.h"

/* How long devices were busy in a stretch, and why they were idle. */

uint32_t ss_timeline_range_gap_from(const struct ss_file_sweep *file,
				    const struct ss_idle_device *device)
{
	const struct ss_idle_gap *gaps = file->index->idle.gaps;
	uint32_t low = device->gap_from, high = device->gap_to;

	SS_SEARCH(low, high, at, gaps[at].end_ns <= file->from_ns);
	return low;
}

int64_t ss_timeline_range_gap_part(const struct ss_file_sweep *file, uint32_t number,
				   int64_t parts_ns[SS_IDLE_CAUSES])
{
	const struct ss_idle_gap *gap = &file->index->idle.gaps[number];
	int64_t from_ns = gap->start_ns > file->from_ns ? gap->start_ns : file->from_ns;
	int64_t to_ns = gap->end_ns < file->to_ns ? gap->end_ns : file->to_ns;
	int64_t rest_ns = to_ns - from_ns, all_ns = gap->end_ns - gap->start_ns;
	double part = (double)rest_ns / (double)all_ns;
	bool is_whole = rest_ns == all_ns;

	for (uint32_t i = 0; i < SS_IDLE_CAUSES; i++)
		parts_ns[i] = 0;
	if (gap->start_ns >= file->to_ns)
		return -1;
	for (uint32_t i = gap->piece_from; i < gap->piece_to; i++) {
		const struct ss_idle_piece *piece = &file->index->idle.pieces[i];
		int64_t ns = is_whole ? piece->ns : (int64_t)((double)piece->ns * part);

		/* the last has what rounding leaves */
		if (ns > rest_ns || i + 1 == gap->piece_to)
			ns = rest_ns;
		parts_ns[piece->cause] += ns;
		rest_ns -= ns;
	}
	return to_ns - from_ns;
}

/* --- devices ----------------------------------------------------------------------------- */

struct device_cover_sweep {
	const struct ss_trace *trace;
	struct ss_cover cover;
};

static bool cover_add_device_row(void *context, uint32_t row, int64_t start_ns, int64_t end_ns)
{
	struct device_cover_sweep *busy = context;

	if (ss_kind_on_device(busy->trace->slices.kind[row]))
		ss_cover_add(&busy->cover, start_ns, end_ns);
	return !busy->cover.failed;
}

/* The time in which any of these streams ran something; -1: no memory. */
static int64_t range_device_busy(const struct ss_file_sweep *file, uint32_t from, uint32_t to)
{
	const struct ss_trace *trace = file->index->trace;
	struct ss_cover_pile pile = { 0 };
	struct device_cover_sweep busy = { .trace = trace };
	SS_COVER(all, file->out->memory);
	bool whole = true;

	ss_cover_init(&busy.cover, file->out->memory);
	for (uint32_t i = from; whole && i < to; i++) {
		uint32_t track = file->index->tracks.items[i].track;

		if (track >= trace->track_count || trace->tracks[track].class != SS_TRACK_DEVICE)
			continue;
		whole = ss_timeline_range_each_row(file, &trace->tracks[track],
						   cover_add_device_row, &busy);
		if (whole)
			ss_cover_pile_add(&pile, &busy.cover);
	}
	ss_cover_pile_finish(&pile, &all);
	ss_cover_release(&busy.cover);
	return whole && !all.failed ? ss_cover_length(&all) : -1;
}

static void range_device_add_gaps(const struct ss_file_sweep *file, struct ss_range_device *out)
{
	const struct ss_index *index = file->index;
	const struct ss_idle_device *device =
		&index->idle.devices[out->idle_track - index->trace->track_count];
	int64_t parts_ns[SS_IDLE_CAUSES], part_ns;

	for (uint32_t gap = ss_timeline_range_gap_from(file, device); gap < device->gap_to; gap++) {
		part_ns = ss_timeline_range_gap_part(file, gap, parts_ns);
		if (part_ns < 0)
			break;
		out->outside_ns -= part_ns;
		for (uint32_t i = 0; i < SS_IDLE_CAUSES; i++) {
			out->cause_ns[i] += parts_ns[i];
			out->gap_count[i] += parts_ns[i] > 0;
			if (parts_ns[i] > out->longest_ns[i]) {
				out->longest_ns[i] = parts_ns[i];
				out->longest_gap[i] = gap;
			}
		}
	}
}

static bool range_add_device(const struct ss_file_sweep *file, uint32_t from, uint32_t to)
{
	const struct ss_shown_track *items = file->index->tracks.items;
	struct ss_range_sums *out = file->out;
	struct ss_range_device device = { .file = file->file,
					  .device = items[from].device,
					  .idle_track = SS_NO_ROW };

	for (uint32_t i = from; i < to; i++)
		if (items[i].kind == SS_SHOWN_IDLE)
			device.idle_track = items[i].track;
	device.busy_ns = range_device_busy(file, from, to);
	if (device.busy_ns < 0 ||
	    !SS_GROW(out->memory, out->devices, out->device_capacity, out->device_count))
		return false;
	device.outside_ns = file->length_ns - device.busy_ns;
	if (device.idle_track != SS_NO_ROW)
		range_device_add_gaps(file, &device);
	/* a clock that drifts makes a stretch longer or shorter by a few ns */
	if (device.outside_ns < 0)
		device.outside_ns = 0;
	out->devices[out->device_count++] = device;
	return true;
}

/* Whether it is a stream or an idle track: ranges and waits do not make a device busy. */
static bool shown_track_on_device(const struct ss_shown_track *track)
{
	return track->has_device && track->kind != SS_SHOWN_OTHER;
}

/* Adds the devices of the file of which a row was asked for; false: no memory. */
static bool range_sum_devices(struct ss_file_sweep *file)
{
	const struct ss_tracks *tracks = &file->index->tracks;
	uint32_t to;

	for (uint32_t from = 0; from < tracks->count; from = to) {
		const struct ss_shown_track *first = &tracks->items[from];
		bool is_asked = false;

		/* those of a device stand together */
		for (to = from; to < tracks->count && tracks->items[to].device == first->device &&
				tracks->items[to].has_device == first->has_device;
		     to++)
			is_asked = is_asked ||
				   (file->asked[to] && shown_track_on_device(&tracks->items[to]));
		if (is_asked && !range_add_device(file, from, to))
			return false;
	}
	return true;
}

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
	if (!SS_MEMORY_NEW(index->memory, ends, count))
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
	SS_SORT(out->names, out->name_count, range_name_compare);
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
	SS_SCRATCH(scratch, file->out->memory);

	file->asked = range_mark_tracks(wanted, file->index, &scratch);
	file->only_used = !wanted->track_count;
	if (!file->asked || !SS_ALLOC(&scratch, file->name_ids, names * SS_WHERE_IDLE + 1))
		return false;
	for (uint32_t i = 0; i < tracks->count; i++)
		if (file->asked[i] && !ss_timeline_range_sweep(file, i))
			return false;
	return range_sum_devices(file);
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
	SS_FREE(memory, file.open, file.open_capacity);
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
		SS_FREE(memory, ranged->tracks, ranged->track_capacity);
		SS_FREE(memory, ranged->names, ranged->name_capacity);
		SS_FREE(memory, ranged->nodes, ranged->node_capacity);
		SS_FREE(memory, ranged->devices, ranged->device_capacity);
		ss_strings_release(&ranged->texts);
	}
	*ranged = (struct ss_range_sums){ 0 };
}
