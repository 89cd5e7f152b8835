/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demo.c - command: simulates a slow training job and diagnoses it. Needs no
 * GPU, no traces and no network.
 */
#include <stdio.h>
#include <string.h>

#include "api/session.h"
#include "cli/command.h"

/* Lines that can be pasted. */
static void print_next(const char *folder)
{
	static const char *const next[] = {
		"serve",
		"what-if --fix straggler",
		"ranks",
		"gaps --rank 0 --group line",
		"merge -o demo.json.gz",
	};
	SS_TEXT(path);

	ss_shell_add_word(&path, folder);
	ss_text_add(&path, "", 1);
	if (ss_text_failed(&path))
		return;
	printf("\nTry next: the viewer, the effect of one fix, all ranks side by side, lines of\n"
	       "code behind idle time, one trace for Perfetto, more simulated jobs:\n");
	for (size_t i = 0; i < sizeof(next) / sizeof(next[0]); i++)
		printf("  stepscope %s %s\n", next[i], path.data);
	printf("  stepscope sim --list\n");
}

static int demo_run(const struct command *command, const struct arguments *arguments)
{
	const char *folder = cli_option_text(arguments, "output");
	struct ss_simulation simulation = { .size = sizeof(simulation),
					    .folder = folder,
					    .preset = SS_DEMO_PRESET };
	struct arguments traces = *arguments;
	int code;

	if (arguments->path_count)
		return cli_fail(EXIT_USAGE, command->name,
				"takes no paths, it simulates its own traces");
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
	print_next(folder);
	return code;
}

const struct command command_demo = {
	.name = "demo",
	.summary = "Try stepscope without a trace: simulate a slow job, diagnose it",
	.usage = "[OPTIONS]",
	.takers = SS_TAKER_DEMO,
	.run = demo_run,
};
