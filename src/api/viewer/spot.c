/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot.c - JSON members that several routes write.
 */
#include "api/viewer/spot.h"

#include <inttypes.h>

#include "render/render.h"

void ss_spot_text(const char *name, const char *text, struct ss_text *out)
{
	ss_text_addf(out, ",\"%s\":", name);
	if (text && *text)
		ss_render_quoted(out, text);
	else
		ss_text_add_string(out, "null");
}

void ss_spot_int_known(const char *name, int64_t value, struct ss_text *out)
{
	ss_text_addf(out, ",\"%s\":", name);
	if (value < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, value);
}

void ss_spot_slice(const struct ss_timeline_file *file, uint32_t row, struct ss_text *out)
{
	const struct ss_slices *slices = &file->trace->slices;

	ss_text_addf(out,
		     "\"row\":%" PRIu32 ",\"track\":%" PRIu32 ",\"lane\":%u,\"start_ns\":%" PRId64
		     ",\"dur_ns\":%" PRId64,
		     row, slices->track[row], (unsigned)slices->depth[row],
		     ss_timeline_moment(file, slices->start_ns[row]), slices->dur_ns[row]);
	ss_spot_text("name", ss_strings_text(&file->trace->names, slices->name[row]), out);
}

void ss_spot_lane(const struct ss_timeline_file *file, uint32_t track, uint32_t row,
		  struct ss_text *out)
{
	bool has_row = row < file->trace->slices.count;

	ss_spot_int_known("track", track < file->trace->track_count ? (int64_t)track : -1, out);
	ss_spot_int_known("lane", has_row ? file->trace->slices.depth[row] : -1, out);
	ss_spot_int_known("row", has_row ? (int64_t)row : -1, out);
}

void ss_spot_gap(const struct ss_timeline_file *file, const struct ss_index *index, uint32_t track,
		 uint32_t gap, struct ss_text *out)
{
	ss_text_addf(out,
		     "\"gap\":%" PRIu32 ",\"track\":%" PRIu32 ",\"lane\":0,\"start_ns\":%" PRId64
		     ",\"dur_ns\":%" PRId64,
		     gap, track, ss_timeline_moment(file, index->gaps.start_ns[gap]),
		     index->gaps.dur_ns[gap]);
	ss_spot_text("name", ss_idle_name((enum ss_idle_cause)index->gaps.cause[gap]), out);
}

/* --- memory data -------------------------------------------------------------------------- */

/* A device of a snapshot: its events, its peak and where memory ran out. */
static void spot_add_device(const struct ss_opened *opened, const struct ss_device_memory *device,
			    bool is_first, struct ss_text *out)
{
	const struct ss_snapshot *snapshot = &opened->snapshot;
	uint32_t last = device->first + device->count - (device->count > 0);
	char name[SS_DEVICE_NAME_BYTES];

	ss_snapshot_device_text(device, name);
	ss_text_addf(out,
		     "%s\n   {\"device\":\"%s\",\"events\":%" PRIu32 ",\"segments\":%" PRIu32
		     ",\"exact\":%s",
		     is_first ? "" : ",", name, device->count, device->end.segments,
		     device->is_exact ? "true" : "false");
	ss_spot_int_known("span_ns",
			  device->count ? ss_snapshot_time_ns(snapshot, device, last) : -1, out);
	ss_spot_int_known("peak_event",
			  device->count && device->peak_row != SS_NO_ROW
				  ? (int64_t)(device->peak_row - device->first)
				  : -1,
			  out);
	ss_text_add_string(out, ",\"ooms\":[");
	for (uint32_t i = 0; i < device->oom_count; i++)
		ss_text_addf(out, "%s%" PRIu32, i ? "," : "", device->ooms[i].row - device->first);
	ss_text_add_string(out, "]}");
}

void ss_spot_snapshot(const struct ss_job *job, uint32_t number, const struct ss_opened *opened,
		      struct ss_text *out)
{
	struct ss_memory_entry entry;
	bool of_trace;

	ss_memories_at(job, number, &entry);
	of_trace = entry.file != SS_NO_ROW;
	opened = opened ? opened : entry.opened;
	ss_text_addf(out, "{\"snapshot\":%" PRIu32, number);
	ss_spot_text("path", entry.path, out);
	ss_spot_int_known("rank", entry.rank, out);
	ss_text_addf(out, ",\"of_trace\":%s", of_trace ? "true" : "false");
	if (of_trace)
		ss_text_addf(out, ",\"bytes\":%" PRIu64 ",\"events\":%" PRIu32 ",\"points\":0",
			     job->files[entry.file].trace.file_bytes,
			     job->files[entry.file].trace.allocations.count);
	else if (opened)
		ss_text_addf(out,
			     ",\"bytes\":%" PRIu64 ",\"events\":%" PRIu32 ",\"points\":%" PRIu32,
			     opened->snapshot.file_bytes, opened->snapshot.events.count,
			     opened->snapshot.curve.count);
	else /* only what is wrong with it was kept */
		ss_text_addf(out, ",\"bytes\":%" PRIu64 ",\"events\":null,\"points\":0",
			     job->snapshots[number].file_bytes);
	if (!opened) {
		ss_text_add_string(out, ",\"devices\":null}");
		return;
	}
	ss_text_add_string(out, ",\"devices\":[");
	for (uint32_t k = 0; k < opened->history.device_count; k++)
		spot_add_device(opened, &opened->history.devices[k], k == 0, out);
	ss_text_add_string(out, "]}");
}
