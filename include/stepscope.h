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
 * can fail returns a status and leaves one sentence in `err`, which may be NULL.
 *
 * Structs grow. Each begins with its size, which the caller sets to sizeof; new fields are added at
 * the end, and zero means the default in all of them. So a program runs with every newer library
 * of the same soname, and with an older one as long as it does not use what that lacks. A size of
 * 0 stands for the struct as it was when it first came: fields that were added later are not
 * looked at then. struct ss_error, ss_text and ss_sink have no size and never change.
 *
 * Threads. Calls on different sessions may run in parallel. Of one session, or of runs that share
 * one, one call at a time, with two exceptions: ss_session_cancel() may be called at any time, and
 * routes that are `apart` beside others (ss_ask). Callbacks are called by one thread at a
 * time, not always the one that made the call; a callback must not call into its own session but
 * for ss_session_cancel().
 *
 * Each comment says since which version something is there, and whether it is stable: what is
 * stable stays until the soname changes; what may change can change with any version.
 */
#ifndef STEPSCOPE_H
#define STEPSCOPE_H

#include "stepscope_types.h"

/* The version of this header; ss_version() is that of the library. Since 0.2. Stable. */
#define SS_VERSION_MAJOR 0
#define SS_VERSION_MINOR 2
#define SS_VERSION_PATCH 0
#define SS_VERSION_NUMBER (SS_VERSION_MAJOR * 10000 + SS_VERSION_MINOR * 100 + SS_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Takes what a call writes, piece by piece from its beginning to its end; false stops the call,
 * which fails with SS_ERR_IO then. Since 0.2. Stable.
 */
struct ss_sink {
	bool (*write)(void *context, const char *bytes, size_t length);
	void *context;
};

/* What a long load, or a long answer, has done so far. Since 0.2. Stable. */
struct ss_progress {
	size_t size;         /* set by the library */
	const char *doing;   /* in words: "Reading the traces"; lives as long as the library */
	double share;        /* of all that is to be done, 0 to 1: never less than before */
	const char *path;    /* the file at work; NULL: of an answer, as all below file_count */
	uint32_t file_index; /* from 0; of an answer how many files or replays are done */
	uint32_t file_count;
	uint64_t done_bytes;  /* of the file at work, as it lies on disk */
	uint64_t total_bytes; /* 0 when not known, as for a pipe */
	uint64_t event_count; /* of the file at work */
};

/* Told now and then how far it is; false stops. Since 0.2. Stable. */
typedef bool ss_progress_function(void *context, const struct ss_progress *progress);

struct ss_session;
struct ss_redactor; /* see ss_redactor_new() */

/*
 * A trace that is not on disk, compressed or not: lent memory, or bytes that are pulled.
 * Both must stay until ss_session_open() or ss_session_add() returns. In an array all have the
 * same size. Since 0.2. Stable.
 */
struct ss_input {
	size_t size;
	const char *name; /* stands for its path: tells the rank where the trace does not */
	const void *data; /* NULL: `read` gives the bytes */
	size_t length;
	/*
	 * Fills the buffer with at most `room` bytes and returns how many; 0: the end. One
	 * input is read by one thread at a time, several inputs at once.
	 */
	size_t (*read)(void *context, char *buffer, size_t room);
	void *context;
	uint64_t total_bytes; /* of what `read` gives, for progress; 0: not known */
};

/* What is opened, and how. Since 0.2. Stable. */
struct ss_open_options {
	size_t size;
	const char *const *paths; /* files or folders; "-" is standard input */
	size_t path_count;
	const struct ss_input *inputs; /* files that are not on disk, beside the paths */
	size_t input_count;
	uint32_t threads;            /* 0: as many as the machine has cores */
	uint64_t memory_limit_bytes; /* 0: no limit but the machine's */
	/*
	 * Keeps of each file only what compares ranks, and so the memory of one trace a
	 * thread: enough for views of the job (ss_offer.of_job), not for the others.
	 */
	bool reduce;
	bool snapshots; /* takes snapshots of memory, too; else they are refused */
	bool diagnose;  /* with `reduce`: keeps what "diagnose" and "what-if" need, too */
	ss_progress_function *progress; /* may be NULL */
	void *progress_context;
	/*
	 * Which run, where the files are of several: its number, its name, or a part of either
	 * or of a path. NULL: the newest complete one. Lent until the session is open.
	 */
	const char *run;
	/* Replaces texts that are not public; NULL: none is replaced. Outlives the session. */
	struct ss_redactor *redactor;
};

/*
 * What is asked for. Whatever is zero is the default, and with `what` alone that is everything,
 * of all ranks, as JSON. Since 0.2. Stable.
 */
struct ss_request {
	size_t size;
	const char *what;   /* a view ("steps"), a report ("info"), "diagnose" or "what-if" */
	const char *format; /* "text", "json", "csv", "markdown"; NULL is "json" */
	uint32_t width;     /* text: columns of the terminal; 0 is 80 */
	bool color;         /* text: with ANSI colours */
	uint32_t top;       /* at most this many rows of a table; 0 is all */
	/* "3"; "all": minimum, median and maximum across ranks; NULL: every rank */
	const char *rank;
	const char *step; /* "3", "3-5" or "ProfilerStep#12"; NULL: all */
	/*
	 * "name=value", as in "device=0", "sort=-calls", "group=stack": see ss_option_at(). NULL
	 * ends them. What does not apply to `what` is refused.
	 */
	const char *const *options;
};

/* One option of requests. The texts live as long as the library. Since 0.2. Stable. */
struct ss_option_offer {
	size_t size;
	const char *name;
	const char *summary;
	const char *value; /* how help calls it: "COLUMN" */
};

/* The options of requests by index; false past the end. Since 0.2. Stable. */
SS_API bool ss_option_at(size_t index, struct ss_option_offer *out);

/*
 * Whether the option can be given with this view, report or verdict; views of snapshots are
 * called "snapshot-NAME" here, and "snapshot" is their report. "rank" and "step" can be asked
 * for, too. Since 0.2. Stable.
 */
SS_API bool ss_option_applies(const char *option, const char *what);

/* One view or report, as help and completion list them. Since 0.2. Stable. */
struct ss_offer {
	size_t size;
	bool is_report; /* made of several views */
	bool of_job;    /* about all ranks together */
	bool of_replay; /* and about what waits for what: open with `diagnose` */
	const char *name;
	const char *summary;
};

/*
 * Loads every trace under the paths. A file that cannot be read does not stop
 * the others: the view "files" tells what was wrong with it. Fails when no
 * file could be read at all. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_open(const struct ss_open_options *options,
						  struct ss_session **out, struct ss_error *err);

/*
 * The same in steps, for files that come one after the other, and for loads that another thread
 * may cancel: begin (memory limit and `diagnose` count), add as often as there are files, end.
 * Close the session when one of them fails. Nothing may be asked before the end. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_begin(const struct ss_open_options *options,
						   struct ss_session **out, struct ss_error *err);

/* Loads these beside what was added before. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_add(struct ss_session *session,
						 const struct ss_open_options *options,
						 struct ss_error *err);

/* All files were added; fails when none could be read. Since 0.1. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_end(struct ss_session *session, struct ss_error *err);

/*
 * One trace in memory, with nothing else asked for: see ss_open_options.inputs. Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_open_memory(const void *data, size_t length,
							 const char *name, struct ss_session **out,
							 struct ss_error *err);

/*
 * From now on `progress` is called now and then while an answer takes its time: a verdict, or
 * views of many files. One thread at a time; false stops as soon as that can be, and what was
 * asked for fails with SS_ERR_STOPPED: it can be asked for again. NULL: no more calls.
 * Since 0.2. Stable.
 */
SS_API void ss_session_watch(struct ss_session *session, ss_progress_function *progress,
			     void *context);

/*
 * Stops what is at work on the session as soon as that can be: it fails with SS_ERR_STOPPED. An
 * answer can be asked for again; a session whose load was stopped can only be closed. Has no
 * effect where nothing is at work. Any thread and any signal handler may call it, while the
 * session is not closed. Since 0.2. Stable.
 */
SS_API void ss_session_cancel(struct ss_session *session);

/* Releases all of it. NULL is fine. Since 0.1. Stable. */
SS_API void ss_session_close(struct ss_session *session);

/* How many of the files could not be read; the view "files" says why. Since 0.1. Stable. */
SS_API uint32_t ss_session_failed_count(const struct ss_session *session);

/*
 * How many packs could not be read where the files that they were made of were, instead.
 * Since 0.1. Stable.
 */
SS_API uint32_t ss_session_unread_packs(const struct ss_session *session);

/*
 * How many of the files that were read, snapshots of memory among them, end in the middle or fail
 * the check of their compression: what is made of them lacks events, or is wrong.
 * Since 0.1. Stable.
 */
SS_API uint32_t ss_session_cut_count(const struct ss_session *session);

/* One file of a session. The texts live as long as the session. Since 0.2. Stable. */
struct ss_file {
	size_t size;
	const char *path;
	const char *problem; /* why it could not be read; NULL when it could */
	int64_t rank;        /* -1: not known */
	double load_seconds;
	/* 0 and NULL where it could not be read, and in sessions opened with `reduce` */
	uint64_t events;
	uint64_t unpacked_bytes; /* of the JSON, also where this is a pack of it */
	uint64_t disk_bytes;     /* of the JSON as it lay on disk */
	const char *packed_of;   /* name of the JSON file; NULL: this is no pack */
};

/* How many files there are, those that could not be read among them. Since 0.1. Stable. */
SS_API uint32_t ss_session_file_count(const struct ss_session *session);

/* The files by rank, then by name. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_file(const struct ss_session *session, uint32_t index,
						  struct ss_file *out, struct ss_error *err);

/*
 * Writes a file of the session as a pack, which opens at a small part of the cost and
 * answers everything as the file does (docs/formats/pack.md); *bytes is its length.
 * Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_pack(struct ss_session *session, uint32_t index,
						  const struct ss_sink *sink, uint64_t *bytes,
						  struct ss_error *err);

/*
 * Fails when two files that were read differ in anything that a pack keeps, and so in any figure.
 * A pack that was opened equals the file that it was made of, and not only by its checksums.
 * Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_compare_files(const struct ss_session *a,
							   uint32_t index_a,
							   const struct ss_session *b,
							   uint32_t index_b, struct ss_error *err);

/* Runs a view or report and appends what it renders to `out`. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_session_run(struct ss_session *session,
						 const struct ss_request *request,
						 struct ss_text *out, struct ss_error *err);

/* The runs that are looked at: the first one, and those to compare it with. */
struct ss_runs;

/* An empty list. Since 0.2. Stable. */
SS_API SS_MUST_USE enum ss_status ss_runs_new(struct ss_runs **out, struct ss_error *err);

/*
 * Adds a run. The session is lent: it must stay until the list is freed. Fails where there are as
 * many runs as can be compared. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_runs_add(struct ss_runs *runs, struct ss_session *session,
					      struct ss_error *err);

/* Frees the list, not its sessions. NULL is fine. Since 0.2. Stable. */
SS_API void ss_runs_free(struct ss_runs *runs);

/*
 * Compares a view of two runs: rows about the same thing side by side. `what` NULL: where the
 * step's time goes, and kernels. Options are those of views. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_compare(const struct ss_runs *runs,
					     const struct ss_request *request, struct ss_text *out,
					     struct ss_error *err);

/* What a request of the viewer gets. Since 0.2. May change. */
struct ss_answer {
	size_t size;
	struct ss_text body;    /* bytes: tiles are no text */
	const char *media_type; /* "application/json"; lives as long as the library */
};

/*
 * Answers what the viewer asks: the name of a route and its parameters, written as in a URL:
 * "view/operators?rank=0&top=100". docs/formats/viewer.md has all routes. Release the body
 * afterwards, also when it failed. Routes that are `apart` (ss_route_at) may be asked by a second
 * thread while another one asks others; of each sort one request at a time. Since 0.2. May change.
 */
SS_API SS_MUST_USE enum ss_status ss_ask(const struct ss_runs *runs, const char *target,
					 struct ss_answer *out, struct ss_error *err);

/* One route, as docs and the server list them. Since 0.2. May change. */
struct ss_route_offer {
	size_t size;
	bool apart;         /* of the timeline: quick, and needs nothing that others change */
	bool takes_request; /* beside those it takes format, rank, step, top: see ss_option_at() */
	const char *name;
	const char *summary;
	const char *parameters; /* names, with spaces between them */
};

/* The routes by index; false past the end. Since 0.2. May change. */
SS_API bool ss_route_at(size_t index, struct ss_route_offer *out);

/* What goes into a report. Since 0.2. Stable. */
struct ss_report_options {
	size_t size;
	const void *page; /* the viewer: one HTML file that needs nothing else */
	size_t page_bytes;
	uint64_t max_bytes; /* fails beyond this; 0: no limit */
	const char *rank;   /* only this one: "3"; NULL: every rank */
	const char *step;   /* only what was called in these, as in ss_request; NULL: all */
	const char *link;   /* of the viewer: opens at its place, with its notes; NULL: none */
};

/*
 * Writes a page that shows the runs wherever it is opened: the
 * viewer with the packs of all files that could be read in it. Each stands before
 * </body> as
 *
 *     <script type="application/x-stepscope" data-run="0" data-name="run/rank0.json.gz">
 *
 * with the pack as gzip as base64; data-run is the number of the run. The place of a link
 * stands before them as application/x-stepscope-place, without the key of the server. *bytes is the
 * length of the page. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_report(const struct ss_runs *runs,
						    const struct ss_report_options *options,
						    const struct ss_sink *sink, uint64_t *bytes,
						    struct ss_error *err);

/* What a merge wrote. Since 0.2. Stable. */
struct ss_merged {
	size_t size;
	uint32_t ranks;
	uint32_t unaligned; /* ranks whose clocks cannot be compared with the first one's */
	uint64_t events, bytes;
	uint64_t broken; /* pieces of files that could not be read */
};

/*
 * Writes all files of the session as one trace (Chrome JSON), on one clock, processes
 * and arrows of the ranks kept apart. Reads the files again, so all must be on disk. A session
 * that was opened with `reduce` is enough. Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_session_merge(struct ss_session *session, bool compressed,
						   const struct ss_sink *sink,
						   struct ss_merged *out, struct ss_error *err);

/*
 * Traces and snapshots without what tells whose they are: host names, users, paths, the names of a
 * program's own files, functions, modules and groups become pseudonyms, numbers and times stay
 * (docs/commands/redact.md). Pseudonyms depend on the text and the key: a redactor gives the same
 * ones in all files, and so does another one with the same key. Who has the key can try texts.
 * Since 0.1. Stable.
 */
#define SS_REDACTOR_KEY_BYTES 16

/*
 * `keep` are classes that stay: "modules", "groups", "paths", with commas between them; or NULL. A
 * key of NULL makes one that replaces nothing and counts what the files of a session hold.
 * Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_redactor_new(const unsigned char *key, const char *keep,
						  struct ss_redactor **out, struct ss_error *err);

/* NULL is fine; not before the sessions that it was given to are closed. Since 0.1. Stable. */
SS_API void ss_redactor_free(struct ss_redactor *redactor);

/*
 * What was changed so far: "text" is a line, "json" an object with counts. Never the texts.
 * Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_redactor_tell(struct ss_redactor *redactor, const char *format,
						   struct ss_text *out, struct ss_error *err);

/*
 * The changed texts with what stands for them, one JSON object per line: for their owner.
 * Since 0.1. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_redactor_list(struct ss_redactor *redactor,
						   struct ss_text *out, struct ss_error *err);

/* Appends the name under which a file may be passed on. Since 0.1. Stable. */
SS_API SS_MUST_USE enum ss_status ss_redactor_name(struct ss_redactor *redactor, const char *name,
						   struct ss_text *out, struct ss_error *err);

/*
 * Writes a trace or a snapshot anew; *bytes is its length. *is_whole is false where the compressed
 * data is cut or damaged: its copy has what could be read, and does not show it.
 * Since 0.2. Stable.
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
 * Views of memory: of a snapshot (what torch.cuda.memory._dump_snapshot() writes, read as data
 * only; the session must have been opened with `snapshots`) or of a trace with [memory].
 * request->what names the view, NULL is a report of the ones that matter; request->rank chooses
 * where the session has several. `before` is what the view "diff" compares with; may be NULL.
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
 * One cause that was planted in a simulated job. The texts live as long as the library. Since 0.2.
 * May change.
 */
struct ss_planted {
	size_t size; /* set by the library */
	const char *name, *summary, *fix;
	int64_t rank;    /* the guilty one; -1: all */
	int64_t cost_ns; /* of the mean step: with it less without it, the others as they are */
};

/*
 * A simulated job: traces as a profiler would have written them, one file a rank,
 * and truth.json, which says what was planted in the job and what it costs.
 * Fields that are 0 or NULL are left to the preset, or to a default. Since 0.2. May change.
 */
struct ss_simulation {
	size_t size;
	const char *folder; /* that the files appear in, all at once; made when it is not there */
	/*
	 * Instead of the folder: takes the traces, rank after rank. begin_rank is called before
	 * the bytes of each; false stops.
	 */
	const struct ss_sink *sink;
	bool (*begin_rank)(void *context, uint32_t rank); /* may be NULL */
	void *begin_rank_context;
	const char *preset;   /* "ddp8-straggler"; NULL: layout and device */
	const char *layout;   /* "single", "ddp", "fsdp", "tensor", "pipeline", "inference" */
	const char *device;   /* "v100", "a100", "h100", "b200", "mi300x" */
	const char *causes;   /* planted beside the preset's: "straggler=0.3,sync-item" */
	const char *without;  /* causes of those that are left out */
	const char *settings; /* "accumulate=4,stack=0"; the list "settings" has all */
	uint32_t ranks, steps;
	uint64_t seed;
	bool plain;                /* .json files instead of .json.gz */
	bool sync_rows;            /* records which stream waits for which event */
	bool sequence;             /* numbers collectives ("Seq"), as newer versions of torch do */
	bool has_clocks;           /* the next two count, also when they are 0 */
	int64_t clock_offset_ns;   /* clocks of hosts differ by up to this much */
	uint32_t drift_ppb;        /* and run apart by up to this much */
	uint32_t lost_per_million; /* events that do not get into the files */
	uint32_t threads;          /* 0: as many as the machine has cores */
	/*
	 * Called before the first file, while ranks are written and after each, by one
	 * thread at a time; false stops, and nothing is left. May be NULL.
	 */
	bool (*progress)(void *context, uint32_t done, uint32_t count);
	void *progress_context;
	/* Told of each cause that was planted when all is written. May be NULL. */
	void (*planted)(void *context, const struct ss_planted *planted);
	void *planted_context;
};

/* What was simulated. Since 0.2. May change. */
struct ss_simulated {
	size_t size;
	uint32_t ranks, steps;
	uint64_t events, bytes;
	int64_t step_ns;         /* mean over ranks and steps */
	int64_t healthy_step_ns; /* with every cause fixed */
};

/* The job that `demo` and the page show to those who have no trace at hand. May change. */
#define SS_DEMO_PRESET "ddp8-slow"

/* Simulates the job and writes its traces. Since 0.2. May change. */
SS_API SS_MUST_USE enum ss_status ss_simulate(const struct ss_simulation *simulation,
					      struct ss_simulated *out, struct ss_error *err);

/*
 * Renders the list that request->what names: "presets", "causes" or "settings". Since 0.2. May
 * change.
 */
SS_API SS_MUST_USE enum ss_status ss_simulation_list(const struct ss_request *request,
						     struct ss_text *out, struct ss_error *err);

/*
 * Renders the page of the rule that request->what names, or with NULL the list of all rules.
 * Since 0.2. Stable.
 */
SS_API SS_MUST_USE enum ss_status ss_explain(const struct ss_request *request, struct ss_text *out,
					     struct ss_error *err);

/* "0.2.0". Since 0.1. Stable. */
SS_API const char *ss_version(void);

#ifdef __cplusplus
}
#endif

#endif
