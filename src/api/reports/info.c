/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - report: what the files contain.
 */

#include "api/reports/reports.h"

#define DOT " \xc2\xb7 "

/* The job's name for a device: that of the first rank that has one. */
static const char *info_device_name(const struct ss_job *job)
{
	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_trace *trace = job->files[i].subject.trace;

		for (uint32_t k = 0; trace && k < trace->info.device_count; k++) {
			const char *name = ss_strings_text(&trace->texts,
							   trace->info.devices[k].name);

			if (*name)
				return name;
		}
	}
	return NULL;
}

static void info_add_count(struct ss_text *out, uint64_t count, const char *one, const char *many)
{
	ss_render_count((int64_t)count, out);
	ss_text_addf(out, " %s", count == 1 ? one : many);
}

/* "4 steps", or "3 to 4 steps" if the files differ. */
static void info_add_steps(const struct ss_job *job, struct ss_text *out)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_trace *trace = job->files[i].subject.trace;

		if (trace && trace->steps.kept_count < least)
			least = trace->steps.kept_count;
		if (trace && trace->steps.kept_count > most)
			most = trace->steps.kept_count;
	}
	if (least == UINT32_MAX)
		return;
	ss_text_add_string(out, DOT);
	if (least != most)
		ss_text_addf(out, "%u to ", least);
	info_add_count(out, most, "step", "steps");
}

/* "8 files · 4 steps · NVIDIA H100 80GB HBM3 · 221,032 events · 71.3 MB in 0.21 s" */
static void info_headline(const struct ss_job *job, bool is_timed, struct ss_text *out)
{
	const char *device = info_device_name(job);
	uint64_t events = 0, bytes = 0;

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_subject *subject = &job->files[i].subject;

		events += subject->trace ? subject->trace->event_count : 0;
		bytes += subject->trace ? subject->trace->file_bytes : 0;
	}
	info_add_count(out, job->file_count, "file", "files");
	info_add_steps(job, out);
	if (device)
		ss_text_addf(out, DOT "%s", device);
	ss_text_add_string(out, DOT);
	info_add_count(out, events, "event", "events");
	ss_text_add_string(out, DOT);
	ss_render_bytes((int64_t)bytes, out);
	if (is_timed)
		ss_text_addf(out, " in %.2f s", job->load_seconds);
	ss_text_add_string(out, "\n");
	if (job->skipped_count > job->pickle_count) {
		info_add_count(out, job->skipped_count - job->pickle_count, "other JSON file",
			       "other JSON files");
		ss_text_add_string(out, " skipped: not a profiler trace\n");
	}
	if (job->pickle_count) {
		info_add_count(out, job->pickle_count, "memory snapshot", "memory snapshots");
		ss_text_addf(out, " skipped: 'stepscope snapshot %s' shows %s\n", job->first_pickle,
			     job->pickle_count == 1 ? "it" : "the first");
	}
	if (job->packs.preferred) {
		info_add_count(out, job->packs.preferred, "file was read from its pack",
			       "files were read from their packs");
		ss_text_add_string(out, "\n");
	}
	if (job->packs.unread) {
		info_add_count(out, job->packs.unread, "pack could not be read; the original was",
			       "packs could not be read; the originals were");
		ss_text_add_string(out, " read instead (renew with 'stepscope pack --force')\n");
	}
	if (job->packs.stale) {
		info_add_count(out, job->packs.stale, "pack", "packs");
		ss_text_add_string(out, " skipped: not made from the file next to it\n");
	}
	if (job->file_count > 1)
		ss_text_add_string(
			out, "Sums over all files; --rank N shows one file with its tracks.\n");
}

const struct ss_report ss_report_info = {
	.name = "info",
	.summary = "What the files contain: ranks, steps, devices, events, quality",
	.views = { "files", "devices", "categories", "tracks", "quality" },
	.single = "tracks",
	.headline = info_headline,
};
