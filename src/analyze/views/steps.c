/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - view: every step: how long it took and how it was found.
 */
#include "view/view.h"
#include "trace/select.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", SS_COLUMN_FILLED },
	{ "name", SS_COLUMN_TEXT, "name of the step in the trace; empty if it has none",
	  SS_COLUMN_SLICES },
	{ "dur_ns", SS_COLUMN_NS,
	  "effective duration: from the end of the previous step to the end of the last device "
	  "event launched in this step",
	  SS_COLUMN_LENGTH | SS_COLUMN_FILLED },
	{ "start_ns", SS_COLUMN_NS, "effective start, from the first event of the file",
	  SS_COLUMN_MOMENT | SS_COLUMN_FILLED },
	{ "end_ns", SS_COLUMN_NS, "effective end, from the first event of the file",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "host_dur_ns", SS_COLUMN_NS, "duration of the step's range on the CPU", 0 },
	{ "host_start_ns", SS_COLUMN_NS, "start of the step's range on the CPU", SS_COLUMN_DETAIL },
	{ "host_end_ns", SS_COLUMN_NS, "end of the step's range on the CPU", SS_COLUMN_DETAIL },
	{ "device_events", SS_COLUMN_COUNT, "kernels, copies and memsets launched in the step",
	  SS_COLUMN_FILLED },
	{ "file_start_ns", SS_COLUMN_NS, "effective start in the file's own time (ts)",
	  SS_COLUMN_DETAIL },
	{ "file_end_ns", SS_COLUMN_NS, "effective end in the file's own time (ts)",
	  SS_COLUMN_DETAIL },
	{ "anchor", SS_COLUMN_TEXT, "how the steps of this file were found", SS_COLUMN_CONTEXT },
	{ "dropped", SS_COLUMN_TEXT, "why the step does not count; empty if it does",
	  SS_COLUMN_CONTEXT },
};

static const char *const step_anchor_names[] = {
	[SS_STEPS_PROFILER] = "ProfilerStep",
	[SS_STEPS_ANNOTATION] = "annotation",
	[SS_STEPS_OPTIMIZER] = "optimizer steps",
	[SS_STEPS_COLLECTIVES] = "period of the collectives",
	[SS_STEPS_KERNELS] = "period of the kernels",
	[SS_STEPS_HOST_SPAN] = "span of the CPU ops",
	[SS_STEPS_DEVICE_SPAN] = "span of the device events",
	[SS_STEPS_NONE] = "none",
};

static enum ss_status steps_run(const struct ss_subject *subject, struct ss_table *out,
				struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	const struct ss_steps *steps = &trace->steps;

	(void)err;
	for (uint32_t i = 0; i < steps->count; i++) {
		const struct ss_step *step = &steps->items[i];

		if (step->dropped == ss_step_not_selected)
			continue;
		ss_row_begin(out);
		ss_row_int(out, i);
		ss_row_text(out, ss_strings_text(&trace->names, step->name));
		ss_row_int(out, step->end_ns - step->start_ns);
		ss_row_int(out, step->start_ns);
		ss_row_int(out, step->end_ns);
		ss_row_int(out, step->host_end_ns - step->host_start_ns);
		ss_row_int(out, step->host_start_ns);
		ss_row_int(out, step->host_end_ns);
		ss_row_int(out, (int64_t)step->device_events);
		ss_row_int(out, trace->origin_ns + step->start_ns);
		ss_row_int(out, trace->origin_ns + step->end_ns);
		ss_row_text(out, step_anchor_names[steps->anchor]);
		ss_row_text(out, step->dropped);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_steps = {
	.name = "steps",
	.summary = "Every step: how long it took and how it was found",
	.empty = "No steps: the file has neither CPU operators nor device events.",
	SS_TABLE_COLUMNS(columns),
	.sums = "dur_ns host_dur_ns device_events",
	.basis = SS_BASIS_STEP,
	.kept = { 1024 },
	.run = steps_run,
};
