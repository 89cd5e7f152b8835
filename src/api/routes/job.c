/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - route: the ranks of a run with their steps, on the clock of the timeline.
 */
#include <inttypes.h>

#include "api/viewer/route.h"
#include "api/viewer/spot.h"
#include "render/render.h"

static void job_write_steps(const struct ss_timeline_file *file, struct ss_text *out)
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

/* The time range of a file. */
static void job_write_place(const struct ss_timeline_file *file, struct ss_text *out)
{
	ss_text_addf(out,
		     ",\"start_ns\":%" PRId64 ",\"end_ns\":%" PRId64
		     ",\"aligned\":%s,\"clock_error_ns\":",
		     ss_timeline_moment(file, 0), ss_timeline_moment(file, file->span_ns),
		     file->is_aligned ? "true" : "false");
	if (file->clock_error_ns < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, file->clock_error_ns);
}

static void job_write_trace(const struct ss_timeline_file *file, struct ss_text *out)
{
	const struct ss_trace *trace = file->trace;

	ss_spot_text("host", ss_strings_text(&trace->texts, trace->info.run[SS_RUN_HOST]), out);
	ss_spot_text("device",
		     trace->info.device_count
			     ? ss_strings_text(&trace->texts, trace->info.devices[0].name)
			     : NULL,
		     out);
	ss_text_addf(out, ",\"slices\":%" PRIu32 ",\"device_slices\":%" PRIu32, trace->slices.count,
		     trace->device_to - trace->device_from);
	job_write_place(file, out);
	job_write_steps(file, out);
}

/* What a digest has in place of a trace: all but the events. Its times are of its own clock. */
static void job_write_digest(const struct ss_timeline_file *file, const struct ss_digest *digest,
			     struct ss_text *out)
{
	const char *device = ss_strings_text(&digest->texts, digest->device_name);

	ss_spot_text("host", ss_strings_text(&digest->texts, digest->host), out);
	ss_spot_text("device", *device || digest->device < 0 ? device : "GPU", out);
	ss_text_add_string(out, ",\"digest\":true");
	job_write_place(file, out);
	ss_text_add_string(out, ",\"steps\":[");
	for (uint32_t i = 0; i < digest->step_count; i++) {
		const struct ss_rank_step *step = &digest->steps[i];

		ss_text_addf(out,
			     "%s{\"number\":%" PRIu32 ",\"name\":null,\"start_ns\":%" PRId64
			     ",\"end_ns\":%" PRId64 ",\"dropped\":null}",
			     i ? "," : "", step->number,
			     ss_timeline_moment(file, step->start_ns - digest->start_ns),
			     ss_timeline_moment(file, step->end_ns - digest->start_ns));
	}
	ss_text_add_string(out, "]");
}

static void job_write_file(const struct ss_timeline *timeline, uint32_t number, struct ss_text *out)
{
	const struct ss_timeline_file *file = &timeline->files[number];

	ss_text_addf(out, "%s\n {\"file\":%" PRIu32 ",\"rank\":", number ? "," : "", number);
	if (file->subject->rank < 0)
		ss_text_add_string(out, "null");
	else
		ss_text_add_int(out, file->subject->rank);
	ss_spot_text("path", file->subject->path, out);
	ss_spot_text("problem", file->subject->problem, out);
	if (file->trace)
		job_write_trace(file, out);
	else if (file->is_placed)
		job_write_digest(file, &timeline->job->joined.ranks[file->rank_index], out);
	ss_text_add_string(out, "}");
}

/* When the first collective began: moments of the view collectives count from there. */
static void job_write_first_collective(const struct ss_timeline *timeline, struct ss_text *out)
{
	const struct ss_joined *joined = &timeline->job->joined;
	const struct ss_collective *collective = joined->collectives;

	ss_text_add_string(out, ",\"collectives_ns\":");
	for (uint32_t i = 0; joined->collective_count && i < timeline->file_count; i++) {
		const struct ss_timeline_file *file = &timeline->files[i];

		for (uint32_t j = 0; file->is_aligned && j < collective->count; j++) {
			const struct ss_member *member = &joined->members[collective->first + j];
			int64_t start_ns = ss_joined_arrival(joined, member)->start_ns;
			int64_t late_ns = ss_joined_align(joined, member->rank, start_ns) -
					  collective->start_ns;

			if (member->rank != file->rank_index)
				continue;
			start_ns -= joined->ranks[member->rank].start_ns;
			ss_text_add_int(out, ss_timeline_moment(file, start_ns) - late_ns);
			return;
		}
	}
	ss_text_add_string(out, "null");
}

/* Lists memory data of traces without computing it; the route `snapshot` has their devices. */
static void job_write_snapshots(const struct ss_job *job, struct ss_text *out)
{
	uint32_t count = ss_memories_count(job);

	ss_text_add_string(out, ",\"snapshots\":[");
	for (uint32_t i = 0; i < count; i++) {
		ss_text_add_string(out, i ? ",\n " : "\n ");
		ss_spot_snapshot(job, i, NULL, out);
	}
	ss_text_add_string(out, "]");
}

/* All files with their steps, the memory data, and which run it is. */
static enum ss_status job_answer(const struct ss_viewer_request *asked, struct ss_answer *out,
				 struct ss_error *err)
{
	const struct ss_job *job = &asked->session->job;
	uint64_t bytes = 0, events = 0;
	struct ss_identity identity;
	struct ss_timeline *timeline;

	SS_TRY(ss_viewer_timeline(asked, &timeline, err));
	for (uint32_t i = 0; i < timeline->file_count; i++)
		if (timeline->files[i].trace) {
			bytes += timeline->files[i].trace->file_bytes;
			events += timeline->files[i].trace->event_count;
		} else if (job->files[i].is_reduced) {
			events += job->files[i].recording.events;
		}
	ss_text_addf(&out->body,
		     "{\"schema\":\"stepscope.job/1\",\"version\":\"%s\",\"runs\":%" PRIu32
		     ",\"span_ns\":%" PRId64 ",\"bytes\":%" PRIu64 ",\"events\":%" PRIu64
		     ",\"seconds\":%.3f,\"failed\":%" PRIu32 ",\"skipped\":%" PRIu32
		     ",\"dumps\":%" PRIu32 ",\"lives\":%" PRIu32,
		     ss_version(), asked->runs->count, timeline->span_ns, bytes, events,
		     job->load_seconds, job->failed_count, job->skipped_count, job->flight_count,
		     job->live_count);
	job_write_first_collective(timeline, &out->body);
	ss_text_add_string(&out->body, ",\"files\":[");
	for (uint32_t i = 0; i < timeline->file_count; i++)
		job_write_file(timeline, i, &out->body);
	ss_text_add_string(&out->body, "]");
	job_write_snapshots(job, &out->body);
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
	.answer = "interface Step { number: number; name: string | null; start_ns: number; "
		  "end_ns: number; dropped: string | null }\n"
		  "interface JobFile { file: number; rank: number | null; path: string; "
		  "problem: string | null; host?: string | null; device?: string | null; "
		  "slices?: number; device_slices?: number; digest?: true; start_ns?: "
		  "number; end_ns?: number; aligned?: boolean; clock_error_ns?: number | "
		  "null; steps?: Step[] }\n"
		  "interface SnapshotDevice { device: string; events: number; segments: "
		  "number; exact: boolean; span_ns: number | null; peak_event: number | "
		  "null; ooms: number[] }\n"
		  "interface JobSnapshot { snapshot: number; path: string; rank: number | "
		  "null; of_trace: boolean; bytes: number; events: number | null; points: "
		  "number; devices: SnapshotDevice[] | null }\n"
		  "interface JobAnswer { schema: \"stepscope.job/1\"; version: string; runs: "
		  "number; span_ns: number; bytes: number; events: number; seconds: number; "
		  "failed: number; skipped: number; dumps: number; lives: number; "
		  "collectives_ns: number | null; files: JobFile[]; snapshots: "
		  "JobSnapshot[]; run: Run; recorded_runs: RunOfFiles[] }\n",
	.run = job_answer,
};
