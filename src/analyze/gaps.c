/*
 * gaps.c - view: why each device stood idle in the steps: by cause, with the
 * operator and the line behind the largest gap.
 */
#include "analyze/idle.h"
#include "analyze/missing.h"
#include "analyze/places.h"
#include "analyze/roles.h"
#include "analyze/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_CONTEXT },
	{ "cause", SS_COLUMN_TEXT, "why the next work did not run", 0 },
	{ "idle_ns", SS_COLUMN_NS, "idle time with this cause, over all steps that count", 0 },
	{ "step_percent", SS_COLUMN_PERCENT, "of the time of these steps", 0 },
	{ "gaps", SS_COLUMN_COUNT, "gaps that have it as a part", 0 },
	{ "longest_ns", SS_COLUMN_NS, "its largest part of one gap", 0 },
	{ "at_ns", SS_COLUMN_NS, "where that gap begins, from the first event", SS_COLUMN_DETAIL },
	{ "host", SS_COLUMN_TEXT, "what the host did there: a call, a range or the launch",
	  SS_COLUMN_DETAIL },
	{ "op", SS_COLUMN_TEXT, "the operator around it", 0 },
	{ "line", SS_COLUMN_TEXT,
	  "the python frame of the user around it; not recorded without stacks", 0 },
};

struct tally {
	int64_t idle_ns, longest_ns, at_ns, count;
	uint32_t guilty;
};

static bool add_gap(void *context, const struct ss_gap *gap)
{
	struct tally *tallies = context;

	for (int i = 0; i < SS_IDLE_CAUSES; i++) {
		struct tally *tally = &tallies[i];

		if (!gap->cause_ns[i])
			continue;
		tally->idle_ns += gap->cause_ns[i];
		tally->count++;
		if (gap->cause_ns[i] <= tally->longest_ns)
			continue;
		tally->longest_ns = gap->cause_ns[i];
		tally->at_ns = gap->start_ns;
		tally->guilty = ss_gap_cause(gap) == (enum ss_idle_cause)i ? gap->guilty
									   : SS_NO_ROW;
	}
	return true;
}

static const char *name_of(const struct ss_trace *trace, uint32_t row)
{
	return row == SS_NO_ROW ? NULL : ss_strings_text(&trace->names, trace->slices.name[row]);
}

/* Causes in the order of their time. */
static void add_rows(const struct ss_places *places, struct ss_table *out, int64_t device,
		     struct tally *tallies, int64_t steps_ns)
{
	const struct ss_trace *trace = places->trace;

	for (;;) {
		int best = -1;

		for (int i = 0; i < SS_IDLE_CAUSES; i++)
			if (tallies[i].idle_ns &&
			    (best < 0 || tallies[i].idle_ns > tallies[best].idle_ns))
				best = i;
		if (best < 0)
			return;
		ss_row_begin(out);
		ss_row_int(out, device);
		ss_row_text(out, ss_idle_name((enum ss_idle_cause)best));
		ss_row_int(out, tallies[best].idle_ns);
		ss_row_share(out, (double)tallies[best].idle_ns, (double)steps_ns);
		ss_row_int(out, tallies[best].count);
		ss_row_int(out, tallies[best].longest_ns);
		ss_row_int(out, tallies[best].at_ns);
		ss_row_text(out, name_of(trace, tallies[best].guilty));
		ss_row_text(out, name_of(trace, ss_idle_op(trace, tallies[best].guilty)));
		ss_row_text(out, ss_places_line(places, tallies[best].guilty, out));
		ss_row_end(out);
		tallies[best].idle_ns = 0;
	}
}

static enum ss_status gaps_run(const struct ss_subject *subject, struct ss_table *out,
			       struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	struct ss_memory *memory = out->arena->memory;
	int64_t device = INT64_MIN, steps_ns = 0;
	enum ss_status status = SS_OK;
	struct ss_places places;

	for (uint32_t i = 0; i < trace->steps.count; i++)
		if (!trace->steps.items[i].dropped)
			steps_ns += trace->steps.items[i].end_ns - trace->steps.items[i].start_ns;
	SS_TRY(ss_places_init(&places, trace, memory, err));
	while (status == SS_OK && ss_device_next(trace, device, &device)) {
		struct tally tallies[SS_IDLE_CAUSES] = { 0 };

		status = ss_idle_find(trace, device, memory, add_gap, tallies, err);
		if (status == SS_OK)
			add_rows(&places, out, device, tallies, steps_ns);
	}
	if (out->row_count && !places.has_lines)
		ss_note_missing(out, SS_MISSING_LINES);
	ss_places_release(&places);
	return status;
}

const struct ss_view ss_view_gaps = {
	.name = "gaps",
	.summary = "Why each device stood idle: by cause, with the operator and the line",
	.empty = "No idle time in the steps, or no device that worked.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run = gaps_run,
};
