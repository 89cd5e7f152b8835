/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler_overhead.c - rule: the profiler itself stops the host.
 *
 * The profiler records its own pauses (flushing and requesting buffers, instrumenting kernels).
 * They name no thread: a pause stopped every thread that begins nothing between its start and its
 * end. Without the profiler this time does not exist.
 */
#include <string.h>

#include "analyze/time/moment.h"
#include "diagnose/evidence/code_places.h"
#include "diagnose/evidence/cpu_rows.h"

/* Queued work hides shorter pauses, and every recording has them. */
#define PAUSE_MIN_NS 20000

/* Recorded pauses that are not the profiler's: the driver loads and compiles code. */
static const char *const others[] = { "Loading", "Compiler", "Command Buffer", "UVM" };

struct profiler_pauses {
	struct ss_rule_context *context;
	const struct ss_trace *trace;
	uint8_t *is_own; /* per name */
	struct ss_code_places *sites;
	int64_t claimed_ns;
};

static void overhead_read_names(struct profiler_pauses *overhead)
{
	const struct ss_strings *names = &overhead->trace->names;

	for (uint32_t i = 0; i < names->count; i++) {
		overhead->is_own[i] = true;
		for (size_t k = 0; k < SS_COUNT(others); k++)
			if (strstr(ss_strings_text(names, i), others[k]))
				overhead->is_own[i] = false;
	}
}

/* Whether a row of the track starts between the two moments. */
static bool overhead_thread_goes_on(const struct ss_trace *trace, uint32_t track, int64_t from_ns,
				    int64_t to_ns)
{
	uint32_t row = ss_cpu_row_after(trace, track, from_ns + 1);

	return row < trace->tracks[track].first_row + trace->tracks[track].row_count &&
	       trace->slices.start_ns[row] < to_ns;
}

/* Claims a pause of the profiler on every thread that it stopped. */
static void overhead_claim_pause(struct profiler_pauses *overhead, uint32_t row)
{
	const struct ss_trace *trace = overhead->trace;
	int64_t from_ns = trace->slices.start_ns[row], to_ns = ss_slice_end(&trace->slices, row);
	int64_t gone_ns = 0;

	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];
		int64_t own_ns;

		if (track->class != SS_TRACK_HOST || !track->row_count ||
		    overhead_thread_goes_on(trace, i, from_ns, to_ns))
			continue;
		own_ns = ss_rule_claim_time(overhead->context,
					    (struct ss_stretch){ .track = i,
								 .from_ns = from_ns,
								 .to_ns = to_ns });
		if (own_ns > gone_ns)
			gone_ns = own_ns;
	}
	if (!gone_ns)
		return;
	overhead->claimed_ns = ss_ns_sum(overhead->claimed_ns, gone_ns);
	ss_code_places_add(overhead->sites, trace->slices.name[row], SS_NO_ROW, gone_ns);
}

static void overhead_report(struct profiler_pauses *overhead)
{
	struct ss_rule_context *context = overhead->context;

	ss_code_places_report(overhead->sites, 3,
			      "the profiler's %s stops the host {count} times per step: {time}");
	ss_rule_set_confidence(context, SS_CONFIDENCE_HIGH, "the profiler records its own pauses");
}

/* Claims the profiler's own pauses within steps. */
static enum ss_status profiler_overhead_look(struct ss_rule_context *context, struct ss_error *err)
{
	struct profiler_pauses overhead = { .context = context, .trace = context->trace };
	const struct ss_trace *trace = overhead.trace;

	SS_TRY(ss_code_places_make(&overhead.sites, context, err));
	if (!SS_ALLOC(context->scratch, overhead.is_own, (size_t)trace->names.count + 1))
		return ss_fail_memory(err, "the profiler's pauses");
	overhead_read_names(&overhead);
	for (uint32_t i = 0; i < trace->track_count; i++) {
		const struct ss_track *track = &trace->tracks[i];

		if (track->class != SS_TRACK_PROFILER)
			continue;
		for (uint32_t row = track->first_row; row < track->first_row + track->row_count;
		     row++)
			if (trace->slices.kind[row] == SS_KIND_OVERHEAD &&
			    overhead.is_own[trace->slices.name[row]] &&
			    trace->slices.dur_ns[row] >= PAUSE_MIN_NS &&
			    ss_step_at(trace, trace->slices.start_ns[row]) != SS_NO_ROW)
				overhead_claim_pause(&overhead, row);
	}
	if (overhead.claimed_ns)
		overhead_report(&overhead);
	return SS_OK;
}

const struct ss_rule ss_rule_profiler_overhead = {
	.name = "profiler-overhead",
	.title = "The profiler itself stops the host",
	.summary = "Pauses of the profiler within steps: the job itself does not have this time",
	.fix = "# without the profiler this time is gone; to record less:\n"
	       "with profile(schedule=schedule(wait=5, warmup=3, active=2),\n"
	       "             with_stack=False, record_shapes=False):\n"
	       "    ...",
	.to_record = "compare with the step time without the profiler",
	.views = "gaps quality",
	.warn_share = 0.05,
	.silent_share = 0.01,
	.why = "from 5 % on the other figures of the recording are off by as much; every recording "
	       "costs up to 1 %",
	.look = profiler_overhead_look,
};
