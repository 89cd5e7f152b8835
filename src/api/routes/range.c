/*
 * range.c - route: what ran in a stretch of time.
 */
#include "timeline/range.h"

#include <inttypes.h>

#include "api/route.h"
#include "api/spot.h"

/* Names that are shown at most. */
#define ROOM_MAX 10000

static void add_track(const struct ss_timeline *timeline, const struct ss_range_track *track,
		      struct ss_text *out)
{
	const struct ss_timeline_file *file = &timeline->files[track->file];
	const struct ss_shown_track *shown = ss_tracks_find(&file->index->tracks, track->track);
	struct ss_text name = { 0 };

	ss_text_addf(out, "{\"file\":%" PRIu32, track->file);
	ss_spot_int_known("rank", file->subject->rank, out);
	ss_text_addf(out, ",\"track\":%" PRIu32, track->track);
	ss_track_name(file->trace, shown, &name);
	ss_spot_text("name", name.data, out);
	ss_text_release(&name);
	ss_text_addf(out, ",\"kind\":\"%s\",\"busy_ns\":%" PRId64 ",\"count\":%" PRIu64 "}",
		     ss_track_kind_name(shown->kind), track->busy_ns, track->count);
}

static void add_name(const struct ss_timeline *timeline, const struct ss_range_name *name,
		     struct ss_text *out)
{
	const struct ss_timeline_file *file = &timeline->files[name->file];
	bool is_gap = name->track >= file->trace->track_count;

	ss_text_addf(out, "{\"file\":%" PRIu32 ",\"track\":%" PRIu32, name->file, name->track);
	ss_spot_text("name",
		     is_gap ? ss_idle_name((enum ss_idle_cause)name->name)
			    : ss_strings_text(&file->trace->names, name->name),
		     out);
	ss_text_addf(out,
		     ",\"color\":%d,\"count\":%" PRIu64 ",\"total_ns\":%" PRId64
		     ",\"longest_%s\":%" PRIu32 "}",
		     is_gap ? (int)SS_COLOR_IDLE
			    : (int)ss_colors_at(&file->index->colors, name->longest_row),
		     name->count, name->total_ns, is_gap ? "gap" : "row", name->longest_row);
}

static enum ss_status read_tracks(const struct ss_asked *asked, struct ss_timeline *timeline,
				  struct ss_range *range, struct ss_arena *scratch,
				  struct ss_error *err)
{
	struct ss_index *index;
	uint32_t *tracks, room;

	if (!ss_asked_text(asked, "tracks"))
		return SS_OK;
	if (range->file_count != 1)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'tracks' needs one file");
	SS_TRY(ss_index_of(timeline, range->files[0], &index, err));
	room = index->trace->track_count + index->idle.device_count;
	tracks = SS_ARENA_NEW(scratch, uint32_t, (size_t)room + 1);
	if (!tracks)
		return ss_fail_memory(err, "the list of tracks");
	range->tracks = tracks;
	return ss_asked_list(asked, "tracks", room, tracks, room, &range->track_count, err);
}

static enum ss_status answer(const struct ss_asked *asked, struct ss_timeline *timeline,
			     struct ss_arena *scratch, struct ss_text *out, struct ss_error *err)
{
	const int64_t most_ns = INT64_C(1) << 53;
	struct ss_range range = { 0 };
	struct ss_ranged ranged;
	uint32_t *files;
	int64_t room;

	SS_TRY(ss_asked_needed(asked, "from", -most_ns, most_ns, &range.from_ns, err));
	SS_TRY(ss_asked_needed(asked, "to", -most_ns, most_ns, &range.to_ns, err));
	SS_TRY(ss_asked_int(asked, "limit", 0, ROOM_MAX, 200, &room, err));
	if (range.to_ns <= range.from_ns)
		return ss_fail(err, SS_ERR_USAGE, "parameter 'to' is not after 'from'");
	range.room = (uint32_t)room;
	SS_TRY(ss_asked_files(asked, timeline, scratch, &files, &range.file_count, err));
	range.files = files;
	SS_TRY(read_tracks(asked, timeline, &range, scratch, err));
	SS_TRY(ss_range_run(&range, timeline, &asked->session->memory, &ranged, err));
	ss_text_addf(out,
		     "{\"schema\":\"stepscope.range/1\",\"from_ns\":%" PRId64 ",\"to_ns\":%" PRId64
		     ",\"tracks\":[",
		     range.from_ns, range.to_ns);
	for (uint32_t i = 0; i < ranged.track_count; i++) {
		ss_text_add_string(out, i ? ",\n " : "\n ");
		add_track(timeline, &ranged.tracks[i], out);
	}
	ss_text_add_string(out, "],\n\"names\":[");
	for (uint32_t i = 0; i < ranged.name_count; i++) {
		ss_text_add_string(out, i ? ",\n " : "\n ");
		add_name(timeline, &ranged.names[i], out);
	}
	ss_text_addf(out, "],\n\"name_count\":%" PRIu64 "}\n", ranged.all_names);
	ss_ranged_release(&ranged);
	return SS_OK;
}

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	struct ss_timeline *timeline;
	struct ss_arena scratch;
	enum ss_status status;

	SS_TRY(ss_asked_timeline(asked, &timeline, err));
	ss_arena_init(&scratch, &asked->session->memory);
	status = answer(asked, timeline, &scratch, &out->body, err);
	ss_arena_release(&scratch);
	return status;
}

const struct ss_route ss_route_range = {
	.name = "range",
	.summary = "What ran in a stretch of time: by track and by name",
	.parameters = "files tracks from to limit",
	.apart = true,
	.run = run,
};
