/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c - how long devices were busy in a stretch, and why they were idle.
 */
#include "base/search.h"
#include "timeline/range/sweep.h"

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
	struct ss_cover all;
	bool whole = true;
	int64_t busy_ns;

	ss_cover_init(&busy.cover, file->out->memory);
	ss_cover_init(&all, file->out->memory);
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
	busy_ns = whole && !all.failed ? ss_cover_length(&all) : -1;
	ss_cover_release(&all);
	ss_cover_release(&busy.cover);
	return busy_ns;
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
	    !ss_memory_reserve(out->memory, (void **)&out->devices, &out->device_capacity,
			       (size_t)out->device_count + 1, sizeof(*out->devices)))
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

bool ss_timeline_range_devices(struct ss_file_sweep *file)
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
