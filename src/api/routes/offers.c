/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offers.c - route: what can be requested: views with their groups and columns, the order of rows
 * and their place on the timeline; routes; the causes of idle time, what slices can be coloured
 * by, and the terms of the glossary.
 */
#include "analyze/host/step_phase.h"
#include "api/glossary.h"
#include "api/viewer/route.h"
#include "api/viewer/spot.h"
#include "ranks/views/rank_parts.h"
#include "render/render.h"
#include "timeline/rows/colors.h"
#include "timeline/rows/paints.h"

static const char *offers_type_name(const struct ss_column *column)
{
	if (column->type == SS_COLUMN_ID)
		return "id";
	if (column->type == SS_COLUMN_TEXT)
		return "text";
	return column->type == SS_COLUMN_NUMBER ? "number" : ss_render_unit(column->type);
}

/* Whether text of the column names slices of the timeline, and which. */
static const char *offers_slice_kind(const struct ss_column *column)
{
	if (column->flags & SS_COLUMN_KERNELS)
		return "kernel";
	return column->flags & SS_COLUMN_SLICES ? "slice" : NULL;
}

/* What a column says about the place of a row on the timeline. */
static void offers_write_place(const struct ss_column *column, struct ss_text *out)
{
	const char *names = offers_slice_kind(column);

	if (column->flags & SS_COLUMN_MOMENT)
		ss_text_add_string(out, ",\"place\":\"moment\"");
	if (column->flags & SS_COLUMN_LENGTH)
		ss_text_add_string(out, ",\"place\":\"length\"");
	if (column->flags & SS_COLUMN_LONGER)
		ss_text_add_string(out, ",\"place\":\"longer\"");
	if (names)
		ss_text_addf(out, ",\"place\":\"%s\"", names);
}

static void offers_write_columns(const struct ss_view *view, struct ss_text *out)
{
	for (uint32_t i = 0; i < view->column_count; i++) {
		const struct ss_column *column = &view->columns[i];

		ss_text_addf(out,
			     "%s\n   {\"name\":\"%s\",\"type\":\"%s\",\"about\":", i ? "," : "",
			     column->name, offers_type_name(column));
		ss_render_quoted(out, column->about);
		ss_text_addf(out, ",\"detail\":%s,\"bar\":%s,\"sums\":%s",
			     column->flags & SS_COLUMN_DETAIL &&
					     !ss_view_lists(view->wide, column->name)
				     ? "true"
				     : "false",
			     column->flags & SS_COLUMN_BAR ? "true" : "false",
			     ss_view_lists(view->sums, column->name) ? "true" : "false");
		offers_write_place(column, out);
		ss_text_add_string(out, "}");
	}
}

/* The groups that have a bit. */
static void offers_write_groups(const char *name, const struct ss_view *view, uint32_t bits,
				struct ss_text *out)
{
	const char *comma = "";

	ss_text_addf(out, "],\"%s\":[", name);
	for (uint32_t i = 0; i < SS_GROUPS_MAX && view->groups[i]; i++) {
		if (!(bits >> i & 1))
			continue;
		ss_text_addf(out, "%s\"%s\"", comma, view->groups[i]);
		comma = ",";
	}
}

static void offers_write_order(const struct ss_view *view, struct ss_text *out)
{
	static const char *const zeros[] = {
		[SS_ZERO_FILE] = "file",
		[SS_ZERO_COLLECTIVES] = "collectives",
		[SS_ZERO_STEPS] = "steps",
		[SS_ZERO_PATH] = "path",
	};

	ss_text_addf(out, "],\"zero\":\"%s\",\"order\":[", zeros[view->zero]);
	for (uint32_t i = 0; i < SS_ORDER_MAX && view->order[i]; i++)
		ss_text_addf(out, "%s\"%s\"", i ? "," : "", view->order[i]);
}

static void offers_write_view(const struct ss_view *view, struct ss_text *out)
{
	ss_text_addf(out, " {\"name\":\"%s\",\"summary\":", view->name);
	ss_render_quoted(out, view->summary);
	ss_text_add_string(out, ",\"empty\":");
	ss_render_quoted(out, view->empty);
	ss_text_addf(out, ",\"of_job\":%s,\"of_snapshot\":%s,\"of_dumps\":%s,\"groups\":[",
		     ss_view_of_job(view) ? "true" : "false", view->run_snapshot ? "true" : "false",
		     view->run_hang || view->run_live ? "true" : "false");
	for (uint32_t i = 0; i < SS_GROUPS_MAX && view->groups[i]; i++)
		ss_text_addf(out, "%s\"%s\"", i ? "," : "", view->groups[i]);
	offers_write_groups("own_order", view, view->own_order, out);
	offers_write_groups("events", view, view->events, out);
	offers_write_order(view, out);
	ss_text_add_string(out, "],\"columns\":[");
	offers_write_columns(view, out);
	ss_text_add_string(out, "]}");
}

/* In the order of their numbers: those of gaps on the timeline. */
static void offers_write_causes(struct ss_text *out)
{
	ss_text_add_string(out, "],\n\"causes\":[");
	for (int i = 0; i < SS_IDLE_CAUSES; i++) {
		enum ss_idle_cause cause = (enum ss_idle_cause)i;

		ss_text_addf(out, "%s\n {\"name\":\"%s\",\"color\":%d,\"about\":", i ? "," : "",
			     ss_idle_name(cause), ss_color_of_cause(cause));
		ss_render_quoted(out, ss_idle_about(cause));
		ss_text_add_string(out, "}");
	}
}

static void offers_write_colorings(struct ss_text *out)
{
	ss_text_add_string(out, "],\n\"colorings\":[");
	for (int i = 0; i < SS_PAINT_COUNT; i++) {
		ss_text_addf(out, "%s\n {\"name\":\"%s\",\"about\":", i ? "," : "",
			     ss_paint_name((enum ss_paint_by)i));
		ss_render_quoted(out, ss_paint_about((enum ss_paint_by)i));
		ss_text_add_string(out, "}");
	}
}

/* The glossary, for tips. */
static void offers_write_terms(struct ss_text *out)
{
	const struct ss_term *term;

	ss_text_add_string(out, "],\n\"terms\":[");
	for (size_t i = 0; (term = ss_term_at(i)) != NULL; i++) {
		ss_text_addf(out, "%s\n {\"name\":\"%s\",\"text\":", i ? "," : "", term->name);
		ss_render_quoted(out, term->text);
		ss_text_add_string(out, "}");
	}
}

/* --- colours of phases and of the parts of a rank's step -------------------------------------
 *
 * Forward and backward both compute, hidden and exposed communication both communicate: a hatch
 * distinguishes what shares a colour.
 */

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

/* The members "phases" and "rank_parts": name, colour, hatch, meaning. */
static void offers_write_styles(struct ss_text *out)
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

/* --- routes ------------------------------------------------------------------------------ */

/* The options of requests that it takes, then its own. */
static void offers_write_route(const struct ss_route *route, struct ss_text *out)
{
	const char *space = "";

	ss_text_addf(out, "\n {\"name\":\"%s\",\"summary\":", route->name);
	ss_render_quoted(out, route->summary);
	ss_text_add_string(out, ",\"parameters\":\"");
	for (size_t i = 0; i < ss_option_count; i++) {
		const struct ss_option *option = &ss_options[i];

		/* of several options of one name only the first */
		if (!ss_route_takes(route, option) ||
		    ss_option_find(option->name, strlen(option->name), route->takers) != option)
			continue;
		ss_text_addf(out, "%s%s", space, ss_options[i].name);
		space = " ";
	}
	ss_text_addf(out, "%s%s\",\"apart\":%s", *route->parameters ? space : "", route->parameters,
		     route->apart ? "true" : "false");
	ss_spot_text("answer", route->answer, out);
	ss_text_add_string(out, "}");
}

static enum ss_status offers_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				    struct ss_error *err)
{
	const struct ss_route *route;

	(void)err;
	ss_text_add_string(&out->body, "{\"schema\":\"stepscope.offers/1\",\"views\":[\n");
	for (size_t i = 0; i < ss_view_count; i++) {
		ss_text_add_string(&out->body, i ? ",\n" : "");
		offers_write_view(ss_views[i], &out->body);
	}
	for (size_t i = 0; i < ss_snapshot_view_count; i++) {
		ss_text_add_string(&out->body, ",\n");
		offers_write_view(ss_snapshot_views[i], &out->body);
	}
	ss_text_add_string(&out->body, "],\n\"routes\":[");
	for (size_t i = 0; (route = ss_route_of(asked->runs->own, i)); i++) {
		ss_text_add_string(&out->body, i ? "," : "");
		offers_write_route(route, &out->body);
	}
	offers_write_causes(&out->body);
	offers_write_colorings(&out->body);
	offers_write_terms(&out->body);
	ss_text_add_string(&out->body, "]");
	offers_write_styles(&out->body);
	ss_text_add_string(&out->body, "}\n");
	return SS_OK;
}

const struct ss_route ss_route_offers = {
	.name = "offers",
	.summary = "What can be requested: views with their columns, and routes",
	.parameters = "",
	.answer = "interface ColumnOffer { name: string; type: \"id\" | \"text\" | Unit; about: "
		  "string; detail: boolean; bar: boolean; sums: boolean; place?: \"moment\" | "
		  "\"length\" | \"longer\" | \"slice\" | \"kernel\" }\n"
		  "interface ViewOffer { name: string; summary: string; empty: string; "
		  "of_job: boolean; of_snapshot: boolean; of_dumps: boolean; groups: "
		  "string[]; own_order: string[]; events: string[]; zero: \"file\" | "
		  "\"collectives\" | \"steps\" | \"path\"; order: string[]; columns: "
		  "ColumnOffer[] }\n"
		  "interface RouteOffer { name: string; summary: string; parameters: "
		  "string; apart: boolean; answer: string | null }\n"
		  "interface Cause { name: string; color: number; about: string }\n"
		  "interface Coloring { name: string; about: string }\n"
		  "interface PartLook { name: string; color: number; hatched: boolean; "
		  "waits: boolean; about: string }\n"
		  "interface OffersAnswer { schema: \"stepscope.offers/1\"; views: "
		  "ViewOffer[]; routes: RouteOffer[]; causes: Cause[]; colorings: "
		  "Coloring[]; terms: { name: string; text: string }[]; phases: PartLook[]; "
		  "rank_parts: PartLook[] }\n",
	.runless = true,
	.run = offers_answer,
};
