/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - the stages that all requests share, and the complete path of views and reports.
 */
#include "api/request/query.h"

#include <stdio.h>

#include "api/reports/reports.h"
#include "load/doubts.h"
#include "render/arrow.h"
#include "view/arrange.h"
#include "table/table.h"

void ss_query_begin(struct ss_query *query, const struct ss_wanted *wanted,
		    struct ss_memory *memory)
{
	query->wanted = wanted;
	ss_arena_init(&query->scratch, memory);
	for (uint32_t i = 0; i < query->found.count; i++) {
		const struct ss_part *part = &query->found.parts[i];

		ss_table_init(&query->tables[i], part->view, &query->scratch);
		query->tables[i].group = part->view->groups[part->group];
	}
}

void ss_query_end(struct ss_query *query)
{
	for (uint32_t i = 0; i < query->found.count; i++)
		ss_table_release(&query->tables[i]);
	ss_arena_release(&query->scratch);
}

/* --- arranging ---------------------------------------------------------------------------- */

/* Puts the ranks' figures side by side. */
static bool query_compare_ranks(struct ss_table *table)
{
	struct ss_table across;
	bool whole = ss_view_summarize_ranks(table, &across);

	ss_table_release(whole ? table : &across);
	if (whole)
		*table = across;
	return whole;
}

static bool view_is_by_rank(const struct ss_view *view)
{
	return !view->rankless && !ss_view_of_job(view) && !view->run_snapshot;
}

/* Says in an empty table that its rows do not match the name. */
static void query_note_no_match(struct ss_table *table, const char *name, uint32_t had)
{
	char text[256];

	if (table->row_count || !had)
		return;
	snprintf(text, sizeof(text), "No row matches '%.120s'; without it there %s %u row%s.", name,
		 had == 1 ? "is" : "are", had, had == 1 ? "" : "s");
	table->empty = ss_arena_copy(table->arena, text, strlen(text));
}

/* Filters rows by device and name, and merges ranks: totals of ranks cover matching rows only. */
static enum ss_status query_choose_rows(const struct ss_query *query, bool compares, bool folds,
					struct ss_table *table, struct ss_error *err)
{
	const char *name = ss_wanted_text(query->wanted, "name");
	const char *device = ss_wanted_text(query->wanted, "device");
	uint32_t had;
	bool named = true;

	if (device && table->view->run_snapshot)
		ss_view_keep_device(table, device);
	had = table->row_count;
	if (compares && name)
		named = ss_view_keep_keys(table, name);
	if (compares ? !query_compare_ranks(table) : folds && !ss_table_fold(table))
		return ss_fail_memory(err, "the table");
	if (!compares && name) {
		had = table->row_count;
		named = ss_view_keep_matching(table, name);
	}
	if (name)
		query_note_no_match(table, name, had);
	return named || query->found.is_report
		       ? SS_OK
		       : ss_fail(err, SS_ERR_USAGE, "'name' does not apply to '%s'",
				 table->view->name);
}

/* Cuts the tables of a report to the rows that it shows by default. */
static void query_cut_part(struct ss_table *table, uint32_t rows)
{
	if (!rows || table->row_count <= rows)
		return;
	table->uncut_count = table->row_count;
	table->row_count = rows;
}

/* Arranges one table. Rows of all ranks that are sorted are cut by the renderer, not here. */
static enum ss_status query_arrange_table(const struct ss_query *query, const struct ss_part *part,
					  struct ss_table *table, struct ss_error *err)
{
	const char *sort = ss_wanted_text(query->wanted, "sort");
	bool by_rank = view_is_by_rank(part->view), compares = by_rank && query->compares;
	bool folds = query->folds && part->view->folds;

	SS_TRY(query_choose_rows(query, compares, folds, table, err));
	if (query->is_side)
		return SS_OK;
	if (query->found.is_report)
		table->totals = NULL; /* its tables are parts of one picture */
	else if (!compares && !ss_view_add_totals(table))
		return ss_fail_memory(err, "the table");
	if (sort)
		SS_TRY(ss_view_sort_rows(table, sort, err));
	else if (query->wanted->top && by_rank && !compares && !folds)
		ss_view_keep_top(table, query->wanted->top);
	if (!ss_table_limit_texts(table))
		return ss_fail_memory(err, "the table");
	query_cut_part(table, part->rows);
	return SS_OK;
}

enum ss_status ss_query_arrange(struct ss_query *query, struct ss_error *err)
{
	for (uint32_t i = 0; i < query->found.count; i++)
		SS_TRY(query_arrange_table(query, &query->found.parts[i], &query->tables[i], err));
	return SS_OK;
}

/* --- rendering ---------------------------------------------------------------------------- */

void ss_query_trust(const struct ss_session *session, struct ss_trust *out)
{
	const struct ss_job *job = &session->job;

	*out = (struct ss_trust){ .files = job->file_count, .unreadable_files = job->failed_count };
	for (uint32_t i = 0; i < job->file_count; i++) {
		const uint64_t *oddities = job->files[i].oddities;

		out->cut_files += job->files[i].recording.is_cut;
		out->lost += oddities[SS_SEVERITY_LOST];
		out->repaired += oddities[SS_SEVERITY_REPAIRED];
		out->notes += oddities[SS_SEVERITY_NOTE];
		out->absent += oddities[SS_SEVERITY_ABSENT];
	}
}

enum ss_status ss_query_render(const struct ss_query *query, struct ss_text *out,
			       struct ss_error *err)
{
	struct ss_report_parts parts = { query->found.name, query->headline ? query->headline : "",
					 query->tables, query->found.count };
	const struct ss_renderer *renderer;
	struct ss_render_options options;

	/* adding notes may have failed since the table was filled */
	for (uint32_t i = 0; i < query->found.count; i++)
		if (query->tables[i].failed)
			return ss_fail_memory(err, "the table");
	SS_TRY(ss_wanted_format(query->wanted, &renderer, &options, err));
	options.trust = query->trust;
	options.run = query->run;
	if (query->found.is_report)
		renderer->report(&parts, &options, out);
	else
		renderer->view(&query->tables[0], &options, out);
	return ss_text_failed(out) ? ss_fail_memory(err, "the output") : SS_OK;
}

/* --- complete requests -------------------------------------------------------------------- */

enum ss_status ss_query_list(const struct ss_wanted *wanted, const struct ss_view *view,
			     void (*fill)(struct ss_table *table), struct ss_text *out,
			     struct ss_error *err)
{
	struct ss_query query = {
		.found = { .name = view->name, .parts = { { .view = view } }, .count = 1 }
	};
	struct ss_memory memory;
	enum ss_status status;

	SS_TRY(ss_wanted_check(wanted, SS_TAKER_LIST, view->name, err));
	ss_memory_init(&memory, 0);
	ss_query_begin(&query, wanted, &memory);
	fill(&query.tables[0]);
	status = ss_query_render(&query, out, err);
	ss_query_end(&query);
	return status;
}

enum ss_status ss_query_side(struct ss_query *query, struct ss_session *session,
			     const struct ss_wanted *wanted, const char *what, const char *group,
			     struct ss_error *err)
{
	enum ss_status status;

	*query = (struct ss_query){ .is_side = true, .folds = true };
	status = ss_session_has_trace(session, err);
	if (status == SS_OK)
		status = ss_request_find_view(wanted, what, group, &query->found, err);
	if (status == SS_OK)
		status = ss_choice_read(wanted, &session->job, &query->choice, err);
	ss_query_begin(query, wanted, &session->memory);
	if (status == SS_OK)
		status = ss_query_views(query, session, err);
	return status == SS_OK ? ss_query_arrange(query, err) : status;
}

/* Fills and arranges the tables of a view or report. */
static enum ss_status query_make_tables(struct ss_query *query, struct ss_session *session,
					struct ss_error *err)
{
	enum ss_status status = ss_query_views(query, session, err);

	if (query->found.count)
		ss_job_note_runs(&session->job, &query->tables[0]);
	SS_TRY(status);
	if (!query->found.is_report)
		ss_query_describe_basis(session, &query->choice, query->found.parts[0].group,
					&query->tables[0]);
	for (uint32_t i = 0; i < query->found.count; i++)
		ss_query_describe_digests(query, i);
	return ss_query_arrange(query, err);
}

/* Views of what stands beside traces need none. */
static bool found_needs_trace(const struct ss_found *found, const struct ss_job *job)
{
	const struct ss_view *view = found->count ? found->parts[0].view : NULL;

	return !view ||
	       !((view->run_hang && job->flight_count) || (view->run_live && job->live_count));
}

/* All stages but rendering; end the query even if this failed. */
static enum ss_status query_make(struct ss_query *query, struct ss_session *session,
				 const struct ss_wanted *wanted, struct ss_error *err)
{
	enum ss_status status;
	bool several;

	*query = (struct ss_query){ 0 };
	ss_choice_read_rank(wanted, &query->choice.rank, &query->choice.compares);
	several = session->job.file_count > 1 && query->choice.rank == SS_EVERY_RANK;
	status = ss_request_find(wanted, several, &query->found, err);
	if (status == SS_OK && found_needs_trace(&query->found, &session->job))
		status = ss_session_has_trace(session, err);
	if (status == SS_OK)
		status = ss_choice_read(wanted, &session->job, &query->choice, err);
	query->folds = query->found.is_report && several && ss_wanted_by_people(wanted);
	query->compares = query->choice.compares ||
			  (several && ss_found_compares(&query->found, wanted));
	ss_query_trust(session, &query->trust);
	ss_identity_of_job(&session->job, query->choice.rank, &query->run);
	ss_query_begin(query, wanted, &session->memory);
	return status == SS_OK ? query_make_tables(query, session, err) : status;
}

enum ss_status ss_session_answer(struct ss_session *session, const struct ss_wanted *wanted,
				 struct ss_text *out, struct ss_error *err)
{
	struct ss_text headline = { 0 };
	struct ss_query query;
	enum ss_status status;

	if (wanted->what && ss_request_is_verdict(wanted->what))
		return ss_session_diagnose(session, wanted, out, err);
	status = query_make(&query, session, wanted, err);
	if (status == SS_OK && query.found.report) {
		for (uint32_t i = 0; i < query.found.count && !headline.length; i++)
			if (query.digests[i].files)
				ss_text_add_string(&headline,
						   "From digests: the largest rows of each "
						   "table.\n");
		query.found.report->headline(&session->job,
					     !wanted->format || strcmp(wanted->format, "json") != 0,
					     &headline);
		query.headline = headline.data;
	}
	if (status == SS_OK)
		status = ss_query_render(&query, out, err);
	ss_text_end(&headline, out);
	ss_query_end(&query);
	return status == SS_OK && ss_text_failed(out) ? ss_fail_memory(err, "the output") : status;
}

enum ss_status ss_query_stream(struct ss_query *query, struct ArrowArrayStream *out,
			       struct ss_error *err)
{
	struct ss_render_options options = { .top = query->wanted->top,
					     .trust = query->trust,
					     .run = query->run };

	return query->tables[0].failed ? ss_fail_memory(err, "the table")
				       : ss_arrow_stream(&query->tables[0], &options, out, err);
}

enum ss_status ss_session_table(struct ss_session *session, const struct ss_request *request,
				struct ArrowArrayStream *out, struct ss_error *err)
{
	SS_OWNED(ss_query_end) struct ss_query query = { 0 };
	struct ss_wanted wanted;

	*out = (struct ArrowArrayStream){ 0 };
	ss_session_start(session);
	SS_TRY(ss_wanted_read(request, &wanted, err));
	wanted.format = NULL; /* every file, not what is summed up for people */
	if (wanted.what && ss_request_is_verdict(wanted.what))
		return ss_session_findings(session, &wanted, out, err);
	SS_TRY(query_make(&query, session, &wanted, err));
	return query.found.is_report ? ss_found_refuse(&query.found, "Arrow", err)
				     : ss_query_stream(&query, out, err);
}

enum ss_status ss_session_run(struct ss_session *session, const struct ss_request *request,
			      struct ss_text *out, struct ss_error *err)
{
	struct ss_wanted wanted;

	ss_session_start(session);
	SS_TRY(ss_wanted_read(request, &wanted, err));
	return ss_session_answer(session, &wanted, out, err);
}
