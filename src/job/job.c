/*
 * job.c - loads the files of a job, one after the other, each with all threads.
 */
#include "job/job.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"
#include "base/utf8.h"
#include "read/source.h"
#include "trace/load.h"

/* From a file's progress to the session's. */
struct reporting {
	const struct ss_open_options *options;
	struct ss_progress progress;
};

static double now_seconds(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
		return 0;
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool report(void *context, uint64_t done_bytes, uint64_t total_bytes, uint64_t event_count)
{
	struct reporting *reporting = context;

	reporting->progress.done_bytes = done_bytes;
	reporting->progress.total_bytes = total_bytes;
	reporting->progress.event_count = event_count;
	return reporting->options->progress(reporting->options->progress_context,
					    &reporting->progress);
}

static void job_init(struct ss_job *job, struct ss_memory *memory)
{
	*job = (struct ss_job){ .memory = memory };
	ss_arena_init(&job->arena, memory);
}

/* The path as it is shown: a name can hold any byte. */
static const char *shown_path(struct ss_job *job, const char *path)
{
	size_t length = strlen(path);
	char *shown = ss_arena_alloc(&job->arena, 3 * length + 1, 1);

	if (shown)
		ss_utf8_mend(path, length, shown);
	return shown;
}

static struct ss_job_file *file_add(struct ss_job *job, const char *path)
{
	struct ss_job_file *file;

	if (!ss_memory_reserve(job->memory, (void **)&job->files, &job->file_capacity,
			       (size_t)job->file_count + 1, sizeof(*job->files)))
		return NULL;
	file = &job->files[job->file_count++];
	memset(file, 0, sizeof(*file));
	file->subject.path = shown_path(job, path);
	file->subject.rank = -1;
	if (file->subject.path)
		return file;
	job->file_count--;
	return NULL;
}

static void set_rank(struct ss_job_file *file)
{
	struct ss_subject *subject = &file->subject;

	subject->rank = file->trace.info.rank;
	if (subject->rank >= 0)
		return;
	subject->rank = ss_find_rank(subject->path);
	subject->rank_by_name = subject->rank >= 0;
}

static enum ss_status load_source(struct ss_job_file *file, struct ss_source *source,
				  const struct ss_load_options *options, struct ss_memory *memory,
				  struct ss_error *err)
{
	double started = now_seconds();
	enum ss_status status = ss_load(source, options, memory, &file->trace, err);

	file->subject.load_seconds = now_seconds() - started;
	if (status == SS_OK)
		set_rank(file);
	return status;
}

/* Loads one file; what is wrong with it is kept, only running out of memory or a stop fails. */
static enum ss_status load_file(struct ss_job *job, const struct ss_path *path,
				const struct ss_load_options *options, struct ss_error *err)
{
	struct ss_job_file *file = file_add(job, path->path);
	struct ss_error problem = { 0 };
	struct ss_source *source = NULL;
	enum ss_status status;

	if (!file)
		return ss_fail_memory(err, "the list of files");
	status = ss_source_open(path->path, job->memory, &source, &problem);
	if (status == SS_OK)
		status = load_source(file, source, options, job->memory, &problem);
	ss_source_close(source);
	if (status == SS_OK)
		return SS_OK;
	if (status == SS_ERR_STOPPED || status == SS_ERR_LIMIT)
		return ss_fail(err, status, "'%s': %s", path->path, problem.text);
	if (status == SS_ERR_FORMAT && path->from_folder) {
		job->file_count--;
		job->skipped_count++;
		return SS_OK;
	}
	file->subject.rank = ss_find_rank(path->path);
	file->subject.problem = ss_arena_copy(&job->arena, problem.text, strlen(problem.text));
	job->failed_count++;
	return file->subject.problem ? SS_OK : ss_fail_memory(err, "the list of files");
}

static int by_rank(const void *a, const void *b)
{
	const struct ss_subject *x = &((const struct ss_job_file *)a)->subject;
	const struct ss_subject *y = &((const struct ss_job_file *)b)->subject;

	if (x->rank != y->rank) {
		if (x->rank < 0 || y->rank < 0)
			return x->rank < 0 ? 1 : -1;
		return x->rank < y->rank ? -1 : 1;
	}
	return ss_find_order(x->path, y->path);
}

/* Puts the files in order; only then their addresses are final. */
static void arrange(struct ss_job *job)
{
	if (job->file_count)
		qsort(job->files, job->file_count, sizeof(*job->files), by_rank);
	for (uint32_t i = 0; i < job->file_count; i++)
		if (!job->files[i].subject.problem)
			job->files[i].subject.trace = &job->files[i].trace;
}

static enum ss_status none_read(const struct ss_job *job, struct ss_error *err)
{
	if (job->file_count == 1)
		return ss_fail(err, SS_ERR_FORMAT, "cannot read '%s': %s",
			       job->files[0].subject.path, job->files[0].subject.problem);
	if (!job->file_count)
		return ss_fail(err, SS_ERR_FORMAT, "none of the %u JSON files is a profiler trace",
			       job->skipped_count);
	return ss_fail(err, SS_ERR_FORMAT,
		       "none of the %u files could be read; the first: '%s': %s", job->file_count,
		       job->files[0].subject.path, job->files[0].subject.problem);
}

enum ss_status ss_job_open(struct ss_job *job, const struct ss_open_options *options,
			   struct ss_memory *memory, struct ss_error *err)
{
	struct reporting reporting = { .options = options };
	struct ss_load_options load = {
		.threads = options->threads ? options->threads : ss_thread_cores(),
		.progress = options->progress ? report : NULL,
		.progress_context = &reporting,
	};
	struct ss_paths paths = { 0 };
	enum ss_status status;

	if (load.threads > SS_THREADS_MAX)
		load.threads = SS_THREADS_MAX;
	job_init(job, memory);
	status = ss_find_files(options->paths, options->path_count, &job->arena, &paths, err);
	reporting.progress.file_count = paths.count;
	for (uint32_t i = 0; i < paths.count && status == SS_OK; i++) {
		reporting.progress.path = paths.items[i].path;
		reporting.progress.file_index = i;
		status = load_file(job, &paths.items[i], &load, err);
	}
	ss_find_release(&paths, memory);
	if (status == SS_OK && job->failed_count == job->file_count)
		status = none_read(job, err);
	arrange(job);
	if (status != SS_OK)
		ss_job_close(job);
	return status;
}

enum ss_status ss_job_open_memory(struct ss_job *job, const void *data, size_t length,
				  const char *name, struct ss_memory *memory, struct ss_error *err)
{
	struct ss_load_options load = { .threads = 1 };
	struct ss_source *source = NULL;
	struct ss_job_file *file;
	enum ss_status status;
	char *path;

	job_init(job, memory);
	path = ss_arena_copy(&job->arena, name, strlen(name));
	file = path ? file_add(job, path) : NULL;
	if (!file) {
		ss_job_close(job);
		return ss_fail_memory(err, "a file");
	}
	status = ss_source_open_memory(data, length, memory, &source, err);
	if (status == SS_OK)
		status = load_source(file, source, &load, memory, err);
	ss_source_close(source);
	if (status == SS_OK)
		arrange(job);
	else
		ss_job_close(job);
	return status;
}

void ss_job_close(struct ss_job *job)
{
	if (!job->memory)
		return;
	for (uint32_t i = 0; i < job->file_count; i++)
		ss_trace_release(&job->files[i].trace);
	ss_memory_free(job->memory, job->files, (size_t)job->file_capacity * sizeof(*job->files));
	ss_arena_release(&job->arena);
	*job = (struct ss_job){ 0 };
}
