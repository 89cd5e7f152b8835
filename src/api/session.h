/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - the contents of a session, for the files of this folder.
 */
#ifndef SS_API_SESSION_H
#define SS_API_SESSION_H

#include "analyze/facts.h"
#include "api/areas.h"
#include "api/memories.h"
#include "api/place.h"
#include "diagnose/diagnose.h"
#include "load/job.h"
#include "render/render.h"
#include "timeline/path.h"
#include "timeline/timeline.h"
#include "stepscope.h"
#include "stepscope_arrow.h"

struct ss_session {
	struct ss_memory memory;
	struct ss_job job;
	struct ss_watch watch; /* of the job */
	struct ss_gate *gate;  /* of routes that run beside each other: who unpacks columns */
	struct ss_text place; /* its paths and --run for a shell; empty: not on disk, or redacted */
	struct ss_facts facts;       /* of the file that a view was run on last */
	struct ss_timeline timeline; /* without files: not made yet */
	/*
	 * Of the rank that was asked for last, or of all; without memory: not made yet. It has
	 * the graphs of the ranks in its hands: another replay of all of them uses this one's.
	 */
	struct ss_diagnosis diagnosis;
	int64_t diagnosed_rank;
	bool is_diagnosed;           /* the last choice was no what-if */
	struct ss_memories memories; /* of traces, where they were asked for */
	struct ss_areas areas;       /* of snapshots that were drawn last */
	struct ss_shown_path path;   /* of all ranks; without memory: not made yet */
};

/* What a report or the viewer has room for. */
#define SS_RUNS_MAX 2

struct ss_own_routes; /* viewer/route.h */

struct ss_runs {
	struct ss_session *sessions[SS_RUNS_MAX]; /* lent */
	uint32_t count;
	const struct ss_own_routes *own; /* lent; NULL: the routes of the library are all */
};

/* session.c: a call begins; earlier cancellations do not affect it. */
void ss_session_start(struct ss_session *session);

/* session.c: all columns of its traces are about to be read; after the call has begun. */
SS_MUST_USE
enum ss_status ss_session_need(struct ss_session *session, struct ss_error *err);

/* runs.c: the same for all of them. */
SS_MUST_USE
enum ss_status ss_runs_need(const struct ss_runs *runs, struct ss_error *err);

/* runs.c: a call of all of them begins. */
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

/* compare.c: ss_compare() of a request that was taken apart. */
SS_MUST_USE
enum ss_status ss_compare_runs(const struct ss_runs *runs, const struct ss_wanted *wanted,
			       struct ss_text *out, struct ss_error *err);

/*
 * diagnose.c: what is wrong; judged once for a rank or for all, lent until the next request. A
 * what-if chooses among what was found.
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

#endif
