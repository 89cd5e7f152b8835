/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strips.c - route: how busy the devices of folded ranks are.
 */
#include "api/viewer/route.h"
#include "timeline/draw/draw.h"

/* A request is too short to list more. */
#define FILES_MAX (SS_TARGET_MAX / 2)

static enum ss_status strips_answer_timeline(const struct ss_viewer_request *asked,
					     struct ss_timeline *timeline, uint32_t *files,
					     struct ss_answer *out, struct ss_error *err)
{
	struct ss_window window;
	uint32_t count;

	if (!files)
		return ss_fail_memory(err, "strips");
	if (!ss_viewer_text(asked, "files"))
		return ss_fail(err, SS_ERR_USAGE, "parameter 'files' is missing");
	SS_TRY(ss_viewer_int_list(asked, "files", timeline->file_count, files, FILES_MAX, &count,
				  err));
	SS_TRY(ss_viewer_window(asked, &window, err));
	out->media_type = "application/octet-stream";
	return ss_draw_strips(timeline, files, count, &window, &out->body, err);
}

static enum ss_status strips_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	struct ss_timeline *timeline;
	SS_SCRATCH(scratch, &asked->session->memory);

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	return strips_answer_timeline(asked, timeline, SS_ARENA_NEW(&scratch, uint32_t, FILES_MAX),
				      out, err);
}

const struct ss_route ss_route_strips = {
	.name = "strips",
	.summary = "How busy the devices are in a window, pixel by pixel",
	.parameters = "files from to pixels",
	.apart = true,
	.run = strips_answer,
};
