/*
 * budget.c - view: the time of each device in each step: computing, waiting for
 * communication, copying, idle. The four never overlap and sum to the step.
 */
#include "analyze/roles.h"
#include "analyze/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_CONTEXT },
	{ "step", SS_COLUMN_ID, "number of the step in the file, from 0", 0 },
	{ "dur_ns", SS_COLUMN_NS, "effective duration of the step; the four parts sum to it", 0 },
	{ "compute_ns", SS_COLUMN_NS, "a compute kernel ran", 0 },
	{ "exposed_comm_ns", SS_COLUMN_NS, "communication ran, and no compute kernel", 0 },
	{ "exposed_copy_ns", SS_COLUMN_NS, "a copy or memset ran, and no kernel", 0 },
	{ "idle_ns", SS_COLUMN_NS, "nothing ran on the device", 0 },
	{ "comm_ns", SS_COLUMN_NS, "communication ran, hidden or not", 0 },
	{ "overlap_percent", SS_COLUMN_PERCENT,
	  "of the communication, what ran beside compute kernels", 0 },
};

/* Per step: what of the step's time is in the set. */
static void shares(const struct ss_cover *cover, const struct ss_cover *steps, int64_t *sums)
{
	for (uint32_t i = 0; i < steps->count; i++)
		sums[i] = 0;
	ss_cover_share(cover, steps, sums);
}

static enum ss_status add_device(const struct ss_trace *trace, int64_t device,
				 const struct ss_cover *steps, struct ss_table *out,
				 struct ss_error *err)
{
	struct ss_memory *memory = out->arena->memory;
	struct ss_device_cover own;
	int64_t *sums = SS_ARENA_NEW(out->arena, int64_t, ((size_t)steps->count + 1) * 4);
	int64_t *compute, *comm, *copies, *all_comm;
	bool whole = ss_device_cover_init(&own, trace, device, memory);
	uint32_t step = 0;

	compute = sums;
	comm = sums ? sums + steps->count : NULL;
	copies = sums ? comm + steps->count : NULL;
	all_comm = sums ? copies + steps->count : NULL;
	if (sums && whole) {
		shares(&own.compute, steps, compute);
		shares(&own.comm, steps, all_comm);
		ss_device_cover_expose(&own);
		shares(&own.comm, steps, comm);
		shares(&own.copies, steps, copies);
		whole = !own.comm.failed && !own.copies.failed;
	}
	ss_device_cover_release(&own);
	if (!sums || !whole)
		return ss_fail_memory(err, "the time budget");
	for (uint32_t i = 0; i < steps->count; i++, step++) {
		int64_t dur_ns = steps->items[i].end_ns - steps->items[i].start_ns;

		while (trace->steps.items[step].dropped ||
		       trace->steps.items[step].end_ns <= trace->steps.items[step].start_ns)
			step++;
		ss_row_begin(out);
		ss_row_int(out, device);
		ss_row_int(out, step);
		ss_row_int(out, dur_ns);
		ss_row_int(out, compute[i]);
		ss_row_int(out, comm[i]);
		ss_row_int(out, copies[i]);
		ss_row_int(out, dur_ns - compute[i] - comm[i] - copies[i]);
		ss_row_int(out, all_comm[i]);
		ss_row_share(out, (double)(all_comm[i] - comm[i]), (double)all_comm[i]);
		ss_row_end(out);
	}
	return SS_OK;
}

static enum ss_status budget_run(const struct ss_subject *subject, struct ss_table *out,
				 struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;
	enum ss_status status = SS_OK;
	int64_t device = INT64_MIN;
	struct ss_cover steps;

	if (!ss_steps_cover(trace, out->arena->memory, &steps)) {
		ss_cover_release(&steps);
		return ss_fail_memory(err, "the time budget");
	}
	while (status == SS_OK && ss_device_next(trace, device, &device))
		status = add_device(trace, device, &steps, out, err);
	ss_cover_release(&steps);
	return status;
}

const struct ss_view ss_view_budget = {
	.name = "budget",
	.summary = "Each device in each step: computing, exposed communication and copies, idle",
	.empty = "No device worked: the files hold no kernels, copies or memsets.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.run = budget_run,
};
