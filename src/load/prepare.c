/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare.c - makes digests and summaries: of a file that was just read, or later, when they are
 * first needed. Ranks are processed in parallel; with more threads than ranks, two work on a rank.
 */
#include "analyze/facts.h"
#include "base/system/thread.h"
#include "load/digest_files.h"
#include "memory/events/alloc.h"
#include "load/job.h"
#include "stepscope.h"

typedef enum ss_status make_function(struct ss_job *job, struct ss_job_file *file, uint32_t threads,
				     struct ss_error *err);

/* What the workers share. */
struct files_preparing {
	struct ss_job *job;
	bool (*needs)(const struct ss_job_file *file);
	make_function *make;
	struct ss_gate *gate;
	uint32_t next, done, count;
	uint32_t threads;      /* for each file */
	enum ss_status status; /* the first that stops all */
	struct ss_error *err;
};

/* The next file that needs it; NULL: no more. */
static struct ss_job_file *preparing_next_file(struct files_preparing *preparing)
{
	struct ss_job *job = preparing->job;
	struct ss_job_file *file = NULL;

	ss_gate_lock(preparing->gate);
	while (!file && preparing->status == SS_OK && preparing->next < job->file_count) {
		file = &job->files[preparing->next++];
		if (!preparing->needs(file))
			file = NULL;
	}
	ss_gate_unlock(preparing->gate);
	return file;
}

static void preparing_note_result(struct files_preparing *preparing, enum ss_status status,
				  const struct ss_error *problem)
{
	ss_gate_lock(preparing->gate);
	if (status != SS_OK && preparing->status == SS_OK) {
		preparing->status = status;
		if (preparing->err)
			*preparing->err = *problem;
	}
	if (!ss_progress_report_done(preparing->job->watch, ++preparing->done, preparing->count) &&
	    preparing->status == SS_OK)
		preparing->status = ss_fail(preparing->err, SS_ERR_STOPPED, "stopped");
	ss_gate_unlock(preparing->gate);
}

static void preparing_run(void *context, uint32_t index)
{
	struct files_preparing *preparing = context;
	struct ss_job_file *file;

	(void)index;
	while ((file = preparing_next_file(preparing)) != NULL) {
		struct ss_error problem = { 0 };
		enum ss_status status = preparing->make(preparing->job, file, preparing->threads,
							&problem);

		preparing_note_result(preparing, status, &problem);
	}
}

/* Calls `make` for all files that need it. After a failure a new call continues there. */
static enum ss_status prepare_files(struct ss_job *job,
				    bool (*needs)(const struct ss_job_file *file),
				    make_function *make, struct ss_error *err)
{
	uint32_t threads = job->threads ? job->threads : ss_thread_cores();
	struct files_preparing preparing = { .job = job, .needs = needs, .make = make, .err = err };

	for (uint32_t i = 0; i < job->file_count; i++)
		preparing.count += needs(&job->files[i]);
	if (!preparing.count)
		return SS_OK;
	preparing.gate = ss_gate_open();
	if (!preparing.gate)
		return ss_fail_memory(err, "the ranks of the job");
	if (threads > SS_THREADS_MAX)
		threads = SS_THREADS_MAX;
	preparing.threads = threads / preparing.count ? threads / preparing.count : 1;
	ss_thread_run(threads < preparing.count ? threads : preparing.count, preparing_run,
		      &preparing);
	ss_gate_close(preparing.gate);
	return preparing.status;
}

/* --- digests ----------------------------------------------------------------------------- */

/* The same recording, under another name. */
static bool digest_is_copy(const struct ss_digest *a, const struct ss_digest *b)
{
	return a->rank == b->rank && (a->rank >= 0 || a->has_clock) && a->start_ns == b->start_ns &&
	       a->end_ns == b->end_ns && a->events == b->events &&
	       a->arrival_count == b->arrival_count;
}

/* Files of one rank stand together. */
static bool job_has_copy(const struct ss_job *job, const struct ss_digest *digest)
{
	for (uint32_t i = job->digest_count; i-- > 0 && job->digests[i].rank == digest->rank;)
		if (digest_is_copy(digest, &job->digests[i]))
			return true;
	return false;
}

static bool file_needs_digest(const struct ss_job_file *file)
{
	return !file->subject.problem && !file->is_reduced && !file->has_digest;
}

/* What two threads make from one file. */
struct preparing {
	struct ss_job *job;
	struct ss_job_file *file;
	const struct ss_subject *subject;
	struct ss_trace *trace; /* the subject's if it is freed afterwards; else NULL */
	struct ss_digest *digest;
	bool has_digest;
	struct ss_gate *gate; /* while two threads work on it */
	uint32_t wanted;      /* of the large facts; 0 until the digest is there */
	void *summary;
	enum ss_status status[2];
	struct ss_error err[2];
};

static void prepare_begin_summary(struct preparing *preparing)
{
	struct ss_job *job = preparing->job;

	preparing->status[0] = job->summarizer->begin(&preparing->summary, preparing->subject,
						      job->memory, &preparing->err[0]);
}

static void prepare_digest_of_trace(struct preparing *preparing)
{
	if (preparing->has_digest)
		return;
	preparing->status[1] = ss_digest_make(preparing->digest, preparing->subject,
					      preparing->job->memory, &preparing->err[1]);
	if (preparing->status[1] == SS_OK)
		ss_job_digest_bound(preparing->file);
}

/* The facts that the summary usually needs, as soon as the digest says which. */
static enum ss_status prepare_facts(struct preparing *preparing, struct ss_error *err)
{
	struct ss_facts *facts = preparing->subject->facts;
	uint32_t wanted = preparing->job->summarizer->facts(preparing->digest);
	const struct ss_allocs *allocs;

	ss_gate_lock(preparing->gate);
	preparing->wanted = wanted;
	ss_gate_unlock(preparing->gate);
	SS_TRY(ss_facts_make(facts, wanted, err));
	return wanted & SS_FACT_ALLOCS ? ss_allocs_of_facts(facts, &allocs, err) : SS_OK;
}

/* Those that the other thread makes last. */
static enum ss_status prepare_last_facts(struct preparing *preparing, struct ss_error *err)
{
	struct ss_facts *facts = preparing->subject->facts;
	const struct ss_places *places;
	uint32_t wanted;

	SS_TRY(ss_facts_places(facts, &places, err));
	ss_gate_lock(preparing->gate);
	wanted = preparing->wanted;
	ss_gate_unlock(preparing->gate);
	return ss_facts_make(facts, wanted & SS_FACT_TRAINING, err);
}

/*
 * One thread begins the summary; the other makes the digest. Both then make facts. The first thing
 * that the summary makes are phases, which the digest needs, too: operators, which all summaries
 * need, are made meanwhile.
 */
static void prepare_beside(void *context, uint32_t index)
{
	struct preparing *preparing = context;
	enum ss_status *status = &preparing->status[index];
	const struct ss_ops *ops;

	if (index == 0) {
		prepare_begin_summary(preparing);
	} else {
		*status = ss_facts_ops(preparing->subject->facts, &ops, &preparing->err[index]);
		if (*status == SS_OK)
			prepare_digest_of_trace(preparing);
	}
	if (*status == SS_OK)
		*status = (index == 0 ? prepare_last_facts : prepare_facts)(preparing,
									    &preparing->err[index]);
}

static void prepare_on_threads(struct preparing *preparing)
{
	struct ss_facts *facts = preparing->subject->facts;

	preparing->gate = ss_gate_open();
	if (!preparing->gate) {
		preparing->status[0] = ss_fail_memory(&preparing->err[0], "the ranks of the job");
		return;
	}
	facts->gate = preparing->gate;
	ss_thread_run(2, prepare_beside, preparing);
	facts->gate = NULL;
	ss_gate_close(preparing->gate);
}

static void prepare_concurrently(struct preparing *preparing, uint32_t threads)
{
	if (threads > 1) {
		prepare_on_threads(preparing);
		return;
	}
	prepare_digest_of_trace(preparing);
	if (preparing->status[1] == SS_OK)
		prepare_begin_summary(preparing);
}

const struct ss_digest *ss_job_file_digest(const struct ss_job *job, const struct ss_job_file *file)
{
	if (file->digest.memory)
		return &file->digest;
	return job->digests && file->rank_index < job->digest_count
		       ? &job->digests[file->rank_index]
		       : NULL;
}

/*
 * From this many ranks on, views of all ranks take seconds. Those that digests keep are run while a
 * rank is examined, which has their facts; with fewer ranks the verdict does not wait for them.
 */
#define MANY_RANKS 64

/* Makes the digest, unless there is one, and the summary. */
static enum ss_status prepare_file(struct preparing *preparing, uint32_t threads,
				   struct ss_error *err)
{
	struct ss_job *job = preparing->job;

	prepare_concurrently(preparing, threads);
	for (int i = 0; i < 2; i++)
		if (preparing->status[i] != SS_OK) {
			if (err)
				*err = preparing->err[i];
			return preparing->status[i];
		}
	if (preparing->trace ? job->keeps_tables : job->file_count >= MANY_RANKS)
		SS_TRY(ss_job_tables_make(preparing->trace ? &preparing->file->tables
							   : &preparing->file->whole,
					  preparing->subject, !preparing->trace, job->memory, err));
	if (preparing->trace && job->keeps_tables)
		preparing->file->events_hash = ss_trace_hash_events(preparing->trace);
	if (preparing->trace)
		ss_slices_drop_ids(preparing->trace);
	return job->summarizer->finish(preparing->summary, preparing->subject, preparing->digest,
				       threads, err);
}

/* The same; frees what was made if something fails. */
static enum ss_status prepare_all(struct ss_job *job, struct ss_job_file *file,
				  struct ss_digest *digest, const struct ss_digesting *how,
				  struct ss_error *err)
{
	struct ss_subject subject = file->subject;
	struct preparing preparing = { .job = job,
				       .file = file,
				       .subject = &subject,
				       .trace = how->reduces ? &file->trace : NULL,
				       .digest = digest,
				       .has_digest = digest != &file->digest };
	struct ss_facts facts;
	enum ss_status status;

	ss_facts_init(&facts, subject.trace, job->memory);
	subject.facts = &facts;
	status = prepare_file(&preparing, how->threads, err);
	ss_facts_release(&facts);
	if (status == SS_OK) {
		file->summary = preparing.summary;
		return SS_OK;
	}
	if (preparing.summary)
		job->summarizer->release(preparing.summary);
	if (!preparing.has_digest)
		ss_digest_release(digest);
	return status;
}

enum ss_status ss_job_digest(struct ss_job *job, struct ss_job_file *file,
			     const struct ss_digesting *how, struct ss_error *err)
{
	struct ss_subject subject = file->subject;
	struct ss_facts facts;
	enum ss_status status;

	if (how->with_summary)
		return prepare_all(job, file, &file->digest, how, err);
	ss_facts_init(&facts, subject.trace, job->memory);
	subject.facts = &facts;
	status = ss_digest_make(&file->digest, &subject, job->memory, err);
	if (status == SS_OK)
		ss_job_digest_bound(file);
	ss_facts_release(&facts);
	return status;
}

static enum ss_status prepare_digest(struct ss_job *job, struct ss_job_file *file, uint32_t threads,
				     struct ss_error *err)
{
	struct ss_digesting how = { threads, false, false };

	SS_TRY(ss_job_digest(job, file, &how, err));
	file->has_digest = true;
	return SS_OK;
}

static enum ss_status prepare_both(struct ss_job *job, struct ss_job_file *file, uint32_t threads,
				   struct ss_error *err)
{
	struct ss_digesting how = { threads, true, false };

	SS_TRY(ss_job_digest(job, file, &how, err));
	file->has_digest = true;
	return SS_OK;
}

/* The digests of all files as one array; makes those that loading did not make. */
static enum ss_status prepare_digests(struct ss_job *job, make_function *make, struct ss_error *err)
{
	if (!job->digests)
		job->digests = ss_memory_resize(job->memory, NULL, 0,
						(job->file_count + 1) * sizeof(*job->digests));
	if (!job->digests)
		return ss_fail_memory(err, "the ranks of the job");
	SS_TRY(prepare_files(job, file_needs_digest, make, err));
	for (; job->digested_files < job->file_count; job->digested_files++) {
		struct ss_job_file *file = &job->files[job->digested_files];

		file->rank_index = SS_NO_ROW;
		if (file->subject.problem)
			continue;
		if (job_has_copy(job, &file->digest)) {
			job->copied_rank = job->copies++ ? job->copied_rank : file->digest.rank;
			continue; /* released with its file */
		}
		file->digest.source = file->source;
		file->digest.stamp = file->stamp;
		file->digest.first_step = file->recording.first_step;
		file->rank_index = job->digest_count;
		job->digests[job->digest_count++] = file->digest;
		file->digest = (struct ss_digest){ 0 };
	}
	return SS_OK;
}

static enum ss_status job_compare_ranks(struct ss_job *job, bool with_summary, struct ss_error *err)
{
	if (job->is_joined)
		return SS_OK;
	/* after a lack of memory a new call continues where this one ended */
	if (with_summary)
		ss_progress_begin_part(job->watch, "Examining the ranks", 0, SS_PROGRESS_EXAMINED);
	else
		ss_progress_begin_part(job->watch, "Comparing the ranks", 0, SS_PROGRESS_COMPARED);
	/* until the first is done, reading would seem to be at work */
	if (!ss_progress_report_done(job->watch, 0, 1))
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	SS_TRY(ss_job_need_all(job, err));
	SS_TRY(prepare_digests(job, with_summary ? prepare_both : prepare_digest, err));
	SS_TRY(ss_join_ranks(&job->joined, job->digests, job->digest_count, job->memory, err));
	job->joined.copies = job->copies;
	job->joined.copied_rank = job->copied_rank;
	job->joined.packs = job->packs;
	job->is_joined = true;
	return SS_OK;
}

enum ss_status ss_job_join(struct ss_job *job, struct ss_error *err)
{
	return job_compare_ranks(job, false, err);
}

/* --- summaries ----------------------------------------------------------------------------- */

static bool file_needs_summary(const struct ss_job_file *file)
{
	return file->rank_index != SS_NO_ROW && !file->summary;
}

static enum ss_status prepare_summary(struct ss_job *job, struct ss_job_file *file,
				      uint32_t threads, struct ss_error *err)
{
	struct ss_digesting how = { threads, true, false };

	if (!file->subject.trace)
		return ss_fail(err, SS_ERR_USAGE,
			       "the session was opened to compare ranks only: the events of '%s' "
			       "were not kept",
			       file->subject.path);
	return prepare_all(job, file, &job->digests[file->rank_index], &how, err);
}

enum ss_status ss_job_make_summaries(struct ss_job *job, const struct ss_job_summarizer *summarizer,
				     struct ss_error *err)
{
	double from;

	assert(!job->summarizer || job->summarizer == summarizer);
	job->summarizer = summarizer;
	from = job->is_joined ? SS_PROGRESS_COMPARED : SS_PROGRESS_EXAMINED;
	SS_TRY(job_compare_ranks(job, true, err));
	ss_progress_begin_part(job->watch, "Examining the ranks", from, SS_PROGRESS_EXAMINED);
	return prepare_files(job, file_needs_summary, prepare_summary, err);
}

/* Converts the progress of a part to progress of the whole. */

void ss_progress_begin_part(struct ss_progress_report *watch, const char *doing, double from,
			    double to)
{
	if (!watch)
		return;
	watch->doing = doing;
	watch->from = from;
	watch->to = to;
}

_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "signal handlers cancel");

bool ss_progress_is_cancelled(const struct ss_progress_report *watch)
{
	return watch && atomic_load_explicit(&watch->is_cancelled, memory_order_relaxed);
}

bool ss_progress_report_done(struct ss_progress_report *watch, uint32_t done, uint32_t count)
{
	struct ss_progress progress = { .size = sizeof(progress) };

	if (ss_progress_is_cancelled(watch))
		return false;
	if (!watch || !watch->progress || !count)
		return true;
	progress.doing = watch->doing;
	progress.file_index = done < count ? done : count;
	progress.file_count = count;
	progress.share = watch->from +
			 (watch->to - watch->from) * ((double)progress.file_index / (double)count);
	return watch->progress(watch->context, &progress);
}
