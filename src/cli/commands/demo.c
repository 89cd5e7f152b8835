/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo.c - command: simulates a slow training job and diagnoses it. Needs no
 * GPU, no traces and no network.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static int demo_run(const struct command *command, const struct arguments *arguments)
{
	const char *folder = cli_option_text(arguments, "output");
	struct ss_simulation simulation = { .size = sizeof(simulation),
					    .folder = folder,
					    .preset = SS_DEMO_PRESET };
	struct arguments traces = *arguments;
	int code;

	if (arguments->path_count) {
		fprintf(stderr, "stepscope %s: takes no paths, it simulates its own traces\n",
			command->name);
		return EXIT_USAGE;
	}
	printf("Simulating a training job on 8 GPUs that is slower than it should be.\n\n");
	fflush(stdout);
	code = simulated_write(command->name, &simulation, "none");
	if (code != EXIT_FINE)
		return code;
	printf("\nWhat stepscope finds in its traces:\n\n");
	fflush(stdout);
	traces.takers = SS_TAKER_DIAGNOSE; /* demo's -o is the folder for the traces */
	traces.paths = &folder;
	traces.path_count = 1;
	code = show_run("diagnose", &traces);
	printf("\nTry next, with %s as PATH:\n"
	       "  stepscope what-if --fix straggler          the effect of one fix\n"
	       "  stepscope overview, critical-path          where step time goes\n"
	       "  stepscope ranks, collectives, imbalance    compare the ranks\n"
	       "  stepscope gaps --rank 0 --group line       source lines behind idle time\n"
	       "  stepscope merge                            one trace of all ranks for Perfetto\n"
	       "  stepscope sim --list                       more simulated jobs\n",
	       folder);
	return code;
}

const struct command command_demo = {
	.name = "demo",
	.summary = "Try stepscope without a trace: simulate a slow job, diagnose it",
	.usage = "[OPTIONS]",
	.takers = SS_TAKER_DEMO,
	.run = demo_run,
};
