/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_files.c - memory snapshots among the files of a job.
 *
 * They are read after the traces, because a problem with one can depend on the trace of its run. If
 * files are reduced, only the summary of a snapshot is kept.
 */
#include "base/sort.h"
#include "load/job.h"

#include <string.h>

/*
 * --- the trace of a snapshot ------------------------------------------------------------------
 *
 * By rank: a number in the snapshot's name, as in traces (ss_find_rank()); without one, the only
 * rank of the job. One folder can contain files of several runs: if both files have a time of day
 * and these are more than a day apart, they are from different runs.
 */

/* No recording lasts longer: files further apart are from different runs. */
#define DAY_NS (INT64_C(24) * 3600 * 1000000000)

static bool snapshot_is_apart(const struct ss_recording *recording,
			      const struct ss_job_snapshot *snapshot)
{
	return recording->has_clock && snapshot->has_clock &&
	       (snapshot->start_ns - DAY_NS > recording->end_ns ||
		snapshot->end_ns < recording->start_ns - DAY_NS);
}

#define NO_RANK (-2)

/*
 * The rank of all files that could be read; -1: the only file has none; NO_RANK: several ranks, or
 * no files.
 */
static int64_t only_rank(const struct ss_job *job)
{
	int64_t rank = NO_RANK;

	for (uint32_t i = 0; i < job->file_count; i++) {
		const struct ss_job_file *file = &job->files[i];

		if (!file->recording.is_noted)
			continue;
		if (rank == -1 || (rank != NO_RANK && rank != file->subject.rank))
			return NO_RANK;
		rank = file->subject.rank;
	}
	return rank;
}

/* A trace of the same run if there is one, else any trace of the rank. */
static void snapshot_find_trace(const struct ss_job *job, struct ss_job_snapshot *snapshot,
				int64_t only)
{
	int64_t rank = snapshot->rank < 0 || only == -1 ? only : snapshot->rank;

	snapshot->file = SS_NO_ROW;
	snapshot->is_other_run = false;
	for (uint32_t i = 0; i < job->file_count && rank != NO_RANK; i++) {
		const struct ss_job_file *file = &job->files[i];
		bool apart;

		if (!file->recording.is_noted || file->subject.rank != rank)
			continue;
		apart = snapshot_is_apart(&file->recording, snapshot);
		if (snapshot->file == SS_NO_ROW || (snapshot->is_other_run && !apart)) {
			snapshot->file = i;
			snapshot->is_other_run = apart;
		}
	}
}

static void snapshot_match(const struct ss_job *job, struct ss_job_snapshot *snapshot, int64_t only)
{
	struct ss_device_sizes sizes = { 0 };

	snapshot->rank = ss_find_rank(snapshot->path);
	snapshot_find_trace(job, snapshot, only);
	if (!snapshot->opened)
		return;
	if (snapshot->file != SS_NO_ROW && !snapshot->is_other_run) {
		const struct ss_recording *own = &job->files[snapshot->file].recording;

		sizes = (struct ss_device_sizes){ own->sizes, own->size_count };
	}
	snapshot->opened->subject.sizes = sizes;
}

void ss_job_match_snapshots(struct ss_job *job)
{
	int64_t only = only_rank(job);

	for (uint32_t i = 0; i < job->snapshot_count; i++)
		snapshot_match(job, &job->snapshots[i], only);
}

/* --- reading and reducing ------------------------------------------------------------------- */

void ss_job_snapshot_release(struct ss_job *job, struct ss_job_snapshot *snapshot)
{
	if (snapshot->summary)
		job->summarizer->release_memory(snapshot->summary);
	if (snapshot->opened)
		ss_opened_release(snapshot->opened);
	ss_memory_free(job->memory, snapshot->opened, sizeof(*snapshot->opened));
	snapshot->opened = NULL;
	snapshot->summary = NULL;
}

/* The first and the last time of a wall clock. */
static void snapshot_note_clock(struct ss_job_snapshot *snapshot)
{
	const struct ss_snapshot_events *events = &snapshot->opened->snapshot.events;

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

	if (!job->summarizer || !job->summarizer->make_memory)
		return SS_OK;
	snapshot_match(job, snapshot, only_rank(job));
	status = job->summarizer->make_memory(&snapshot->summary, &snapshot->opened->subject,
					      job->memory, err);
	if (status != SS_OK)
		return status;
	ss_opened_release(snapshot->opened);
	ss_memory_free(job->memory, snapshot->opened, sizeof(*snapshot->opened));
	snapshot->opened = NULL;
	return SS_OK;
}

SS_COMPARATOR(job_snapshot_compare_path, struct ss_job_snapshot,
	      SS_ORDERED(ss_find_compare_names, path) SS_ASCENDING(number))

void ss_job_take_snapshots(struct ss_job *job)
{
	for (uint32_t i = 0; i < job->file_count; i++) {
		struct ss_job_file *file = &job->files[i];

		if (!file->has_snapshot)
			continue;
		job->snapshots[job->snapshot_count++] = file->snapshot;
		file->has_snapshot = false;
		file->is_skipped = true;
	}
	SS_SORT(job->snapshots, job->snapshot_count, job_snapshot_compare_path);
}
