/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot_files.h - memory snapshots among the files of a job.
 */
#ifndef SS_LOAD_SNAPSHOT_FILES_H
#define SS_LOAD_SNAPSHOT_FILES_H

#include "load/job.h"

/* Reads the file if it is a memory snapshot, and sets file->has_snapshot then. */
SS_MUST_USE
enum ss_status ss_job_snapshot_load(struct ss_job *job, struct ss_job_file *file,
				    struct ss_source *source,
				    const struct ss_snapshot_options *options,
				    struct ss_error *err);

/* Keeps only the summary of the snapshot; without a summarizer, the whole snapshot. */
SS_MUST_USE
enum ss_status ss_job_snapshot_reduce(struct ss_job *job, struct ss_job_snapshot *snapshot,
				      struct ss_error *err);

void ss_job_snapshot_release(struct ss_job *job, struct ss_job_snapshot *snapshot);

/* Finds the trace of each snapshot, once the list of files is sorted. */
void ss_job_match_snapshots(struct ss_job *job);

#endif
