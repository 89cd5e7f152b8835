/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo.c - command: a slow training job, simulated here and now, and what
 * stepscope says of it. Needs no GPU, no traces, no network.
 */
#include <stdio.h>
#include <string.h>

#include "cli/simulated.h"

static int run(const struct command *command, const struct arguments *arguments)
{
	const char *folder = option_text(arguments, "output");
	struct ss_simulation simulation = { .size = sizeof(simulation),
					    .folder = folder,
					    .preset = SS_DEMO_PRESET };
	struct arguments traces = *arguments;
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
	traces.takers |= SS_TAKER_DIAGNOSE;
	traces.paths = &folder;
	traces.path_count = 1;
	code = show_run("diagnose", &traces);
	printf("\nNext, with %s:\n"
	       "  stepscope what-if --fix straggler          one fix alone\n"
	       "  stepscope overview, critical-path          where the steps' time goes\n"
	       "  stepscope ranks, collectives, imbalance    the ranks compared\n"
	       "  stepscope gaps --rank 0 --group line       the lines behind idle time\n"
	       "  stepscope merge                            one trace for Perfetto\n"
	       "  stepscope sim --list                       more jobs, healthy and not\n",
	       folder);
	return code;
}

const struct command command_demo = {
	.name = "demo",
	.summary = "A slow job, simulated here and now, and what stepscope says of it",
	.usage = "[OPTIONS]",
	.takers = SS_TAKER_DEMO,
	.run = run,
};
