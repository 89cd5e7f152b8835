/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.c - route: the tracks of a file in display order.
 */
#include <inttypes.h>
#include <math.h>

#include "api/viewer/route.h"
#include "timeline/index.h"

static void tracks_write_name(const struct ss_trace *trace, const struct ss_shown_track *track,
			      void (*write)(const struct ss_trace *, const struct ss_shown_track *,
					    struct ss_text *),
			      struct ss_text *out)
{
	struct ss_text text = { 0 };

	write(trace, track, &text);
	ss_render_quoted(out, text.data ? text.data : "");
	ss_text_end(&text, out);
}

/* A track with its name, device and time range; what is not known is null. */
static void tracks_write_track(const struct ss_timeline_file *file,
			       const struct ss_shown_track *track, struct ss_text *out)
{
	const struct ss_trace *trace = file->trace;

	ss_text_addf(out, "{\"track\":%" PRIu32 ",\"kind\":\"%s\",\"name\":", track->track,
		     ss_shown_track_kind_name(track->kind));
	tracks_write_name(trace, track, ss_shown_track_name, out);
	ss_text_add_string(out, ",\"about\":");
	tracks_write_name(trace, track, ss_shown_track_about, out);
	ss_text_addf(out, ",\"lanes\":%" PRIu32 ",\"slices\":%" PRIu32 ",\"device\":", track->lanes,
		     track->slices);
	if (track->has_device)
		ss_text_add_int(out, track->device);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",\"stream\":");
	if (track->has_device && track->track < trace->track_count &&
	    !trace->tracks[track->track].tid_text)
		ss_text_add_int(out, trace->tracks[track->track].tid);
	else
		ss_text_add_string(out, "null");
	ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64 "}",
		     ss_timeline_moment(file, track->start_ns),
		     ss_timeline_moment(file, track->end_ns));
}

static void tracks_write_curve(const struct ss_curve *curve, struct ss_text *out)
{
	ss_text_addf(out, "{\"curve\":\"%s\",\"device\":", ss_curve_kind_name(curve->kind));
	if (curve->has_device)
		ss_text_add_int(out, curve->device);
	else
		ss_text_add_string(out, "null");
	ss_text_add_string(out, ",\"name\":");
	ss_render_quoted(out, curve->name);
	ss_text_addf(out, ",\"unit\":\"%s\",\"high\":", curve->unit);
	if (isnan(curve->high))
		ss_text_add_string(out, "null");
	else
		ss_text_addf(out, "%.0f", curve->high);
	ss_text_add_string(out, "}");
}

static enum ss_status tracks_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	struct ss_timeline *timeline;
	struct ss_index *index;
	uint32_t file;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_file(asked, timeline, &file, err));
	SS_TRY(ss_index_of(timeline, file, &index, err));
	ss_text_addf(&out->body,
		     "{\"schema\":\"stepscope.tracks/1\",\"file\":%" PRIu32 ",\"tracks\":[", file);
	for (uint32_t i = 0; i < index->tracks.count; i++) {
		ss_text_add_string(&out->body, i ? ",\n " : "\n ");
		tracks_write_track(&timeline->files[file], &index->tracks.items[i], &out->body);
	}
	ss_text_add_string(&out->body, "],\n\"curves\":[");
	for (uint32_t i = 0; i < index->curves.count; i++) {
		ss_text_add_string(&out->body, i ? ",\n " : "\n ");
		tracks_write_curve(&index->curves.items[i], &out->body);
	}
	ss_text_add_string(&out->body, "]}\n");
	return SS_OK;
}

const struct ss_route ss_route_tracks = {
	.name = "tracks",
	.summary = "The tracks of a file in display order, and its curves",
	.parameters = "file",
	.answer = "interface Track { track: number; kind: \"main\" | \"autograd\" | \"loader\" | "
		  "\"thread\" | \"idle\" | \"compute\" | \"communication\" | \"copy\" | \"other\"; "
		  "name: string; about: string; lanes: number; slices: number; device: "
		  "number | null; stream: number | null; start_ns: number; end_ns: number }\n"
		  "interface CurveOffer { curve: \"utilization\" | \"memory\" | \"reserved\" | "
		  "\"queue\" | \"counter\"; device: number | null; name: string; unit: string; "
		  "high: number | null }\n"
		  "interface TracksAnswer { schema: \"stepscope.tracks/1\"; file: number; "
		  "tracks: Track[]; curves: CurveOffer[] }\n",
	.apart = true,
	.run = tracks_answer,
};
