/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - loads the files of a job, and compares their ranks.
 */
#include "load/job.h"

#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/system/clock.h"
#include "base/system/thread.h"
#include "load/digest_files.h"
#include "load/files/open.h"
#include "read/source.h"
#include "trace/formats.h"
#include "stepscope.h"

/* Snapshots come last: what they lack can depend on the trace of their run. */
enum loading_pass {
	LOADING_TRACES,
	LOADING_REPLAYS, /* of graphs, again: now their captures are known */
	LOADING_MEMORY,
};

/* What the workers that load share. */
struct job_loading {
	struct ss_job *job;
	const struct ss_open_options *options;
	const struct ss_paths *paths;
	uint32_t first; /* index of the first path among the files */
	struct ss_gate *gate;
	enum loading_pass pass;
	uint32_t next, threads;    /* threads: for each file */
	uint32_t loaded;           /* files that are done */
	struct ss_progress so_far; /* what is known of the traces that were read */
	double share;              /* reported last */
	enum ss_status status;     /* the first that stops all */
	struct ss_error *err;
};

/* From a file's progress to the session's. */
struct file_reporting {
	struct job_loading *loading;
	struct ss_progress progress;
};

/* Turns one file's progress into that of all files, which never goes back. */
static bool loading_report_progress(void *context, uint64_t done_bytes, uint64_t total_bytes,
				    uint64_t event_count)
{
	struct file_reporting *reporting = context;
	struct job_loading *loading = reporting->loading;
	const struct ss_open_options *options = loading->options;
	double part = total_bytes ? (double)done_bytes / (double)total_bytes : 0, share;
	bool go_on;

	reporting->progress.done_bytes = done_bytes;
	reporting->progress.total_bytes = total_bytes;
	reporting->progress.event_count = event_count;
	ss_gate_lock(loading->gate);
	/* files that are read in parallel know only their own progress */
	share = (loading->loaded + (part < 1 ? part : 1)) / loading->paths->count;
	if (share > loading->share)
		loading->share = share;
	reporting->progress.share = loading->share;
	reporting->progress.trace_count = loading->so_far.trace_count;
	reporting->progress.step_count = loading->so_far.step_count;
	reporting->progress.steps_ns = loading->so_far.steps_ns;
	go_on = loading->status == SS_OK && !ss_progress_is_cancelled(loading->job->watch) &&
		(!options->progress ||
		 options->progress(options->progress_context, &reporting->progress));
	ss_gate_unlock(loading->gate);
	return go_on;
}

void ss_job_begin(struct ss_job *job, const struct ss_job_summarizer *summarizer,
		  struct ss_memory *memory)
{
	*job = (struct ss_job){ .memory = memory, .summarizer = summarizer };
	ss_arena_init(&job->arena, memory);
}

/* Makes an entry for each file before workers fill them. */
static enum ss_status job_reserve_files(struct ss_job *job, const struct ss_paths *paths,
					struct ss_error *err)
{
	if (!SS_RESERVE(job->memory, job->files, job->file_capacity,
			(size_t)job->file_count + paths->count + 1) ||
	    !SS_RESERVE(job->memory, job->snapshots, job->snapshot_capacity,
			(size_t)job->snapshot_count + paths->count + 1) ||
	    !SS_RESERVE(job->memory, job->flights, job->flight_capacity,
			(size_t)job->flight_count + paths->count + 1) ||
	    !SS_RESERVE(job->memory, job->lives, job->live_capacity,
			(size_t)job->live_count + paths->count + 1))
		return ss_fail_memory(err, "the list of files");
	for (uint32_t i = 0; i < paths->count; i++) {
		struct ss_job_file *file = &job->files[job->file_count];

		memset(file, 0, sizeof(*file));
		file->subject.path = ss_job_shown_path(job->redactor, paths->items[i].path,
						       &job->arena);
		file->subject.rank = -1;
		file->source = paths->items[i].input ? NULL : paths->items[i].path;
		file->is_read_once = paths->items[i].input ? !paths->items[i].input->data
							   : strcmp(file->source, "-") == 0;
		file->number = job->file_count + job->skipped_count + job->snapshot_count +
			       job->flight_count + job->live_count;
		if (!file->subject.path)
			return ss_fail_memory(err, "the list of files");
		job->file_count++;
	}
	return SS_OK;
}

static void job_file_set_rank(struct ss_job_file *file)
{
	struct ss_subject *subject = &file->subject;

	subject->rank = file->trace.info.rank;
	if (subject->rank >= 0)
		return;
	subject->rank = ss_find_rank(subject->path);
	/* a pack can have any name: it stores the name of its original file */
	if (subject->rank < 0 && file->trace.packed_of)
		subject->rank = ss_find_rank(file->trace.packed_of);
	subject->rank_by_name = subject->rank >= 0;
}

static void loading_count_steps(struct job_loading *loading, const struct ss_steps *steps)
{
	ss_gate_lock(loading->gate);
	loading->so_far.trace_count++;
	loading->so_far.step_count += steps->kept_count;
	for (uint32_t i = 0; i < steps->count; i++)
		if (!steps->items[i].dropped)
			ss_ns_add(&loading->so_far.steps_ns,
				  steps->items[i].end_ns - steps->items[i].start_ns);
	ss_gate_unlock(loading->gate);
}

static enum ss_status job_load_source(struct job_loading *loading, struct ss_job_file *file,
				      struct ss_source *source,
				      const struct ss_load_options *options, struct ss_error *err)
{
	struct ss_memory *memory = loading->job->memory;
	int64_t started_ns = ss_clock_ns();
	enum ss_status status = ss_trace_load(source, options, memory, &file->trace, err);

	file->subject.load_seconds = (double)(ss_clock_ns() - started_ns) / 1e9;
	if (status != SS_OK)
		return status;
	job_file_set_rank(file);
	if (loading->pass == LOADING_TRACES)
		loading_count_steps(loading, &file->trace.steps);
	if (loading->pass == LOADING_TRACES)
		SS_TRY(ss_job_note_graphs(loading->job, file, loading->gate, err));
	return ss_recording_note(&file->recording, &file->trace, memory)
		       ? SS_OK
		       : ss_fail_memory(err, "the sizes of devices");
}

/* The file was found in a folder and is not a trace. */
static void job_skip_file(struct ss_job *job, struct ss_job_file *file, const char *path)
{
	file->is_skipped = true;
	job->skipped_count++;
	if (!ss_find_is_snapshot(path))
		return;
	job->pickle_count++;
	if (!job->first_pickle || ss_find_compare_names(file->subject.path, job->first_pickle) < 0)
		job->first_pickle = file->subject.path;
}

/* A problem stays with its file; only a stop or a lack of memory ends the job. */
static void job_file_keep_problem(struct job_loading *loading, uint32_t index,
				  enum ss_status status, const struct ss_error *problem)
{
	struct ss_job *job = loading->job;
	struct ss_job_file *file = &job->files[loading->first + index];
	const struct ss_path *path = &loading->paths->items[index];

	if (status == SS_ERR_STOPPED || status == SS_ERR_LIMIT) {
		if (loading->status == SS_OK)
			loading->status = ss_fail(loading->err, status, "'%s': %s", path->path,
						  problem->text);
		return;
	}
	/* folders have other JSON and snapshots; a name with a rank should have been a trace */
	if (path->from_folder && !ss_find_is_pack(path->path) && !ss_find_is_digest(path->path) &&
	    (status == SS_ERR_MISSING ||
	     (ss_find_is_snapshot(path->path) && !loading->options->snapshots) ||
	     (status == SS_ERR_FORMAT && ss_find_rank_in_name(path->path) < 0))) {
		job_skip_file(job, file, path->path);
		return;
	}
	file->is_other = status == SS_ERR_MISSING;
	file->is_unread = status == SS_ERR_IO;
	file->subject.rank = ss_find_rank(file->is_digest ? file->subject.path : path->path);
	file->subject.problem = ss_arena_copy(&job->arena, problem->text, strlen(problem->text));
	job->failed_count++;
	if (!file->subject.problem)
		loading->status = ss_fail_memory(loading->err, "the list of files");
}

void ss_job_count_oddities(struct ss_job_file *file)
{
	for (int odd = 0; odd < SS_ODD_COUNT; odd++)
		file->oddities[ss_oddity_info((enum ss_oddity)odd)->severity] +=
			file->trace.quality.rows[odd].count;
}

/* Keeps only the digest of a trace, which compares it with others, and its summary. */
static enum ss_status job_reduce_file(struct job_loading *loading, struct ss_job_file *file,
				      struct ss_error *err)
{
	struct ss_job *job = loading->job;
	struct ss_digesting how = { loading->threads, job->summarizer != NULL, true };
	enum ss_status status;

	file->subject.trace = &file->trace;
	ss_slices_drop_shown(&file->trace);
	status = ss_job_digest(job, file, &how, err);
	ss_gate_lock(loading->gate);
	if (status == SS_OK && (!ss_strings_share(&file->digest.texts, &job->texts) ||
				(file->summary && job->summarizer->share &&
				 !job->summarizer->share(file->summary, &job->texts))))
		status = ss_fail_memory(err, "a digest");
	ss_gate_unlock(loading->gate);
	file->subject.trace = NULL;
	ss_trace_release(&file->trace);
	memset(&file->trace, 0, sizeof(file->trace));
	file->is_reduced = status == SS_OK;
	return status;
}

static bool loading_report_snapshot(void *context, const struct ss_source *source,
				    uint64_t event_count)
{
	return loading_report_progress(context, source->done_bytes, source->total_bytes,
				       event_count);
}

static void job_count_contents(struct ss_redactor *redactor, const struct ss_job_file *file)
{
	if (file->has_snapshot)
		ss_contents_of_snapshot(redactor, &file->snapshot.opened->snapshot);
	else if (!file->is_digest)
		ss_contents_of_trace(redactor, &file->trace);
}

static enum ss_status job_read_digest(struct job_loading *loading, struct ss_job_file *file,
				      struct ss_source *source, uint32_t index,
				      struct ss_error *problem);

/* Reads a digest, a snapshot or a trace into the entry of its file. */
static enum ss_status job_read_file(struct job_loading *loading, const struct ss_path *path,
				    struct ss_job_file *file, uint32_t index,
				    struct ss_error *problem)
{
	struct file_reporting reporting = { .loading = loading,
					    .progress = { .size = sizeof(struct ss_progress),
							  .doing = "Reading the traces",
							  .path = path->path,
							  .file_index = index,
							  .file_count = loading->paths->count } };
	struct ss_load_options load = { .threads = loading->threads,
					.part = path->part,
					.lazy = !loading->options->reduce,
					.progress = loading_report_progress,
					.progress_context = &reporting,
					.source = file->number };
	struct ss_snapshot_options memory = { loading_report_snapshot, &reporting };
	struct ss_source *source = NULL;
	bool is_digest = false;
	enum ss_status status;

	if (loading->pass == LOADING_REPLAYS)
		load.captures = &loading->job->captures;
	status = ss_job_open_source(path, loading->options->snapshots, loading->job->redactor,
				    loading->job->memory, &source, problem);

	file->stamp = status == SS_OK ? source->stamp : 0;
	file->disk_bytes = status == SS_OK ? source->total_bytes : 0;
	if (status == SS_OK)
		status = ss_job_digest_is_next(path, source, &is_digest, problem);
	if (status == SS_OK && is_digest) {
		status = job_read_digest(loading, file, source, index, problem);
		ss_source_close(source);
		return status;
	}
	if (status == SS_OK)
		status = ss_job_flight_load(loading->job, file, source, problem);
	if (status == SS_OK && !file->has_flight)
		status = ss_job_live_load(loading->job, file, source, problem);
	if (status == SS_OK && !file->has_flight && !file->has_live && loading->options->snapshots)
		status = ss_job_snapshot_load(loading->job, file, source, &memory, problem);
	if (status == SS_OK && !file->has_flight && !file->has_live && !file->has_snapshot)
		status = job_load_source(loading, file, source, &load, problem);
	ss_source_close(source);
	return status;
}

/* Reads a digest if that is enough, else the trace that it was made from. */
static enum ss_status job_read_digest(struct job_loading *loading, struct ss_job_file *file,
				      struct ss_source *source, uint32_t index,
				      struct ss_error *problem)
{
	struct ss_path origin = { .is_quoted = true };

	if (file->is_digest)
		return ss_fail(problem, SS_ERR_FORMAT, "it says that it was made of a digest");
	if (loading->options->reduce)
		return ss_job_digest_read(loading->job, file, source,
					  loading->job->summarizer != NULL, loading->gate, problem);
	SS_TRY(ss_job_digest_origin(loading->job, file, source, loading->gate, &origin.path,
				    problem));
	return origin.path ? job_read_file(loading, &origin, file, index, problem) : SS_OK;
}

/* If a pack cannot be read, its original file is read instead. */
static enum ss_status job_read_original(struct job_loading *loading, const struct ss_path *path,
					struct ss_job_file *file, uint32_t index,
					enum ss_status status)
{
	struct ss_job *job = loading->job;
	struct ss_path instead = { 0 };
	const char *shown;

	if (status == SS_OK || status == SS_ERR_STOPPED || status == SS_ERR_LIMIT || path->input ||
	    !ss_find_is_pack(path->path))
		return status;
	ss_gate_lock(loading->gate);
	instead.path = ss_find_original(path->path, &job->arena);
	shown = instead.path ? ss_job_shown_path(job->redactor, instead.path, &job->arena) : NULL;
	ss_gate_unlock(loading->gate);
	if (!shown || job_read_file(loading, &instead, file, index, NULL) != SS_OK)
		return status;
	file->subject.path = shown;
	file->source = instead.path;
	ss_gate_lock(loading->gate);
	job->packs.unread++;
	job->packs.preferred -= path->stands_in;
	ss_gate_unlock(loading->gate);
	return SS_OK;
}

/* The trace and its texts may go. */
static enum ss_status job_keep_name(struct job_loading *loading, struct ss_job_file *file,
				    struct ss_error *err)
{
	ss_gate_lock(loading->gate);
	file->packed_of = ss_arena_copy(&loading->job->arena, file->trace.packed_of,
					strlen(file->trace.packed_of));
	ss_gate_unlock(loading->gate);
	return file->packed_of ? SS_OK : ss_fail_memory(err, "the list of files");
}

/* Reads one file and reduces it on request; a failure becomes its problem. */
static void job_load_file(struct job_loading *loading, uint32_t index)
{
	struct ss_job *job = loading->job;
	struct ss_job_file *file = &job->files[loading->first + index];
	const struct ss_path *path = &loading->paths->items[index];
	struct ss_error problem = { 0 };
	enum ss_status status = job_read_file(loading, path, file, index, &problem);

	file->stands_in = path->stands_in;
	status = job_read_original(loading, path, file, index, status);
	if (status == SS_OK && (file->has_flight || file->has_live))
		return;
	if (status == SS_OK)
		ss_job_count_oddities(file);
	if (status == SS_OK && file->trace.packed_of)
		status = job_keep_name(loading, file, &problem);
	if (status == SS_OK && job->redactor && job->redactor->only_counts)
		job_count_contents(job->redactor, file);
	if (status == SS_OK && loading->options->reduce && !file->is_reduced)
		status = file->has_snapshot ? ss_job_snapshot_reduce(job, &file->snapshot, &problem)
					    : job_reduce_file(loading, file, &problem);
	if (status == SS_OK)
		return;
	ss_gate_lock(loading->gate);
	job_file_keep_problem(loading, index, status, &problem);
	ss_gate_unlock(loading->gate);
}

/* Whether a file belongs to the pass. */
static bool loading_takes(const struct job_loading *loading, uint32_t index)
{
	const struct ss_job_file *file = &loading->job->files[loading->first + index];

	return loading->pass == LOADING_REPLAYS
		       ? file->wants_captures
		       : ss_find_is_snapshot(loading->paths->items[index].path) ==
				 (loading->pass == LOADING_MEMORY);
}

/* A worker: takes the next file until none is left or the load fails. */
static void job_load_files(void *context, uint32_t index)
{
	struct job_loading *loading = context;

	(void)index;
	for (;;) {
		uint32_t next;

		ss_gate_lock(loading->gate);
		next = loading->status == SS_OK ? loading->next++ : UINT32_MAX;
		ss_gate_unlock(loading->gate);
		if (next >= loading->paths->count)
			return;
		if (!loading_takes(loading, next))
			continue;
		job_load_file(loading, next);
		ss_gate_lock(loading->gate);
		loading->loaded++;
		ss_gate_unlock(loading->gate);
	}
}

SS_COMPARATOR(job_file_compare_rank, struct ss_job_file,
	      SS_ASCENDING(subject.rank < 0) SS_ASCENDING(subject.rank)
		      SS_ORDERED(ss_find_compare_names, subject.path) SS_ASCENDING(number))

/* Leaves out files that are not traces and sorts the rest; after that, addresses are final. */
static void job_arrange_files(struct ss_job *job)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->file_count; i++)
		if (!job->files[i].is_skipped)
			job->files[kept++] = job->files[i];
	job->file_count = kept;
	SS_SORT(job->files, job->file_count, job_file_compare_rank);
	for (uint32_t i = 0; i < job->file_count; i++)
		if (!job->files[i].subject.problem && !job->files[i].is_reduced)
			job->files[i].subject.trace = &job->files[i].trace;
}

/* One thread per file if there are many, all threads for a single one. */
static void job_load_some(struct job_loading *loading, uint32_t threads)
{
	uint32_t count = 0, workers;

	for (uint32_t i = 0; i < loading->paths->count; i++)
		count += loading_takes(loading, i);
	workers = threads < count ? threads : count;
	loading->next = 0;
	loading->threads = workers ? threads / workers : 1;
	if (workers)
		ss_thread_run(workers, job_load_files, loading);
}

static enum ss_status job_load_all(struct ss_job *job, const struct ss_open_options *options,
				   const struct ss_paths *paths, uint32_t first,
				   struct ss_error *err)
{
	uint32_t threads = options->threads ? options->threads : ss_thread_cores();
	struct job_loading loading = {
		.job = job,
		.options = options,
		.paths = paths,
		.first = first,
		.gate = ss_gate_open(),
		.err = err,
	};

	if (!loading.gate || (!job->texts.count && !ss_strings_init(&job->texts, job->memory))) {
		ss_gate_close(loading.gate);
		return ss_fail_memory(err, "the list of files");
	}
	if (threads > SS_THREADS_MAX)
		threads = SS_THREADS_MAX;
	job_load_some(&loading, threads);
	loading.loaded -= ss_job_plan_joins(job, first);
	loading.pass = LOADING_REPLAYS;
	job_load_some(&loading, threads);
	ss_job_take_captures(job, first);
	loading.pass = LOADING_MEMORY;
	job_load_some(&loading, threads);
	ss_gate_close(loading.gate);
	return loading.status;
}

enum ss_status ss_job_add(struct ss_job *job, const struct ss_open_options *options,
			  struct ss_error *err)
{
	struct ss_paths paths = { .limit = options->file_limit < UINT32_MAX
						   ? (uint32_t)options->file_limit
						   : UINT32_MAX };
	int64_t started_ns = ss_clock_ns();
	uint32_t first = job->file_count;
	enum ss_status status;

	assert(!job->is_joined && !job->digested_files);
	if (options->run)
		job->asked_run = options->run;
	job->redactor = options->redactor;
	job->keeps_tables |= !options->reduce || options->tables;
	status = ss_find_files(options->paths, options->path_count, &job->arena, &paths, err);
	if (status == SS_ERR_MISSING && options->live && options->path_count)
		status = ss_fail(err, status,
				 "no live numbers in '%s': pass the folder that "
				 "stepscope.torch.live() writes to (its first rows come some "
				 "seconds after the first step)",
				 options->paths[0]);
	if (status == SS_OK && options->live)
		ss_find_keep_live(&paths, options->live == SS_OPEN_LIVE_ALONE);
	ss_find_leave_out(&paths, options->leave_out);
	if (ss_redact_replaces(job->redactor)) {
		if (status == SS_OK)
			status = ss_job_drop_packs(&paths, err);
	} else if (status == SS_OK)
		status = ss_find_choose_packs(&paths, job->memory, &job->packs, err);
	if (status == SS_OK)
		status = ss_find_inputs(options->inputs, options->input_count, &job->arena, &paths,
					err);
	if (status == SS_OK)
		status = ss_job_split_files(&paths, job->memory, err);
	if (status == SS_OK)
		status = job_reserve_files(job, &paths, err);
	if (status == SS_OK)
		status = job_load_all(job, options, &paths, first, err);
	ss_find_release(&paths, job->memory);
	ss_job_take_snapshots(job);
	ss_job_take_flights(job);
	ss_job_take_lives(job);
	job_arrange_files(job);
	ss_job_match_snapshots(job);
	job->threads = options->threads;
	job->load_seconds += (double)(ss_clock_ns() - started_ns) / 1e9;
	return status;
}

enum ss_status ss_job_end(struct ss_job *job, struct ss_error *err)
{
	SS_TRY(ss_job_choose_run(job, err));
	job_arrange_files(job);
	ss_job_match_snapshots(job);
	return SS_OK;
}

enum ss_status ss_job_open(struct ss_job *job, const struct ss_open_options *options,
			   const struct ss_job_summarizer *summarizer, struct ss_memory *memory,
			   struct ss_error *err)
{
	enum ss_status status;

	ss_job_begin(job, summarizer, memory);
	status = ss_job_add(job, options, err);
	if (status == SS_OK)
		status = ss_job_end(job, err);
	if (status != SS_OK)
		ss_job_close(job);
	return status;
}

void ss_job_close(struct ss_job *job)
{
	if (!job->memory)
		return;
	for (uint32_t i = 0; i < job->file_count; i++)
		ss_job_file_release(job, &job->files[i]);
	ss_captures_release(&job->captures);
	for (uint32_t i = 0; i < job->snapshot_count; i++)
		ss_job_snapshot_release(job, &job->snapshots[i]);
	SS_FREE(job->memory, job->snapshots, job->snapshot_capacity);
	ss_job_release_flights(job);
	ss_job_release_lives(job);
	ss_joined_release(&job->joined);
	for (uint32_t i = 0; i < job->digest_count; i++)
		ss_digest_release(&job->digests[i]);
	SS_FREE(job->memory, job->digests, job->file_count + 1);
	SS_FREE(job->memory, job->files, job->file_capacity);
	ss_strings_release(&job->texts);
	ss_arena_release(&job->arena);
	*job = (struct ss_job){ 0 };
}
