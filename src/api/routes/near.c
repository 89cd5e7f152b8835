/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.c - route: the neighbour of a slice or a gap on its lane.
 */
#include <string.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"
#include "timeline/gap.h"

/* Where the neighbour is, and in which direction. */
struct neighbour {
	const struct ss_timeline_file *file;
	struct ss_index *index;
	int by; /* 1: the next, -1: the one before */
};

static enum ss_status near_write_gap(const struct ss_viewer_request *asked,
				     const struct neighbour *neighbour, struct ss_text *out,
				     struct ss_error *err)
{
	const struct ss_idle_device *device;
	int64_t track, gap;

	SS_TRY(ss_viewer_int_required(asked, "track", 0, UINT32_MAX, &track, err));
	SS_TRY(ss_viewer_int_required(asked, "gap", 0, UINT32_MAX, &gap, err));
	device = ss_gap_device(neighbour->index, (uint32_t)track);
	if (!ss_gap_of_track(neighbour->index, (uint32_t)track, (uint32_t)gap))
		return ss_fail(err, SS_ERR_USAGE, "track %lld has no gap %lld", (long long)track,
			       (long long)gap);
	gap += neighbour->by;
	if (gap < device->gap_from || gap >= device->gap_to) {
		ss_text_add_string(out, "null\n");
		return SS_OK;
	}
	ss_text_add_string(out, "{");
	ss_spot_gap(neighbour->file, neighbour->index, (uint32_t)track, (uint32_t)gap, out);
	ss_text_add_string(out, "}\n");
	return SS_OK;
}

static enum ss_status near_write_slice(const struct ss_viewer_request *asked,
				       const struct neighbour *neighbour, struct ss_text *out,
				       struct ss_error *err)
{
	const struct ss_slices *slices = &neighbour->file->trace->slices;
	uint32_t found;
	int64_t row;

	SS_TRY(ss_viewer_int_required(asked, "row", 0, (int64_t)slices->count - 1, &row, err));
	found = ss_lanes_neighbour(&neighbour->index->lanes, slices->track[row], slices->depth[row],
				   (uint32_t)row, neighbour->by);
	if (found == SS_NO_ROW) {
		ss_text_add_string(out, "null\n");
		return SS_OK;
	}
	ss_text_add_string(out, "{");
	ss_spot_slice(neighbour->file, found, out);
	ss_text_add_string(out, "}\n");
	return SS_OK;
}

static enum ss_status near_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				  struct ss_error *err)
{
	const char *go = ss_viewer_text(asked, "go");
	struct ss_timeline *timeline;
	struct neighbour neighbour;
	uint32_t file;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_file(asked, timeline, &file, err));
	if (!go || (strcmp(go, "next") != 0 && strcmp(go, "previous") != 0))
		return ss_fail(err, SS_ERR_USAGE, "parameter 'go' takes next or previous");
	neighbour.file = &timeline->files[file];
	neighbour.by = strcmp(go, "next") == 0 ? 1 : -1;
	SS_TRY(ss_index_of(timeline, file, &neighbour.index, err));
	return ss_viewer_text(asked, "gap") ? near_write_gap(asked, &neighbour, &out->body, err)
					    : near_write_slice(asked, &neighbour, &out->body, err);
}

const struct ss_route ss_route_near = {
	.name = "near",
	.summary = "The next or previous slice or gap of the same track and lane",
	.parameters = "file row track gap go",
	.answer = "interface GapSpot { gap: number; track: number; lane: number; start_ns: "
		  "number; dur_ns: number; name: string }\n"
		  "type NearAnswer = Spot | GapSpot | null\n",
	.apart = true,
	.run = near_answer,
};
