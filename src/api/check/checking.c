/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checking.c - measures sessions, and asks their views about conditions.
 */
#include "api/check/checking.h"

#include <string.h>

#include "api/request/query.h"
#include "diagnose/findings_table.h"

#define CONDITIONS_MAX 64

/* --- conditions ------------------------------------------------------------------------- */

/* The findings are a table, but not a view of a trace. */
static bool names_findings(const char *view)
{
	return strcmp(view, "findings") == 0 || strcmp(view, "diagnose") == 0;
}

/* Columns of a view that are figures of the whole run in one of its groups. */
static const struct {
	const char *column, *view, *group;
} figures_of_views[] = {
	{ "mfu_percent", "roofline", "run" },
	{ "hfu_percent", "roofline", "run" },
};

/* The group in which the column has figures; NULL: in the first. */
static const char *condition_group(const struct ss_condition *condition)
{
	for (size_t i = 0; i < SS_COUNT(figures_of_views); i++)
		if (strcmp(figures_of_views[i].column, condition->column) == 0 &&
		    strcmp(figures_of_views[i].view, condition->view) == 0)
			return figures_of_views[i].group;
	return NULL;
}

static enum ss_status condition_bind_view(struct ss_checking *checking,
					  struct ss_condition *condition, struct ss_error *err)
{
	const struct ss_view *view = checking->summary_view;

	for (size_t i = 0; !condition->view && i < SS_COUNT(figures_of_views); i++)
		if (strcmp(figures_of_views[i].column, condition->column) == 0)
			condition->view = figures_of_views[i].view;
	if (condition->view && names_findings(condition->view)) {
		view = &ss_findings_view;
	} else if (condition->view) {
		SS_TRY(ss_request_find_named(condition->view, &view, err));
		checking->needs_traces = checking->needs_traces || !ss_view_of_job(view);
	}
	return ss_condition_bind(condition, view, err);
}

/* Reads conditions separated by commas, and binds each to its column. */
static enum ss_status checking_read_conditions(struct ss_checking *checking, const char *text,
					       struct ss_error *err)
{
	struct ss_check *check = &checking->check;

	if (!SS_ALLOC(&checking->arena, check->conditions, CONDITIONS_MAX))
		return ss_fail_memory(err, "the conditions");
	for (; text && *text; text += *text == ',') {
		struct ss_condition *condition = &check->conditions[check->condition_count];
		size_t length = strcspn(text, ",");

		if (check->condition_count++ == CONDITIONS_MAX)
			return ss_fail(err, SS_ERR_USAGE, "more than %d conditions",
				       CONDITIONS_MAX);
		SS_TRY(ss_condition_read(condition, text, length, &checking->arena, err));
		SS_TRY(condition_bind_view(checking, condition, err));
		text += length;
	}
	return SS_OK;
}

enum ss_status ss_checking_begin(struct ss_checking *checking, const char *conditions,
				 struct ss_error *err)
{
	*checking = (struct ss_checking){ 0 };
	ss_memory_init(&checking->memory, 0);
	ss_arena_init(&checking->arena, &checking->memory);
	checking->before = SS_ARENA_NEW(&checking->arena, struct ss_check_run, SS_CHECK_RUNS_MAX);
	checking->summary_view = ss_check_summary_view(&checking->arena);
	if (!checking->before || !checking->summary_view)
		return ss_fail_memory(err, "the check");
	ss_table_init(&checking->summary, checking->summary_view, &checking->arena);
	checking->check.before = checking->before;
	return checking_read_conditions(checking, conditions, err);
}

void ss_checking_release(struct ss_checking *checking)
{
	if (checking->summary.view)
		ss_table_release(&checking->summary);
	ss_arena_release(&checking->arena);
}

static enum ss_status condition_evaluate_view(struct ss_condition *condition,
					      struct ss_session *session, struct ss_arena *arena,
					      struct ss_error *err)
{
	struct ss_wanted wanted = { 0 };
	struct ss_query query;
	enum ss_status status = ss_query_side(&query, session, &wanted, condition->view,
					      condition_group(condition), err);

	if (status == SS_OK && !ss_condition_evaluate(condition, &query.tables[0], arena))
		status = ss_fail_memory(err, "the conditions");
	ss_query_end(&query);
	return status;
}

static enum ss_status condition_evaluate_findings(struct ss_condition *condition,
						  const struct ss_diagnosis *diagnosis,
						  struct ss_arena *arena, struct ss_error *err)
{
	struct ss_table table;
	bool is_fine = ss_diagnosis_table(diagnosis, arena, &table) &&
		       ss_condition_evaluate(condition, &table, arena);

	ss_table_release(&table);
	return is_fine ? SS_OK : ss_fail_memory(err, "the conditions");
}

/* Evaluates every condition on its table: the summary, the findings or a view of the run. */
static enum ss_status checking_evaluate(struct ss_checking *checking, struct ss_session *session,
					struct ss_error *err)
{
	struct ss_check *check = &checking->check;

	for (uint32_t i = 0; i < check->condition_count; i++) {
		struct ss_condition *condition = &check->conditions[i];

		if (!condition->view) {
			if (!ss_condition_evaluate(condition, &checking->summary, &checking->arena))
				return ss_fail_memory(err, "the conditions");
		} else if (names_findings(condition->view)) {
			SS_TRY(condition_evaluate_findings(condition, check->diagnosis,
							   &checking->arena, err));
		} else {
			SS_TRY(condition_evaluate_view(condition, session, &checking->arena, err));
		}
	}
	return SS_OK;
}

/* --- runs ------------------------------------------------------------------------------- */

static enum ss_status checking_measure(struct ss_checking *checking, struct ss_session *session,
				       struct ss_check_run *out,
				       const struct ss_diagnosis **verdict, struct ss_error *err)
{
	struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };

	ss_session_start(session);
	SS_TRY(ss_session_has_trace(session, err));
	SS_TRY(ss_session_verdict(session, &options, verdict, err));
	return ss_check_measure(out, &session->job, *verdict, &checking->arena, err);
}

enum ss_status ss_checking_add(struct ss_checking *checking, struct ss_session *session,
			       struct ss_error *err)
{
	struct ss_check *check = &checking->check;
	const struct ss_diagnosis *verdict;

	if (check->before_count == SS_CHECK_RUNS_MAX)
		return SS_OK;
	SS_TRY(checking_measure(checking, session, &checking->before[check->before_count], &verdict,
				err));
	check->before_count++;
	return SS_OK;
}

/* In a folder of many runs the newest may be the one that is checked. */
static void checking_drop_itself(struct ss_checking *checking)
{
	struct ss_check *check = &checking->check;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < check->before_count; i++)
		if (strcmp(checking->before[i].path, check->after.path) != 0)
			checking->before[kept++] = checking->before[i];
	if (kept)
		check->before_count = kept;
}

enum ss_status ss_checking_end(struct ss_checking *checking, struct ss_session *session,
			       double threshold, struct ss_error *err)
{
	struct ss_check *check = &checking->check;

	SS_TRY(checking_measure(checking, session, &check->after, &check->diagnosis, err));
	checking_drop_itself(checking);
	if (checking->is_series)
		SS_TRY(ss_check_choose_level(check, checking->before, threshold, &checking->arena,
					     err));
	SS_TRY(ss_check_compare(check, threshold, &checking->arena, err));
	ss_check_summary_fill(check, &checking->summary);
	if (checking->summary.failed)
		return ss_fail_memory(err, "the summary");
	SS_TRY(checking_evaluate(checking, session, err));
	ss_check_conclude(check);
	return SS_OK;
}

void ss_checking_show(const struct ss_session *session, struct ss_rendered_check *out)
{
	ss_query_trust(session, &out->trust);
	ss_identity_of_job(&session->job, SS_EVERY_RANK, &out->run);
}

/* --- options ---------------------------------------------------------------------------- */

bool ss_checking_read_threshold(const char *text, double *out)
{
	double value = 0, place = 1;
	bool is_fraction = false;
	uint32_t digits = 0;

	for (; (*text >= '0' && *text <= '9') || (*text == '.' && !is_fraction); text++) {
		if (*text == '.') {
			is_fraction = true;
			continue;
		}
		value = value * 10 + (*text - '0');
		place *= is_fraction ? 10 : 1;
		if (++digits > 9)
			return false;
	}
	text += strspn(text, " ");
	text += *text == '%';
	*out = value / place / 100;
	return digits && !*text && *out < 1;
}

static const struct ss_column metric_columns[] = {
	{ "column", SS_COLUMN_TEXT, "name, for --fail-if", 0 },
	{ "unit", SS_COLUMN_TEXT, "ns, percent or count", 0 },
	{ "about", SS_COLUMN_TEXT, "what it is", SS_COLUMN_WRAP },
};

static const struct ss_view metric_list = {
	.name = "metrics",
	.summary = "Columns that --fail-if can name without a view",
	.empty = "There are none.",
	SS_TABLE_COLUMNS(metric_columns),
	.rankless = true,
};

static void metric_list_add(struct ss_table *table, const struct ss_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->column_count; i++) {
		if (name && strcmp(view->columns[i].name, name) != 0)
			continue;
		ss_row_begin(table);
		ss_row_text(table, view->columns[i].name);
		ss_row_text(table, ss_render_unit(view->columns[i].type));
		ss_row_text(table, view->columns[i].about);
		ss_row_end(table);
	}
}

static void metric_list_fill(struct ss_table *table)
{
	const struct ss_view *view = ss_check_summary_view(table->arena);

	table->failed = table->failed || !view;
	if (!view)
		return;
	metric_list_add(table, view, NULL);
	for (size_t i = 0; i < SS_COUNT(figures_of_views); i++)
		metric_list_add(table, ss_view_find(figures_of_views[i].view),
				figures_of_views[i].column);
}

enum ss_status ss_checking_list(const struct ss_request *request, struct ss_text *out,
				struct ss_error *err)
{
	struct ss_wanted wanted;

	SS_TRY(ss_wanted_read(request, &wanted, err));
	return ss_query_list(&wanted, &metric_list, metric_list_fill, out, err);
}
