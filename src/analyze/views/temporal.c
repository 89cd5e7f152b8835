/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.c - view: each device over the whole file, from its first work to its last:
 * compute, exposed communication and copies, idle. The figures match HTA's temporal
 * breakdown and TraceLens' timeline.
 */
#include "analyze/time/roles.h"
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_FILLED },
	{ "total_ns", SS_COLUMN_NS, "from the start of the first work to the end of the last work",
	  SS_COLUMN_FILLED },
	{ "compute_ns", SS_COLUMN_NS, "a compute kernel ran", SS_COLUMN_FILLED },
	{ "exposed_comm_ns", SS_COLUMN_NS,
	  "exposed communication: no compute kernel ran at the same time", SS_COLUMN_FILLED },
	{ "exposed_copy_ns", SS_COLUMN_NS,
	  "exposed copies and memsets: no kernel ran at the same time", SS_COLUMN_FILLED },
	{ "idle_ns", SS_COLUMN_NS, "nothing ran; the four parts add up to the total",
	  SS_COLUMN_FILLED },
	{ "comm_ns", SS_COLUMN_NS, "communication ran, hidden or not", SS_COLUMN_FILLED },
	{ "overlap_percent", SS_COLUMN_PERCENT,
	  "share of the communication time that overlapped compute kernels", 0 },
};

/* Measures communication before and after taking out what compute hides. */
static enum ss_status temporal_add_device(const struct ss_trace *trace, int64_t device,
					  struct ss_table *out, struct ss_error *err)
{
	int64_t from_ns = INT64_MAX, to_ns = INT64_MIN, compute_ns, all_comm_ns, comm_ns, copy_ns;
	SS_DEVICE_COVER own = { 0 };
	bool whole = ss_device_cover_init(&own, trace, device, out->arena->memory);
	const struct ss_cover *const sets[] = { &own.compute, &own.comm, &own.copies };

	for (size_t i = 0; i < SS_COUNT(sets); i++) {
		if (!sets[i]->count)
			continue;
		if (sets[i]->items[0].start_ns < from_ns)
			from_ns = sets[i]->items[0].start_ns;
		if (sets[i]->items[sets[i]->count - 1].end_ns > to_ns)
			to_ns = sets[i]->items[sets[i]->count - 1].end_ns;
	}
	compute_ns = ss_cover_length(&own.compute);
	all_comm_ns = ss_cover_length(&own.comm);
	ss_device_cover_expose(&own);
	comm_ns = ss_cover_length(&own.comm);
	copy_ns = ss_cover_length(&own.copies);
	whole &= !own.comm.failed && !own.copies.failed;
	if (!whole)
		return ss_fail_memory(err, "the time of devices");
	if (to_ns < from_ns)
		return SS_OK; /* only work without duration */
	ss_row_begin(out);
	ss_row_int(out, device);
	ss_row_int(out, to_ns - from_ns);
	ss_row_int(out, compute_ns);
	ss_row_int(out, comm_ns);
	ss_row_int(out, copy_ns);
	ss_row_int(out, to_ns - from_ns - compute_ns - comm_ns - copy_ns);
	ss_row_int(out, all_comm_ns);
	ss_row_share(out, (double)(all_comm_ns - comm_ns), (double)all_comm_ns);
	ss_row_end(out);
	return SS_OK;
}

static enum ss_status temporal_run(const struct ss_subject *subject, struct ss_table *out,
				   struct ss_error *err)
{
	int64_t device = INT64_MIN;

	while (ss_device_next(subject->trace, device, &device))
		SS_TRY(temporal_add_device(subject->trace, device, out, err));
	return SS_OK;
}

const struct ss_view ss_view_temporal = {
	.name = "temporal",
	.summary = "Budget of the whole file instead of the steps, as in HTA",
	.empty = "No GPU work: the files have no kernels, copies or memsets (record them with "
		 "ProfilerActivity.CUDA or XPU).",
	SS_TABLE_COLUMNS(columns),
	.basis = SS_BASIS_FILE,
	.of_device = true,
	.run = temporal_run,
};
