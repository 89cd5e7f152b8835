/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - the public interface to verdicts: what is wrong, what fixes would bring,
 * and the pages of the rules.
 */
#include <string.h>

#include "api/session.h"
#include "diagnose/findings_table.h"
#include "render/arrow.h"
#include "table/bound.h"

bool ss_session_diagnoses(const char *what)
{
	return strcmp(what, "diagnose") == 0 || strcmp(what, "what-if") == 0;
}

/* A verdict is about whole recordings: parts of them say too little. */
static enum ss_status check(const struct ss_request *request, struct ss_error *err)
{
	const struct {
		const char *name;
		bool is_set;
	} filters[] = {
		{ "step", request->step != NULL },     { "device", request->device != NULL },
		{ "stream", request->stream != NULL }, { "name", request->name != NULL },
		{ "sort", request->sort != NULL },     { "group", request->group != NULL }
	};

	for (size_t i = 0; i < SS_COUNT(filters); i++)
		if (filters[i].is_set)
			return ss_fail(err, SS_ERR_USAGE, "--%s does not apply to '%s'",
				       filters[i].name, request->what);
	return SS_OK;
}

enum ss_status ss_session_verdict(struct ss_session *session,
				  const struct ss_diagnose_options *options,
				  const struct ss_diagnosis **out, struct ss_error *err)
{
	enum ss_status status = SS_OK;

	*out = &session->diagnosis;
	if (session->diagnosed_rank != options->rank)
		ss_diagnosis_release(&session->diagnosis);
	session->diagnosed_rank = options->rank;
	if (!session->diagnosis.memory) {
		status = ss_diagnose(&session->diagnosis, &session->job, options, err);
	} else if (!session->is_diagnosed || options->is_what_if) {
		ss_watch_part(&session->watch, "Replaying the steps", 0, 1);
		status = ss_diagnosis_choose(&session->diagnosis, options, err);
	}
	session->is_diagnosed = status == SS_OK && !options->is_what_if;
	return status;
}

static struct ss_diagnose_options options_of(const struct ss_request *request)
{
	return (struct ss_diagnose_options){
		.rank = request->rank == SS_COMPARED_RANKS ? SS_EVERY_RANK : request->rank,
		.is_what_if = strcmp(request->what, "what-if") == 0,
		.fixes = request->fix,
	};
}

enum ss_status ss_session_findings(struct ss_session *session, const struct ss_request *request,
				   struct ArrowArrayStream *out, struct ss_error *err)
{
	struct ss_diagnose_options chosen = options_of(request);
	const struct ss_diagnosis *verdict;
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	struct ss_arena scratch;
	struct ss_table table;
	enum ss_status status;

	SS_TRY(check(request, err));
	SS_TRY(ss_session_format(session, request, &renderer, &options, err));
	SS_TRY(ss_session_verdict(session, &chosen, &verdict, err));
	options.trust.files += verdict->snapshot_count;
	options.trust.lost += verdict->cut_snapshots;
	ss_arena_init(&scratch, &session->memory);
	status = ss_diagnosis_table(verdict, &scratch, &table) && ss_table_bound(&table)
			 ? ss_arrow_stream(&table, &options, out, err)
			 : ss_fail_memory(err, "the table");
	ss_table_release(&table);
	ss_arena_release(&scratch);
	return status;
}

enum ss_status ss_session_diagnose(struct ss_session *session, const struct ss_request *request,
				   struct ss_text *out, struct ss_error *err)
{
	struct ss_diagnose_options chosen = options_of(request);
	const struct ss_diagnosis *verdict;
	const struct ss_renderer *renderer;
	struct ss_render_options options;

	SS_TRY(check(request, err));
	SS_TRY(ss_session_format(session, request, &renderer, &options, err));
	SS_TRY(ss_session_verdict(session, &chosen, &verdict, err));
	options.trust.files += verdict->snapshot_count;
	options.trust.lost += verdict->cut_snapshots;
	renderer->diagnosis(verdict, &options, out);
	return ss_text_failed(out) ? ss_fail_memory(err, "the output") : SS_OK;
}

/* --- rules ---------------------------------------------------------------------------- */

static const struct ss_column columns[] = {
	{ "rule", SS_COLUMN_TEXT, "name of the rule", 0 },
	{ "warn_percent", SS_COLUMN_PERCENT, "of the mean step: from here on it is a warning",
	  SS_COLUMN_DETAIL },
	{ "silent_percent", SS_COLUMN_PERCENT, "of the mean step: below this nothing is said",
	  SS_COLUMN_DETAIL },
	{ "why", SS_COLUMN_TEXT, "the reason for these two", SS_COLUMN_DETAIL },
	{ "fix", SS_COLUMN_TEXT, "what to do", SS_COLUMN_DETAIL },
	{ "surer", SS_COLUMN_TEXT, "what to record to be surer", SS_COLUMN_DETAIL },
	{ "summary", SS_COLUMN_TEXT, "what it looks for", SS_COLUMN_WRAP },
};

static const struct ss_view rule_list = {
	.name = "rules",
	.summary = "What stepscope looks for",
	.empty = "There are no rules.",
	.columns = columns,
	.column_count = SS_COUNT(columns),
	.rankless = true,
};

static void add_rule(const struct ss_rule *rule, struct ss_table *table)
{
	ss_row_begin(table);
	ss_row_text(table, rule->name);
	if (rule->is_timeless) {
		ss_row_nulls(table, 2);
	} else {
		ss_row_number(table, 100 * rule->warn_share);
		ss_row_number(table, 100 * rule->silent_share);
	}
	ss_row_text(table, rule->why);
	ss_row_text(table, rule->fix);
	ss_row_text(table, rule->surer);
	ss_row_text(table, rule->summary);
	ss_row_end(table);
}

static enum ss_status list_rules(const struct ss_request *request, struct ss_text *out,
				 struct ss_error *err)
{
	const char *format = request->format ? request->format : "json";
	const struct ss_renderer *renderer = ss_renderer_find(format);
	struct ss_render_options options = {
		.width = request->width ? request->width : 80,
		.color = request->color,
		.top = request->top,
	};
	struct ss_memory memory;
	struct ss_arena scratch;
	struct ss_table table;
	bool failed;

	if (!renderer)
		return ss_fail(err, SS_ERR_USAGE, "no format called '%s'", format);
	ss_memory_init(&memory, 0);
	ss_arena_init(&scratch, &memory);
	ss_table_init(&table, &rule_list, &scratch);
	for (size_t i = 0; i < ss_rule_count; i++)
		add_rule(ss_rules[i], &table);
	failed = table.failed;
	if (!failed)
		renderer->view(&table, &options, out);
	ss_table_release(&table);
	ss_arena_release(&scratch);
	return failed || ss_text_failed(out) ? ss_fail_memory(err, "the list") : SS_OK;
}

/* What the page does not say: it stands in the rule. */
static void add_figures(const struct ss_rule *rule, struct ss_text *out)
{
	if (!rule->is_timeless)
		ss_text_addf(out,
			     "\nA warning from %.1f %% of the mean step on, silent below %.1f %%: "
			     "%s.\n",
			     100 * rule->warn_share, 100 * rule->silent_share, rule->why);
	else
		ss_text_addf(out, "\nWhen it is told: %s.\n", rule->why);
	if (rule->surer)
		ss_text_addf(out, "Surer: %s.\n", rule->surer);
	ss_text_addf(out, "\nThe fix:\n\n```\n%s\n```\n", rule->fix);
}

enum ss_status ss_explain(const struct ss_request *request, struct ss_text *out,
			  struct ss_error *err)
{
	const struct ss_rule *rule;

	if (!request->what)
		return list_rules(request, out, err);
	rule = ss_rule_find(request->what);
	if (!rule)
		return ss_fail(err, SS_ERR_USAGE, "no rule called '%s'", request->what);
	ss_text_add_string(out, ss_rule_page(rule));
	add_figures(rule, out);
	return ss_text_failed(out) ? ss_fail_memory(err, "the page") : SS_OK;
}
