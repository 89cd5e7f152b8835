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
