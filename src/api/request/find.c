/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find.c - finds the view or report of a request, and refuses options that do not apply to it.
 */
#include "api/request/find.h"

#include <string.h>

#include "base/closest_name.h"
#include "memory/subject.h"

/* --- what takes which options ------------------------------------------------------------ */

/* A view takes the options of its kind, and those that its groups and columns allow. */
static uint32_t takers_of_view(const struct ss_view *view)
{
	uint32_t takers = SS_TAKER_SORTED;

	if (view->run_snapshot)
		takers |= SS_TAKER_MEMORY;
	else
		takers |= ss_view_of_job(view) ? SS_TAKER_JOB_VIEW : SS_TAKER_VIEW;
	if (view->run_live)
		takers |= SS_TAKER_LIVE;
	if (view->groups[0])
		takers |= SS_TAKER_GROUPED;
	for (uint32_t i = 0; i < view->column_count; i++)
		if (ss_column_has_names(&view->columns[i]))
			takers |= SS_TAKER_NAMED;
	return takers;
}

bool ss_request_is_verdict(const char *what)
{
	return strcmp(what, "diagnose") == 0 || strcmp(what, "what-if") == 0;
}

uint32_t ss_request_takers(const char *what)
{
	const struct ss_view *view = ss_view_find(what);
	const struct ss_report *report;

	if (view)
		return takers_of_view(view);
	report = ss_report_find(what);
	if (report)
		return SS_TAKER_REPORT | SS_TAKER_NAMED |
		       (ss_request_takers(report->views[0]) & SS_TAKER_LIVE);
	if (strcmp(what, "diagnose") == 0)
		return SS_TAKER_DIAGNOSE;
	return strcmp(what, "what-if") == 0 ? SS_TAKER_WHAT_IF : 0;
}

uint32_t ss_request_memory_takers(const char *what)
{
	const struct ss_view *view = what ? ss_snapshot_view_find(what) : NULL;

	if (!what)
		return SS_TAKER_MEMORY | SS_TAKER_NAMED;
	return view ? takers_of_view(view) : 0;
}

/* --- views ------------------------------------------------------------------------------- */

static enum ss_status view_find_group(const struct ss_view *view, const char *group, uint32_t *out,
				      struct ss_error *err)
{
	char list[256] = "";

	*out = ss_view_group(view, group);
	if (*out < SS_GROUPS_MAX)
		return SS_OK;
	for (uint32_t i = 0; i < SS_GROUPS_MAX && view->groups[i]; i++)
		ss_text_list(list, sizeof(list), view->groups[i]);
	return ss_fail(err, SS_ERR_USAGE, "view '%s' has no group '%.60s'; its groups are %s",
		       view->name, group, list);
}

static enum ss_status found_set_view(const struct ss_wanted *wanted, const struct ss_view *view,
				     const char *group, struct ss_found *out, struct ss_error *err)
{
	*out = (struct ss_found){ .name = view->name, .parts = { { .view = view } } };
	SS_TRY(ss_wanted_check(wanted, takers_of_view(view), view->name, err));
	SS_TRY(view_find_group(view, group, &out->parts[0].group, err));
	out->count = 1;
	return SS_OK;
}

enum ss_status ss_request_find_named(const char *what, const struct ss_view **out,
				     struct ss_error *err)
{
	struct ss_closest_name guess = ss_closest_name_begin(what);

	*out = ss_view_find(what);
	if (*out)
		return SS_OK;
	for (size_t i = 0; i < ss_view_count; i++)
		ss_closest_name_add(&guess, ss_views[i]->name);
	if (guess.best)
		return ss_fail(err, SS_ERR_USAGE, "no view called '%.60s'; did you mean '%s'?",
			       what, guess.best);
	return ss_fail(err, SS_ERR_USAGE,
		       "no view called '%.60s'; 'stepscope help' lists the views", what);
}

enum ss_status ss_request_find_view(const struct ss_wanted *wanted, const char *what,
				    const char *group, struct ss_found *out, struct ss_error *err)
{
	const struct ss_view *view = NULL;

	SS_TRY(ss_request_find_named(what, &view, err));
	return found_set_view(wanted, view, group, out, err);
}

enum ss_status ss_found_refuse(const struct ss_found *found, const char *format,
			       struct ss_error *err)
{
	bool of_memory = found->parts[0].view->run_snapshot;
	char list[256] = "";

	for (uint32_t i = 0; i < found->count; i++) {
		const char *name = found->parts[i].view->name;

		if (of_memory)
			name = strchr(name, '-') + 1;
		if (!strstr(list, name))
			ss_text_list(list, sizeof(list), name);
	}
	return ss_fail(err, SS_ERR_USAGE,
		       "'%s' has several tables, and %s output is one table; ask for one of its "
		       "views (%s), as in 'stepscope %s%.*s PATH'",
		       found->name, format, list, of_memory ? "snapshot " : "",
		       (int)strcspn(list, ","), list);
}

/* Refuses a report in a format that has one table. */
static enum ss_status found_check_format(const struct ss_wanted *wanted,
					 const struct ss_found *found, struct ss_error *err)
{
	const struct ss_renderer *renderer = ss_renderer_find(wanted->format ? wanted->format : "");

	return renderer && !renderer->report ? ss_found_refuse(found, renderer->name, err) : SS_OK;
}

enum ss_status ss_request_find_memory(const struct ss_wanted *wanted, struct ss_found *out,
				      struct ss_error *err)
{
	/* what the report shows, and how many rows of it by default */
	static const struct {
		const char *view;
		uint32_t rows;
	} shown[] = { { "findings", 0 }, { "summary", 0 }, { "holders", 10 } };
	const struct ss_view *view = wanted->what ? ss_snapshot_view_find(wanted->what) : NULL;
	char list[256] = "";

	if (view)
		return found_set_view(wanted, view, ss_wanted_text(wanted, "group"), out, err);
	if (wanted->what) {
		for (size_t i = 0; i < ss_snapshot_view_count; i++)
			ss_text_list(list, sizeof(list),
				     strchr(ss_snapshot_views[i]->name, '-') + 1);
		return ss_fail(err, SS_ERR_USAGE, "no snapshot view called '%.60s'; there are %s",
			       wanted->what, list);
	}
	SS_TRY(ss_wanted_one_view(wanted, err));
	*out = (struct ss_found){ .name = "snapshot", .is_report = true };
	for (; out->count < SS_COUNT(shown); out->count++)
		out->parts[out->count] = (struct ss_part){
			.view = ss_snapshot_view_find(shown[out->count].view),
			.rows = wanted->top ? 0 : shown[out->count].rows,
		};
	SS_TRY(ss_wanted_check(wanted, ss_request_memory_takers(NULL), out->name, err));
	return found_check_format(wanted, out, err);
}

/* --- reports ----------------------------------------------------------------------------- */

/* "budget/part" */
static struct ss_part report_find_part(const char *name)
{
	struct ss_part part = { 0 };
	const char *slash = strchr(name, '/');
	char view[64] = "";

	strncat(view, name, slash ? (size_t)(slash - name) : sizeof(view) - 1);
	part.view = ss_view_find(view);
	part.group = ss_view_group(part.view, slash ? slash + 1 : NULL);
	assert(part.view && part.group < SS_GROUPS_MAX);
	return part;
}

bool ss_found_compares(const struct ss_found *found, const struct ss_wanted *wanted)
{
	return found->report && found->report->job_views[0] && ss_wanted_by_people(wanted) &&
	       !ss_wanted_text(wanted, "step") && !ss_wanted_text(wanted, "device") &&
	       !ss_wanted_text(wanted, "stream");
}

/* Chooses the views of a report for one rank or for several. */
static enum ss_status found_set_report(const struct ss_wanted *wanted,
				       const struct ss_report *report, bool several_ranks,
				       struct ss_found *out, struct ss_error *err)
{
	bool shortened = several_ranks && ss_wanted_by_people(wanted) && report->single;
	const char *const *views = report->views;

	*out = (struct ss_found){ .name = report->name, .is_report = true, .report = report };
	SS_TRY(ss_wanted_check(wanted, ss_request_takers(report->name), report->name, err));
	if (several_ranks && ss_found_compares(out, wanted))
		views = report->job_views;
	for (size_t i = 0; i < SS_REPORT_VIEWS_MAX && views[i]; i++)
		if (!shortened || strcmp(views[i], report->single) != 0)
			out->parts[out->count++] = report_find_part(views[i]);
	return found_check_format(wanted, out, err);
}

enum ss_status ss_request_find(const struct ss_wanted *wanted, bool several_ranks,
			       struct ss_found *out, struct ss_error *err)
{
	const char *what = wanted->what ? wanted->what : "";
	const struct ss_report *report = ss_report_find(what);

	if (report)
		return found_set_report(wanted, report, several_ranks, out, err);
	if (!ss_view_find(what))
		return ss_fail(err, SS_ERR_USAGE, "no view or report called '%.60s'", what);
	return ss_request_find_view(wanted, what, ss_wanted_text(wanted, "group"), out, err);
}
