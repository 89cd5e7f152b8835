/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepscope.h - the public interface of libstepscope.
 *
 * A session holds the traces of one job. Open it, run views on it, close it (examples/steps.c):
 *
 *     #include <stdio.h>
 *     #include <stepscope.h>
 *
 *     int main(int argc, char **argv)
 *     {
 *     	struct ss_open_options open = { .size = sizeof(open),
 *     					.paths = (const char *const *)argv + 1,
 *     					.path_count = (size_t)argc - 1 };
 *     	struct ss_request request = { .size = sizeof(request), .what = "steps", .format = "csv" };
 *     	struct ss_session *session = NULL;
 *     	struct ss_text out = { 0 };
 *     	struct ss_error err = { 0 };
 *     	enum ss_status status = ss_session_open(&open, &session, &err);
 *
 *     	if (status == SS_OK)
 *     		status = ss_session_run(session, &request, &out, &err);
 *     	if (status == SS_OK)
 *     		fwrite(out.data, 1, out.length, stdout);
 *     	else
 *     		fprintf(stderr, "steps: %s\n", err.text);
 *     	ss_text_release(&out);
 *     	ss_session_close(session);
 *     	return status == SS_OK ? 0 : 1;
 *     }
 *
 * The library never prints, exits, reads the environment or keeps global state. Every call that
 * can fail returns a status and writes one sentence to `err`, which may be NULL.
 *
 * Structs can grow. Each begins with its size, which the caller sets to sizeof. New versions add
 * fields at the end, and zero is the default of every field. So a program runs with every newer
 * library of the same soname, and with an older one as long as it does not use fields that the
 * older one lacks. A size of 0 means the struct of the first version that had it: the library
 * ignores later ones. struct ss_error, ss_text and ss_sink have no size and never change.
 *
 * Threads. Calls on different sessions may run in parallel. On one session, or on runs that share
 * a session, only one call may run at a time, with two exceptions: ss_session_cancel() may be
 * called at any time, and routes that are `apart` may run beside others (ss_ask). The library
 * calls callbacks from one thread at a time, which is not always the thread that made the call. A
 * callback must not call into its own session, except ss_session_cancel().
 *
 * Each comment names the version that added an item and says whether it is stable. What is stable
 * does not change until the soname changes; what may change can change with any version.
 */
#ifndef STEPSCOPE_H
#define STEPSCOPE_H

#include "stepscope_types.h"

/* The version of this header; ss_version() returns that of the library. Since 0.2. Stable. */
#define SS_VERSION_MAJOR 0
#define SS_VERSION_MINOR 2
#define SS_VERSION_PATCH 0
#define SS_VERSION_NUMBER (SS_VERSION_MAJOR * 10000 + SS_VERSION_MINOR * 100 + SS_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Receives the output of a call, piece by piece and in order. Return false to stop the call, which
 * then fails with SS_ERR_IO. Since 0.2. Stable.
 */
struct ss_sink {
	bool (*write)(void *context, const char *bytes, size_t length);
	void *context;
};

/* The progress of a long load or a long answer. Since 0.2. Stable. */
struct ss_progress {
	size_t size;       /* set by the library */
	const char *doing; /* "Reading the traces"; valid as long as the library is loaded */
	double share;      /* share of all work that is done, 0 to 1; never decreases */
	const char *path;  /* current file; for an answer NULL, and all below file_count is 0 */
	uint32_t file_index, file_count;  /* index from 0; for an answer: done files or replays */
	uint64_t done_bytes;              /* of the current file, in bytes on disk */
	uint64_t total_bytes;             /* 0 if unknown, for example for a pipe */
	uint64_t event_count;             /* of the current file */
	uint32_t trace_count, step_count; /* traces read so far, and their measured steps */
	int64_t steps_ns;                 /* time of these steps in total */
};

/* Called from time to time with the progress; return false to stop. Since 0.2. Stable. */
typedef bool ss_progress_function(void *context, const struct ss_progress *progress);

struct ss_session;
struct ss_redactor; /* see ss_redactor_new() */

/*
 * A trace that is not on disk, compressed or not: a buffer, or a function that returns its bytes.
 * Both must stay valid until ss_session_open() or ss_session_add() returns. All inputs of an array
 * must have the same `size`. Since 0.2. Stable.
 */
struct ss_input {
	size_t size;
	const char *name; /* in place of a path: gives the rank if the trace does not */
	const void *data; /* NULL: `read` returns the bytes */
	size_t length;
	/*
	 * Fills the buffer with at most `room` bytes and returns how many; 0 is the end. One
	 * thread at a time reads an input; several inputs may be read at once.
	 */
	size_t (*read)(void *context, char *buffer, size_t room);
	void *context;
	uint64_t total_bytes; /* what `read` will return in total, for progress; 0: unknown */
};

enum ss_open_live { SS_OPEN_LIVE_TOO, SS_OPEN_LIVE_FIRST, SS_OPEN_LIVE_ALONE };

/* What to open, and how. Since 0.2. Stable. */
struct ss_open_options {
	size_t size;
	const char *const *paths; /* files or folders; "-" is standard input */
	size_t path_count;
	const struct ss_input *inputs; /* files that are not on disk, in addition to the paths */
	size_t input_count;
	uint32_t threads;            /* 0: one per core */
	uint64_t memory_limit_bytes; /* 0: no limit */
	/*
	 * Keeps only what is needed to compare ranks, so that each thread holds one trace in
	 * memory. This is enough for views of the job (ss_offer.of_job), not for others.
	 */
	bool reduce;
	bool snapshots; /* accepts memory snapshots, too; otherwise they are refused */
	bool diagnose;  /* with `reduce`: also keeps what "diagnose" and "what-if" need */
	ss_progress_function *progress; /* may be NULL */
	void *progress_context;
	/* Of several runs: a number, or a part of a name or path; NULL: the newest complete one. */
	/* Must stay valid until the session is open. */
	const char *run;
	/* Replaces private texts; NULL: replaces nothing. Must outlive the session. */
	struct ss_redactor *redactor;
	uint64_t tables;       /* 1, with `reduce`: digests have the main views of one rank, too */
	uint64_t live;         /* enum ss_open_live: of folders all, live numbers first, alone */
	const char *leave_out; /* a file that is not read where a folder has it; NULL: none */
	uint64_t file_limit;   /* more files are refused; 0: 100,000 */
};

/*
 * A request. A field that is zero has its default; with `what` alone, the answer has all rows of
 * all ranks, as JSON. Since 0.2. Stable.
 */
struct ss_request {
	size_t size;
	const char *what;   /* a view ("steps"), a report ("info"), "diagnose" or "what-if" */
	const char *format; /* "text", "json", "csv", "markdown"; NULL is "json" */
	uint32_t width;     /* text: columns of the terminal; 0: 80 */
	bool color;         /* text: use ANSI colours */
	uint32_t top;       /* show at most this many rows per table; 0: all */
	/* "3"; "all": minimum, median and maximum across ranks; NULL: every rank */
	const char *rank;
	const char *step; /* "3", "3-5" or "ProfilerStep#12"; NULL: all */
	/*
	 * "name=value", such as "device=0", "sort=-calls", "group=stack": see ss_option_at(). A
	 * NULL ends the list. Options that do not apply to `what` are refused.
	 */
	const char *const *options;
	/* text: show at most this many rows of a view, and say how many there are; 0: all */
	size_t rows;
};

/* An option of requests. The texts are static. Since 0.2. Stable. */
struct ss_option_offer {
	size_t size;
	const char *name;
	const char *summary;
	const char *value; /* name of the value in help: "COLUMN"; "1": it needs none */
};

/* The options of requests by index; false past the end. Since 0.2. Stable. */
SS_API bool ss_option_at(size_t index, struct ss_option_offer *out);

/*
 * Whether the option applies to this view, report or verdict. Views of snapshots are called
 * "snapshot-NAME" here, and "snapshot" is their report. `option` may also be "rank" or "step".
 * Since 0.2. Stable.
 */
SS_API bool ss_option_applies(const char *option, const char *what);

/* A view or report, as help and completion list them. Since 0.2. Stable. */
struct ss_offer {
	size_t size;
	bool is_report; /* made of several views */
	bool of_job;    /* about all ranks together */
	bool of_replay; /* needs the replay: open the session with `diagnose` */
	bool of_live;   /* about live numbers: open the session with `live` */
	const char *name;
	const char *summary;
};

/*
 * Loads every trace under the paths. A file that cannot be read does not stop
 * the others: the view "files" says what was wrong with it. Fails if no
 * file could be read at all. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_open(const struct ss_open_options *options,
						  struct ss_session **out, struct ss_error *err);

/*
 * The same in steps, for files that arrive one after the other, and for loads that another thread
 * may cancel: call ss_session_begin() (which uses the memory limit and `diagnose`), then
 * ss_session_add() once or more, then ss_session_end(). If one of them fails, close the session.
 * Make no requests before the end. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_begin(const struct ss_open_options *options,
						   struct ss_session **out, struct ss_error *err);

/* Loads these in addition to what was added before. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_add(struct ss_session *session,
						 const struct ss_open_options *options,
						 struct ss_error *err);

/* Ends the load; fails if no file could be read. Since 0.1. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_end(struct ss_session *session, struct ss_error *err);

/*
 * Opens one trace in memory with default options: see ss_open_options.inputs. Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_open_memory(const void *data, size_t length,
							 const char *name, struct ss_session **out,
							 struct ss_error *err);

/*
 * From now on, calls `progress` from time to time during long requests (a verdict, or views of many
 * files), from one thread at a time. If it returns false, the request stops as soon as possible and
 * fails with SS_ERR_STOPPED; it can be repeated. NULL: no more calls. Since 0.2. Stable.
 */
SS_API void ss_session_watch(struct ss_session *session, ss_progress_function *progress,
			     void *context);

/*
 * Stops the call that runs on the session as soon as possible: that call fails with
 * SS_ERR_STOPPED. A request can be repeated; a session whose load was stopped can only be closed.
 * Has no effect if no call is running. Any thread and any signal handler may call it until the
 * session is closed. Since 0.2. Stable.
 */
SS_API void ss_session_cancel(struct ss_session *session);

/* Frees the session. NULL is fine. Since 0.1. Stable. */
SS_API void ss_session_close(struct ss_session *session);

/* Number of files that could not be read; the view "files" says why. Since 0.1. Stable. */
SS_API uint32_t ss_session_failed_count(const struct ss_session *session);

/*
 * Number of packs that could not be read, so that their original files were read instead.
 * Since 0.1. Stable.
 */
SS_API uint32_t ss_session_unread_packs(const struct ss_session *session);

/*
 * Number of files, including memory snapshots, that were read but are truncated or fail the
 * checksum of their compression: results from them lack events or are wrong. Since 0.1. Stable.
 */
SS_API uint32_t ss_session_cut_count(const struct ss_session *session);

/* A file of a session. The texts live as long as the session. Since 0.2. Stable. */
struct ss_file {
	size_t size;
	const char *path;
	const char *problem; /* why it could not be read; NULL if it was read */
	int64_t rank;        /* -1: unknown */
	double load_seconds;
	/* 0 and NULL if it could not be read, and in sessions opened with `reduce` */
	uint64_t events;
	uint64_t unpacked_bytes; /* of the JSON, also if this is its pack */
	uint64_t disk_bytes;     /* of the JSON file on disk, compressed or not */
	const char *packed_of;   /* name of the JSON file; NULL: this is not a pack */
};

/* Number of files, including those that could not be read. Since 0.1. Stable. */
SS_API uint32_t ss_session_file_count(const struct ss_session *session);

/* A file by index; files are sorted by rank, then by name. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_file(const struct ss_session *session, uint32_t index,
						  struct ss_file *out, struct ss_error *err);

/*
 * Writes a file of the session as a pack, which opens much faster and gives the same
 * answers as the file (docs/formats/pack.md); *bytes is its length.
 * Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_pack(struct ss_session *session, uint32_t index,
						  const struct ss_sink *sink, uint64_t *bytes,
						  struct ss_error *err);

/*
 * The same with columns that are not compressed: the viewer in a browser reads only these.
 * Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_pack_plain(struct ss_session *session, uint32_t index,
							const struct ss_sink *sink, uint64_t *bytes,
							struct ss_error *err);

/*
 * Writes what a job needs of a file as a digest (docs/formats/digest.md): views of the job,
 * "diagnose" and "what-if" give the same answers from digests as from the files. The session must
 * be open with `reduce` and `diagnose`, and nothing asked of it yet. `origin` is the path at which
 * the file can be opened later; *bytes is the length of the digest. A file that could not be read
 * becomes a digest that says so; SS_ERR_MISSING: it is no trace at all. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_digest(struct ss_session *session, uint32_t index,
						    const char *origin, const struct ss_sink *sink,
						    uint64_t *bytes, struct ss_error *err);

/*
 * Fails if two files differ in anything that a pack keeps, and so in any figure. A pack equals the
 * file that it was made from: this compares the data, not only checksums. Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_compare_files(const struct ss_session *a,
							   uint32_t index_a,
							   const struct ss_session *b,
							   uint32_t index_b, struct ss_error *err);

/* Runs a view or report and appends its output to `out`. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_run(struct ss_session *session,
						 const struct ss_request *request,
						 struct ss_text *out, struct ss_error *err);

/* A list of runs: the first one, and those to compare it with. */
struct ss_runs;

/* Creates an empty list. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_runs_new(struct ss_runs **out, struct ss_error *err);

/*
 * Adds a run. The caller keeps the session, and must keep it open until the list is freed. Fails if
 * the list already has as many runs as can be compared. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_runs_add(struct ss_runs *runs, struct ss_session *session,
					      struct ss_error *err);

/* Frees the list, not its sessions. NULL is fine. Since 0.2. Stable. */
SS_API void ss_runs_free(struct ss_runs *runs);

/*
 * Compares a view of two runs: rows about the same thing side by side. If `what` is NULL, compares
 * where step time goes, and kernels. Options are those of views. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_compare(const struct ss_runs *runs,
					     const struct ss_request *request, struct ss_text *out,
					     struct ss_error *err);

/* The answer to a request of the viewer. Since 0.2. May change. */
struct ss_answer {
	size_t size;
	struct ss_text body;    /* bytes: tiles are not text */
	const char *media_type; /* "application/json"; a static text */
};

/*
 * Answers a request of the viewer: the name of a route and its parameters, written as in a URL:
 * "view/operators?rank=0&top=100". docs/formats/viewer.md lists all routes. Release the body
 * afterwards, also if the call failed. One thread may request routes that are `apart`
 * (ss_route_at) while another one requests the others; each kind takes one request at a time.
 * Since 0.2. May change.
 */
SS_API SS_MUST_USE enum ss_status ss_ask(const struct ss_runs *runs, const char *target,
					 struct ss_answer *out, struct ss_error *err);

/* A route, as docs and the server list them. Since 0.2. May change. */
struct ss_route_offer {
	size_t size;
	bool apart;         /* part of the timeline: fast, and independent of other routes */
	bool takes_request; /* also takes format, rank, step, top: see ss_option_at() */
	const char *name;
	const char *summary;
	const char *parameters; /* names, separated by spaces */
};

/* The routes by index; false past the end. Since 0.2. May change. */
SS_API bool ss_route_at(size_t index, struct ss_route_offer *out);

/* The contents of a report. Since 0.2. Stable. */
struct ss_report_options {
	size_t size;
	const void *page; /* the viewer: one self-contained HTML file */
	size_t page_bytes;
	uint64_t max_bytes; /* fails if the report is larger; 0: no limit */
	const char *rank;   /* only this rank: "3"; NULL: every rank */
	const char *step;   /* only what was launched in these steps, as in ss_request; NULL: all */
	const char *link;   /* of the viewer: opens at its position, with its notes; NULL: none */
};

/*
 * Writes one HTML page that shows the runs without a server: the
 * viewer with the packs of all files that could be read. Each pack stands before
 * </body> as
 *
 *     <script type="application/x-stepscope" data-run="0" data-name="run/rank0.json.gz">
 *
 * with the gzipped pack in base64; data-run is the number of the run. The position of a link
 * stands before them as application/x-stepscope-place, without the server's token. *bytes is the
 * length of the page. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_report(const struct ss_runs *runs,
						    const struct ss_report_options *options,
						    const struct ss_sink *sink, uint64_t *bytes,
						    struct ss_error *err);

/* The result of a merge. Since 0.2. Stable. */
struct ss_merged {
	size_t size;
	uint32_t ranks;
	uint32_t unaligned; /* ranks whose clocks could not be aligned with the first rank */
	uint64_t events, bytes;
	uint64_t broken; /* events that could not be read */
};

/*
 * Writes all files of the session as one trace (Chrome JSON) with one clock, and keeps the
 * processes and arrows of the ranks apart. Reads the files again, so all must be on disk. A session
 * opened with `reduce` is enough. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_merge(struct ss_session *session, bool compressed,
						   const struct ss_sink *sink,
						   struct ss_merged *out, struct ss_error *err);

/*
 * A redactor removes what identifies the owner of traces and snapshots: host names, users, paths
 * and the names of a program's own files, functions, modules and groups become pseudonyms. Numbers
 * and times stay (docs/commands/redact.md). A pseudonym depends on the text and the key: every
 * redactor with the same key gives the same pseudonyms, in all files. Whoever has the key can test
 * guesses.
 * Since 0.1. Stable.
 */
#define SS_REDACTOR_KEY_BYTES 16

/*
 * `keep` lists classes of names that stay: "modules", "groups", "paths", separated by commas; or
 * NULL. If the key is NULL, the redactor replaces nothing and only counts what the files of a
 * session contain. Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_redactor_new(const unsigned char *key, const char *keep,
						  struct ss_redactor **out, struct ss_error *err);

/* NULL is fine. Close the sessions that use the redactor first. Since 0.1. Stable. */
SS_API void ss_redactor_free(struct ss_redactor *redactor);

/*
 * Counts of what was replaced so far: "text" is one line, "json" an object. Never contains the
 * texts. Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_redactor_tell(struct ss_redactor *redactor, const char *format,
						   struct ss_text *out, struct ss_error *err);

/*
 * The replaced texts with their pseudonyms, one JSON object per line: keep this private.
 * Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_redactor_list(struct ss_redactor *redactor,
						   struct ss_text *out, struct ss_error *err);

/* Appends the name under which a file may be shared. Since 0.1. Stable. */
SS_API SS_MUST_USE enum ss_status ss_redactor_name(struct ss_redactor *redactor, const char *name,
						   struct ss_text *out, struct ss_error *err);

/*
 * Writes a redacted copy of a trace or a snapshot; *bytes is its length. *is_whole is false if the
 * compressed data is truncated or damaged: the copy then has what could be read, but does not say
 * so itself. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_redactor_copy(struct ss_redactor *redactor, const char *path,
						   bool compressed, const struct ss_sink *sink,
						   uint64_t *bytes, bool *is_whole,
						   struct ss_error *err);

/* The reports and views by index, in the order of help; false past the end. Since 0.2. Stable. */
SS_API bool ss_offer_at(size_t index, struct ss_offer *out);

/*
 * The groups of a view by index, the default first; NULL past the end. Since 0.1. Stable.
 */
SS_API const char *ss_group_at(const char *view, size_t index);

/* The formats by index; NULL past the end. Since 0.1. Stable. */
SS_API const char *ss_format_at(size_t index);

/*
 * Views of memory, from a snapshot (written by torch.cuda.memory._dump_snapshot(), read as data
 * only; open the session with `snapshots`) or from a trace with memory events. request->what names
 * the view; NULL is a report of the most important views. request->rank chooses a file if the
 * session has several. The view "diff" compares with `before`, which may be NULL.
 * Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_memory(struct ss_session *session,
						    struct ss_session *before,
						    const struct ss_request *request,
						    struct ss_text *out, struct ss_error *err);

/* The views of snapshots by index, in the order of help; false past the end. Since 0.2. Stable. */
SS_API bool ss_snapshots_offer_at(size_t index, struct ss_offer *out);

/* The groups of a view of snapshots by index; NULL past the end. Since 0.1. Stable. */
SS_API const char *ss_snapshots_group_at(const char *view, size_t index);

/*
 * A cause of slow steps that was put into a simulated job. The texts are static. Since 0.2.
 * May change.
 */
struct ss_planted {
	size_t size; /* set by the library */
	const char *name, *summary, *fix;
	int64_t rank;    /* the rank that has it; -1: all */
	int64_t cost_ns; /* per mean step: time with it minus time without it, other causes kept */
};

/*
 * A simulated job: traces as a profiler would have written them, one file per rank,
 * and truth.json, which says what slows the job down and what it costs.
 * Fields that are 0 or NULL are taken from the preset, or have a default. Since 0.2. May change.
 */
struct ss_simulation {
	size_t size;
	const char *folder; /* for the files, which appear all at once; created if missing */
	/*
	 * Instead of a folder: receives the traces, rank after rank. begin_rank is called before
	 * the bytes of each rank; return false to stop.
	 */
	const struct ss_sink *sink;
	bool (*begin_rank)(void *context, uint32_t rank); /* may be NULL */
	void *begin_rank_context;
	const char *preset;   /* "ddp8-straggler"; NULL: layout and device */
	const char *layout;   /* "single", "ddp", "fsdp", "tensor", "pipeline", "inference" */
	const char *device;   /* "v100", "a100", "h100", "b200", "mi300x" */
	const char *causes;   /* in addition to the preset's: "straggler=0.3,sync-item" */
	const char *without;  /* causes to leave out */
	const char *settings; /* "accumulate=4,stack=0"; ss_simulation_list() lists them */
	uint32_t ranks, steps;
	uint64_t seed;
	bool plain;                /* .json files instead of .json.gz */
	bool sync_rows;            /* record which stream waits for which event */
	bool sequence;             /* number collectives ("Seq"), as newer versions of PyTorch do */
	bool has_clocks;           /* use the next two fields, even if they are 0 */
	int64_t clock_offset_ns;   /* largest difference between host clocks */
	uint32_t drift_ppb;        /* largest drift between host clocks */
	uint32_t lost_per_million; /* events that are missing from the files */
	uint32_t threads;          /* 0: one per core */
	/*
	 * Called before the first file, while ranks are written and after each rank, by one
	 * thread at a time. Return false to stop; no files are left then. May be NULL.
	 */
	bool (*progress)(void *context, uint32_t done, uint32_t count);
	void *progress_context;
	/* Called for each cause after everything is written. May be NULL. */
	void (*planted)(void *context, const struct ss_planted *planted);
	void *planted_context;
};

/* The result of a simulation. Since 0.2. May change. */
struct ss_simulated {
	size_t size;
	uint32_t ranks, steps;
	uint64_t events, bytes;
	int64_t step_ns;         /* mean over ranks and steps */
	int64_t healthy_step_ns; /* with all causes fixed */
};

/* The job that `demo` and the viewer show if there is no trace at hand. May change. */
#define SS_DEMO_PRESET "ddp8-slow"

/* Simulates the job and writes its traces. Since 0.2. May change. */
SS_API SS_MUST_USE enum ss_status ss_simulate(const struct ss_simulation *simulation,
					      struct ss_simulated *out, struct ss_error *err);

/* Renders the list request->what: "presets", "causes" or "settings". Since 0.2. May change. */
SS_API SS_MUST_USE enum ss_status ss_simulation_list(const struct ss_request *request,
						     struct ss_text *out, struct ss_error *err);

/*
 * The names of JSON Schemas by index: of views, reports, verdicts and comparisons; NULL past the
 * end. Since 0.2. May change.
 */
SS_API const char *ss_schema_at(size_t index);

/* Appends the JSON Schema (2020-12) of that name. Since 0.2. May change. */
SS_API SS_MUST_USE enum ss_status ss_schema(const char *name, struct ss_text *out,
					    struct ss_error *err);

/*
 * Renders the page of the rule, or the entry of the glossary, that request->what names; with NULL
 * the list of all rules. A page is text for a terminal if the format is "text", and Markdown
 * otherwise. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_explain(const struct ss_request *request, struct ss_text *out,
					     struct ss_error *err);

/* "0.2.0". Since 0.1. Stable. */
SS_API const char *ss_version(void);

#ifdef __cplusplus
}
#endif

#endif
