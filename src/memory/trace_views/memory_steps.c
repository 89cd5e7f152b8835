/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_steps.c - view: memory by step: minimum, peak, what is left behind, and what
 * grows.
 */
#include "analyze/facts.h"
#include "analyze/host/places.h"
#include "memory/events/growth.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_TEXT, "device: CUDA:0, HIP:0, CPU ...",
	  SS_COLUMN_CONTEXT | SS_COLUMN_FILLED },
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", SS_COLUMN_FILLED },
	{ "name", SS_COLUMN_TEXT, "name of the step in the trace; empty if it has none",
	  SS_COLUMN_DETAIL | SS_COLUMN_SLICES },
	{ "min_bytes", SS_COLUMN_BYTES, "minimum of the allocated memory in the step", 0 },
	{ "growth_bytes", SS_COLUMN_BYTES, "change of min_bytes from the previous step", 0 },
	{ "peak_bytes", SS_COLUMN_BYTES, "maximum of the allocated memory in the step", 0 },
	{ "peak_reserved_bytes", SS_COLUMN_BYTES,
	  "maximum of the reserved memory in the step; empty for the CPU", 0 },
	{ "start_bytes", SS_COLUMN_BYTES, "allocated memory at the start of the step",
	  SS_COLUMN_DETAIL },
	{ "end_bytes", SS_COLUMN_BYTES, "allocated memory at the end of the step",
	  SS_COLUMN_DETAIL },
	{ "allocations", SS_COLUMN_COUNT, "number of allocations in the step",
	  SS_COLUMN_DETAIL | SS_COLUMN_FILLED },
	{ "allocated_bytes", SS_COLUMN_BYTES, "total size of these allocations", SS_COLUMN_FILLED },
	{ "net_bytes", SS_COLUMN_BYTES,
	  "total size of these allocations minus what was freed in the step", 0 },
	{ "kept_bytes", SS_COLUMN_BYTES,
	  "size of the step's allocations that were not freed in the file", 0 },
};

struct memory_step_rows {
	const struct ss_trace *trace;
	const struct ss_allocs *allocs;
	struct ss_growth steps;
};

static void memory_steps_add_row(const struct memory_step_rows *work, struct ss_table *out,
				 const struct ss_growth_step *item, const char *device,
				 bool follows)
{
	const struct ss_step *step = &work->trace->steps.items[item->step];

	ss_row_begin(out);
	ss_row_text(out, device);
	ss_row_int(out, item->step);
	ss_row_text(out, ss_strings_text(&work->trace->names, step->name));
	ss_row_int(out, item->min_bytes);
	if (follows)
		ss_row_int(out, ss_amount_subtract(item->min_bytes, item[-1].min_bytes));
	else
		ss_row_null(out);
	ss_row_int(out, item->peak_bytes);
	ss_row_int_known(out, item->is_host ? -1 : item->reserved_bytes);
	ss_row_int(out, item->start_bytes);
	ss_row_int(out, item->end_bytes);
	ss_row_int(out, item->allocations);
	ss_row_int(out, item->allocated_bytes);
	ss_row_int(out, item->net_bytes);
	ss_row_int_known(out, work->allocs->has_addresses ? item->kept_bytes : -1);
	ss_row_end(out);
}

static void memory_steps_add_rows(const struct memory_step_rows *work, struct ss_table *out)
{
	const char *device = NULL;

	for (uint32_t i = 0; i < work->steps.count; i++) {
		const struct ss_growth_step *item = &work->steps.items[i];
		bool follows = i && item[-1].pool == item->pool;

		if (!follows)
			device = ss_pool_name(&work->allocs->pools.items[item->pool], out);
		memory_steps_add_row(work, out, item, device, follows);
	}
}

static void memory_steps_note_leak(const struct memory_step_rows *work,
				   const struct ss_places *places, const struct ss_leak *leak,
				   struct ss_table *out)
{
	const struct ss_trace *trace = work->trace;
	const char *op = "no operator", *line = ss_places_line(places, leak->place);

	if (leak->op != SS_NO_ROW)
		op = ss_strings_text(&trace->names, trace->slices.name[leak->op]);
	ss_table_note(
		out,
		"%s: memory grows in every step, by %s per step over %u steps, and %s allocated "
		"in these steps was never freed: a leak, or a cache that grows. Most of it: %s "
		"from %s%s%s.",
		ss_pool_name(&work->allocs->pools.items[leak->pool], out),
		ss_amount_text(leak->growth_bytes / leak->rises, out), leak->steps,
		ss_amount_text(leak->kept_bytes, out), ss_amount_text(leak->most_bytes, out), op,
		line ? ", " : "", line ? line : "");
}

/* More leaks than a table has notes are not looked for. */
static enum ss_status memory_steps_note_leaks(const struct memory_step_rows *work,
					      struct ss_facts *facts, struct ss_table *out,
					      struct ss_error *err)
{
	struct ss_leak leaks[SS_NOTES_MAX];
	const struct ss_places *places;
	enum ss_status status;
	uint32_t count = 0, next;

	for (uint32_t from = 0; from < work->steps.count && count < SS_NOTES_MAX; from = next)
		count += ss_leak_find(&work->steps, from, &next, &leaks[count]);
	if (!count)
		return SS_OK;
	SS_TRY(ss_facts_places(facts, &places, err));
	status = ss_leaks_blame(work->allocs, places->line, leaks, count, err);
	for (uint32_t i = 0; status == SS_OK && i < count; i++)
		memory_steps_note_leak(work, places, &leaks[i], out);
	return status;
}

static void memory_steps_note_fragments(const struct memory_step_rows *work, struct ss_table *out)
{
	struct ss_fragmentation found;
	uint32_t next;

	for (uint32_t from = 0; from < work->steps.count; from = next)
		if (ss_fragmentation_find(&work->steps, from, &next, &found))
			ss_table_note(out,
				      "%s: reserved memory grows from step to step, from %s to "
				      "%s, although tensors never held more than %s: "
				      "fragmentation. Use the same sizes in every step, or set "
				      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
				      ss_pool_name(&work->allocs->pools.items[found.pool], out),
				      ss_amount_text(found.first_bytes, out),
				      ss_amount_text(found.last_bytes, out),
				      ss_amount_text(found.peak_bytes, out));
}

static enum ss_status memory_steps_run(const struct ss_subject *subject, struct ss_table *out,
				       struct ss_error *err)
{
	struct memory_step_rows work = { .trace = subject->trace };
	enum ss_status status;

	SS_TRY(ss_allocs_of_facts(subject->facts, &work.allocs, err));
	status = ss_growth_init(&work.steps, work.allocs, err);
	if (status == SS_OK) {
		memory_steps_add_rows(&work, out);
		status = memory_steps_note_leaks(&work, subject->facts, out, err);
	}
	if (status == SS_OK && work.steps.count) {
		memory_steps_note_fragments(&work, out);
		ss_allocs_note(work.allocs, out);
		ss_pools_note(&work.allocs->pools, false, out);
	}
	ss_growth_release(&work.steps);
	return status;
}

const struct ss_view ss_view_memory_steps = {
	.name = "memory-steps",
	.summary = "Memory by step: minimum, peak, growth, leaks",
	.empty = "No allocations in the steps: record them with profile(profile_memory=True).",
	SS_TABLE_COLUMNS(columns),
	.sums = "allocations allocated_bytes",
	.basis = SS_BASIS_STEP,
	.run = memory_steps_run,
};
