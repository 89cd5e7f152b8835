/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose_run.c - keeps the files of one run: the requested one, or the newest complete
 * one.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "load/job.h"

/*
 * Prefers complete runs, then the run with the most ranks, then the newest. Without times the first
 * one stays.
 */
static bool run_is_preferred(const struct ss_job_run *run, const struct ss_job_run *other)
{
	if (run->is_complete != other->is_complete)
		return run->is_complete;
	if (!run->is_complete && run->rank_count != other->rank_count)
		return run->rank_count > other->rank_count;
	return run->has_clock;
}

static uint32_t run_newest_complete(const struct ss_job *job)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < job->run_count; i++)
		if (run_is_preferred(&job->runs[i], &job->runs[best]))
			best = i;
	return best;
}

static bool run_is_called(const struct ss_job *job, uint32_t run, const char *name)
{
	size_t length = strlen(name);

	if (strstr(job->runs[run].name, name))
		return true;
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].run == run &&
		    ss_text_has(job->files[i].subject.path, strlen(job->files[i].subject.path),
				name, length))
			return true;
	return false;
}

static enum ss_status fail_no_run(const struct ss_job *job, bool is_several, struct ss_error *err)
{
	char list[256] = "", item[96];

	for (uint32_t i = 0; i < job->run_count; i++) {
		snprintf(item, sizeof(item), "%u (%.60s)", i + 1, job->runs[i].name);
		ss_text_list(list, sizeof(list), item);
	}
	return ss_fail(err, SS_ERR_USAGE, "%s '%.80s'; option 'run' takes %s",
		       is_several ? "several runs are named" : "no run is named", job->asked_run,
		       list);
}

/* By its number, else by its name, else by a part of its name or of its paths. */
static enum ss_status job_find_run(struct ss_job *job, struct ss_error *err)
{
	const char *asked = job->asked_run;
	uint32_t found = SS_NO_ROW, number = 0;
	size_t digits = strspn(asked, "0123456789");

	for (size_t i = 0; i < digits && i < 9; i++)
		number = number * 10 + (uint32_t)(asked[i] - '0');
	if (digits && !asked[digits] && number >= 1 && number <= job->run_count) {
		job->chosen_run = number - 1;
		return SS_OK;
	}
	/* with a single run there is no choice except its number */
	if (job->run_count < 2)
		return ss_fail(err, SS_ERR_USAGE, "there is only one run; it is not named '%.80s'",
			       asked);
	for (uint32_t i = 0; i < job->run_count; i++)
		if (strcmp(job->runs[i].name, asked) == 0) {
			job->chosen_run = i;
			return SS_OK;
		}
	for (uint32_t i = 0; i < job->run_count; i++) {
		if (!run_is_called(job, i, asked))
			continue;
		if (found != SS_NO_ROW)
			return fail_no_run(job, true, err);
		found = i;
	}
	job->chosen_run = found;
	return found == SS_NO_ROW ? fail_no_run(job, false, err) : SS_OK;
}

static void job_keep_run(struct ss_job *job)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->file_count; i++) {
		struct ss_job_file *file = &job->files[i];

		if (file->run != SS_NO_ROW && file->run != job->chosen_run)
			ss_job_file_release(job, file);
		else if (kept++ != i)
			job->files[kept - 1] = *file;
	}
	job->file_count = kept;
}

/* How much of the path of a folder two files share: bytes up to a slash. */
static size_t paths_shared_length(const char *path, const char *other)
{
	size_t shared = 0;

	for (size_t i = 0; path[i] && path[i] == other[i]; i++)
		if (path[i] == '/')
			shared = i + 1;
	return shared;
}

/* Of several runs in several folders, each has the snapshots that are nearest to its traces. */
static void job_keep_snapshots(struct ss_job *job)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->snapshot_count && job->run_count > 1; i++) {
		struct ss_job_snapshot *snapshot = &job->snapshots[i];
		size_t own = 0, nearest = 0;

		for (uint32_t k = 0; k < job->file_count; k++) {
			const struct ss_job_file *file = &job->files[k];
			size_t shared = paths_shared_length(snapshot->path, file->subject.path);

			nearest = shared > nearest ? shared : nearest;
			if (file->run == job->chosen_run && shared > own)
				own = shared;
		}
		if (own < nearest)
			ss_job_snapshot_release(job, snapshot);
		else
			job->snapshots[kept++] = *snapshot;
	}
	if (job->run_count > 1)
		job->snapshot_count = kept;
}

/*
 * Files without a rank get the rank numbers that are left, in the order of their names, if it is
 * certain that they belong to the run.
 */
static void job_number_ranks(struct ss_job *job)
{
	int64_t next = 0;

	if (job->runs[job->chosen_run].rank_count < 2)
		return;
	/* files with a known rank come first, by rank */
	for (uint32_t i = 0; i < job->file_count; i++) {
		struct ss_job_file *file = &job->files[i];
		const struct ss_job_file *before = i ? file - 1 : NULL;

		if (file->subject.problem)
			continue;
		if (file->subject.rank >= 0)
			continue;
		for (uint32_t k = 0; k < i; k++)
			next += job->files[k].subject.rank == next;
		if (before && before->subject.rank_by_order &&
		    ss_job_files_are_copies(before, file))
			next = before->subject.rank;
		file->subject.rank = file->digest.rank = next;
		file->subject.rank_by_name = file->subject.rank_by_order = true;
	}
}

/* --- nothing to choose from --------------------------------------------------------------- */

#define TRACES_ARE                                                                     \
	": pass the folder that tensorboard_trace_handler() or export_chrome_trace() " \
	"wrote to"

/* No file had the name of a trace: says what there is instead. */
static enum ss_status fail_none_found(const struct ss_job *job, struct ss_error *err)
{
	uint32_t pickles = job->pickle_count, others = job->skipped_count - pickles;
	char beside[64] = "";

	if (!pickles && others == 1)
		return ss_fail(err, SS_ERR_FORMAT,
			       "the only JSON file is not a profiler trace" TRACES_ARE);
	if (!pickles)
		return ss_fail(err, SS_ERR_FORMAT,
			       "none of the %u JSON files is a profiler trace" TRACES_ARE, others);
	if (others)
		snprintf(beside, sizeof(beside), " and %u other JSON file%s", others,
			 others == 1 ? "" : "s");
	if (pickles == 1)
		return ss_fail(err, SS_ERR_MISSING,
			       "there is no trace, only a memory snapshot%s: open it with "
			       "'stepscope snapshot %s'",
			       beside, job->first_pickle);
	return ss_fail(err, SS_ERR_MISSING,
		       "there is no trace, only %u memory snapshots%s: open the first with "
		       "'stepscope snapshot %s'",
		       pickles, beside, job->first_pickle);
}

/* The path as it was passed: it is not redacted. */
static const char *job_opened_path(const struct ss_job_file *file)
{
	return file->source ? file->source : file->subject.path;
}

static enum ss_status fail_none_read(const struct ss_job *job, struct ss_error *err)
{
	if (job->file_count == 1)
		return ss_fail(err, job->files[0].is_other ? SS_ERR_MISSING : SS_ERR_FORMAT,
			       "cannot read '%s': %s", job_opened_path(&job->files[0]),
			       job->files[0].subject.problem);
	if (!job->file_count)
		return fail_none_found(job, err);
	return ss_fail(err, SS_ERR_FORMAT,
		       "none of the %u files could be read; the first: '%s': %s", job->file_count,
		       job_opened_path(&job->files[0]), job->files[0].subject.problem);
}

enum ss_status ss_job_choose_run(struct ss_job *job, struct ss_error *err)
{
	if (job->failed_count == job->file_count && !job->snapshot_count && !job->flight_count &&
	    !job->live_count)
		return fail_none_read(job, err);
	SS_TRY(ss_job_list_runs(job, err));
	if (!job->run_count)
		return SS_OK;
	job->chosen_run = run_newest_complete(job);
	if (job->asked_run)
		SS_TRY(job_find_run(job, err));
	job_keep_snapshots(job);
	job_keep_run(job);
	job_number_ranks(job);
	return SS_OK;
}
