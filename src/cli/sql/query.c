/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.c - statement after statement: run, fetch, render, write.
 */
#include "cli/sql/query.h"

#include <string.h>

#include "api/renderers.h"
#include "api/request/query.h"
#include "base/text.h"

/* Rows that are rendered at a time by formats that can go on. */
#define ROWS_AT_ONCE 32768

enum ss_status cli_query_prepare(const struct arguments *arguments, struct query *out,
				 struct ss_error *err)
{
	struct ss_request request = show_request("sql", arguments);
	struct ss_wanted wanted;

	SS_TRY(ss_wanted_read(&request, &wanted, err));
	return ss_wanted_format(&wanted, &out->renderer, &out->options, err);
}

bool cli_query_is_list(const char *text, size_t length)
{
	while (length && (*text == ' ' || *text == '\n' || *text == '\t')) {
		text++;
		length--;
	}
	return length > 1 && *text == '.' && text[1] >= 'a' && text[1] <= 'z';
}

/* What cannot be written to standard output is reported when the program ends. */
static enum ss_status write_text(struct query *query, struct ss_text *text, struct ss_error *err)
{
	bool is_written = true;

	if (ss_text_failed(text))
		return ss_fail_memory(err, "the output");
	if (text->length && query->shown->to_file)
		is_written = output_write(&query->shown->output, text->data, text->length);
	else if (text->length)
		fwrite(text->data, 1, text->length, stdout);
	text->length = 0;
	return is_written ? SS_OK : ss_fail(err, SS_ERR_IO, "%s", query->shown->output.err.text);
}

/* Text has room for some columns, other formats for any number. */
static enum ss_status check_columns(const struct query *query, const struct ss_sql_answer *answer,
				    struct ss_error *err)
{
	uint32_t count = answer->view.column_count;

	if (count <= SS_RENDER_COLUMNS_MAX || strcmp(query->renderer->name, "text") != 0)
		return SS_OK;
	return ss_fail(err, SS_ERR_USAGE,
		       "the result has %u columns and text shows at most %u; select fewer, or use "
		       "another format (option 'format')",
		       count, SS_RENDER_COLUMNS_MAX);
}

static enum ss_status print_rows(struct query *query, struct ss_sql_answer *answer,
				 struct ss_text *out, struct ss_error *err)
{
	uint32_t most = query->renderer->more ? ROWS_AT_ONCE : 0;
	bool is_first = true;

	SS_TRY(check_columns(query, answer, err));
	while ((is_first || !answer->is_done) && !ferror(stdout)) {
		SS_TRY(ss_sql_fetch(answer, most, err));
		(is_first ? query->renderer->view : query->renderer->more)(&answer->table,
									   &query->options, out);
		SS_TRY(write_text(query, out, err));
		is_first = false;
	}
	return SS_OK;
}

static enum ss_status query_run_statement(struct query *query, const struct ss_sql_text *statement,
					  struct ss_error *err)
{
	struct ss_sql_answer answer;
	struct ss_text out = { 0 };
	enum ss_status status;

	if (query->is_parquet)
		return ss_sql_copy(query->sql, statement, query->shown->output.file.temporary, err);
	status = ss_sql_begin(query->sql, statement, &answer, err);
	if (status == SS_OK && answer.has_rows)
		status = print_rows(query, &answer, &out, err);
	ss_sql_end(&answer);
	ss_text_release(&out);
	return status;
}

static enum ss_status run_list(struct query *query, const struct ss_sql_text *text,
			       struct ss_error *err)
{
	struct ss_text out = { 0 };
	enum ss_status status = cli_query_list(query, text->text, text->length, &out, err);

	if (status == SS_OK)
		status = write_text(query, &out, err);
	ss_text_release(&out);
	return status;
}

/* Lines with a list stand alone; everything else ends with a semicolon. */
static bool next(struct ss_sql_text *rest, struct ss_sql_text *out, bool *is_list)
{
	const char *end;
	bool is_ended;

	*is_list = cli_query_is_list(rest->text, rest->length);
	if (!*is_list)
		return ss_sql_split(rest, out, &is_ended);
	end = memchr(rest->text, '\n', rest->length);
	out->text = rest->text;
	out->length = end ? (size_t)(end - rest->text) : rest->length;
	*rest = (struct ss_sql_text){ rest->text + out->length, rest->length - out->length };
	return true;
}

enum ss_status cli_query_run(struct query *query, const struct ss_sql_text *text,
			     struct ss_error *err)
{
	struct ss_sql_text rest = *text, part;
	bool is_list;

	while (!ferror(stdout) && next(&rest, &part, &is_list)) {
		if (!is_list && !query->sql)
			return ss_fail(err, SS_ERR_USAGE,
				       "expected a trace file or a folder of "
				       "traces before the query");
		SS_TRY(is_list ? run_list(query, &part, err)
			       : query_run_statement(query, &part, err));
	}
	return SS_OK;
}
