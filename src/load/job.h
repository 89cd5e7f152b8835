/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h - the traces of one job.
 */
#ifndef SS_LOAD_JOB_H
#define SS_LOAD_JOB_H

#include <stdatomic.h>

#include "load/files/find.h"
#include "load/digest_tables.h"
#include "load/files/recording.h"
#include "hang/hang.h"
#include "live/live.h"
#include "ranks/join.h"
#include "trace/digest/fields.h"
#include "memory/subject.h"
#include "trace/capture.h"
#include "view/view.h"
#include "base/memory.h"
#include "base/error.h"

/* Reports the progress of long work on the ranks of a job. */

struct ss_progress; /* stepscope.h */

/*
 * The parts of a verdict, in order: comparing ranks, examining each, joining all for the replay,
 * applying rules; the rest is replays with fixes. Each ends at this share of the usual time.
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
	/* Set by any thread or signal handler, cleared when the next call begins. */
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

/* choose_run.c: the same, and keeps the files of one of them. Fails if none could be read. */
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
 * Makes a summary of each file while its trace is in memory; the summary stays when the trace is
 * freed. The thread that loads the file calls these functions.
 */
struct ss_job_summarizer {
	/*
	 * `begin` makes what does not need the digest, `finish` the rest. While `begin` runs,
	 * another thread may make facts.
	 */
	enum ss_status (*begin)(void **out, const struct ss_subject *subject,
				struct ss_memory *memory, struct ss_error *err);
	enum ss_status (*finish)(void *summary, const struct ss_subject *subject,
				 const struct ss_digest *digest, uint32_t threads,
				 struct ss_error *err);
	/* the large facts that `finish` usually needs for a file with this digest */
	uint32_t (*facts)(const struct ss_digest *digest);
	/* moves its texts to a pool; false: no memory */
	bool (*share)(void *summary, struct ss_strings *pool);
	void (*release)(void *summary); /* also what `finish` failed to complete */
	/* the same for a memory snapshot; both may be NULL: the snapshot itself is kept */
	enum ss_status (*make_memory)(void **out, const struct ss_snapshot_subject *subject,
				      struct ss_memory *memory, struct ss_error *err);
	void (*release_memory)(void *summary);
	/* as a part of a digest file: hash of its declaration, writer, reader */
	uint64_t (*layout)(void);
	void (*write)(const void *summary, struct ss_text *out);
	enum ss_status (*read)(void **out, struct ss_fields_reader *reader,
			       struct ss_memory *memory, struct ss_error *err);
};

/* A memory snapshot that came with the traces. */
struct ss_job_snapshot {
	const char *path;         /* as it is shown */
	struct ss_opened *opened; /* NULL: it was reduced */
	void *summary;            /* made when it was reduced */
	const char *source;       /* as it is opened; NULL: it is not on disk */
	uint64_t stamp;           /* of the source: see read/source.h */
	uint32_t number;
	uint64_t file_bytes;      /* unpacked */
	bool is_cut;              /* it is truncated */
	bool has_clock;           /* that of the wall: */
	int64_t start_ns, end_ns; /* since 1970 */
	int64_t rank;             /* from its name; -1: none */
	uint32_t file;            /* the trace of its rank; SS_NO_ROW: none, or not known */
	bool is_other_run;        /* the clocks of both say so */
};

/* A dump of the flight recorder or a stack file that came with the traces, or alone. */
struct ss_job_flight {
	const char *path; /* as it is shown */
	int64_t rank;     /* from its name; -1: none */
	struct ss_flight *flight;
	struct ss_stack_file *stacks; /* one of both */
	uint32_t number;
	bool is_left_out; /* another dump of its rank counts */
};

struct ss_job_file {
	struct ss_subject subject;
	struct ss_trace trace;       /* empty when the subject has a problem, or it was reduced */
	struct ss_digest digest;     /* until the ranks are joined */
	void *summary;               /* made by the summarizer; NULL: not yet */
	struct ss_job_tables tables; /* of views, for or from a digest file */
	struct ss_job_tables whole;  /* the same with all rows, if there are many ranks */
	uint32_t rank_index;         /* index of its rank after joining; SS_NO_ROW: left out */
	uint64_t oddities[SS_SEVERITIES]; /* counts of the view quality, by enum ss_severity */
	uint64_t events_hash;             /* of a file with tables: ss_trace_hash_events() */
	struct ss_recording recording;    /* stays when the trace is gone */
	const char *source;               /* its path as it is opened; NULL: it is not on disk */
	uint64_t stamp;                   /* of the source: see read/source.h */
	uint64_t disk_bytes;              /* of the source, as stored on disk */
	const char *no_trace;             /* why the trace of a digest is not read; NULL: it is */
	const char *packed_of;            /* of a pack: the name of its original file; else NULL */
	uint32_t number; /* in the order of the paths: several files can have one name */
	uint32_t run;    /* index; SS_NO_ROW: none, it could not be read */
	struct ss_job_snapshot
		snapshot; /* a memory snapshot: removed from the list when loading is done */
	bool has_snapshot;
	struct ss_job_flight flight; /* likewise a dump */
	bool has_flight;
	struct ss_live_file live; /* likewise live numbers */
	bool has_live;
	bool stands_in; /* a pack that is read instead of the file beside it */
	bool is_reduced;
	bool is_digest;  /* read from a digest file; the paths are those of its trace */
	bool has_digest; /* made when the ranks were compared, not when it was loaded */
	bool is_other;   /* complete, but not a trace */
	bool is_unread;  /* could not be opened or read: its contents are unknown */
	bool is_skipped; /* found in a folder, not a trace: removed when loading is done */
	bool has_captures, has_replays; /* of graphs: capture_files.c */
	bool wants_captures;            /* is read again: it replays graphs that were captured */
	bool is_read_once;              /* comes from a pipe or a callback */
};

struct ss_job {
	struct ss_memory *memory; /* lent */
	struct ss_arena arena;
	struct ss_strings texts; /* of all ranks that were reduced: most have the same */
	const struct ss_job_summarizer *summarizer; /* lent; NULL: no summaries */
	const struct ss_job_summarizer
		*reader;              /* lent; of digest files; NULL: only to compare ranks */
	struct ss_redactor *redactor; /* lent; NULL: files are read as they are */
	struct ss_job_file *files;    /* by rank, then by name; those without a rank last */
	uint32_t file_count, file_capacity;
	const char *asked_run;   /* ss_open_options.run; NULL: the newest complete one */
	struct ss_job_run *runs; /* runs of all files, by time; the list of files has one of them */
	uint32_t run_count, chosen_run;
	struct ss_job_snapshot *snapshots; /* by name */
	uint32_t snapshot_count, snapshot_capacity;
	struct ss_job_flight *flights; /* dumps by rank, then stack files by name */
	uint32_t flight_count, flight_capacity;
	struct ss_hang hang; /* of the dumps: ss_job_find_hang() */
	struct ss_live_file *lives;
	uint32_t live_count, live_capacity;
	struct ss_live live;         /* of these: ss_job_find_live() */
	struct ss_captures captures; /* of graphs, in all files */
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
	bool keeps_tables;       /* ss_open_options.tables, or nothing is reduced */
	uint32_t threads;        /* for computing on its files; 0: one per core */
	struct ss_progress_report *watch; /* lent; NULL: progress is not reported */
	struct ss_joined joined;          /* made by ss_job_join() */
	bool is_joined;
};

/*
 * Makes an empty job. The summarizer may be NULL; it is used for files that are added with
 * `reduce`.
 */
void ss_job_begin(struct ss_job *job, const struct ss_job_summarizer *summarizer,
		  struct ss_memory *memory);

/*
 * Loads more files, before the ranks are joined. A problem stays with its file. Fails if the
 * callback stops it or memory runs out; then the job can only be closed.
 */
SS_MUST_USE
enum ss_status ss_job_add(struct ss_job *job, const struct ss_open_options *options,
			  struct ss_error *err);

/*
 * Sorts the files into runs and keeps the files of one: the requested one, else the newest complete
 * one. Fails if no file could be read and there is no snapshot, or if there is no run of the
 * requested name.
 */
SS_MUST_USE
enum ss_status ss_job_end(struct ss_job *job, struct ss_error *err);

/* All three; closes the job if it fails. */
SS_MUST_USE
enum ss_status ss_job_open(struct ss_job *job, const struct ss_open_options *options,
			   const struct ss_job_summarizer *summarizer, struct ss_memory *memory,
			   struct ss_error *err);

/*
 * need.c: makes groups of columns (enum ss_columns) of a packed trace readable; before that, only
 * facts about the whole file are. An invalid pack is replaced by its original file, if that exists
 * and nothing of the pack was used before.
 */
SS_MUST_USE
enum ss_status ss_job_need(struct ss_job *job, struct ss_job_file *file, uint32_t columns,
			   struct ss_error *err);

/* need.c: all columns of all files. */
SS_MUST_USE
enum ss_status ss_job_need_all(struct ss_job *job, struct ss_error *err);

/* job.c: adds the counts of the view quality, which outlive the trace. */
void ss_job_count_oddities(struct ss_job_file *file);

/* How the digest of a file is made. */
struct ss_digesting {
	uint32_t threads;  /* for this file */
	bool with_summary; /* also makes the summary */
	bool reduces;      /* the trace is freed afterwards: parts of it may be freed earlier */
};

/* Makes the digest of a loaded file, and its summary on request, from the same facts. */
SS_MUST_USE
enum ss_status ss_job_digest(struct ss_job *job, struct ss_job_file *file,
			     const struct ss_digesting *how, struct ss_error *err);

/* Whether the events of a file are not there: what its digest has is all. */
static inline bool ss_job_is_digest_only(const struct ss_job_file *file)
{
	return file->is_reduced && (file->is_digest || file->tables.length);
}

/* The digest of a file, wherever it is by now; NULL: it has none. */
const struct ss_digest *ss_job_file_digest(const struct ss_job *job,
					   const struct ss_job_file *file);

/* Compares the ranks with each other, once; later calls do nothing. */
SS_MUST_USE
enum ss_status ss_job_join(struct ss_job *job, struct ss_error *err);

/*
 * Joins the ranks and makes the summaries that loading did not make. Fails if a file has neither a
 * trace nor a summary.
 */
SS_MUST_USE
enum ss_status ss_job_make_summaries(struct ss_job *job, const struct ss_job_summarizer *summarizer,
				     struct ss_error *err);

void ss_job_close(struct ss_job *job);

/* flight_files.c: flight recorder dumps and stack files among the files of a job. */

/* Reads the file if it is one, and sets file->has_flight then. */
SS_MUST_USE
enum ss_status ss_job_flight_load(struct ss_job *job, struct ss_job_file *file,
				  struct ss_source *source, struct ss_error *err);

/* Moves dumps to a list of their own, which has room for all, and chooses one per rank. */
void ss_job_take_flights(struct ss_job *job);
void ss_job_release_flights(struct ss_job *job);

/* Makes job->hang, once; later calls do nothing. */
SS_MUST_USE
enum ss_status ss_job_find_hang(struct ss_job *job, struct ss_error *err);

/* live_files.c: live numbers among the files of a job; as above. */

SS_MUST_USE
enum ss_status ss_job_live_load(struct ss_job *job, struct ss_job_file *file,
				struct ss_source *source, struct ss_error *err);
void ss_job_take_lives(struct ss_job *job);
void ss_job_release_lives(struct ss_job *job);
/* Joins the live numbers of all files, once; or anew those of the job of that name. */
SS_MUST_USE
enum ss_status ss_job_find_live(struct ss_job *job, struct ss_error *err);
SS_MUST_USE
enum ss_status ss_job_choose_live(struct ss_job *job, const char *name, struct ss_error *err);

/* capture_files.c: captures of graphs among the files of a job. */

/* Keeps the captures of a trace that was just read. */
SS_MUST_USE
enum ss_status ss_job_note_graphs(struct ss_job *job, struct ss_job_file *file,
				  struct ss_gate *gate, struct ss_error *err);

/* Marks files that are to be read again with the captures; returns how many. */
uint32_t ss_job_plan_joins(struct ss_job *job, uint32_t first);

/* Leaves out files whose captures tell the operators of another file. */
void ss_job_take_captures(struct ss_job *job, uint32_t first);

/* Frees what was read of a file. */
void ss_job_file_release(struct ss_job *job, struct ss_job_file *file);

/* Memory snapshots among the files of a job. */

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

/* Moves snapshots to a list of their own, which has room for all. */
void ss_job_take_snapshots(struct ss_job *job);

/* Finds the trace of each snapshot, once the list of files is sorted. */
void ss_job_match_snapshots(struct ss_job *job);

#endif
