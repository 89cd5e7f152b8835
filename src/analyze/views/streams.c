/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.c - view: the gaps of each stream, by what the stream waited for.
 *
 * HTA's three classes: the next work was launched after the previous work had ended (the
 * host was late); it was launched in time and the gap is short (launch latency); or it
 * waited for something else. Covers the whole file.
 */
#include "view/view.h"

static const struct ss_column columns[] = {
	SS_COLUMN_RANK,
	{ "device", SS_COLUMN_ID, "number of the device", SS_COLUMN_CONTEXT | SS_COLUMN_FILLED },
	{ "stream", SS_COLUMN_ID, "number of the stream", 0 },
	{ "events", SS_COLUMN_COUNT, "number of kernels, copies and memsets", SS_COLUMN_FILLED },
	{ "busy_ns", SS_COLUMN_NS, "sum of the durations", SS_COLUMN_FILLED },
	{ "host_wait_ns", SS_COLUMN_NS,
	  "gaps before work that was launched after the previous work had ended", 0 },
	{ "kernel_wait_ns", SS_COLUMN_NS,
	  "other gaps shorter than 30 us; overlapping kernels count as negative", 0 },
	{ "other_wait_ns", SS_COLUMN_NS,
	  "other gaps of 30 us or more: waits for events or other streams", 0 },
};

/* HTA's consecutive_kernel_delay: the longest gap that launch latency explains. */
#define SHORT_GAP_NS 30000

struct stream_waits {
	int64_t busy_ns, host_ns, kernel_ns, other_ns, end_ns;
	int64_t events;
};

static void stream_count_row(const struct ss_trace *trace, uint32_t row, struct stream_waits *waits)
{
	const struct ss_slices *slices = &trace->slices;
	uint32_t launch = slices->link[row];
	int64_t gap_ns = slices->start_ns[row] - waits->end_ns;

	ss_ns_add(&waits->busy_ns, slices->dur_ns[row]);
	if (waits->events++) {
		/* work that begins before its launch (clocks differ) did not wait for the host */
		if (gap_ns > 0 && launch != SS_NO_ROW && slices->start_ns[launch] > waits->end_ns)
			ss_ns_add(&waits->host_ns, gap_ns);
		else if (gap_ns < SHORT_GAP_NS)
			ss_ns_add(&waits->kernel_ns, gap_ns);
		else
			ss_ns_add(&waits->other_ns, gap_ns);
	}
	waits->end_ns = ss_slice_end(slices, row);
}

static enum ss_status streams_run(const struct ss_subject *subject, struct ss_table *out,
				  struct ss_error *err)
{
	const struct ss_trace *trace = subject->trace;

	(void)err;
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		struct stream_waits waits = { 0 };

		if (track->class != SS_TRACK_DEVICE)
			continue;
		for (uint32_t k = 0; k < track->row_count; k++)
			if (ss_kind_on_device(trace->slices.kind[track->first_row + k]))
				stream_count_row(trace, track->first_row + k, &waits);
		if (!waits.events)
			continue;
		ss_row_begin(out);
		ss_row_int(out, track->pid);
		ss_row_int(out, track->tid);
		ss_row_int(out, waits.events);
		ss_row_int(out, waits.busy_ns);
		ss_row_int(out, waits.host_ns);
		ss_row_int(out, waits.kernel_ns);
		ss_row_int(out, waits.other_ns);
		ss_row_end(out);
	}
	return SS_OK;
}

const struct ss_view ss_view_streams = {
	.name = "streams",
	.summary = "Gaps of each stream: late host, launch latency, other",
	.empty = "No GPU work: the files have no kernels, copies or memsets (record them with "
		 "ProfilerActivity.CUDA or XPU).",
	SS_TABLE_COLUMNS(columns),
	.sums = "events busy_ns",
	.basis = SS_BASIS_FILE,
	.of_device = true,
	.run = streams_run,
};
