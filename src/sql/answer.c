/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.c - runs statements, puts their rows into stepscope tables, and translates errors.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "sql/database.h"
#include "sql/sql.h"

/* --- splitting a text into statements ------------------------------------------------------ */

static bool sql_is_name_char(char letter)
{
	return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
	       (letter >= '0' && letter <= '9') || letter == '_' || (unsigned char)letter >= 0x80;
}

/*
 * The position after the closing quote. A doubled quote reads as two adjacent texts, which is fine.
 */
static size_t skip_quoted(const char *text, size_t length, size_t at, bool has_escapes)
{
	char quote = text[at++];

	for (; at < length && text[at] != quote; at++)
		if (has_escapes && text[at] == '\\')
			at++;
	return at < length ? at + 1 : SIZE_MAX;
}

/* $$ ... $$ and $tag$ ... $tag$; any other dollar sign begins a parameter. */
static size_t skip_dollars(const char *text, size_t length, size_t at)
{
	size_t tag = at + 1;

	while (tag < length && sql_is_name_char(text[tag]))
		tag++;
	if (tag >= length || text[tag] != '$')
		return at + 1;
	tag = tag + 1 - at;
	for (size_t end = at + tag; end + tag <= length; end++)
		if (memcmp(text + end, text + at, tag) == 0)
			return end + tag;
	return SIZE_MAX;
}

/* Block comments can be nested. */
static size_t skip_comment(const char *text, size_t length, size_t at)
{
	size_t depth = 0;

	for (; at + 1 < length; at++) {
		if (text[at] == '/' && text[at + 1] == '*') {
			depth++;
			at++;
		} else if (text[at] == '*' && text[at + 1] == '/') {
			at++;
			if (--depth == 0)
				return at + 1;
		}
	}
	return SIZE_MAX;
}

static size_t sql_skip_line(const char *text, size_t length, size_t at)
{
	const char *end = memchr(text + at, '\n', length - at);

	return end ? (size_t)(end - text) : length;
}

/*
 * The position after the token at `at`; SIZE_MAX: it has no end. Sets *is_word unless it is a
 * comment.
 */
static size_t sql_skip_token(const char *text, size_t length, size_t at, bool *is_word)
{
	bool has_next = at + 1 < length;

	if (has_next && text[at] == '-' && text[at + 1] == '-')
		return sql_skip_line(text, length, at);
	if (has_next && text[at] == '/' && text[at + 1] == '*')
		return skip_comment(text, length, at);
	if (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r'))
		return at + 1;
	*is_word = true;
	if (text[at] == '\'')
		return skip_quoted(text, length, at,
				   at && (text[at - 1] | 0x20) == 'e' &&
					   (at < 2 || !sql_is_name_char(text[at - 2])));
	if (text[at] == '"')
		return skip_quoted(text, length, at, false);
	if (text[at] == '$' && !(at && sql_is_name_char(text[at - 1])))
		return skip_dollars(text, length, at);
	return at + 1;
}

bool ss_sql_split(struct ss_sql_text *rest, struct ss_sql_text *statement, bool *is_ended)
{
	const char *text = rest->text;
	size_t length = rest->length, at = 0;
	bool is_word = false;

	*is_ended = false;
	while (at < length) {
		if (text[at] == ';') {
			*statement = (struct ss_sql_text){ text, at };
			*rest = (struct ss_sql_text){ text + at + 1, length - at - 1 };
			*is_ended = true;
			if (is_word)
				return true;
			/* an empty statement: continue after it */
			text = rest->text;
			length = rest->length;
			at = 0;
			continue;
		}
		at = sql_skip_token(text, length, at, &is_word);
	}
	*is_ended = false;
	*statement = (struct ss_sql_text){ text, length };
	*rest = (struct ss_sql_text){ text + length, 0 };
	return is_word;
}

/* --- running a statement ------------------------------------------------------------------- */

/* Pause while other threads have all tasks: short for a person, long for a processor. */
#define NAP_NS 200000

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

static char *sql_answer_copy_text(struct ss_arena *arena, const struct ss_sql_text *text)
{
	return memchr(text->text, '\0', text->length)
		       ? NULL
		       : ss_arena_copy(arena, text->text, text->length);
}

static enum ss_status sql_answer_prepare(struct ss_sql_answer *answer, const char *text,
					 struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();

	if (engine->prepare(answer->sql->connection, text, &answer->statement) != 0)
		return ss_sql_fail(answer->sql, engine->prepare_error(answer->statement), err);
	if (engine->nparams(answer->statement))
		return ss_fail(err, SS_ERR_USAGE,
			       "the query has a parameter (? or $), and nothing to put there");
	if (engine->pending_prepared_streaming(answer->statement, &answer->pending) != 0)
		return ss_sql_fail(answer->sql, engine->pending_error(answer->pending), err);
	return SS_OK;
}

/* Executes the query in small tasks, and checks between them whether to stop. */
static enum ss_status sql_answer_work(struct ss_sql_answer *answer, struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();
	const struct ss_sql_options *options = &answer->sql->options;
	bool is_stopped = false;
	int state;

	do {
		state = engine->pending_execute_task(answer->pending);
		if (!is_stopped && options->is_stopped && options->is_stopped(options->context)) {
			is_stopped = true;
			engine->interrupt(answer->sql->connection);
		}
		if (state == DUCK_PENDING_WAITING)
			nap();
	} while (state == DUCK_PENDING_WORKING || state == DUCK_PENDING_WAITING);
	if (is_stopped)
		return ss_fail(err, SS_ERR_STOPPED, "stopped");
	if (state == DUCK_PENDING_FAILED)
		return ss_sql_fail(answer->sql, engine->pending_error(answer->pending), err);
	answer->has_result = true;
	if (engine->execute_pending(answer->pending, &answer->result) != 0)
		return ss_sql_fail(answer->sql, engine->result_error(&answer->result), err);
	return SS_OK;
}

static enum ss_status sql_answer_execute(struct ss_sql_answer *answer, const char *text,
					 struct ss_error *err)
{
	SS_TRY(sql_answer_prepare(answer, text, err));
	return sql_answer_work(answer, err);
}

static void drop_result(struct ss_sql_answer *answer)
{
	const struct ss_engine *engine = ss_engine();

	if (answer->has_result)
		engine->destroy_result(&answer->result);
	if (answer->pending)
		engine->destroy_pending(&answer->pending);
	if (answer->statement)
		engine->destroy_prepare(&answer->statement);
	answer->has_result = false;
}

/* Casts dates, lists and other types that our columns lack to text, by a query around the query. */
static bool sql_cast_columns(const struct ss_sql_answer *answer, const char *query,
			     struct ss_text *out)
{
	uint32_t count = answer->view.column_count;

	ss_text_add_string(out, "select ");
	for (uint32_t i = 0; i < count; i++) {
		bool is_read = ss_sql_source_is_read(&answer->sources[i]);

		ss_text_addf(out, is_read ? "%sc%u as \"" : "%scast(c%u as varchar) as \"",
			     i ? ", " : "", i);
		ss_sql_add_quoted(out, answer->view.columns[i].name, '"');
		ss_text_add_string(out, "\"");
	}
	ss_text_addf(out, " from (%s\n) as q(", query);
	for (uint32_t i = 0; i < count; i++)
		ss_text_addf(out, "%sc%u", i ? ", " : "", i);
	ss_text_add_string(out, ")");
	return !ss_text_failed(out);
}

static bool reads_all(const struct ss_sql_answer *answer)
{
	for (uint32_t i = 0; i < answer->view.column_count; i++)
		if (!ss_sql_source_is_read(&answer->sources[i]))
			return false;
	return true;
}

static enum ss_status sql_answer_run(struct ss_sql_answer *answer, const char *query,
				     struct ss_error *err)
{
	SS_TEXT(wrapped);
	enum ss_status status;

	SS_TRY(sql_answer_execute(answer, query, err));
	answer->has_rows = ss_engine()->result_return_type(answer->result) == DUCK_RETURNS_ROWS;
	if (!answer->has_rows)
		return SS_OK;
	SS_TRY(ss_sql_read_columns(answer, err));
	if (reads_all(answer))
		return SS_OK;
	status = sql_cast_columns(answer, query, &wrapped) ? SS_OK
							   : ss_fail_memory(err, "the query");
	drop_result(answer);
	answer->sql->query = NULL; /* the wrapped query is not what the user wrote */
	if (status == SS_OK)
		status = sql_answer_execute(answer, wrapped.data, err);
	if (status == SS_OK)
		status = ss_sql_read_columns(answer, err);
	return status;
}

enum ss_status ss_sql_begin(struct ss_sql *sql, const struct ss_sql_text *statement,
			    struct ss_sql_answer *out, struct ss_error *err)
{
	char *query;
	enum ss_status status;

	*out = (struct ss_sql_answer){ .sql = sql };
	sql->own.code = SS_OK;
	sql->problem_at = -1;
	ss_arena_init(&out->arena, sql->memory);
	ss_table_init(&out->table, &out->view, &out->arena);
	query = sql_answer_copy_text(&out->arena, statement);
	if (!query)
		return ss_fail(err, SS_ERR_USAGE, "the query contains a zero byte, or is too long");
	sql->query = query;
	status = sql_answer_run(out, query, err);
	sql->query = NULL;
	out->is_done = status != SS_OK || !out->has_rows;
	return status;
}

enum ss_status ss_sql_fetch(struct ss_sql_answer *answer, uint32_t most, struct ss_error *err)
{
	const struct ss_engine *engine = ss_engine();
	const struct ss_sql_options *options = &answer->sql->options;
	const char *problem;

	ss_table_release(&answer->table);
	ss_table_init(&answer->table, &answer->view, &answer->arena);
	while (!answer->is_done && (!most || answer->table.row_count < most)) {
		duck_handle chunk = engine->fetch_chunk(answer->result);
		uint64_t rows = chunk ? engine->data_chunk_get_size(chunk) : 0;
		enum ss_status status = SS_OK;

		if (options->is_stopped && options->is_stopped(options->context))
			status = ss_fail(err, SS_ERR_STOPPED, "stopped");
		if (rows && status == SS_OK)
			status = ss_sql_read_chunk(answer, chunk, (uint32_t)rows, err);
		if (chunk)
			engine->destroy_data_chunk(&chunk);
		answer->is_done = !rows || status != SS_OK;
		SS_TRY(status);
	}
	problem = answer->is_done ? engine->result_error(&answer->result) : NULL;
	return problem && *problem ? ss_sql_fail(answer->sql, problem, err) : SS_OK;
}

void ss_sql_end(struct ss_sql_answer *answer)
{
	drop_result(answer);
	ss_sql_release_sources(answer);
	ss_table_release(&answer->table);
	ss_arena_release(&answer->arena);
}

enum ss_status ss_sql_run(struct ss_sql *sql, const char *statement, struct ss_error *err)
{
	const struct ss_sql_text text = { statement, strlen(statement) };
	struct ss_sql_answer answer;
	enum ss_status status = ss_sql_begin(sql, &text, &answer, err);

	ss_sql_end(&answer);
	return status;
}

enum ss_status ss_sql_copy(struct ss_sql *sql, const struct ss_sql_text *query, const char *path,
			   struct ss_error *err)
{
	SS_TEXT(text);

	ss_text_addf(&text, "copy (%.*s\n) to '", (int)query->length, query->text);
	ss_sql_add_quoted(&text, path, '\'');
	ss_text_add_string(&text, "' (format parquet, compression zstd, use_tmp_file false)");
	return ss_text_failed(&text) ? ss_fail_memory(err, "the query")
				     : ss_sql_run(sql, text.data, err);
}

/* Translates errors of a query: a few words of ours, then DuckDB's own sentence. */

struct kind {
	const char *begins; /* DuckDB's message */
	enum ss_status code;
	const char *words;
};

static const struct kind kinds[] = {
	{ "Parser Error", SS_ERR_USAGE, "this is not valid SQL" },
	{ "Catalog Error", SS_ERR_USAGE, "the query names something that does not exist" },
	{ "Binder Error", SS_ERR_USAGE, "the query does not fit the tables" },
	{ "Conversion Error", SS_ERR_USAGE, "a value does not have the type that the query needs" },
	{ "Invalid Input Error", SS_ERR_USAGE, "the query cannot be run" },
	{ "Out of Memory Error", SS_ERR_LIMIT,
	  "the query needs more memory than there is; raise option 'memory-limit', or let it "
	  "return less" },
	{ "Permission Error", SS_ERR_USAGE,
	  "queries may not read or write files; option 'allow-files' lets them read" },
	{ "INTERRUPT Error", SS_ERR_STOPPED, "stopped" },
};

/* Copies the first line: what DuckDB says before it quotes the query. */
static void problem_first_line(const char *message, char *out, size_t room)
{
	const char *end = strstr(message, "\n\nLINE ");
	size_t used = 0;

	for (; *message && message != end && used + 1 < room; message++) {
		char letter = *message == '\n' ? ' ' : *message;

		if (letter != ' ' || (used && out[used - 1] != ' '))
			out[used++] = letter;
	}
	/* the last UTF-8 character may be cut: drop it with its first byte */
	if (*message && message != end) {
		while (used && (out[used - 1] & 0xc0) == 0x80)
			used--;
		used -= used && (out[used - 1] & 0xc0) == 0xc0;
	}
	out[used] = '\0';
}

/* "Table with name slcies does not exist!": suggests the most similar table. */
static enum ss_status problem_suggest_table(const char *message, struct ss_error *err)
{
	static const char begin[] = "Table with name ", after[] = " does not exist";
	const char *name = strstr(message, begin), *end;
	char typed[SS_SQL_NAME_BYTES], best[SS_SQL_NAME_BYTES];

	name = name ? name + sizeof(begin) - 1 : NULL;
	end = name ? strstr(name, after) : NULL;
	if (!end || (size_t)(end - name) >= sizeof(typed))
		return SS_OK;
	memcpy(typed, name, (size_t)(end - name));
	typed[end - name] = '\0';
	if (ss_sql_guess(typed, best))
		return ss_fail(err, SS_ERR_USAGE, "no table called '%s'; did you mean '%s'?", typed,
			       best);
	return ss_fail(err, SS_ERR_USAGE,
		       "no table called '%s'; the query '.tables' lists all of them", typed);
}

/* The text after this number of characters. */
static const char *skip_characters(const char *text, size_t characters)
{
	while (*text && characters--)
		do
			text++;
		while ((*text & 0xc0) == 0x80);
	return text;
}

/* The line with that number, counted from 1; NULL: fewer lines. */
static const char *find_line(const char *text, size_t number)
{
	while (text && number > 1) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
		number--;
	}
	return text;
}

/*
 * DuckDB quotes the line and marks the position below it: "LINE 2: from slcies\n             ^". It
 * shortens long lines at both ends, so the quoted piece is searched in the line.
 */
static int64_t problem_find_place(const char *query, const char *message)
{
	const char *line = query ? strstr(message, "\n\nLINE ") : NULL, *piece, *end, *mark, *found;
	size_t column, cut, length;
	char text[256];

	line = line ? line + 2 : NULL;
	piece = line ? strstr(line, ": ") : NULL;
	end = piece ? strchr(piece, '\n') : NULL;
	mark = end ? strchr(end, '^') : NULL;
	piece = mark ? piece + 2 : NULL;
	if (!piece || mark - end - 1 < piece - line)
		return -1;
	column = (size_t)((mark - end - 1) - (piece - line));
	cut = strncmp(piece, "...", 3) == 0 ? 3 : 0;
	length = (size_t)(end - piece);
	if (length > 3 + cut && strncmp(end - 3, "...", 3) == 0)
		length -= 3;
	if (length < cut || length - cut >= sizeof(text) || column < cut)
		return -1;
	memcpy(text, piece + cut, length - cut);
	text[length - cut] = '\0';
	found = find_line(query, strtoul(line + strlen("LINE "), NULL, 10));
	found = found ? strstr(found, text) : NULL;
	return found ? skip_characters(found, column - cut) - query : -1;
}

int64_t ss_sql_problem_at(const struct ss_sql *sql)
{
	return sql->problem_at;
}

enum ss_status ss_sql_fail(struct ss_sql *sql, const char *message, struct ss_error *err)
{
	char line[400];

	message = message ? message : "no reason given";
	sql->problem_at = problem_find_place(sql->query, message);
	if (sql->own.code != SS_OK) {
		enum ss_status code = sql->own.code;

		snprintf(line, sizeof(line), "%.390s", sql->own.text);
		sql->own.code = SS_OK;
		return ss_fail(err, code, "%s", line);
	}
	if (strncmp(message, "Catalog Error", 13) == 0)
		SS_TRY(problem_suggest_table(message, err));
	problem_first_line(message, line, sizeof(line));
	for (size_t i = 0; i < SS_COUNT(kinds); i++)
		if (strncmp(message, kinds[i].begins, strlen(kinds[i].begins)) == 0)
			return ss_fail(err, kinds[i].code, "%s (DuckDB: %s)", kinds[i].words, line);
	return ss_fail(err, SS_ERR_FORMAT, "the query failed (DuckDB: %s)", line);
}
