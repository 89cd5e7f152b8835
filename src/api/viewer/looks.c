/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looks.c - colours of phases and of the parts of a rank's step.
 *
 * Forward and backward both compute, hidden and exposed communication both communicate: what
 * shares a colour is told apart by a hatch.
 */
#include "api/viewer/looks.h"

#include "analyze/host/step_phase.h"
#include "ranks/views/rank_parts.h"
#include "render/render.h"
#include "timeline/rows/colors.h"

struct part_style {
	enum ss_color color;
	bool hatched;
	const char *about;
	bool waits; /* for other ranks */
};

static const struct part_style phase_styles[SS_PHASE_COUNT] = {
	[SS_PHASE_INPUT] = { SS_COLOR_INPUT, false, "getting the next batch", false },
	[SS_PHASE_FORWARD] = { SS_COLOR_COMPUTE, false, "the model and the loss", false },
	[SS_PHASE_BACKWARD] = { SS_COLOR_COMPUTE, true, "autograd", false },
	[SS_PHASE_OPTIMIZER] = { SS_COLOR_OPTIMIZER, false, "the optimizer's step", false },
	[SS_PHASE_OTHER] = { SS_COLOR_OTHER, false, "other: Python, logging, callbacks, or unknown",
			     false },
};

static const struct part_style idle_style = { SS_COLOR_IDLE, true, "nothing runs on the GPU",
					      false };

static const struct part_style rank_part_styles[SS_RANK_PARTS] = {
	[SS_RANK_COMPUTE] = { SS_COLOR_COMPUTE, false, NULL, false },
	[SS_RANK_OVERLAP] = { SS_COLOR_COMPUTE, true, NULL, false },
	[SS_RANK_EXPOSED] = { SS_COLOR_COMMUNICATION, false, NULL, false },
	[SS_RANK_WAIT] = { SS_COLOR_COMMUNICATION, true, NULL, true },
	[SS_RANK_COPY] = { SS_COLOR_COPY, false, NULL, false },
	[SS_RANK_IDLE] = { SS_COLOR_IDLE, true, NULL, false },
	[SS_RANK_OTHER] = { SS_COLOR_OTHER, false, NULL, false },
};

static void part_style_write(struct ss_text *out, bool first, const char *name,
			     const struct part_style *style, const char *about)
{
	ss_text_addf(out,
		     "%s\n {\"name\":\"%s\",\"color\":%d,\"hatched\":%s,\"waits\":%s,\"about\":",
		     first ? "" : ",", name, (int)style->color, style->hatched ? "true" : "false",
		     style->waits ? "true" : "false");
	ss_render_quoted(out, about);
	ss_text_add_string(out, "}");
}

void ss_looks_add(struct ss_text *out)
{
	ss_text_add_string(out, ",\n\"phases\":[");
	for (int i = 0; i < SS_PHASE_COUNT; i++)
		part_style_write(out, !i, ss_phase_name((enum ss_phase)i), &phase_styles[i],
				 phase_styles[i].about);
	part_style_write(out, false, "idle", &idle_style, idle_style.about);
	ss_text_add_string(out, "],\n\"rank_parts\":[");
	for (int i = 0; i < SS_RANK_PARTS; i++)
		part_style_write(out, !i, ss_rank_parts[i].name, &rank_part_styles[i],
				 ss_rank_parts[i].about);
	ss_text_add_string(out, "]");
}
