/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.h - scripts that complete command lines, made from the declared commands and options.
 */
#ifndef SS_CLI_COMPLETION_H
#define SS_CLI_COMPLETION_H

#include "base/text.h"
#include "cli/command.h"

struct completion_shell {
	const char *name;
	void (*write)(struct ss_text *out);
};

/* NULL past the end. */
const struct completion_shell *completion_shell_at(size_t index);

/* --- completion_words.c: which words are possible where, for all shells ------------------- */

/* All commands, then all views; false past the end. */
bool completion_command(size_t index, struct command *out);

/* Words that can follow the command instead of a path, separated by spaces; empty: only paths. */
void completion_words(const struct command *command, struct ss_text *out);

/* Values of an option of the command, separated by spaces; empty: not known. */
void completion_values(const struct command *command, const struct ss_option *option,
		       struct ss_text *out);

/* Whether the value is a file or folder. */
bool completion_is_file(const struct ss_option *option);

#endif
