/* SPDX-License-Identifier: Apache-2.0 */
/*
 * categories.c - view: complete events by category, and the other phases.
 */
#include <string.h>

#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "category", SS_COLUMN_TEXT,
	  "category of complete events, old names mapped to the current ones; \"phase X\" for "
	  "other events",
	  SS_COLUMN_KEY },
	SS_COLUMN_FILES,
	{ "events", SS_COLUMN_COUNT, "entries in traceEvents", SS_COLUMN_FILLED },
	{ "share_percent", SS_COLUMN_PERCENT, "share of all entries in traceEvents", 0 },
};

/* The phases that are not complete events, in the order of the table. */
static const struct {
	char phase;
	const char *name;
} category_phases[] = {
	{ 's', "phase s (flow start)" },    { 'f', "phase f (flow end)" },
	{ 't', "phase t (flow step)" },     { 'i', "phase i (instant)" },
	{ 'I', "phase I (instant)" },       { 'R', "phase R (mark)" },
	{ 'C', "phase C (counter)" },       { 'M', "phase M (metadata)" },
	{ 'B', "phase B (begin)" },         { 'E', "phase E (end)" },
	{ 'b', "phase b (async begin)" },   { 'e', "phase e (async end)" },
	{ 'n', "phase n (async instant)" },
};

static void categories_add_row(const struct ss_trace *trace, struct ss_table *out, const char *name,
			       uint64_t events)
{
	if (!events)
		return;
	ss_row_begin(out);
	ss_row_text(out, *name ? name : "(none)");
	ss_row_int(out, 1);
	ss_row_int(out, (int64_t)events);
	ss_row_number(out, 100.0 * (double)events / (double)trace->event_count);
	ss_row_end(out);
}

/* Most events first, then by name. */
static bool category_comes_before(const struct ss_trace *trace, uint32_t a, uint32_t b)
{
	if (trace->category_events[a] != trace->category_events[b])
		return trace->category_events[a] > trace->category_events[b];
	return strcmp(trace->categories[a].name, trace->categories[b].name) < 0;
}

static enum ss_status categories_run(const struct ss_subject *subject, struct ss_table *out,
				     struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	uint64_t rest = trace->event_count;
	bool shown[SS_CATEGORIES_MAX] = { false };

	(void)err;
	for (uint32_t i = 0; i < SS_CATEGORIES_MAX; i++) {
		uint32_t most = SS_CATEGORIES_MAX;

		for (uint32_t k = 0; k < SS_CATEGORIES_MAX; k++)
			if (!shown[k] && trace->category_events[k] &&
			    (most == SS_CATEGORIES_MAX || category_comes_before(trace, k, most)))
				most = k;
		if (most == SS_CATEGORIES_MAX)
			break;
		shown[most] = true;
		categories_add_row(trace, out, trace->categories[most].name,
				   trace->category_events[most]);
	}
	rest -= trace->phase_events['X'];
	for (size_t i = 0; i < SS_COUNT(category_phases); i++) {
		uint64_t events = trace->phase_events[(int)category_phases[i].phase];

		categories_add_row(trace, out, category_phases[i].name, events);
		rest -= events;
	}
	categories_add_row(trace, out, "(other or unreadable)", rest);
	return SS_OK;
}

const struct ss_view ss_view_categories = {
	.name = "categories",
	.summary = "Events in the files, by category",
	.empty = "No events.",
	SS_TABLE_COLUMNS(columns),
	.sums = "events",
	.basis = SS_BASIS_FILE,
	.folds = true,
	.reads = SS_COLUMNS_NONE,
	.run = categories_run,
};
