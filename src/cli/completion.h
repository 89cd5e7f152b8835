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

/* All commands, then all views; false past the end. */
bool completion_command(size_t index, struct command *out);

#endif
