/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - route: the ranks of a run with their steps, on the clock of the timeline.
 */
#include <inttypes.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"
#include "api/viewer/spot_snapshot.h"
#include "render/runs.h"

static void add_steps(const struct ss_timeline_file *file, struct ss_text *out)
{
	const struct ss_trace *trace = file->trace;

	ss_text_add_string(out, ",\"steps\":[");
	for (uint32_t i = 0; i < trace->steps.count; i++) {
		const struct ss_step *step = &trace->steps.items[i];

		ss_text_addf(out, "%s{\"number\":%" PRIu32, i ? "," : "", i);
		ss_spot_text("name", ss_strings_text(&trace->names, step->name), out);
		ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64,
			     ss_timeline_moment(file, step->start_ns),
			     ss_timeline_moment(file, step->end_ns));
		ss_spot_text("dropped", step->dropped, out);
		ss_text_add_string(out, "}");
	}
	ss_text_add_string(out, "]");
}

static void add_trace(const struct ss_timeline_file *file, struct ss_text *out)
{
	const struct ss_trace *trace = file->trace;

	ss_spot_text("host", ss_strings_text(&trace->texts, trace->info.run[SS_RUN_HOST]), out);
	ss_spot_text("device",
		     trace->info.device_count
			     ? ss_strings_text(&trace->texts, trace->info.devices[0].name)
			     : NULL,
		     out);
	ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64 ",\"slices\":%" PRIu32,
		     ss_timeline_moment(file, 0), ss_timeline_moment(file, trace->span_ns),
		     trace->slices.count);
	ss_text_addf(out, ",\"device_slices\":%" PRIu32 ",\"aligned\":%s,\"clock_error_ns\":",
		     trace->device_to - trace->device_from, file->is_aligned ? "true" : "false");
	if (file->clock_error_ns < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, file->clock_error_ns);
	add_steps(file, out);
}

/* From when to when the ranks of a job of digests ran: its moments count from there. */
static struct ss_interval span_of(const struct ss_joined *joined)
{
	struct ss_interval span = { INT64_MAX, INT64_MIN };

	for (uint32_t i = 0; i < joined->rank_count; i++) {
		int64_t start_ns = ss_joined_align(joined, i, joined->ranks[i].start_ns);
		int64_t end_ns = ss_joined_align(joined, i, joined->ranks[i].end_ns);

		span.start_ns = start_ns < span.start_ns ? start_ns : span.start_ns;
		span.end_ns = end_ns > span.end_ns ? end_ns : span.end_ns;
	}
	return joined->rank_count ? span : (struct ss_interval){ 0 };
}

/* What a digest tells in place of a trace: all but the events. */
static void add_digest(const struct ss_joined *joined, uint32_t rank, int64_t first_ns,
		       struct ss_text *out)
{
	const struct ss_digest *digest = &joined->ranks[rank];
	const struct ss_clock *clock = &joined->clocks[rank];
	const char *device = ss_strings_text(&digest->texts, digest->device_name);
	const char *host = ss_strings_text(&digest->texts, digest->host);

	ss_spot_text("host", host, out);
	ss_spot_text("device", *device || digest->device < 0 ? device : "GPU", out);
	ss_text_addf(out, ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64,
		     ss_joined_align(joined, rank, digest->start_ns) - first_ns,
		     ss_joined_align(joined, rank, digest->end_ns) - first_ns);
	ss_text_addf(out, ",\"digest\":true,\"aligned\":%s,\"clock_error_ns\":%" PRId64,
		     clock->component == joined->clocks[0].component ? "true" : "false",
		     clock->error_ns);
	ss_text_add_string(out, ",\"steps\":[");
	for (uint32_t i = 0; i < digest->step_count; i++) {
		const struct ss_rank_step *step = &digest->steps[i];

		ss_text_addf(out,
			     "%s{\"number\":%" PRIu32 ",\"name\":null,\"start_ns\":%" PRId64
			     ",\"end_ns\":%" PRId64 ",\"dropped\":null}",
			     i ? "," : "", step->number,
			     ss_joined_align(joined, rank, step->start_ns) - first_ns,
			     ss_joined_align(joined, rank, step->end_ns) - first_ns);
	}
	ss_text_add_string(out, "]");
}

static void add_file(const struct ss_timeline *timeline, uint32_t number, int64_t first_ns,
		     struct ss_text *out)
{
	const struct ss_timeline_file *file = &timeline->files[number];
	const struct ss_job_file *source = &timeline->job->files[number];

	ss_text_addf(out, "%s\n {\"file\":%" PRIu32 ",\"rank\":", number ? "," : "", number);
	if (file->subject->rank < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, file->subject->rank);
	ss_spot_text("path", file->subject->path, out);
	ss_spot_text("problem", file->subject->problem, out);
	if (file->trace)
		add_trace(file, out);
	else if (source->is_reduced && source->rank_index != SS_NO_ROW)
		add_digest(&timeline->job->joined, source->rank_index, first_ns, out);
	ss_text_add_string(out, "}");
}

/* When the first collective began: moments of the view collectives count from there. */
static void add_first_meeting(const struct ss_timeline *timeline, struct ss_text *out)
{
	const struct ss_joined *joined = &timeline->job->joined;
	const struct ss_meeting *meeting = joined->meetings;

	ss_text_add_string(out, ",\"collectives_ns\":");
	for (uint32_t i = 0; joined->meeting_count && i < timeline->file_count; i++) {
		const struct ss_timeline_file *file = &timeline->files[i];

		for (uint32_t j = 0; file->is_aligned && j < meeting->count; j++) {
			const struct ss_member *member = &joined->members[meeting->first + j];
			int64_t start_ns = ss_joined_arrival(joined, member)->start_ns;
			int64_t late_ns = ss_joined_align(joined, member->rank, start_ns) -
					  meeting->start_ns;

			if (member->rank != file->rank_index)
				continue;
			start_ns -= joined->ranks[member->rank].start_ns;
			ss_text_add_int(out, ss_timeline_moment(file, start_ns) - late_ns);
			return;
		}
	}
	ss_text_add_string(out, "null");
}

/* Those of traces are listed without being made: the route `snapshot` tells their devices. */
static void add_snapshots(const struct ss_job *job, struct ss_text *out)
{
	uint32_t count = ss_memories_count(job);

	ss_text_add_string(out, ",\"snapshots\":[");
	for (uint32_t i = 0; i < count; i++) {
		ss_text_add_string(out, i ? ",\n " : "\n ");
		ss_spot_snapshot(job, i, NULL, out);
	}
	ss_text_add_string(out, "]");
}

static enum ss_status run(const struct ss_asked *asked, struct ss_answer *out, struct ss_error *err)
{
	const struct ss_job *job = &asked->session->job;
	uint64_t bytes = 0, events = 0;
	struct ss_identity identity;
	struct ss_timeline *timeline;
	struct ss_interval digests;
	bool is_whole = false; /* there are events */

	SS_TRY(ss_asked_timeline(asked, &timeline, err));
	digests = span_of(&job->joined);
	for (uint32_t i = 0; i < timeline->file_count; i++)
		if (timeline->files[i].trace) {
			bytes += timeline->files[i].trace->file_bytes;
			events += timeline->files[i].trace->event_count;
			is_whole = true;
		} else if (job->files[i].is_reduced) {
			events += job->files[i].recording.events;
		}
	ss_text_addf(&out->body,
		     "{\"schema\":\"stepscope.job/1\",\"version\":\"%s\",\"runs\":%" PRIu32
		     ",\"span_ns\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"events\":%" PRIu64
		     ",\"seconds\":%.3f,\"failed\":%" PRIu32 ",\"skipped\":%" PRIu32,
		     ss_version(), asked->runs->count,
		     is_whole ? timeline->span_ns : digests.end_ns - digests.start_ns, bytes,
		     events, job->load_seconds, job->failed_count, job->skipped_count);
	add_first_meeting(timeline, &out->body);
	ss_text_add_string(&out->body, ",\"files\":[");
	for (uint32_t i = 0; i < timeline->file_count; i++)
		add_file(timeline, i, digests.start_ns, &out->body);
	ss_text_add_string(&out->body, "]");
	add_snapshots(job, &out->body);
	ss_identity_of_job(job, SS_EVERY_RANK, &identity);
	ss_text_add_string(&out->body, ",\"run\":");
	ss_render_identity(&identity, &out->body);
	ss_text_add_string(&out->body, ",\"recorded_runs\":");
	ss_render_recorded_runs(job->runs, job->run_count, job->chosen_run, &out->body);
	ss_text_add_string(&out->body, "}\n");
	return SS_OK;
}

const struct ss_route ss_route_job = {
	.name = "job",
	.summary = "The files of a run: ranks, devices, clocks, steps",
	.parameters = "",
	.run = run,
};
