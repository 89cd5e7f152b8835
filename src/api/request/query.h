/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - the stages of a request: find, choose, run, arrange, render.
 *
 * Views and reports go through all stages (ss_session_answer). Views of memory, the two sides of
 * a comparison and lists replace the run stage and share the rest.
 */
#ifndef SS_API_REQUEST_QUERY_H
#define SS_API_REQUEST_QUERY_H

#include "api/request/choice.h"
#include "api/request/find.h"
#include "api/session.h"
#include "memory/subject.h"
#include "stepscope_arrow.h"

/* What a table has from digests. */
struct ss_digest_rows {
	uint32_t files;
	uint32_t kept, all; /* rows of the file with the most */
};

struct ss_query {
	const struct ss_wanted *wanted;
	struct ss_found found;
	struct ss_choice choice;
	bool folds;    /* tables of a report are summed over the files, if the view supports it */
	bool compares; /* the figures of ranks are put side by side */
	bool is_side;  /* one side of a comparison, arranged when both exist */
	struct ss_arena scratch;
	struct ss_table tables[SS_REPORT_VIEWS_MAX];
	struct ss_digest_rows digests[SS_REPORT_VIEWS_MAX]; /* of the tables */
	const char *headline;                               /* of a report; NULL: none */
	struct ss_trust trust;
	struct ss_identity run;
};

/* Makes the empty tables of query->found. End the query with ss_query_end(). */
void ss_query_begin(struct ss_query *query, const struct ss_wanted *wanted,
		    struct ss_memory *memory);
void ss_query_end(struct ss_query *query);

/* Filters, sums up and sorts the rows of all tables, once they are filled. */
SS_MUST_USE
enum ss_status ss_query_arrange(struct ss_query *query, struct ss_error *err);

/* Appends the tables. */
SS_MUST_USE
enum ss_status ss_query_render(const struct ss_query *query, struct ss_text *out,
			       struct ss_error *err);

/* Moves the first table into a stream. */
SS_MUST_USE
enum ss_status ss_query_stream(struct ss_query *query, struct ArrowArrayStream *out,
			       struct ss_error *err);

/* views.c: fills the tables from all files that are chosen. */
SS_MUST_USE
enum ss_status ss_query_views(struct ss_query *query, struct ss_session *session,
			      struct ss_error *err);

/*
 * The tables of one view of a session, for a comparison: `what` and `group` instead of those of the
 * request. End it even if this failed.
 */
SS_MUST_USE
enum ss_status ss_query_side(struct ss_query *query, struct ss_session *session,
			     const struct ss_wanted *wanted, const char *what, const char *group,
			     struct ss_error *err);

/*
 * views.c: "the 39 largest of 312 rows, ...": what digests keep of a table, as its lead and part of
 * its basis.
 */
void ss_query_describe_digests(struct ss_query *query, uint32_t index);

/* A list that needs no session, as a table of one view. */
SS_MUST_USE
enum ss_status ss_query_list(const struct ss_wanted *wanted, const struct ss_view *view,
			     void (*fill)(struct ss_table *table), struct ss_text *out,
			     struct ss_error *err);

/* How far the files of the session can be trusted. */
void ss_query_trust(const struct ss_session *session, struct ss_trust *out);

/* ss_session_run() of a parsed request. */
SS_MUST_USE
enum ss_status ss_session_answer(struct ss_session *session, const struct ss_wanted *wanted,
				 struct ss_text *out, struct ss_error *err);

/*
 * ../snapshots.c: runs what ss_request_find_memory() found; `run` is what the output says about
 * itself.
 */
SS_MUST_USE
enum ss_status ss_session_run_memory(const struct ss_snapshot_subject *subject,
				     const struct ss_identity *run, const struct ss_found *found,
				     const struct ss_wanted *wanted, struct ss_text *out,
				     struct ss_error *err);

/*
 * views.c: sets table->basis, what its figures refer to: "sum over 4 steps". Nothing if steps do
 * not matter or the table is empty.
 */
void ss_query_describe_basis(const struct ss_session *session, const struct ss_choice *choice,
			     uint32_t group, struct ss_table *table);

#endif
