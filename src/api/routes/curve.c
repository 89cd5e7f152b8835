/* SPDX-License-Identifier: Apache-2.0 */
/*
 * curve.c - route: a curve in a window.
 */
#include <string.h>

#include "api/viewer/route.h"
#include "timeline/draw/draw.h"

/* Finds the first curve of the requested kind that matches device and name. */
static enum ss_status curve_find_requested(const struct ss_viewer_request *asked,
					   struct ss_curves *curves, struct ss_curve **out,
					   struct ss_error *err)
{
	const char *kind = ss_viewer_text(asked, "curve"), *name = ss_viewer_text(asked, "name");
	bool has_device = ss_viewer_text(asked, "device");
	int64_t device;

	if (!kind)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'curve' is missing");
	SS_TRY(ss_viewer_int(asked, "device", INT64_MIN, INT64_MAX, 0, &device, err));
	for (uint32_t i = 0; i < curves->count; i++) {
		struct ss_curve *curve = &curves->items[i];

		if (strcmp(ss_curve_kind_name(curve->kind), kind) == 0 &&
		    (!has_device || (curve->has_device && curve->device == device)) &&
		    (!name || strcmp(curve->name, name) == 0)) {
			*out = curve;
			return SS_OK;
		}
	}
	return ss_fail(err, SS_ERR_MISSING, "the file has no curve '%.40s'", kind);
}

static enum ss_status curve_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	struct ss_timeline *timeline;
	struct ss_window window;
	struct ss_index *index;
	struct ss_curve *curve = NULL;
	uint32_t file;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_file(asked, timeline, &file, err));
	SS_TRY(ss_viewer_window(asked, &window, err));
	SS_TRY(ss_index_of(timeline, file, &index, err));
	SS_TRY(curve_find_requested(asked, &index->curves, &curve, err));
	out->media_type = "application/octet-stream";
	return ss_draw_curve(timeline, file, curve, &window, &out->body, err);
}

const struct ss_route ss_route_curve = {
	.name = "curve",
	.summary = "A curve in a window: minimum and maximum per pixel",
	.parameters = "file curve device name from to pixels",
	.apart = true,
	.run = curve_answer,
};
