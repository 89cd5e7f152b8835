/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.c - route: what is visible of tracks in a window.
 */
#include "api/viewer/route.h"
#include "timeline/draw/draw.h"

/* A request is too short to list more. */
#define TRACKS_MAX (SS_TARGET_MAX / 2)

static enum ss_status tiles_answer_tracks(const struct ss_viewer_request *asked,
					  struct ss_timeline *timeline, uint32_t file,
					  uint32_t *tracks, struct ss_answer *out,
					  struct ss_error *err)
{
	const struct ss_paints *paints;
	struct ss_window window;
	enum ss_paint_by by;
	struct ss_index *index;
	uint32_t count;

	if (!tracks)
		return ss_fail_memory(err, "tiles");
	if (!ss_viewer_text(asked, "tracks"))
		return ss_fail(err, SS_ERR_USAGE, "parameter 'tracks' is missing");
	SS_TRY(ss_viewer_window(asked, &window, err));
	SS_TRY(ss_viewer_color(asked, &by, err));
	SS_TRY(ss_index_of(timeline, file, &index, err));
	SS_TRY(ss_viewer_int_list(asked, "tracks",
				  index->trace->track_count + index->idle.device_count, tracks,
				  TRACKS_MAX, &count, err));
	out->media_type = "application/octet-stream";
	SS_TRY(ss_paints_of(timeline, file, by, &paints, err));
	return ss_tiles_write(&timeline->files[file], index, tracks, count, &window,
			      paints ? paints->paint : NULL, &out->body, err);
}

static enum ss_status tiles_answer_request(const struct ss_viewer_request *asked,
					   struct ss_answer *out, struct ss_error *err)
{
	struct ss_timeline *timeline;
	SS_SCRATCH(scratch, &asked->session->memory);
	uint32_t file;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_file(asked, timeline, &file, err));
	return tiles_answer_tracks(asked, timeline, file,
				   SS_ARENA_NEW(&scratch, uint32_t, TRACKS_MAX), out, err);
}

const struct ss_route ss_route_tiles = {
	.name = "tiles",
	.summary = "What is visible of tracks in a window, as columns of numbers",
	.parameters = "file tracks from to pixels color",
	.apart = true,
	.run = tiles_answer_request,
};
