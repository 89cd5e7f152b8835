/* SPDX-License-Identifier: Apache-2.0 */
/*
 * what_if.c - command: the step with some of what was found fixed.
 */
#include "cli/command.h"

struct values {
	struct show_options show;
	struct option_list fix;
};

static const struct option options[] = {
	{ "--fix", "RULE[=RANK],...", "what to fix; 'stepscope explain' lists rules (default: all)",
	  OPTION_LIST, offsetof(struct values, fix), 0 },
};

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct show_options show = own->show;

	show.fix = *own->fix.text ? own->fix.text : NULL;
	return show_run(command->name, &show, arguments);
}

const struct command command_what_if = {
	.name = "what-if",
	.summary = "How long a step would take with some of what was found fixed",
	.usage = "[--fix RULE[=RANK],...] [OPTIONS] PATH...",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.is_verdict = true,
	.shows = true,
	.values_bytes = sizeof(struct values),
	.prepare = show_prepare,
	.run = run,
};
