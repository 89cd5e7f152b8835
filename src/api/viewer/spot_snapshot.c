/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spot_snapshot.c - an entry of the list of snapshots, with its devices.
 */
#include "api/viewer/spot_snapshot.h"

#include <inttypes.h>

#include "api/viewer/spot.h"

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
			  device->count ? ss_snapshot_moment(snapshot, device, last) : -1, out);
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
