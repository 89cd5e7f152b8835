/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - the public interface to verdicts: findings, what their fixes would save,
 * and the pages of the rules.
 */
#include <string.h>

#include "api/glossary.h"
#include "api/request/query.h"
#include "diagnose/findings_table.h"
#include "render/arrow.h"
#include "render/page/page.h"
#include "table/table.h"

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

/* A rank that there is a trace or a snapshot of. */
static enum ss_status check_rank(const struct ss_job *job, int64_t rank, struct ss_error *err)
{
	if (rank == SS_EVERY_RANK)
		return SS_OK;
	for (uint32_t i = 0; i < job->file_count; i++)
		if (job->files[i].subject.rank == rank)
			return SS_OK;
	for (uint32_t i = 0; i < job->snapshot_count; i++)
		if (job->snapshots[i].rank == rank)
			return SS_OK;
	return ss_choice_no_rank(job, rank, err);
}

/* The verdict that is asked for, and how it wants to be shown. */
static enum ss_status judge(struct ss_session *session, const struct ss_wanted *wanted,
			    const struct ss_diagnosis **verdict,
			    const struct ss_renderer **renderer, struct ss_render_options *options,
			    struct ss_error *err)
{
	struct ss_diagnose_options chosen = {
		.is_what_if = strcmp(wanted->what, "what-if") == 0,
		.fixes = ss_wanted_text(wanted, "fix"),
	};
	bool compares;

	SS_TRY(ss_wanted_check(wanted, ss_takers_of(wanted->what), wanted->what, err));
	SS_TRY(ss_wanted_format(wanted, renderer, options, err));
	ss_choice_read_rank(wanted, &chosen.rank, &compares);
	SS_TRY(check_rank(&session->job, chosen.rank, err));
	SS_TRY(ss_session_verdict(session, &chosen, verdict, err));
	ss_query_trust(session, &options->trust);
	ss_identity_of_job(&session->job, chosen.rank, &options->run);
	options->trust.files += (*verdict)->snapshot_count;
	options->trust.lost += (*verdict)->cut_snapshots;
	options->verbose = ss_wanted_text(wanted, "verbose");
	return SS_OK;
}

enum ss_status ss_session_findings(struct ss_session *session, const struct ss_wanted *wanted,
				   struct ArrowArrayStream *out, struct ss_error *err)
{
	const struct ss_diagnosis *verdict;
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	struct ss_arena scratch;
	struct ss_table table;
	enum ss_status status;

	SS_TRY(judge(session, wanted, &verdict, &renderer, &options, err));
	ss_arena_init(&scratch, &session->memory);
	status = ss_diagnosis_table(verdict, &scratch, &table) && ss_table_bound(&table)
			 ? ss_arrow_stream(&table, &options, out, err)
			 : ss_fail_memory(err, "the table");
	ss_table_release(&table);
	ss_arena_release(&scratch);
	return status;
}

/* What was asked for, for commands that go on from here: "--rank 3 traces". */
static void add_place(const struct ss_session *session, const struct ss_wanted *wanted,
		      struct ss_text *out)
{
	const char *rank = ss_wanted_text(wanted, "rank");

	if (!session->place.length)
		return;
	if (rank)
		ss_text_addf(out, "--rank %s ", rank);
	ss_text_add(out, session->place.data, session->place.length);
}

enum ss_status ss_session_diagnose(struct ss_session *session, const struct ss_wanted *wanted,
				   struct ss_text *out, struct ss_error *err)
{
	const struct ss_diagnosis *verdict;
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	struct ss_text place = { 0 };

	SS_TRY(judge(session, wanted, &verdict, &renderer, &options, err));
	add_place(session, wanted, &place);
	options.place = place.data;
	renderer->diagnosis(verdict, &options, out);
	ss_text_end(&place, out);
	return ss_text_failed(out) ? ss_fail_memory(err, "the output") : SS_OK;
}

/* --- rules ---------------------------------------------------------------------------- */

static const struct ss_column columns[] = {
	{ "rule", SS_COLUMN_TEXT, "name of the rule", 0 },
	{ "warn_percent", SS_COLUMN_PERCENT, "share of the mean step from which it is a warning",
	  SS_COLUMN_DETAIL },
	{ "silent_percent", SS_COLUMN_PERCENT,
	  "share of the mean step below which it is not reported", SS_COLUMN_DETAIL },
	{ "why", SS_COLUMN_TEXT, "reason for these two limits", SS_COLUMN_DETAIL },
	{ "fix", SS_COLUMN_TEXT, "what to do", SS_COLUMN_DETAIL },
	{ "surer", SS_COLUMN_TEXT, "what to record to be more certain", SS_COLUMN_DETAIL },
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

static void list_rules(struct ss_table *table)
{
	for (size_t i = 0; i < ss_rule_count; i++)
		add_rule(ss_rules[i], table);
}

/* What the page does not say: it stands in the rule. */
static void add_figures(const struct ss_rule *rule, struct ss_text *out)
{
	if (!rule->is_timeless)
		ss_text_addf(
			out,
			"\nA warning from %.1f %% of the mean step, not reported below %.1f %%: "
			"%s.\n",
			100 * rule->warn_share, 100 * rule->silent_share, rule->why);
	else
		ss_text_addf(out, "\nWhen it is reported: %s.\n", rule->why);
	if (rule->surer && !strstr(ss_rule_page(rule), "\nHow to be more certain"))
		ss_text_addf(out, "To be more certain: %s.\n", rule->surer);
	ss_text_addf(out, "\nThe fix:\n\n```\n%s\n```\n", rule->fix);
}

/* An entry of the glossary as a page. */
static void add_term(const struct ss_term *term, struct ss_text *out)
{
	ss_text_addf(out, "# %s\n\n%s\n", term->name, term->text);
	if (*term->more)
		ss_text_addf(out, "\nTo see more: %s.\n", term->more);
}

static enum ss_status no_rule(const char *name, struct ss_error *err)
{
	const char *meant = ss_rule_guess(name);

	if (meant)
		return ss_fail(err, SS_ERR_USAGE,
			       "no rule or term called '%.60s'; did you mean '%s'?", name, meant);
	return ss_fail(err, SS_ERR_USAGE, "no rule or term called '%.60s'", name);
}

/* Markdown, but for people at a terminal. */
static void show_page(const struct ss_wanted *wanted, const char *page, struct ss_text *out)
{
	struct ss_render_options options = { .width = wanted->width ? wanted->width : 80,
					     .color = wanted->color };

	if (!page)
		return;
	if (wanted->format && strcmp(wanted->format, "text") == 0)
		ss_render_page(page, &options, out);
	else
		ss_text_add_string(out, page);
}

enum ss_status ss_explain(const struct ss_request *request, struct ss_text *out,
			  struct ss_error *err)
{
	const struct ss_rule *rule;
	const struct ss_term *term;
	struct ss_wanted wanted;
	struct ss_text page = { 0 };

	SS_TRY(ss_wanted_read(request, &wanted, err));
	if (!wanted.what)
		return ss_query_list(&wanted, &rule_list, list_rules, out, err);
	SS_TRY(ss_wanted_check(&wanted, SS_TAKER_LIST, wanted.what, err));
	rule = ss_rule_find(wanted.what);
	term = rule ? NULL : ss_term_find(wanted.what);
	if (!rule && !term)
		return no_rule(wanted.what, err);
	if (rule) {
		ss_text_add_string(&page, ss_rule_page(rule));
		add_figures(rule, &page);
	} else {
		add_term(term, &page);
	}
	show_page(&wanted, page.data, out);
	ss_text_end(&page, out);
	return ss_text_failed(out) ? ss_fail_memory(err, "the page") : SS_OK;
}
