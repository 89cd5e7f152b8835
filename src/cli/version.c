/*
 * version.c - command: which stepscope this is.
 */
#include <stdio.h>

#include "cli/command.h"

static int version_run(const struct command *command, const void *values,
		       const struct arguments *arguments)
{
	(void)command;
	(void)values;
	(void)arguments;
	printf("stepscope %s\n", ss_version());
	return EXIT_FINE;
}

const struct command command_version = {
	.name = "version",
	.summary = "Which stepscope this is",
	.usage = "",
	.run = version_run,
};
