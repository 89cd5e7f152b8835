/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h - reads a line from the terminal: with editing, history and completion by libedit
 * (line_edit.c), or plain in builds without it (line_plain.c).
 */
#ifndef SS_CLI_SQL_LINE_H
#define SS_CLI_SQL_LINE_H

#include "base/text.h"

/* The word to complete, and the line before it. */
struct line_word {
	const char *line, *start;
	size_t length;
};

/* The candidate at the index: words that begin with `word`; NULL past the end. */
typedef const char *line_complete(void *context, const struct line_word *word, size_t index);

enum line_state {
	LINE_READ,
	LINE_CLEARED, /* Ctrl-C */
	LINE_ENDED,   /* Ctrl-D, or there is no terminal */
};

/* False: the terminal cannot be used. */
bool cli_line_begin(line_complete *complete, void *context);
void cli_line_end(void);

/* Makes the read in progress return LINE_CLEARED; safe in a signal handler, on any thread. */
void cli_line_clear(void);

/* Replaces the contents of `out` by the line, without its newline. */
enum line_state cli_line_read(const char *prompt, struct ss_text *out);

/* Adds a line to the history of the arrow keys. */
void cli_line_remember(const char *line);

#endif
