/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.c - translates errors of a query: a few words of ours, then DuckDB's own sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sql/database.h"

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
