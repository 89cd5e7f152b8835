/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the contents of a session, for the files of this folder and for surfaces that read
 * columns where they are (src/sql).
 */
#ifndef SS_API_SESSION_H
#define SS_API_SESSION_H

#include "analyze/facts.h"
#include "diagnose/diagnose.h"
#include "load/job.h"
#include "render/render.h"
#include "timeline/path.h"
#include "timeline/timeline.h"
#include "stepscope.h"
#include "stepscope_arrow.h"
#include "load/identity.h"
#include "memory/area/area.h"

/*
 * The memory data of a session: its snapshots, and traces with memory events.
 *
 * They are numbered together: the snapshots by name, then the traces in their order. Those of
 * traces are computed when they are first requested, and kept.
 */

struct ss_gate; /* base/system/thread.h */

struct ss_memories {
	struct ss_gate *gate;      /* two threads may request it at the same time */
	struct ss_opened **traced; /* per file of the job; NULL: not computed yet */
	uint32_t count;
};

/* An entry of the list; listing does not compute it. */
struct ss_memory_entry {
	const char *path;         /* as it is shown */
	int64_t rank;             /* -1: not known */
	uint32_t file;            /* in job->files; SS_NO_ROW: it is a snapshot */
	struct ss_opened *opened; /* NULL: not computed yet */
};

uint32_t ss_memories_count(const struct ss_job *job);
void ss_memories_at(const struct ss_job *job, uint32_t number, struct ss_memory_entry *out);

/* The run that the entry belongs to. */
void ss_memories_identity(const struct ss_job *job, uint32_t number, struct ss_identity *out);

SS_MUST_USE
enum ss_status ss_memories_open(struct ss_memories *memories, const struct ss_job *job,
				uint32_t number, const struct ss_opened **out,
				struct ss_error *err);
void ss_memories_release(struct ss_memories *memories, struct ss_memory *memory);

/* --- areas drawn from it ----------------------------------------------------------------- */

/* Two ways of stacking for each of two devices; an area takes one byte per event. */
#define SS_AREAS_MAX 4

struct ss_areas {
	struct ss_area items[SS_AREAS_MAX]; /* the oldest first */
	uint32_t count;
};

/* Made on the first request; valid until the next call. */
SS_MUST_USE
enum ss_status ss_areas_find(struct ss_areas *areas, const struct ss_opened *opened,
			     const struct ss_device_memory *device, enum ss_area_group group,
			     const struct ss_area **out, struct ss_error *err);
void ss_areas_release(struct ss_areas *areas);

struct ss_session {
	struct ss_memory memory;
	struct ss_job job;
	struct ss_progress_report watch; /* of the job */
	struct ss_gate *gate;            /* routes run in parallel: one of them unpacks columns */
	/* its paths and --run, quoted for a shell; empty: not on disk, or redacted */
	struct ss_text shell_paths;
	struct ss_facts facts;       /* of the file that a view was run on last */
	struct ss_timeline timeline; /* without files: not made yet */
	/*
	 * Of the rank requested last, or of all ranks; without memory: not made yet. It owns the
	 * graphs of the ranks, so another replay of all ranks uses that of the diagnosis.
	 */
	struct ss_diagnosis diagnosis;
	int64_t diagnosed_rank;
	bool is_diagnosed;           /* it is complete: the last request was not a what-if */
	struct ss_memories memories; /* of traces; computed on request */
	struct ss_areas areas;       /* of snapshots that were drawn last */
	struct ss_shown_path path;   /* of all ranks; without memory: not made yet */
};

/* The most runs that a report or the viewer shows. */
#define SS_RUNS_MAX 2

struct ss_own_routes; /* viewer/route.h */

struct ss_runs {
	struct ss_session *sessions[SS_RUNS_MAX]; /* lent */
	uint32_t count;
	const struct ss_own_routes *own; /* lent: routes of a surface; NULL: none */
};

/* session.c: a call begins; earlier cancellations do not affect it. */
void ss_session_start(struct ss_session *session);

/*
 * session.c: unpacks all columns of its traces. Call it before they are read, once the call has
 * begun.
 */
SS_MUST_USE
enum ss_status ss_session_need(struct ss_session *session, struct ss_error *err);

/* session.c: the same for all of them. */
SS_MUST_USE
enum ss_status ss_runs_need(const struct ss_runs *runs, struct ss_error *err);

/* session.c: a call on all of them begins. */
void ss_runs_start(const struct ss_runs *runs);

/* session.c: fails if there are only memory snapshots. */
SS_MUST_USE
enum ss_status ss_session_has_trace(const struct ss_session *session, struct ss_error *err);

struct ss_wanted; /* request/request.h */

/* diagnose.c: "diagnose" or "what-if". */
SS_MUST_USE
enum ss_status ss_session_diagnose(struct ss_session *session, const struct ss_wanted *wanted,
				   struct ss_text *out, struct ss_error *err);

/* diagnose.c: the findings as Arrow. */
SS_MUST_USE
enum ss_status ss_session_findings(struct ss_session *session, const struct ss_wanted *wanted,
				   struct ArrowArrayStream *out, struct ss_error *err);

/* compare.c: ss_compare() of a parsed request. */
SS_MUST_USE
enum ss_status ss_compare_runs(const struct ss_runs *runs, const struct ss_wanted *wanted,
			       struct ss_text *out, struct ss_error *err);

/*
 * diagnose.c: the verdict on a rank or on all ranks; computed once, valid until the next request. A
 * what-if selects among its findings.
 */
SS_MUST_USE
enum ss_status ss_session_verdict(struct ss_session *session,
				  const struct ss_diagnose_options *options,
				  const struct ss_diagnosis **out, struct ss_error *err);

/* replay.c: the critical path of all ranks; made once. */
SS_MUST_USE
enum ss_status ss_session_path(struct ss_session *session, struct ss_timeline *timeline,
			       const struct ss_shown_path **out, struct ss_error *err);

/* replay.c: runs a view of the replay of all ranks. */
enum ss_status ss_session_replay(struct ss_session *session, const struct ss_view *view,
				 uint32_t group, struct ss_table *out, struct ss_error *err);

/* shell.c: appends the paths, each quoted if the shell needs it. */
void ss_shell_add_paths(struct ss_text *out, const char *const *paths, size_t count);

/* shell.c: adds one word of a command line. */
void ss_shell_add_word(struct ss_text *out, const char *word);

#endif
