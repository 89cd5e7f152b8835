/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - the public interface to verdicts: findings, what their fixes would save,
 * and the pages of the rules.
 */
#include <string.h>

#include "api/glossary.h"
#include "api/request/query.h"
#include "diagnose/findings_table.h"
#include "diagnose/work/other_device.h"
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
		ss_progress_begin_part(&session->watch, "Replaying the steps", 0, 1);
		status = ss_diagnosis_choose(&session->diagnosis, options, err);
	}
	session->is_diagnosed = status == SS_OK && !options->is_what_if;
	return status;
}

/* Fails if neither a trace nor a snapshot has the rank. */
static enum ss_status verdict_check_rank(const struct ss_job *job, int64_t rank,
					 struct ss_error *err)
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

/* The requested verdict, with its renderer and options. */
static enum ss_status verdict_of_request(struct ss_session *session, const struct ss_wanted *wanted,
					 const struct ss_diagnosis **verdict,
					 const struct ss_renderer **renderer,
					 struct ss_render_options *options, struct ss_error *err)
{
	struct ss_diagnose_options chosen = {
		.is_what_if = strcmp(wanted->what, "what-if") == 0,
		.fixes = ss_wanted_text(wanted, "fix"),
	};
	const char *gpu = ss_wanted_text(wanted, "gpu");
	bool compares;

	SS_TRY(ss_wanted_check(wanted, ss_request_takers(wanted->what), wanted->what, err));
	SS_TRY(ss_wanted_format(wanted, renderer, options, err));
	ss_choice_read_rank(wanted, &chosen.rank, &compares);
	if (session->job.live_count && !session->job.flight_count && !session->job.snapshot_count)
		SS_TRY(ss_session_has_trace(session, err));
	SS_TRY(verdict_check_rank(&session->job, chosen.rank, err));
	/* without fixes it is the recorded program */
	if (gpu && !chosen.fixes)
		chosen.fixes = "";
	SS_TRY(ss_session_verdict(session, &chosen, verdict, err));
	if (gpu)
		SS_TRY(ss_diagnosis_change_device(&session->diagnosis, &session->job, gpu, err));
	ss_query_trust(session, &options->trust);
	ss_identity_of_job(&session->job, chosen.rank, &options->run);
	options->trust.files += (*verdict)->snapshot_count + session->job.flight_count;
	options->trust.lost += (*verdict)->cut_snapshots;
	if ((*verdict)->hang)
		options->trust.cut_files += (*verdict)->hang->cut_count;
	options->verbose = ss_wanted_text(wanted, "verbose");
	return SS_OK;
}

enum ss_status ss_session_findings(struct ss_session *session, const struct ss_wanted *wanted,
				   struct ArrowArrayStream *out, struct ss_error *err)
{
	const struct ss_diagnosis *verdict;
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	SS_SCRATCH(scratch, &session->memory);
	struct ss_table table;
	enum ss_status status;

	SS_TRY(verdict_of_request(session, wanted, &verdict, &renderer, &options, err));
	status = ss_diagnosis_table(verdict, &scratch, &table) && ss_table_limit_texts(&table)
			 ? ss_arrow_stream(&table, &options, out, err)
			 : ss_fail_memory(err, "the table");
	ss_table_release(&table);
	return status;
}

/* Rank and paths of the request, for the commands that a verdict suggests: "--rank 3 traces". */
static void verdict_add_shell_paths(const struct ss_session *session,
				    const struct ss_wanted *wanted, struct ss_text *out)
{
	const char *rank = ss_wanted_text(wanted, "rank");

	if (!session->shell_paths.length)
		return;
	if (rank)
		ss_text_addf(out, "--rank %s ", rank);
	ss_text_add(out, session->shell_paths.data, session->shell_paths.length);
}

enum ss_status ss_session_diagnose(struct ss_session *session, const struct ss_wanted *wanted,
				   struct ss_text *out, struct ss_error *err)
{
	const struct ss_diagnosis *verdict;
	const struct ss_renderer *renderer;
	struct ss_render_options options;
	struct ss_text shell_paths = { 0 };

	SS_TRY(verdict_of_request(session, wanted, &verdict, &renderer, &options, err));
	verdict_add_shell_paths(session, wanted, &shell_paths);
	options.shell_paths = shell_paths.data;
	renderer->diagnosis(verdict, &options, out);
	ss_text_end(&shell_paths, out);
	return ss_text_failed(out) ? ss_fail_memory(err, "the output") : SS_OK;
}

/* --- rules ---------------------------------------------------------------------------- */

static const struct ss_column rule_list_columns[] = {
	{ "rule", SS_COLUMN_TEXT, "name of the rule", 0 },
	{ "warn_percent", SS_COLUMN_PERCENT, "share of the mean step from which it is a warning",
	  SS_COLUMN_DETAIL },
	{ "silent_percent", SS_COLUMN_PERCENT,
	  "share of the mean step below which it is not reported", SS_COLUMN_DETAIL },
	{ "why", SS_COLUMN_TEXT, "reason for these two limits", SS_COLUMN_DETAIL },
	{ "fix", SS_COLUMN_TEXT, "what to do", SS_COLUMN_DETAIL },
	{ "surer", SS_COLUMN_TEXT, "what to record to be more certain", SS_COLUMN_DETAIL },
	{ "keeps_work", SS_COLUMN_TEXT, "yes: with the fix kernels do the same work in less time",
	  SS_COLUMN_DETAIL },
	{ "summary", SS_COLUMN_TEXT, "what it looks for", SS_COLUMN_WRAP },
};

static const struct ss_view rule_list = {
	.name = "rules",
	.summary = "What stepscope looks for",
	.empty = "There are no rules.",
	SS_TABLE_COLUMNS(rule_list_columns),
	.rankless = true,
};

static void rule_list_add(const struct ss_rule *rule, struct ss_table *table)
{
	ss_row_begin(table);
	ss_row_text(table, rule->name);
	if (rule->is_timeless || rule->is_ceiling) {
		ss_row_nulls(table, 2);
	} else {
		ss_row_number(table, 100 * rule->warn_share);
		ss_row_number(table, 100 * rule->silent_share);
	}
	ss_row_text(table, rule->why);
	ss_row_text(table, rule->fix);
	ss_row_text(table, rule->to_record);
	ss_row_text(table, rule->keeps_work ? "yes" : NULL);
	ss_row_text(table, rule->summary);
	ss_row_end(table);
}

static void rule_list_fill(struct ss_table *table)
{
	for (size_t i = 0; i < ss_rule_count; i++)
		rule_list_add(ss_rules[i], table);
}

/* Limits and fix, which are in the rule and not on its page. */
static void rule_page_add_figures(const struct ss_rule *rule, struct ss_text *out)
{
	if (!rule->is_timeless && !rule->is_ceiling)
		ss_text_addf(
			out,
			"\nA warning from %.1f %% of the mean step, not reported below %.1f %%: "
			"%s.\n",
			100 * rule->warn_share, 100 * rule->silent_share, rule->why);
	else
		ss_text_addf(out, "\nWhen it is reported: %s.\n", rule->why);
	if (rule->to_record && !strstr(ss_rule_page(rule), "\nHow to be more certain"))
		ss_text_addf(out, "To be more certain: %s.\n", rule->to_record);
	ss_text_addf(out, "\nThe fix:\n\n```\n%s\n```\n", rule->fix);
}

/* An entry of the glossary as a page. */
static void term_page_add(const struct ss_term *term, struct ss_text *out)
{
	ss_text_addf(out, "# %s\n\n%s\n", term->name, term->text);
	if (*term->more)
		ss_text_addf(out, "\nTo see more: %s.\n", term->more);
}

static enum ss_status explain_fail_unknown(const char *name, struct ss_error *err)
{
	const char *meant = ss_rule_guess(name);

	if (meant)
		return ss_fail(err, SS_ERR_USAGE,
			       "no rule or term called '%.60s'; did you mean '%s'?", name, meant);
	return ss_fail(err, SS_ERR_USAGE, "no rule or term called '%.60s'", name);
}

/* The Markdown itself, or its form for a terminal. */
static void explain_show_page(const struct ss_wanted *wanted, const char *page, struct ss_text *out)
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
		return ss_query_list(&wanted, &rule_list, rule_list_fill, out, err);
	SS_TRY(ss_wanted_check(&wanted, SS_TAKER_LIST, wanted.what, err));
	rule = ss_rule_find(wanted.what);
	term = rule ? NULL : ss_term_find(wanted.what);
	if (!rule && !term)
		return explain_fail_unknown(wanted.what, err);
	if (rule) {
		ss_text_add_string(&page, ss_rule_page(rule));
		rule_page_add_figures(rule, &page);
	} else {
		term_page_add(term, &page);
	}
	explain_show_page(&wanted, page.data, out);
	ss_text_end(&page, out);
	return ss_text_failed(out) ? ss_fail_memory(err, "the page") : SS_OK;
}
