/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c - table: everything that has a place and a duration.
 */
#include "sql/raw.h"

SS_RAW_CELLS(fill_slice, int64_t, row)
SS_RAW_FILL(slices_fill_name, ss_raw_map(part, SS_DOMAIN_NAMES, part->trace->slices.name, out))
SS_RAW_FILL(fill_kind, ss_raw_map_bytes(part, SS_DOMAIN_KINDS, part->trace->slices.kind, out))
SS_RAW_FILL(fill_category,
	    ss_raw_map_bytes(part, SS_DOMAIN_CATEGORIES, part->trace->slices.category, out))
SS_RAW_FILL(fill_start, ss_raw_copy(part, part->trace->slices.start_ns, out))
SS_RAW_FILL(fill_dur, ss_raw_copy(part, part->trace->slices.dur_ns, out))
SS_RAW_CELLS(fill_end, int64_t, ss_slice_end(&part->trace->slices, row))

static void fill_track(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t track = part->trace->slices.track[ss_raw_row(part, i)];

		ss_raw_put(part, SS_DOMAIN_CLASSES, out, i, part->trace->tracks[track].class);
	}
}

SS_RAW_FILL(fill_pid, ss_raw_map(part, SS_DOMAIN_PIDS, part->trace->slices.track, out))
SS_RAW_FILL(fill_tid, ss_raw_map(part, SS_DOMAIN_TIDS, part->trace->slices.track, out))

static bool track_is_on_device(const struct ss_track *track)
{
	return track->class == SS_TRACK_DEVICE || track->class == SS_TRACK_DEVICE_ANNOTATION;
}

static void fill_device_id(const struct ss_raw_part *part, bool is_stream, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++) {
		const struct ss_track *track =
			&part->trace->tracks[part->trace->slices.track[ss_raw_row(part, i)]];

		cells[i] = is_stream ? track->tid : track->pid;
		if (!track_is_on_device(track))
			ss_raw_null(out, i);
	}
}

SS_RAW_FILL(slices_fill_device, fill_device_id(part, false, out))
SS_RAW_FILL(fill_stream, fill_device_id(part, true, out))
SS_RAW_CELLS(fill_depth, int64_t, part->trace->slices.depth[row])
SS_RAW_FILL(fill_parent, ss_raw_rows(part, part->trace->slices.parent, out))
SS_RAW_FILL(slices_fill_link, ss_raw_rows(part, part->trace->slices.link, out))

static void fill_id(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++) {
		cells[i] = part->trace->slices.id[ss_raw_row(part, i)];
		if (!cells[i])
			ss_raw_null(out, i);
	}
}

static uint32_t slices_count(const struct ss_trace *trace)
{
	return trace->slices.count;
}

static bool slices_overlap(const struct ss_trace *trace, uint32_t row, int64_t from_ns,
			   int64_t to_ns)
{
	int64_t start = trace->slices.start_ns[row], end = ss_slice_end(&trace->slices, row);

	return start < to_ns && (end > from_ns || start >= from_ns);
}

#define COLUMNS(F)                                                                                 \
	F(rank, ID, "rank of the file; empty if unknown", ss_raw_rank, NONE)                       \
	F(slice, ID, "number of the slice in its file", fill_slice, NONE)                          \
	F(name, TEXT, "name of the event", slices_fill_name, NAMES)                                \
	F(kind, TEXT, "operator, annotation, python, runtime, kernel, comm-kernel, memcpy, ...",   \
	  fill_kind, KINDS)                                                                        \
	F(category, TEXT, "category in the file, in lower case", fill_category, CATEGORIES)        \
	F(start_ns, NS, "start, from the first event of the file", fill_start, NONE)               \
	F(dur_ns, NS, "duration", fill_dur, NONE)                                                  \
	F(end_ns, NS, "end, from the first event of the file", fill_end, NONE)                     \
	F(device, ID, "device; empty on the host", slices_fill_device, NONE)                       \
	F(stream, ID, "stream of the device; empty on the host", fill_stream, NONE)                \
	F(track, TEXT, "thread, stream, ranges, waits, profiler or async: as in tracks",           \
	  fill_track, CLASSES)                                                                     \
	F(pid, TEXT, "process, or device of a stream: as in tracks", fill_pid, PIDS)               \
	F(tid, TEXT, "thread or stream: as in tracks", fill_tid, TIDS)                             \
	F(depth, COUNT, "how deep it is nested in its thread; on a stream: its lane", fill_depth,  \
	  NONE)                                                                                    \
	F(parent, ID, "slice of the same thread that contains it; empty: none", fill_parent, NONE) \
	F(link, ID,                                                                                \
	  "of device work: the slice that launched it; of a backward operator: its forward "       \
	  "operator",                                                                              \
	  slices_fill_link, NONE)                                                                  \
	F(correlation, ID, "correlation of calls and device work, else External id", fill_id, NONE)

SS_RAW_TABLE(slices, COLUMNS, "Every event with a duration: operators, calls, kernels, copies",
	     .count = slices_count, .overlaps = slices_overlap, .starts = ss_raw_slice_starts,
	     .after = ss_raw_slice_after);
