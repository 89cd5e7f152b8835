/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.c - view: the time of each device in each step: compute, exposed communication,
 * exposed copies, idle. The four parts never overlap and add up to the step.
 */
#include "analyze/facts.h"
#include "analyze/time/roles.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_CONTEXT },
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", 0 },
	{ "dur_ns", SS_COLUMN_NS, "effective duration of the step; the four parts add up to it",
	  0 },
	{ "compute_ns", SS_COLUMN_NS, "a compute kernel ran", 0 },
	{ "exposed_comm_ns", SS_COLUMN_NS,
	  "exposed communication: no compute kernel ran at the same time", 0 },
	{ "exposed_copy_ns", SS_COLUMN_NS,
	  "exposed copies and memsets: no kernel ran at the same time", 0 },
	{ "idle_ns", SS_COLUMN_NS, "nothing ran on the device", 0 },
	{ "comm_ns", SS_COLUMN_NS, "communication ran, hidden or not", 0 },
	{ "overlap_percent", SS_COLUMN_PERCENT,
	  "share of the communication time that overlapped compute kernels", 0 },
	{ "part", SS_COLUMN_TEXT,
	  "compute, exposed communication, exposed copies, or idle time by cause", 0 },
	{ "mean_ns", SS_COLUMN_NS, "mean time per step", 0 },
	{ "step_percent", SS_COLUMN_PERCENT, "share of the time of all counted steps",
	  SS_COLUMN_BAR },
	{ "total_ns", SS_COLUMN_NS, "total over all counted steps; the parts add up to their time",
	  SS_COLUMN_DETAIL },
};

enum { GROUP_STEP, GROUP_PART };

/* The number of columns that only parts, or only steps, fill. */
#define PART_COLUMNS 4
#define STEP_COLUMNS 8

/* The parts of a device's time, per step. */
struct device_budget {
	const struct ss_cover *steps;
	int64_t *compute, *comm, *copies, *all_comm;
};

/* Sets sums[] to how much of each step lies in the cover. */
static void budget_share_steps(const struct ss_cover *cover, const struct ss_cover *steps,
			       int64_t *sums)
{
	for (uint32_t i = 0; i < steps->count; i++)
		sums[i] = 0;
	ss_cover_share(cover, steps, sums);
}

/* Sums each part of the device time by step; what one part hides does not count in the next. */
static enum ss_status budget_measure_device(const struct ss_trace *trace, int64_t device,
					    struct device_budget *budget, struct ss_table *out,
					    struct ss_error *err)
{
	size_t count = budget->steps->count;
	SS_DEVICE_COVER own = { 0 };
	int64_t *sums;

	if (!SS_ALLOC(out->arena, sums, (count + 1) * 4) ||
	    !ss_device_cover_init(&own, trace, device, out->arena->memory))
		return ss_fail_memory(err, "the time budget");
	budget->compute = sums;
	budget->comm = sums + count;
	budget->copies = sums + count * 2;
	budget->all_comm = sums + count * 3;
	budget_share_steps(&own.compute, budget->steps, budget->compute);
	budget_share_steps(&own.comm, budget->steps, budget->all_comm);
	ss_device_cover_expose(&own);
	budget_share_steps(&own.comm, budget->steps, budget->comm);
	budget_share_steps(&own.copies, budget->steps, budget->copies);
	return own.comm.failed || own.copies.failed ? ss_fail_memory(err, "the time budget")
						    : SS_OK;
}

static void budget_add_steps(const struct ss_trace *trace, int64_t device,
			     const struct device_budget *budget, struct ss_table *out)
{
	const struct ss_cover *steps = budget->steps;
	uint32_t step = 0;

	for (uint32_t i = 0; i < steps->count; i++, step++) {
		int64_t dur_ns = steps->items[i].end_ns - steps->items[i].start_ns;
		int64_t busy_ns = budget->compute[i] + budget->comm[i] + budget->copies[i];

		while (trace->steps.items[step].dropped ||
		       trace->steps.items[step].end_ns <= trace->steps.items[step].start_ns)
			step++;
		ss_row_begin(out);
		ss_row_int(out, device);
		ss_row_int(out, step);
		ss_row_int(out, dur_ns);
		ss_row_int(out, budget->compute[i]);
		ss_row_int(out, budget->comm[i]);
		ss_row_int(out, budget->copies[i]);
		ss_row_int(out, dur_ns - busy_ns);
		ss_row_int(out, budget->all_comm[i]);
		ss_row_share(out, (double)(budget->all_comm[i] - budget->comm[i]),
			     (double)budget->all_comm[i]);
		ss_row_nulls(out, PART_COLUMNS);
		ss_row_end(out);
	}
}

/* Parts that took no time are left out. */
static void budget_add_part(struct ss_table *out, int64_t device, const struct ss_cover *steps,
			    const char *name, int64_t total_ns)
{
	if (!total_ns)
		return;
	ss_row_begin(out);
	ss_row_int(out, device);
	ss_row_nulls(out, STEP_COLUMNS);
	ss_row_text(out, name);
	ss_row_int(out, total_ns / (int64_t)steps->count);
	ss_row_share(out, (double)total_ns, (double)ss_cover_length(steps));
	ss_row_int(out, total_ns);
	ss_row_end(out);
}

static int64_t budget_sum(const int64_t *items, uint32_t count)
{
	int64_t total = 0;

	for (uint32_t i = 0; i < count; i++)
		total += items[i];
	return total;
}

/* Idle time is split by cause, so the rows add up to the steps. */
static void budget_add_parts(const struct ss_idle *idle, const struct ss_idle_device *own,
			     const struct device_budget *budget, struct ss_table *out)
{
	const struct ss_cover *steps = budget->steps;
	int64_t causes[SS_IDLE_CAUSES] = { 0 }, device = own->device;

	for (uint32_t i = own->gap_from; i < own->gap_to; i++)
		for (uint32_t k = idle->gaps[i].piece_from; k < idle->gaps[i].piece_to; k++)
			causes[idle->pieces[k].cause] += idle->pieces[k].ns;
	budget_add_part(out, device, steps, "compute", budget_sum(budget->compute, steps->count));
	budget_add_part(out, device, steps, "exposed communication",
			budget_sum(budget->comm, steps->count));
	budget_add_part(out, device, steps, "exposed copies",
			budget_sum(budget->copies, steps->count));
	for (int i = 0; i < SS_IDLE_CAUSES; i++)
		budget_add_part(out, device, steps,
				ss_table_print(out, "idle: %s",
					       ss_idle_name((enum ss_idle_cause)i)),
				causes[i]);
}

/* `number`: how many devices came before. */
static enum ss_status budget_add_device(const struct ss_subject *subject, int64_t device,
					uint32_t number, const struct ss_cover *steps,
					struct ss_table *out, struct ss_error *err)
{
	struct device_budget budget = { .steps = steps };
	const struct ss_idle *idle;

	SS_TRY(budget_measure_device(subject->trace, device, &budget, out, err));
	if (subject->group != GROUP_PART) {
		budget_add_steps(subject->trace, device, &budget, out);
		return SS_OK;
	}
	SS_TRY(ss_facts_idle(subject->facts, &idle, err));
	budget_add_parts(idle, &idle->devices[number], &budget, out);
	return SS_OK;
}

static enum ss_status budget_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	enum ss_status status = SS_OK;
	const uint32_t most = ss_devices_by_step(trace);
	int64_t device = INT64_MIN;
	uint32_t number = 0;
	SS_COVER(steps, out->arena->memory);

	if (!ss_steps_cover(trace, out->arena->memory, &steps))
		return ss_fail_memory(err, "the time budget");
	for (; status == SS_OK && ss_device_next(trace, device, &device); number++)
		if (number < most)
			status = budget_add_device(subject, device, number, &steps, out, err);
	ss_note_devices(out, number > most ? number - most : 0);
	return status;
}

const struct ss_view ss_view_budget = {
	.name = "budget",
	.summary = "GPU time per step: compute, exposed communication, idle",
	.empty = "No GPU work: the files have no kernels, copies or memsets (record them with "
		 "ProfilerActivity.CUDA or XPU).",
	SS_TABLE_COLUMNS(columns),
	.sums = "dur_ns compute_ns exposed_comm_ns exposed_copy_ns idle_ns comm_ns "
		"mean_ns total_ns",
	.basis = SS_BASIS_MEAN,
	.bases = { [GROUP_STEP] = SS_BASIS_STEP },
	.groups = { "step", "part" },
	.by_moment = true,
	.of_device = true,
	.kept = { [GROUP_STEP] = 128, [GROUP_PART] = 32 },
	.run = budget_run,
};
