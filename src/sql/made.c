/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made.c - computes tables (views, findings, the account) as Arrow, and caches them.
 */
#include <string.h>

#include "api/renderers.h"
#include "api/request/choice.h"
#include "api/views_list.h"
#include "base/text.h"
#include "sql/account.h"
#include "sql/database.h"

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
	struct ss_arena scratch;
	struct ss_table table;
	enum ss_status status;
	bool compares;

	SS_TRY(ss_wanted_add(&wanted, "rank", rank, err));
	ss_choice_read_rank(&wanted, &options.rank, &compares);
	SS_TRY(ss_session_verdict(sql->session, &options, &verdict, err));
	ss_arena_init(&scratch, sql->memory);
	ss_table_init(&table, &ss_account_view, &scratch);
	ss_sql_account_add_rows(&verdict->account, &table);
	status = table.failed ? ss_fail_memory(err, "the table")
			      : ss_arrow_stream(&table, &plain, out, err);
	ss_table_release(&table);
	ss_arena_release(&scratch);
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
	struct ss_text request = { 0 };
	struct ArrowArrayStream stream;
	enum ss_status status = SS_OK;

	if (!made_describe_request(table, arguments, &request)) {
		ss_text_release(&request);
		return ss_fail_memory(err, "the table");
	}
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
	ss_text_release(&request);
	return status;
}

void ss_sql_release_made(struct ss_sql *sql)
{
	for (struct ss_made *made = sql->made; made; made = made->next)
		if (made->array.release)
			made->array.release(&made->array);
	sql->made = NULL;
}
