/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - the traces of one job.
 */
#ifndef SS_LOAD_JOB_H
#define SS_LOAD_JOB_H

#include <stdatomic.h>

#include "load/files/find.h"
#include "load/files/recording.h"
#include "ranks/join.h"
#include "trace/digest/fields.h"
#include "memory/subject.h"
#include "view/view.h"
#include "base/memory.h"
#include "base/error.h"

/* Reports the progress of long work on the ranks of a job. */

struct ss_progress; /* stepscope.h */

/*
 * Parts of a verdict, one behind the other. These are the shares of the whole at which they end,
 * of the usual time: ranks compared, each examined, all joined for the replay, rules applied; what
 * is left are replays with fixes.
 */
#define SS_PROGRESS_COMPARED 0.1
#define SS_PROGRESS_EXAMINED 0.6
#define SS_PROGRESS_JOINED 0.75
#define SS_PROGRESS_JUDGED 0.85

/* Zeroed: progress is not reported. */
struct ss_progress_report {
	bool (*progress)(void *context, const struct ss_progress *progress);
	void *context;
	const char *doing; /* the current part, in words */
	double from, to;   /* of the whole */
	/* Set by any thread or signal handler, taken back when the next call begins. */
	atomic_bool is_cancelled;
};

/* A part begins. The watch may be NULL, here and below. */
void ss_progress_begin_part(struct ss_progress_report *watch, const char *doing, double from,
			    double to);

/* Reports how many of the part's pieces are done; false: stop. One thread at a time. */
bool ss_progress_report_done(struct ss_progress_report *watch, uint32_t done, uint32_t count);

/* Whether the current work was cancelled; any thread may ask. */
bool ss_progress_is_cancelled(const struct ss_progress_report *watch);

/*
 * Which files were recorded in one run of a program.
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

struct ss_job;
struct ss_job_file;
struct ss_table;

struct ss_job_run {
	const char *name; /* its folder where that is its own, else its time, else a file */
	const char *path; /* of its first file */
	bool has_clock;
	int64_t start_ns, end_ns; /* since 1970 */
	int64_t world_size;       /* -1: not recorded */
	uint32_t file_count, rank_count;
	uint32_t cut_count; /* truncated files */
	bool is_complete;   /* all ranks have files, and those are whole */
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

/* Instead of the number of a rank. */
#define SS_EVERY_RANK INT64_MIN

struct ss_open_options; /* stepscope.h */

/*
 * Something else that is made of each file while its trace is there, and kept when the
 * trace is gone. Both are called by the thread that loads the file.
 */
struct ss_job_summarizer {
	/*
	 * What can be made without the digest, and the rest. `begin` asks for no fact but phases,
	 * which is there: it may run beside another thread that makes others.
	 */
	enum ss_status (*begin)(void **out, const struct ss_subject *subject,
				struct ss_memory *memory, struct ss_error *err);
	enum ss_status (*finish)(void *kept, const struct ss_subject *subject,
				 const struct ss_digest *digest, struct ss_error *err);
	/* the large facts that `finish` asks for of most files with such a digest */
	uint32_t (*facts)(const struct ss_digest *digest);
	void (*release)(void *kept); /* also what `finish` failed to complete */
	/* the same of a snapshot of memory; both may be NULL: the snapshot is kept */
	enum ss_status (*make_memory)(void **out, const struct ss_snapshot_subject *subject,
				      struct ss_memory *memory, struct ss_error *err);
	void (*release_memory)(void *kept);
	/* as a part of a digest file: a number for its declaration, the bytes, and back */
	uint64_t (*layout)(void);
	void (*write)(const void *kept, struct ss_text *out);
	enum ss_status (*read)(void **out, struct ss_fields_reader *reader,
			       struct ss_memory *memory, struct ss_error *err);
};

/* A snapshot of memory that came with the traces. */
struct ss_job_snapshot {
	const char *path;         /* as it is shown */
	struct ss_opened *opened; /* NULL: it was reduced */
	void *kept;               /* what the keeper made of it then */
	const char *source;       /* as it is opened; NULL: it is not on disk */
	uint64_t stamp;           /* of the source: see read/source.h */
	uint32_t number;
	uint64_t file_bytes;      /* unpacked */
	bool is_cut;              /* it is truncated */
	bool has_clock;           /* that of the wall: */
	int64_t start_ns, end_ns; /* since 1970 */
	int64_t rank;             /* from its name; -1: none */
	uint32_t file;     /* the trace of its rank; SS_NO_ROW: there is none, or it is not known */
	bool is_other_run; /* the clocks of both say so */
};

struct ss_job_file {
	struct ss_subject subject;
	struct ss_trace trace;   /* empty when the subject has a problem, or it was reduced */
	struct ss_digest digest; /* until the ranks are joined */
	void *kept;              /* what the keeper made; NULL: nothing yet */
	uint32_t rank_index;     /* in the ranks when they are joined; SS_NO_ROW: left out */
	uint64_t oddities[SS_SEVERITIES]; /* counts of the view quality, by enum ss_severity */
	struct ss_recording recording;    /* stays when the trace is gone */
	const char *source;               /* its path as it is opened; NULL: it is not on disk */
	uint64_t stamp;                   /* of the source: see read/source.h */
	uint64_t disk_bytes;              /* of the source, as stored on disk */
	const char *packed_of;            /* of a pack: the name of its file; NULL */
	uint32_t number; /* in the order of what was asked for: files can have one name */
	uint32_t run;    /* index; SS_NO_ROW: of no run, since it could not be read */
	struct ss_job_snapshot snapshot; /* of memory: gone from the list when loading is done */
	bool has_snapshot;
	bool stands_in; /* a pack that is read instead of the file beside it */
	bool is_reduced;
	bool is_digest;  /* it was read from a digest file; paths are those of its trace */
	bool has_digest; /* made when the ranks were compared, not when it was loaded */
	bool is_other;   /* whole, but something else than a trace */
	bool is_unread;  /* it could not be opened or read: nothing is known of what it has */
	bool is_skipped; /* found in a folder and no trace: gone when loading is done */
};

struct ss_job {
	struct ss_memory *memory; /* lent */
	struct ss_arena arena;
	const struct ss_job_summarizer *keeper; /* lent; NULL: nothing else is kept */
	const struct ss_job_summarizer
		*reader;              /* lent; of digest files; NULL: only to compare ranks */
	struct ss_redactor *redactor; /* lent; NULL: files are read as they are */
	struct ss_job_file *files;    /* by rank, then by name; those without a rank last */
	uint32_t file_count, file_capacity;
	const char *asked_run; /* ss_open_options.run; NULL: the newest complete one */
	struct ss_job_run
		*runs; /* that the files are of, by time; one of them is in the list of files */
	uint32_t run_count, chosen_run;
	struct ss_job_snapshot *snapshots; /* by name */
	uint32_t snapshot_count, snapshot_capacity;
	double load_seconds;         /* for all of them */
	struct ss_pack_choice packs; /* files read from their packs, packs left out */
	uint32_t failed_count;       /* files that could not be read */
	uint32_t skipped_count;      /* files of folders that are not traces */
	uint32_t pickle_count;       /* of those: snapshots that were not asked for */
	const char *first_pickle;    /* in the order of their names */
	struct ss_digest *digests;   /* of the files that could be read; NULL: not made yet */
	uint32_t digest_count;
	uint32_t digested_files; /* how far the list of files is done */
	uint32_t copies;         /* files that are left out of the comparison: copies of others */
	int64_t copied_rank;     /* of the first of them */
	uint32_t threads; /* to make things of its files with; 0: as many as there are cores */
	struct ss_progress_report *watch; /* lent; NULL: progress is not reported */
	struct ss_joined joined;          /* made by ss_job_join() */
	bool is_joined;
};

/* An empty job. The keeper may be NULL; files that are added with `reduce` ask it. */
void ss_job_begin(struct ss_job *job, const struct ss_job_summarizer *keeper,
		  struct ss_memory *memory);

/*
 * Loads files beside those that are there, before the ranks are joined. What is wrong with
 * a file is kept with it; fails when the callback stopped it or memory ran out, and the job
 * can only be closed then.
 */
SS_MUST_USE
enum ss_status ss_job_add(struct ss_job *job, const struct ss_open_options *options,
			  struct ss_error *err);

/*
 * Tells the runs apart that the files are of, and keeps the files of one: the one that was asked
 * for, else the newest complete one. Fails when no file could be read and there is no snapshot,
 * or no run is called as asked for.
 */
SS_MUST_USE
enum ss_status ss_job_end(struct ss_job *job, struct ss_error *err);

/* The three in one; closed again when it fails. */
SS_MUST_USE
enum ss_status ss_job_open(struct ss_job *job, const struct ss_open_options *options,
			   const struct ss_job_summarizer *keeper, struct ss_memory *memory,
			   struct ss_error *err);

/*
 * need.c: makes groups of columns (enum ss_columns) of a file readable that was read from a pack;
 * before that, only what is about the whole file. A pack that is invalid is replaced by the file
 * that it was made of, if that is there and nothing was needed of the pack before.
 */
SS_MUST_USE
enum ss_status ss_job_need(struct ss_job *job, struct ss_job_file *file, uint32_t columns,
			   struct ss_error *err);

/* need.c: all columns of all files. */
SS_MUST_USE
enum ss_status ss_job_need_all(struct ss_job *job, struct ss_error *err);

/* job.c: adds what "quality" counts, kept beside the trace: it may be gone when it is asked for. */
void ss_job_count_oddities(struct ss_job_file *file);

/* How the digest of a file is made. */
struct ss_digesting {
	uint32_t threads; /* for this file */
	bool keeps;       /* also what the keeper makes of it */
	bool reduces;     /* the trace goes afterwards: parts of it may go before */
};

/* Makes the digest of a loaded file, and its summary on request, from the same facts. */
SS_MUST_USE
enum ss_status ss_job_digest(struct ss_job *job, struct ss_job_file *file,
			     const struct ss_digesting *how, struct ss_error *err);

/* Compares the ranks with each other; a second call finds it done. */
SS_MUST_USE
enum ss_status ss_job_join(struct ss_job *job, struct ss_error *err);

/*
 * Joins the ranks and asks the keeper for what was not made when the files were loaded.
 * Fails where neither a trace nor what was kept of it is there.
 */
SS_MUST_USE
enum ss_status ss_job_make_summaries(struct ss_job *job, const struct ss_job_summarizer *keeper,
				     struct ss_error *err);

void ss_job_close(struct ss_job *job);

/* Memory snapshots among the files of a job. */

/* Reads the file if it is a memory snapshot, and sets file->has_snapshot then. */
SS_MUST_USE
enum ss_status ss_job_snapshot_load(struct ss_job *job, struct ss_job_file *file,
				    struct ss_source *source,
				    const struct ss_snapshot_options *options,
				    struct ss_error *err);

/* Keeps what the keeper makes of it, and nothing else; all of it without a keeper. */
SS_MUST_USE
enum ss_status ss_job_snapshot_reduce(struct ss_job *job, struct ss_job_snapshot *snapshot,
				      struct ss_error *err);

void ss_job_snapshot_release(struct ss_job *job, struct ss_job_snapshot *snapshot);

/* Finds the trace of each snapshot, when the list of files is in order. */
void ss_job_match_snapshots(struct ss_job *job);

#endif
