/* SPDX-License-Identifier: Apache-2.0 */
/*
 * same_run.c - finds the trace that belongs to a memory snapshot.
 *
 * By rank: a number in the snapshot's name, as in traces (ss_find_rank()); without one,
 * the only rank of the job. One folder can contain files of several runs: if both files
 * have a time of day and these are more than a day apart, they are from different runs.
 */
#include "load/snapshot_files.h"

/* Longer than anybody records: what lies further apart was started anew in between. */
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
 * The rank of all files that could be read, -1 where the only one tells none; NO_RANK: there
 * are several, or no files.
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

/* A trace of the same run where there is one, else another one of the rank. */
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

void ss_job_match_snapshot(const struct ss_job *job, struct ss_job_snapshot *snapshot)
{
	snapshot_match(job, snapshot, only_rank(job));
}

void ss_job_match_snapshots(struct ss_job *job)
{
	int64_t only = only_rank(job);

	for (uint32_t i = 0; i < job->snapshot_count; i++)
		snapshot_match(job, &job->snapshots[i], only);
}
