/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prompt.c - reads queries from the terminal and runs them.
 *
 * The history is opened before the sandbox is entered: inside it no file can be created. Ctrl-C
 * clears the line or stops the query; Ctrl-D leaves.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sql/line.h"
#include "cli/sql/query.h"
#include "cli/stop.h"

/* Only the end of a longer history is read. */
#define HISTORY_BYTES ((off_t)256 * 1024)

static int history_file = -1;

static const char *const words[] = {
	"select",   "from", "where",    "group by", "order by", "limit", "having", "join",
	"using",    "desc", "count(*)", "sum(",     "avg(",     "max(",  "min(",   "median(",
	"distinct", "with", "describe", ".tables",  ".schema",  ".help",
};

/* --- history ------------------------------------------------------------------------------- */

/* Creates the folders of the path, if they are missing. */
static void history_make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
}

void prompt_prepare(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char path[SS_PATH_BYTES];
	int length = -1;

	if (state && *state == '/')
		length = snprintf(path, sizeof(path), "%s/stepscope/sql_history", state);
	else if (home && *home == '/')
		length = snprintf(path, sizeof(path), "%s/.local/state/stepscope/sql_history",
				  home);
	if (length < 0 || (size_t)length >= sizeof(path))
		return;
	history_make_folders(path);
	history_file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void history_read(void)
{
	off_t size = history_file >= 0 ? lseek(history_file, 0, SEEK_END) : 0;
	off_t from = size > HISTORY_BYTES ? size - HISTORY_BYTES : 0;
	SS_TEXT(text);
	char part[4096], *at, *end;
	ssize_t got;

	while (from < size && (got = pread(history_file, part, sizeof(part), from)) > 0) {
		ss_text_add(&text, part, (size_t)got);
		from += got;
	}
	for (at = text.data; at && *at; at = end + 1) {
		end = strchr(at, '\n');
		if (!end)
			break;
		*end = '\0';
		cli_line_remember(at);
	}
}

static void remember(const char *line)
{
	SS_TEXT(text);

	if (!*line)
		return;
	cli_line_remember(line);
	ss_text_addf(&text, "%s\n", line);
	/* the prompt works without a history as well */
	if (history_file >= 0 && text.length && write(history_file, text.data, text.length) < 0)
		history_file = -1;
}

/* --- completion ---------------------------------------------------------------------------- */

/* The statement typed so far, and a buffer for a table's name. */
struct typed {
	struct ss_text statement;
	char name[SS_SQL_NAME_BYTES];
};

static bool word_begins_with(const char *word, const char *start, size_t length)
{
	return strncmp(word, start, length) == 0;
}

/* Whether an earlier table has a column with the same name. */
static bool is_repeated(size_t table, uint32_t column)
{
	const char *name = ss_sql_table_at(table)->columns[column].name;

	for (size_t i = 0; i < table; i++) {
		const struct ss_view *other = ss_sql_table_at(i);

		for (uint32_t k = 0; k < other->column_count; k++)
			if (strcmp(other->columns[k].name, name) == 0)
				return true;
	}
	return false;
}

/* Whether only a table name can follow: after FROM, JOIN and .schema. */
static bool is_table(const struct line_word *word)
{
	static const char *const before[] = { "from", "join", ".schema", "describe" };
	const char *end = word->start;

	while (end > word->line && end[-1] == ' ')
		end--;
	for (size_t i = 0; i < SS_COUNT(before); i++) {
		size_t length = strlen(before[i]);

		if ((size_t)(end - word->line) >= length && end < word->start &&
		    strncasecmp(end - length, before[i], length) == 0)
			return true;
	}
	return false;
}

/* Candidates: tables, then columns of all tables without duplicates, then SQL keywords. */
static const char *prompt_complete(void *context, const struct line_word *word, size_t index)
{
	struct typed *typed = context;
	const struct ss_view *table;

	for (size_t i = 0; (table = ss_sql_table_at(i)); i++) {
		ss_sql_table_name(table, typed->name);
		if (word_begins_with(typed->name, word->start, word->length) && !index--)
			return typed->name;
	}
	if (is_table(word))
		return NULL;
	for (size_t i = 0; (table = ss_sql_table_at(i)); i++)
		for (uint32_t k = 0; k < table->column_count; k++)
			if (word_begins_with(table->columns[k].name, word->start, word->length) &&
			    !is_repeated(i, k) && !index--)
				return table->columns[k].name;
	for (size_t i = 0; i < SS_COUNT(words); i++)
		if (word_begins_with(words[i], word->start, word->length) && !index--)
			return words[i];
	return NULL;
}

/* --- the loop ------------------------------------------------------------------------------ */

static void prompt_on_interrupt(int signal)
{
	(void)signal;
	cli_line_clear();
}

/* Reads a line; Ctrl-C interrupts the read instead of the program. */
static enum line_state prompt_read_line(const char *prompt, struct ss_text *out)
{
	struct sigaction action, before;
	enum line_state state;

	memset(&action, 0, sizeof(action));
	action.sa_handler = prompt_on_interrupt;
	sigaction(SIGINT, &action, &before);
	state = cli_line_read(prompt, out);
	sigaction(SIGINT, &before, NULL);
	return state;
}

static void prompt_run_statement(struct query *query, const char *text, size_t length)
{
	struct ss_error err = { 0 };
	enum ss_status status;

	stop_forget(); /* a signal from before the query was not meant for it */
	status = cli_query_run(query, &(struct ss_sql_text){ text, length }, &err);
	fflush(stdout);
	if (status != SS_OK)
		(void)show_fail("sql", &err);
	stop_forget();
}

/* Runs the complete statements; keeps the rest, which continues on the next line. */
static void run_complete(struct query *query, struct ss_text *statement)
{
	struct ss_sql_text rest = { statement->data, statement->length }, part;
	bool is_ended;

	while (ss_sql_split(&rest, &part, &is_ended)) {
		if (!is_ended)
			return;
		prompt_run_statement(query, part.text, part.length);
		memmove(statement->data, rest.text, rest.length + 1);
		statement->length = rest.length;
		rest = (struct ss_sql_text){ statement->data, statement->length };
	}
	statement->length = 0; /* only spaces and comments */
}

static bool is_farewell(const char *line)
{
	return strcmp(line, "exit") == 0 || strcmp(line, "quit") == 0 ||
	       strcmp(line, ".exit") == 0 || strcmp(line, ".quit") == 0;
}

/* Handles one line; false: it asks to leave. */
static bool prompt_add_line(struct query *query, struct ss_text *statement,
			    const struct ss_text *line)
{
	remember(line->data);
	if (!statement->length && is_farewell(line->data))
		return false;
	if (!statement->length && cli_query_is_list(line->data, line->length)) {
		prompt_run_statement(query, line->data, line->length);
		return true;
	}
	ss_text_addf(statement, "%s\n", line->data);
	run_complete(query, statement);
	return true;
}

int prompt_run(struct query *query)
{
	struct typed typed = { 0 };
	SS_TEXT(line);
	enum line_state state = LINE_READ;

	if (!cli_line_begin(prompt_complete, &typed)) {
		fputs("stepscope sql: cannot use the terminal; give the query as an argument\n",
		      stderr);
		return EXIT_FAILED;
	}
	history_read();
	puts("A query ends with ';'. '.tables' lists the tables, '.help' says more, "
	     "Ctrl-D leaves.");
	while (state != LINE_ENDED) {
		state = prompt_read_line(typed.statement.length ? "...> " : "sql> ", &line);
		if (state == LINE_CLEARED) {
			typed.statement.length = 0;
			puts("^C");
		} else if (state == LINE_READ && !prompt_add_line(query, &typed.statement, &line)) {
			break;
		}
	}
	if (state == LINE_ENDED)
		fputc('\n', stdout);
	cli_line_end();
	ss_text_release(&typed.statement);
	if (history_file >= 0)
		close(history_file);
	return EXIT_FINE;
}
