/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.c - command: the rules, and the page of one.
 */
#include <stdio.h>

#include "cli/command.h"

static const struct option options[] = {
	{ "--format", "text|json|csv|markdown", "of the list (default: text)", OPTION_TEXT,
	  offsetof(struct show_options, format), 0 },
	{ "--width", "N", "columns of text (default: the terminal's, else 80)", OPTION_COUNT,
	  offsetof(struct show_options, width), 0 },
	{ "--color", "auto|always|never", "colours (default: auto: on a terminal)", OPTION_TEXT,
	  offsetof(struct show_options, color), 0 },
};

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct show_options *own = values;
	struct ss_request request = { .what = arguments->path_count ? arguments->paths[0] : NULL,
				      .format = own->format,
				      .width = show_width(own),
				      .color = show_color(own) };
	struct ss_text out = { 0 };
	struct ss_error err = { 0 };
	enum ss_status status = ss_explain(&request, &out, &err);

	if (status == SS_OK && out.length)
		fwrite(out.data, 1, out.length, stdout);
	ss_text_release(&out);
	if (status == SS_OK)
		return EXIT_FINE;
	if (err.code == SS_ERR_LIMIT)
		return show_fail(command->name, &err);
	show_fail(command->name, &err);
	fprintf(stderr, "Run 'stepscope explain' for all rules.\n");
	return EXIT_USAGE;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "What a rule looks for, how sure it is and what its fix is; all rules",
	.usage = "[RULE]",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.is_verdict = true,
	.values_bytes = sizeof(struct show_options),
	.prepare = show_prepare,
	.run = run,
};
