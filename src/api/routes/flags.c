/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flags.c - route: where the findings are on the timeline.
 */
#include "timeline/path.h"

#include <inttypes.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"

static void flags_write_place(const struct ss_flag_place *place, const struct ss_timeline *timeline,
			      const char *before, struct ss_text *out)
{
	ss_text_addf(out, "%s{\"file\":%" PRIu32, before, place->file);
	ss_spot_lane(&timeline->files[place->file], place->track, place->row, out);
	ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64 ",\"ns\":%" PRId64 "}",
		     place->start_ns, place->end_ns, place->ns);
}

/* The longest places of a finding, and where the others are: a place per stretch of time. */
static void flags_write_places(const struct ss_flag_places *places,
			       const struct ss_timeline *timeline, struct ss_text *out)
{
	const char *before = "\n   ";

	ss_text_addf(out, ",\"count\":%" PRIu64 ",\"places\":[", places->all_count);
	for (uint32_t i = 0; i < places->count; i++)
		flags_write_place(&places->longest[i], timeline, i ? ",\n   " : before, out);
	ss_text_add_string(out, "],\"spread\":[");
	for (uint32_t i = 0; i < SS_FLAG_STRETCHES; i++) {
		if (!places->stretches[i].ns)
			continue;
		flags_write_place(&places->stretches[i], timeline, before, out);
		before = ",\n   ";
	}
}

static void flags_write_collective(const struct ss_finding *finding,
				   const struct ss_timeline *timeline, struct ss_text *out)
{
	uint32_t file, row = ss_flag_collective(finding, timeline, &file);

	ss_text_add_string(out, "],\"collective\":");
	if (row == SS_NO_ROW) {
		ss_text_add_string(out, "null}");
		return;
	}
	ss_text_addf(out, "{\"file\":%" PRIu32 ",", file);
	ss_spot_slice(&timeline->files[file], row, out);
	ss_text_add_string(out, "}}");
}

static enum ss_status flags_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				   struct ss_error *err)
{
	const struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	const struct ss_diagnosis *diagnosis;
	struct ss_timeline *timeline;
	struct ss_flag_places places;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_session_verdict(asked->session, &options, &diagnosis, err));
	ss_text_add_string(&out->body, "{\"schema\":\"stepscope.flags/1\",\"flags\":[");
	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];

		ss_text_addf(&out->body, "%s\n {\"number\":%" PRIu32, i ? "," : "", i + 1);
		ss_spot_text("rule", finding->rule->name, &out->body);
		ss_spot_text("level", finding->is_warning ? "warning" : "info", &out->body);
		ss_spot_text("title", finding->title, &out->body);
		ss_flag_find(diagnosis, finding, timeline, &places);
		flags_write_places(&places, timeline, &out->body);
		flags_write_collective(finding, timeline, &out->body);
	}
	ss_text_add_string(&out->body, "]}\n");
	return SS_OK;
}

const struct ss_route ss_route_flags = {
	.name = "flags",
	.summary = "Where the findings are on the timeline",
	.parameters = "",
	.answer = "interface FlagPlace { file: number; track: number | null; lane: number | "
		  "null; row: number | null; start_ns: number; end_ns: number; ns: number }\n"
		  "interface Flag { number: number; rule: string; level: \"warning\" | "
		  "\"info\"; title: string; count: number; places: FlagPlace[]; spread: "
		  "FlagPlace[]; collective: Place | null }\n"
		  "interface FlagsAnswer { schema: \"stepscope.flags/1\"; flags: Flag[] }\n",
	.run = flags_answer,
};
