/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if.c - command: how long a step would take with findings fixed, or on another GPU.
 */
#include "cli/command.h"

static int what_if_run(const struct command *command, const struct arguments *arguments)
{
	return show_run(command->name, arguments);
}

const struct command command_what_if = {
	.name = "what-if",
	.summary = "How long a step would take with findings fixed, or on another GPU",
	.usage = "[--fix RULE[=RANK],...] [--gpu NAME] [OPTIONS] PATH...",
	.is_verdict = true,
	.takers = SS_TAKER_WHAT_IF,
	.run = what_if_run,
};
