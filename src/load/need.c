/* SPDX-License-Identifier: Apache-2.0 */
/*
 * need.c - unpacks columns of packs when they are first needed (trace/pack/later.c).
 *
 * A pack that turns out to be invalid then is no loss if its original file exists, just as when it
 * is loaded (job.c). Otherwise it becomes a file that could not be read, unless it is the last.
 */
#include <string.h>

#include "base/system/thread.h"
#include "load/files/open.h"
#include "load/job.h"
#include "trace/formats.h"
#include "trace/pack/pack.h"

static uint32_t job_threads(const struct ss_job *job)
{
	uint32_t threads = job->threads ? job->threads : ss_thread_cores();

	return threads < SS_THREADS_MAX ? threads : SS_THREADS_MAX;
}

/* Loads the original file of a pack in its place. */
static bool need_load_file(const struct ss_job *job, const struct ss_path *path,
			   struct ss_job_file *file)
{
	struct ss_load_options options = { .threads = job_threads(job) };
	struct ss_source *source = NULL;
	struct ss_trace trace;
	enum ss_status status;

	status = ss_job_open_source(path, false, job->redactor, job->memory, &source, NULL);
	if (status == SS_OK)
		status = ss_trace_load(source, &options, job->memory, &trace, NULL);
	if (status == SS_OK) {
		file->stamp = source->stamp;
		file->disk_bytes = source->total_bytes;
		ss_trace_release(&file->trace);
		file->trace = trace;
	}
	ss_source_close(source);
	return status == SS_OK;
}

/* Reads the original file instead of the pack; false: it does not exist. */
static bool need_read_original(struct ss_job *job, struct ss_job_file *file)
{
	struct ss_path path = { 0 };
	const char *shown;

	if (!file->source || !ss_find_is_pack(file->source))
		return false;
	path.path = ss_find_original(file->source, &job->arena);
	shown = path.path ? ss_job_shown_path(job->redactor, path.path, &job->arena) : NULL;
	if (!shown || !need_load_file(job, &path, file))
		return false;
	file->subject.path = shown;
	file->source = path.path;
	file->packed_of = NULL;
	ss_recording_release(&file->recording, job->memory);
	memset(file->oddities, 0, sizeof(file->oddities));
	ss_job_count_oddities(file);
	job->packs.unread++;
	job->packs.preferred -= file->stands_in;
	return ss_recording_note(&file->recording, &file->trace, job->memory);
}

/* Whether a file besides this one has events. */
static bool need_has_others(const struct ss_job *job, const struct ss_job_file *file)
{
	for (uint32_t i = 0; i < job->file_count; i++)
		if (&job->files[i] != file && job->files[i].subject.trace)
			return true;
	return false;
}

/*
 * A damaged pack silences no other rank: it becomes a file that could not be read, as if that had
 * been found when it was loaded. Its trace stays, for columns of it may be in use.
 */
static enum ss_status need_drop_file(struct ss_job *job, struct ss_job_file *file,
				     const struct ss_error *problem, struct ss_error *err)
{
	const char *text = ss_arena_copy(&job->arena, problem->text, strlen(problem->text));

	if (!text)
		return ss_fail_memory(err, "the list of files");
	file->subject.problem = text;
	file->subject.trace = NULL;
	job->failed_count++;
	return SS_OK;
}

/* If columns of the pack may be in use, it is too late to read another file. */
static enum ss_status need_finish(struct ss_job *job, struct ss_job_file *file,
				  enum ss_status status, const struct ss_error *problem,
				  struct ss_error *err)
{
	if (status == SS_OK || (status == SS_ERR_FORMAT && ss_trace_is_untouched(&file->trace) &&
				need_read_original(job, file)))
		return SS_OK;
	if (status == SS_ERR_FORMAT && need_has_others(job, file))
		return need_drop_file(job, file, problem, err);
	return ss_fail(err, status, "'%.300s': %s", file->subject.path, problem->text);
}

enum ss_status ss_job_need(struct ss_job *job, struct ss_job_file *file, uint32_t columns,
			   struct ss_error *err)
{
	struct ss_error problem = { 0 };
	enum ss_status status;

	if (!file->subject.trace)
		return SS_OK;
	status = ss_trace_need_columns(&file->trace, columns, job_threads(job), &problem);
	return need_finish(job, file, status, &problem, err);
}

/* --- all files --------------------------------------------------------------------------- */

struct columns_needing {
	struct ss_job *job;
	uint32_t threads;
	struct ss_error *problems; /* of each file; without a text: none */
};

static void need_share(void *context, uint32_t index)
{
	struct columns_needing *needing = context;
	struct ss_job *job = needing->job;

	for (uint32_t i = index; i < job->file_count; i += needing->threads) {
		struct ss_error *problem = &needing->problems[i];

		if (job->files[i].subject.trace)
			problem->code = ss_trace_need_columns(&job->files[i].trace, SS_COLUMNS_ALL,
							      1, problem);
	}
}

static bool file_has_later(const struct ss_job *job)
{
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].subject.trace && !ss_trace_is_whole(&job->files[i].trace))
			return true;
	return false;
}

enum ss_status ss_job_need_all(struct ss_job *job, struct ss_error *err)
{
	struct columns_needing needing = { .job = job, .threads = job_threads(job) };
	SS_SCRATCH(scratch, job->memory);
	enum ss_status status = SS_OK;

	if (!file_has_later(job))
		return SS_OK;
	/* one file alone is unpacked column by column */
	if (job->file_count == 1)
		return ss_job_need(job, &job->files[0], SS_COLUMNS_ALL, err);
	if (!SS_ALLOC(&scratch, needing.problems, job->file_count))
		return ss_fail_memory(err, "the events of the traces");
	if (needing.threads > job->file_count)
		needing.threads = job->file_count;
	ss_thread_run(needing.threads, need_share, &needing);
	for (uint32_t i = 0; i < job->file_count && status == SS_OK; i++)
		status = need_finish(job, &job->files[i], needing.problems[i].code,
				     &needing.problems[i], err);
	return status;
}
