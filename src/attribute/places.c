/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c - view: the places of a step as a tree: phase, functions of the program, operators; how
 * much time each takes on the critical path, and how much of it is more than normal.
 */

#include "analyze/time/roles.h"
#include "attribute/attribute.h"
#include "base/sort.h"
#include "view/view.h"

/* Places with a smaller share of the step are left out, with all below them. */
#define SHOWN_SHARE 500

/* Deeper places count at this depth. */
#define INDENT_MAX 24

static const struct ss_column places_columns[] = {
	SS_COLUMN_RANK,
	{ "place", SS_COLUMN_TEXT, "phase, function, module or operator, indented by its depth",
	  0 },
	{ "time_ns", SS_COLUMN_NS,
	  "time of the measured steps on the critical path, including places inside it", 0 },
	{ "share_percent", SS_COLUMN_PERCENT, "share of the measured steps", SS_COLUMN_BAR },
	{ "excess_ns", SS_COLUMN_NS, "what is more than normal for such a place", 0 },
	{ "kind", SS_COLUMN_TEXT, "why most of it is more than normal", 0 },
	{ "calls", SS_COLUMN_COUNT, "how often it was called in the file", SS_COLUMN_DETAIL },
	{ "type", SS_COLUMN_TEXT,
	  "phase, function (of the program), library, range, operator or collective",
	  SS_COLUMN_DETAIL },
	{ "depth", SS_COLUMN_COUNT, "how deep it stands in the tree", SS_COLUMN_DETAIL },
};

static const char *const place_type_names[] = {
	[SS_PLACE_STEP] = "step",
	[SS_PLACE_PHASE] = "phase",
	[SS_PLACE_FUNCTION] = "function",
	[SS_PLACE_LIBRARY] = "library",
	[SS_PLACE_RANGE] = "range",
	[SS_PLACE_OPERATOR] = "operator",
	[SS_PLACE_COLLECTIVE] = "collective",
};

struct place_item {
	int64_t time_ns;
	uint32_t node, parent;
};

SS_COMPARATOR(place_compare, struct place_item,
	      SS_ASCENDING(parent) SS_DESCENDING(time_ns) SS_ASCENDING(node))

static void add_place(const struct ss_attribution *of, uint32_t node, uint32_t depth,
		      struct ss_table *out)
{
	const struct ss_place_node *place = &of->nodes[node];
	const char *label = ss_strings_text(&of->labels, place->label);
	enum ss_excess_kind kind = ss_attribution_kind(of, node);
	uint32_t indent = depth < INDENT_MAX ? depth : INDENT_MAX;

	ss_row_begin(out);
	ss_row_text(out,
		    ss_table_print(out, "%*s%s", (int)(2 * (indent ? indent - 1 : 0)), "", label));
	ss_row_int(out, place->time_ns);
	ss_row_share(out, (double)place->time_ns, (double)of->step_ns);
	ss_row_int(out, place->excess_ns);
	ss_row_text(out, kind == SS_EXCESS_NONE ? NULL : ss_excess_kind_name(kind));
	ss_row_int(out, place->calls);
	ss_row_text(out, place_type_names[place->type]);
	ss_row_int(out, depth);
	ss_row_end(out);
}

/* Children of a node follow each other in the sorted items: from first[node] on. */
static bool add_places(const struct ss_attribution *of, struct ss_arena *scratch,
		       struct ss_table *out)
{
	uint32_t count = of->node_count, used = 0, depth = 0;
	struct place_item *items = SS_ARENA_NEW(scratch, struct place_item, (size_t)count + 1);
	uint32_t *next = SS_ARENA_NEW(scratch, uint32_t, (size_t)count + 1);
	uint32_t node = 0;

	if (!items || !next)
		return false;
	for (uint32_t i = 1; i < count; i++)
		if (of->nodes[i].time_ns > of->step_ns / SHOWN_SHARE)
			items[used++] = (struct place_item){ of->nodes[i].time_ns, i,
							     of->nodes[i].parent };
	SS_SORT(items, used, place_compare);
	for (uint32_t i = used; i-- > 0;)
		next[items[i].parent] = i + 1;
	/* down to the first child that is left, else up */
	for (;;) {
		uint32_t at = next[node];

		if (at && at <= used && items[at - 1].parent == node) {
			next[node] = at + 1;
			node = items[at - 1].node;
			add_place(of, node, ++depth, out);
		} else if (node) {
			node = of->nodes[node].parent;
			depth--;
		} else {
			return true;
		}
	}
}

static enum ss_status places_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	struct ss_attribution_options options = { 0 };
	struct ss_memory *memory = out->arena->memory;
	struct ss_attribution attribution = { 0 };
	SS_COVER(steps, memory);
	SS_SCRATCH(scratch, memory);
	enum ss_status status = SS_OK;

	if (!ss_steps_cover(subject->trace, memory, &steps))
		return ss_fail_memory(err, "the places of a step");
	options.steps = &steps;
	if (subject->trace->device_event_count)
		status = ss_facts_idle(subject->facts, &options.idle, err);
	if (options.idle && options.idle->device_count)
		options.device = options.idle->devices[0].device;
	else
		options.idle = NULL;
	if (status == SS_OK)
		status = ss_attribution_make(&attribution, subject->facts, &options, memory, err);
	if (status == SS_OK && !add_places(&attribution, &scratch, out))
		status = ss_fail_memory(err, "the places of a step");
	ss_attribution_release(&attribution);
	return status;
}

const struct ss_view ss_view_places = {
	.name = "places",
	.summary = "Whose time a step is, and what exceeds the normal",
	.empty = "No thread runs steps.",
	SS_TABLE_COLUMNS(places_columns),
	.basis = SS_BASIS_STEPS,
	.nested = 1,
	.own_order = 1,
	.kept = { 64 },
	.run = places_run,
};
