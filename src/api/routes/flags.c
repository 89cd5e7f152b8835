/*
 * flags.c - route: where the findings of the diagnosis are.
 */
#include "timeline/flags.h"

#include <inttypes.h>

#include "api/route.h"
#include "api/spot.h"

static void add_places(const struct ss_diagnosis *diagnosis, const struct ss_finding *finding,
		       const struct ss_timeline *timeline, struct ss_text *out)
{
	struct ss_flag_place places[SS_FLAG_PLACES];
	uint32_t count = ss_flag_find(diagnosis, finding, timeline, places);

	for (uint32_t i = 0; i < count; i++) {
		ss_text_addf(out, "%s{\"file\":%" PRIu32, i ? ",\n   " : "\n   ", places[i].file);
		ss_spot_lane(&timeline->files[places[i].file], places[i].track, places[i].row, out);
		ss_text_addf(out,
			     ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64 ",\"ns\":%" PRId64 "}",
			     places[i].start_ns, places[i].end_ns, places[i].ns);
	}
}

static void add_collective(const struct ss_finding *finding, const struct ss_timeline *timeline,
			   struct ss_text *out)
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

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	const struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	const struct ss_diagnosis *diagnosis;
	struct ss_timeline *timeline;

	SS_TRY(ss_asked_timeline(asked, &timeline, err));
	SS_TRY(ss_session_verdict(asked->session, &options, &diagnosis, err));
	ss_text_add_string(&out->body, "{\"schema\":\"stepscope.flags/1\",\"flags\":[");
	for (uint32_t i = 0; i < diagnosis->finding_count; i++) {
		const struct ss_finding *finding = diagnosis->findings[i];

		ss_text_addf(&out->body, "%s\n {\"number\":%" PRIu32, i ? "," : "", i + 1);
		ss_spot_text("rule", finding->rule->name, &out->body);
		ss_spot_text("level", finding->is_warning ? "warning" : "info", &out->body);
		ss_spot_text("title", finding->title, &out->body);
		ss_text_add_string(&out->body, ",\"places\":[");
		add_places(diagnosis, finding, timeline, &out->body);
		add_collective(finding, timeline, &out->body);
	}
	ss_text_add_string(&out->body, "]}\n");
	return SS_OK;
}

const struct ss_route ss_route_flags = {
	.name = "flags",
	.summary = "Where the findings of the diagnosis are on the timeline",
	.parameters = "",
	.run = run,
};
