/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_files.c - memory snapshots among the files of a job.
 *
 * They are read after the traces, because a problem with one can depend on the trace of
 * its run. If files are reduced, only what the keeper finds in a snapshot is kept.
 */
#include "load/snapshot_files.h"

#include <string.h>

void ss_job_snapshot_release(struct ss_job *job, struct ss_job_snapshot *snapshot)
{
	if (snapshot->kept)
		job->keeper->release_memory(snapshot->kept);
	if (snapshot->opened)
		ss_opened_release(snapshot->opened);
	ss_memory_free(job->memory, snapshot->opened, sizeof(*snapshot->opened));
	snapshot->opened = NULL;
	snapshot->kept = NULL;
}

/* The first and the last moment that is one of a wall clock. */
static void snapshot_note_clock(struct ss_job_snapshot *snapshot)
{
	const struct ss_memory_events *events = &snapshot->opened->snapshot.events;

	for (uint32_t i = 0; i < events->count; i++) {
		int64_t time_ns = events->time_ns[i];

		if (time_ns == SS_NO_TIME || time_ns < SS_WALL_CLOCK_MIN)
			continue;
		if (!snapshot->has_clock || time_ns < snapshot->start_ns)
			snapshot->start_ns = time_ns;
		if (!snapshot->has_clock || time_ns > snapshot->end_ns)
			snapshot->end_ns = time_ns;
		snapshot->has_clock = true;
	}
}

enum ss_status ss_job_snapshot_load(struct ss_job *job, struct ss_job_file *file,
				    struct ss_source *source,
				    const struct ss_snapshot_options *options, struct ss_error *err)
{
	struct ss_job_snapshot *out = &file->snapshot;
	enum ss_status status;
	const char *next;
	size_t length;

	SS_TRY(ss_source_peek(source, &next, &length, err));
	if (!ss_opened_is_snapshot(next, length, ss_find_is_snapshot(file->subject.path)))
		return SS_OK;
	*out = (struct ss_job_snapshot){
		.path = file->subject.path,
		.source = file->source,
		.stamp = source->stamp,
		.number = file->number,
		.opened = ss_memory_resize(job->memory, NULL, 0, sizeof(*out->opened)),
	};
	if (!out->opened)
		return ss_fail_memory(err, "a snapshot");
	memset(out->opened, 0, sizeof(*out->opened));
	status = ss_opened_load(out->opened, source, options, out->path, job->memory, err);
	if (status != SS_OK) {
		ss_memory_free(job->memory, out->opened, sizeof(*out->opened));
		out->opened = NULL;
		return status;
	}
	file->has_snapshot = true;
	out->file_bytes = out->opened->snapshot.file_bytes;
	out->is_cut = out->opened->snapshot.is_cut;
	snapshot_note_clock(out);
	return SS_OK;
}

enum ss_status ss_job_snapshot_reduce(struct ss_job *job, struct ss_job_snapshot *snapshot,
				      struct ss_error *err)
{
	enum ss_status status;

	if (!job->keeper || !job->keeper->make_memory)
		return SS_OK;
	ss_job_match_snapshot(job, snapshot);
	status = job->keeper->make_memory(&snapshot->kept, &snapshot->opened->subject, job->memory,
					  err);
	if (status != SS_OK)
		return status;
	ss_opened_release(snapshot->opened);
	ss_memory_free(job->memory, snapshot->opened, sizeof(*snapshot->opened));
	snapshot->opened = NULL;
	return SS_OK;
}
