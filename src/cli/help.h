/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - help made from the declared commands, options and topics.
 */
#ifndef SS_CLI_HELP_H
#define SS_CLI_HELP_H

#include <stdio.h>

#include "base/text.h"
#include "cli/command.h"

void help_all(void);
void help_command(const struct command *command);

/* The texts of an option, for help, the manual and completion. */
struct help_option {
	char form[SS_ARGUMENT_BYTES + 64]; /* "-o, --output FILE" */
	char about[256];                   /* with its default */
};

void help_option(const struct ss_option *option, struct help_option *out);

/* An exit code. The manual and docs/exit-codes.md are made from this table, too. */
struct exit_meaning {
	enum exit_code code;
	const char *name, *about;
};

extern const struct exit_meaning exit_meanings[];
extern const size_t exit_meaning_count;

/* An environment variable. */
struct help_variable {
	const char *name, *about;
};

/* NULL past the end. */
const struct help_variable *help_variable_at(size_t index);

/* A topic that 'stepscope help' explains besides commands. */
struct help_topic {
	const char *name, *summary;
	void (*print)(void);
};

/* NULL past the end. */
const struct help_topic *help_topic_at(size_t index);

/*
 * Prints the text and a newline. The cursor is in column `column`; further lines begin in column
 * `indent`. A word longer than a line is not split.
 */
void wrap_print(FILE *to, size_t column, size_t indent, const char *text);

/* Scripts that complete command lines, made from the declared commands and options. */

struct completion_shell {
	const char *name;
	void (*write)(struct ss_text *out);
};

/* NULL past the end. */
const struct completion_shell *completion_shell_at(size_t index);

/* All commands, then all views; false past the end. */
bool completion_command(size_t index, struct command *out);

#endif
