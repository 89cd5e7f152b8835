/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnose.c - command: what slows a job down, what it costs, how to fix it.
 */
#include "cli/command.h"

static int diagnose_run(const struct command *command, const struct arguments *arguments)
{
	return show_run(command->name, arguments);
}

const struct command command_diagnose = {
	.name = "diagnose",
	.summary = "What slows the steps down, what it costs, and how to fix it",
	.usage = "[OPTIONS] PATH...",
	.is_verdict = true,
	.takers = SS_TAKER_DIAGNOSE,
	.run = diagnose_run,
};
