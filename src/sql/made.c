/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.c - computes tables (views, findings, the account) as Arrow, and caches them.
 */
#include <stddef.h>
#include <string.h>

#include "api/renderers.h"
#include "api/request/choice.h"
#include "base/text.h"
#include "sql/database.h"

/* --- the account --------------------------------------------------------------------------- */

static const struct ss_column columns[] = {
	{ "part", SS_COLUMN_TEXT,
	  "warnings (saved by the fixes of all warnings), smaller (by the fixes of all other "
	  "findings), compute, communication, copies, host, unexplained",
	  SS_COLUMN_FILLED },
	{ "time_ns", SS_COLUMN_NS, "time of the mean step; the parts add up to it",
	  SS_COLUMN_FILLED },
	{ "share_percent", SS_COLUMN_PERCENT, "share of the mean step", 0 },
};

const struct ss_view ss_account_view = {
	.name = "account",
	.summary = "Where the time of the mean step goes: findings, needed work, unexplained",
	.empty = "No account: the files have no steps.",
	SS_TABLE_COLUMNS(columns),
	.sums = "time_ns",
	.basis = SS_BASIS_MEAN,
	.rankless = true,
};

static const struct {
	const char *name;
	size_t at; /* offset in struct ss_account */
} parts[] = {
	{ "warnings", offsetof(struct ss_account, warnings_ns) },
	{ "smaller", offsetof(struct ss_account, smaller_ns) },
	{ "compute", offsetof(struct ss_account, compute_ns) },
	{ "communication", offsetof(struct ss_account, communication_ns) },
	{ "copies", offsetof(struct ss_account, copies_ns) },
	{ "host", offsetof(struct ss_account, host_ns) },
	{ "unexplained", offsetof(struct ss_account, unexplained_ns) },
};

const char *ss_sql_account_part_at(size_t index)
{
	return index < SS_COUNT(parts) ? parts[index].name : NULL;
}

static void account_add_row(struct ss_table *out, const char *part, int64_t time_ns,
			    int64_t step_ns)
{
	ss_row_begin(out);
	ss_row_text(out, part);
	ss_row_int(out, time_ns);
	ss_row_share(out, (double)time_ns, (double)step_ns);
	ss_row_end(out);
}

/* Adds one row per part; none if there are no steps. */
static void account_add_rows(const struct ss_account *account, struct ss_table *out)
{
	if (account->step_ns <= 0)
		return;
	for (size_t i = 0; i < SS_COUNT(parts); i++)
		account_add_row(out, parts[i].name,
				*(const int64_t *)((const char *)account + parts[i].at),
				account->step_ns);
}

/* --- all computed tables ------------------------------------------------------------------- */

/* Builds the cache key: the table's name and its parameters. */
static bool made_describe_request(const struct ss_view *table,
				  const struct ss_sql_arguments *arguments, struct ss_text *out)
{
	ss_text_add_string(out, table->name);
	for (int i = 0; i < SS_PARAMETER_COUNT; i++)
		if (arguments->texts[i])
			ss_text_addf(out, "&%s=%s", ss_parameter_name((enum ss_parameter)i),
				     arguments->texts[i]);
	return !ss_text_failed(out);
}

static enum ss_status make_account(struct ss_sql *sql, const char *rank,
				   struct ArrowArrayStream *out, struct ss_error *err)
{
	struct ss_diagnose_options options = { .rank = SS_EVERY_RANK };
	const struct ss_render_options plain = { 0 };
	const struct ss_diagnosis *verdict;
	struct ss_wanted wanted = { .what = "diagnose" };
	SS_SCRATCH(scratch, sql->memory);
	struct ss_table table;
	enum ss_status status;
	bool compares;

	SS_TRY(ss_wanted_add(&wanted, "rank", rank, err));
	ss_choice_read_rank(&wanted, &options.rank, &compares);
	SS_TRY(ss_session_verdict(sql->session, &options, &verdict, err));
	ss_table_init(&table, &ss_account_view, &scratch);
	account_add_rows(&verdict->account, &table);
	status = table.failed ? ss_fail_memory(err, "the table")
			      : ss_arrow_stream(&table, &plain, out, err);
	ss_table_release(&table);
	return status;
}

/* Computes a view; parameters that are options of the view are passed as "name=value". */
static enum ss_status made_view(struct ss_sql *sql, const char *what,
				const struct ss_sql_arguments *arguments,
				struct ArrowArrayStream *out, struct ss_error *err)
{
	struct ss_text texts[SS_PARAMETER_COUNT] = { { 0 } };
	const char *options[SS_PARAMETER_COUNT + 1] = { NULL };
	struct ss_request request = { .size = sizeof(request),
				      .what = what,
				      .rank = arguments->texts[SS_PARAMETER_RANK],
				      .step = arguments->texts[SS_PARAMETER_STEP],
				      .options = options };
	enum ss_status status = SS_OK;
	uint32_t count = 0;

	for (int i = SS_PARAMETER_GROUP; i < SS_PARAMETER_COUNT; i++) {
		if (!arguments->texts[i] || i == SS_PARAMETER_STEP)
			continue;
		ss_text_addf(&texts[i], "%s=%s", ss_parameter_option((enum ss_parameter)i),
			     arguments->texts[i]);
		if (ss_text_failed(&texts[i]))
			status = ss_fail_memory(err, "the parameters");
		options[count++] = texts[i].data;
	}
	if (status == SS_OK)
		status = ss_session_table(sql->session, &request, out, err);
	for (int i = 0; i < SS_PARAMETER_COUNT; i++)
		ss_text_release(&texts[i]);
	return status;
}

static enum ss_status made_make(struct ss_sql *sql, const struct ss_view *table,
				const struct ss_sql_arguments *arguments,
				struct ArrowArrayStream *out, struct ss_error *err)
{
	const char *rank = arguments->texts[SS_PARAMETER_RANK];

	*out = (struct ArrowArrayStream){ 0 };
	ss_session_start(sql->session);
	/* rank=all would have other columns: minimum and maximum across ranks */
	if (rank && strcmp(rank, "all") == 0)
		return ss_fail(err, SS_ERR_USAGE,
			       "'rank' is a number in SQL; without it a table "
			       "has the rows of all ranks");
	if (table == &ss_account_view)
		return make_account(sql, rank, out, err);
	return made_view(sql, table == &ss_findings_view ? "diagnose" : table->name, arguments, out,
			 err);
}

static struct ss_made *made_find(struct ss_sql *sql, const char *request)
{
	for (struct ss_made *made = sql->made; made; made = made->next)
		if (strcmp(made->request, request) == 0)
			return made;
	return NULL;
}

static enum ss_status made_keep(struct ss_sql *sql, const struct ss_text *request,
				struct ArrowArrayStream *stream, const struct ss_made **out,
				struct ss_error *err)
{
	struct ss_made *made = SS_ARENA_NEW(&sql->arena, struct ss_made, 1);

	if (made)
		made->request = ss_arena_copy(&sql->arena, request->data, request->length);
	if (!made || !made->request || stream->get_next(stream, &made->array) != 0)
		return ss_fail_memory(err, "the table");
	made->next = sql->made;
	sql->made = made;
	*out = made;
	return SS_OK;
}

enum ss_status ss_sql_make(struct ss_sql *sql, const struct ss_view *table,
			   const struct ss_sql_arguments *arguments, const struct ss_made **out,
			   struct ss_error *err)
{
	struct ArrowArrayStream stream;
	enum ss_status status = SS_OK;
	SS_TEXT(request);

	if (!made_describe_request(table, arguments, &request))
		return ss_fail_memory(err, "the table");
	ss_gate_lock(sql->gate);
	*out = made_find(sql, request.data);
	if (!*out) {
		status = made_make(sql, table, arguments, &stream, err);
		if (status == SS_OK)
			status = made_keep(sql, &request, &stream, out, err);
		if (stream.release)
			stream.release(&stream);
	}
	ss_gate_unlock(sql->gate);
	return status;
}

void ss_sql_release_made(struct ss_sql *sql)
{
	for (struct ss_made *made = sql->made; made; made = made->next)
		if (made->array.release)
			made->array.release(&made->array);
	sql->made = NULL;
}
