/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if.c - command: how long a step would take with some of the findings fixed.
 */
#include "cli/command.h"

static int what_if_run(const struct command *command, const struct arguments *arguments)
{
	return show_run(command->name, arguments);
}

const struct command command_what_if = {
	.name = "what-if",
	.summary = "How long a step would take with some of the findings fixed",
	.usage = "[--fix RULE[=RANK],...] [OPTIONS] PATH...",
	.is_verdict = true,
	.takers = SS_TAKER_WHAT_IF,
	.run = what_if_run,
};
