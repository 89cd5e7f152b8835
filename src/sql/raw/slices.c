/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slices.c - table: everything that has a place and a duration.
 */
#include "sql/raw.h"

static void fill_slice(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++)
		cells[i] = ss_raw_row(part, i);
}

static void slices_fill_name(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_map(part, SS_DOMAIN_NAMES, part->trace->slices.name, out);
}

static void fill_kind(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_map_bytes(part, SS_DOMAIN_KINDS, part->trace->slices.kind, out);
}

static void fill_category(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_map_bytes(part, SS_DOMAIN_CATEGORIES, part->trace->slices.category, out);
}

static void fill_start(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_copy(part, part->trace->slices.start_ns, out);
}

static void fill_dur(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_copy(part, part->trace->slices.dur_ns, out);
}

static void fill_end(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++)
		cells[i] = ss_slice_end(&part->trace->slices, ss_raw_row(part, i));
}

static void fill_track(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t track = part->trace->slices.track[ss_raw_row(part, i)];

		ss_raw_put(part, SS_DOMAIN_CLASSES, out, i, part->trace->tracks[track].class);
	}
}

static void fill_pid(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_map(part, SS_DOMAIN_PIDS, part->trace->slices.track, out);
}

static void fill_tid(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_map(part, SS_DOMAIN_TIDS, part->trace->slices.track, out);
}

static bool track_is_on_device(const struct ss_track *track)
{
	return track->class == SS_TRACK_DEVICE || track->class == SS_TRACK_DEVICE_ANNOTATION;
}

static void slices_fill_device(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++) {
		const struct ss_track *track =
			&part->trace->tracks[part->trace->slices.track[ss_raw_row(part, i)]];

		cells[i] = track->pid;
		if (!track_is_on_device(track))
			ss_raw_null(out, i);
	}
}

static void fill_stream(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++) {
		const struct ss_track *track =
			&part->trace->tracks[part->trace->slices.track[ss_raw_row(part, i)]];

		cells[i] = track->tid;
		if (!track_is_on_device(track))
			ss_raw_null(out, i);
	}
}

static void fill_depth(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++)
		cells[i] = part->trace->slices.depth[ss_raw_row(part, i)];
}

static void fill_parent(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_rows(part, part->trace->slices.parent, out);
}

static void slices_fill_link(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	ss_raw_rows(part, part->trace->slices.link, out);
}

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
