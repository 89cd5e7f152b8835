/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - command: prints the script that completes command lines in a shell.
 */
#include <string.h>

#include "cli/help.h"

static const struct completion_shell *find_shell(const char *name)
{
	const struct completion_shell *shell;
	size_t i = 0;

	while ((shell = completion_shell_at(i)) != NULL && strcmp(shell->name, name) != 0)
		i++;
	return shell;
}

static int completion_run(const struct command *command, const struct arguments *arguments)
{
	const struct completion_shell *shell = arguments->path_count == 1
						       ? find_shell(arguments->paths[0])
						       : NULL;
	SS_TEXT(out);

	if (!shell)
		return cli_fail(EXIT_USAGE, command->name, "expected a shell: bash, zsh or fish");
	shell->write(&out);
	return cli_print(command->name, &out);
}

const struct command command_completion = {
	.name = "completion",
	.summary = "Print the completion script for bash, zsh or fish",
	.usage = "bash|zsh|fish",
	.run = completion_run,
};
