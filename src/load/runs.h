/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.h - which files were recorded in one run of a program.
 *
 * A folder can hold several runs: the same ranks twice, cycles of a profiler's schedule,
 * TensorBoard's plugins/profile/DATE/, files that have nothing to do with each other. Files of
 * two runs are never compared or averaged.
 *
 * Each rank is in a run once. Files are of one run when neither their world sizes nor their
 * dates contradict it; of several runs that a file could be of, it is of the one whose first
 * step has the same number, which it overlaps in time, whose folder is the nearest, which
 * began closest. A file whose rank nobody knows is of a run with others only when both have
 * collectives, begin with the same step and overlap in time.
 */
#ifndef SS_LOAD_RUNS_H
#define SS_LOAD_RUNS_H

#include "base/memory.h"

struct ss_job;
struct ss_job_file;
struct ss_table;

struct ss_job_run {
	const char *name; /* its folder if that has no other run, else its time, else a file */
	const char *path; /* of its first file */
	bool has_clock;
	int64_t start_ns, end_ns; /* since 1970 */
	int64_t world_size;       /* -1: not recorded */
	uint32_t file_count, rank_count;
	uint32_t cut_count; /* truncated files */
	bool is_complete;   /* all ranks have files, and none is truncated */
};

/* Whether two files are the same recording under two names; their ranks are not compared. */
bool ss_job_files_are_copies(const struct ss_job_file *a, const struct ss_job_file *b);

/* Fills job->runs, and the run of each file. */
SS_MUST_USE
enum ss_status ss_job_list_runs(struct ss_job *job, struct ss_error *err);

/* choose_run.c: the same, and keeps the files of one of them. */
SS_MUST_USE
enum ss_status ss_job_choose_run(struct ss_job *job, struct ss_error *err);

/* "2026-11-16 05:16:12 UTC"; "" without a clock. */
#define SS_RUN_TIME_BYTES 40
void ss_job_run_time(const struct ss_job_run *run, char out[SS_RUN_TIME_BYTES]);

/* "8 ranks", "3 of 8 ranks", "1 file" */
#define SS_RUN_RANKS_BYTES 64
void ss_job_run_ranks(const struct ss_job_run *run, char out[SS_RUN_RANKS_BYTES]);

#endif
