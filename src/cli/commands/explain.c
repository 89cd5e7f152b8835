/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - command: lists the rules, or shows the page of one.
 */
#include <stdio.h>

#include "cli/output.h"

static int run(const struct command *command, const struct arguments *arguments)
{
	const char *rule = arguments->path_count ? arguments->paths[0] : NULL;
	struct ss_request request = show_request(rule, arguments);
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	struct shown shown;
	int code = show_begin(command->name, arguments, NULL, &shown);

	if (code == EXIT_FINE)
		code = show_end(command->name, ss_explain(&request, &out, &err), &shown, &out,
				&err);

	if (code == EXIT_USAGE)
		fprintf(stderr, "Run 'stepscope explain' for all rules.\n");
	return code;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "What a rule looks for and how to fix it; without a rule: all",
	.usage = "[RULE]",
	.takers = SS_TAKER_LIST,
	.is_verdict = true,
	.run = run,
};
