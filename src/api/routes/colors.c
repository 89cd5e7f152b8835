/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colors.c - route: what the colours of the timeline mean.
 */
#include "analyze/host/step_phase.h"
#include "api/viewer/route.h"
#include "timeline/gap.h"
#include "timeline/index.h"

struct color_list {
	struct ss_text *out;
	uint32_t count;
};

static void colors_write_one(struct color_list *list, int number, const char *name)
{
	ss_text_addf(list->out, "%s\n {\"number\":%d,\"name\":", list->count++ ? "," : "", number);
	ss_render_quoted(list->out, name);
	ss_text_add_string(list->out, "}");
}

static void colors_write_phases(struct color_list *list)
{
	for (uint32_t i = 0; i < SS_PHASE_COUNT; i++)
		colors_write_one(list, ss_paint_of_phase(i), ss_phase_name((enum ss_phase)i));
}

/* Modules or streams; false: the file has none. */
static bool colors_write_names(struct color_list *list, const struct ss_paints *paints,
			       const char *rest, const char *none)
{
	for (uint32_t i = 1; i < paints->names.count; i++)
		colors_write_one(list, (int)(SS_PAINT_FIRST + i - 1), paints->names.items[i].text);
	if (!list->count)
		return false;
	if (paints->has_rest)
		colors_write_one(list, SS_PAINT_REST, rest);
	colors_write_one(list, SS_COLOR_OTHER, none);
	return true;
}

/* The colours by number; `lacks`: the files do not have what `missing` says. */
static enum ss_status colors_write_all(struct ss_timeline *timeline, enum ss_paint_by by,
				       struct color_list *list, enum ss_missing *missing,
				       bool *lacks, struct ss_error *err)
{
	uint32_t leader = ss_paints_leader(timeline);
	const struct ss_paints *paints = NULL;
	const struct ss_places *places;
	struct ss_index *index;

	*lacks = false;
	if (by == SS_PAINT_CATEGORY)
		for (int i = 0; i < SS_COLOR_COUNT; i++)
			colors_write_one(list, i, ss_color_name((enum ss_color)i));
	if (by == SS_PAINT_PHASE)
		colors_write_phases(list);
	if ((by != SS_PAINT_MODULE && by != SS_PAINT_STREAM) || leader == SS_NO_ROW)
		return SS_OK;
	SS_TRY(ss_paints_of(timeline, leader, by, &paints, err));
	if (by == SS_PAINT_STREAM) {
		*lacks = !colors_write_names(list, paints, "other streams", "no stream");
		return SS_OK;
	}
	SS_TRY(ss_index_of(timeline, leader, &index, err));
	SS_TRY(ss_index_places(index, &places, err));
	*missing = ss_places_missing_modules(places);
	*lacks = !colors_write_names(list, paints, "other modules", "no module");
	return SS_OK;
}

static enum ss_status colors_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	struct color_list list = { .out = &out->body };
	enum ss_missing missing = SS_MISSING_DEVICE;
	struct ss_timeline *timeline;
	enum ss_paint_by by;
	char sentence[256];
	bool lacks;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	SS_TRY(ss_viewer_color(asked, &by, err));
	ss_text_addf(&out->body, "{\"schema\":\"stepscope.colors/1\",\"color\":\"%s\",\"colors\":[",
		     ss_paint_name(by));
	SS_TRY(colors_write_all(timeline, by, &list, &missing, &lacks, err));
	ss_text_add_string(&out->body, "],\n\"missing\":");
	if (lacks) {
		ss_note_missing_text(timeline->file_count ? timeline->files[0].trace : NULL,
				     missing, sentence, sizeof(sentence));
		ss_render_quoted(&out->body, sentence);
	} else {
		ss_text_add_string(&out->body, "null");
	}
	ss_text_add_string(&out->body, "}\n");
	return SS_OK;
}

const struct ss_route ss_route_colors = {
	.name = "colors",
	.summary = "What the colours of the timeline mean",
	.parameters = "color",
	.answer = "interface ColorsAnswer { schema: \"stepscope.colors/1\"; color: string; "
		  "colors: { number: number; name: string }[]; missing: string | null }\n",
	.apart = true,
	.run = colors_answer,
};
