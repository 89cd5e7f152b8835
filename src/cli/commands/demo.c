/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo.c - command: a slow training job, simulated here and now, and what
 * stepscope says of it. Needs no GPU, no traces, no network.
 */
#include <stdio.h>
#include <string.h>

#include "cli/simulated.h"

#define DEMO_FOLDER "stepscope-demo"

struct values {
	struct show_options show;
	const char *output;
};

static const struct option options[] = {
	{ "--output", "FOLDER", "where the traces go (default: " DEMO_FOLDER ")", OPTION_OUTPUT,
	  offsetof(struct values, output), 'o' },
	{ "--width", "N", "columns of text (default: the terminal's, else 80)", OPTION_COUNT,
	  offsetof(struct values, show.width), 0 },
	{ "--color", "auto|always|never", "colours (default: auto: on a terminal)", OPTION_TEXT,
	  offsetof(struct values, show.color), 0 },
};

static void prepare(void *values)
{
	struct values *own = values;

	show_prepare(&own->show);
	own->output = DEMO_FOLDER;
}

static int run(const struct command *command, const void *values, const struct arguments *arguments)
{
	const struct values *own = values;
	struct ss_simulation simulation = { .size = sizeof(simulation),
					    .folder = own->output,
					    .preset = SS_DEMO_PRESET };
	struct show_options show = own->show;
	const char *paths[] = { own->output };
	struct arguments traces = { .paths = paths, .path_count = 1 };
	int code;

	if (arguments->path_count) {
		fprintf(stderr, "stepscope %s: takes no paths; it makes its own traces\n",
			command->name);
		return EXIT_USAGE;
	}
	printf("A training job of 8 GPUs that is slower than it should be, simulated.\n"
	       "What was planted:\n\n");
	fflush(stdout);
	code = simulated_write(command->name, &simulation, "none");
	if (code != EXIT_FINE)
		return code;
	printf("\nWhat its traces say:\n\n");
	fflush(stdout);
	code = show_run("diagnose", &show, &traces);
	printf("\nNext, with %s:\n"
	       "  stepscope what-if --fix straggler          one fix alone\n"
	       "  stepscope overview, critical-path          where the steps' time goes\n"
	       "  stepscope ranks, collectives, imbalance    the ranks compared\n"
	       "  stepscope gaps --rank 0 --group line       the lines behind idle time\n"
	       "  stepscope merge                            one trace for Perfetto\n"
	       "  stepscope sim --list                       more jobs, healthy and not\n",
	       own->output);
	return code;
}

const struct command command_demo = {
	.name = "demo",
	.summary = "A slow job, simulated here and now, and what stepscope says of it",
	.usage = "[OPTIONS]",
	.options = options,
	.option_count = sizeof(options) / sizeof(options[0]),
	.values_bytes = sizeof(struct values),
	.prepare = prepare,
	.run = run,
};
