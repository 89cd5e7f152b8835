/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path.c - route: the critical path in a window.
 */
#include "timeline/path.h"

#include <inttypes.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"

static void path_write_piece(const struct ss_timeline *timeline, const struct ss_shown_piece *piece,
			     struct ss_text *out)
{
	ss_text_addf(out, "{\"file\":%" PRIu32, piece->file);
	ss_spot_lane(&timeline->files[piece->file], piece->track, piece->row, out);
	ss_text_addf(out,
		     ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64
		     ",\"part\":\"%s\",\"count\":%" PRIu32 "}",
		     piece->start_ns, piece->end_ns,
		     ss_critical_name((enum ss_critical_part)piece->part), piece->count);
}

static void path_write_parts(const struct ss_shown_path *path, struct ss_text *out)
{
	const char *comma = "";

	for (uint32_t i = 0; i < SS_CRITICAL_PARTS; i++) {
		if (!path->parts_ns[i])
			continue;
		ss_text_addf(out, "%s{\"part\":\"%s\",\"ns\":%" PRId64 "}", comma,
			     ss_critical_name((enum ss_critical_part)i), path->parts_ns[i]);
		comma = ",";
	}
}

static enum ss_status path_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				  struct ss_error *err)
{
	const struct ss_shown_path *path;
	struct ss_timeline *timeline;
	struct ss_window window;
	struct ss_shown_path seen;

	SS_TRY(ss_viewer_window(asked, &window, err));
	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_session_path(asked->session, timeline, &path, err));
	SS_TRY(ss_shown_path_in_window(path, window.from_ns, window.to_ns, window.pixels, &seen,
				       err));
	ss_text_addf(&out->body,
		     "{\"schema\":\"stepscope.path/1\",\"length_ns\":%" PRId64 ",\"parts\":[",
		     path->length_ns);
	path_write_parts(path, &out->body);
	ss_text_add_string(&out->body, "],\n\"pieces\":[");
	for (uint32_t i = 0; i < seen.count; i++) {
		ss_text_add_string(&out->body, i ? ",\n " : "\n ");
		path_write_piece(timeline, &seen.pieces[i], &out->body);
	}
	ss_text_add_string(&out->body, "]}\n");
	ss_shown_path_release(&seen);
	return SS_OK;
}

const struct ss_route ss_route_path = {
	.name = "path",
	.summary = "The critical path of all ranks in a window, and what it consists of",
	.parameters = "from to pixels",
	.answer = "interface PathPiece { file: number; track: number | null; lane: number | "
		  "null; row: number | null; start_ns: number; end_ns: number; part: "
		  "string; count: number }\n"
		  "interface PathAnswer { schema: \"stepscope.path/1\"; length_ns: number; "
		  "parts: { part: string; ns: number }[]; pieces: PathPiece[] }\n",
	.run = path_answer,
};
