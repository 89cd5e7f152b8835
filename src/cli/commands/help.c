/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - command: what there is, and how each command is called.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"

static void list_commands(bool verdicts)
{
	for (size_t i = 0; i < command_count; i++)
		if (commands[i]->is_verdict == verdicts)
			printf("  %-14s %s\n", commands[i]->name, commands[i]->summary);
}

void help_all(void)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	printf("stepscope reads the profiler traces of a training or inference job.\n\n"
	       "Usage: stepscope COMMAND [OPTIONS] PATH...\n"
	       "       stepscope PATH...             the same as 'stepscope diagnose PATH...'\n\n"
	       "PATH is a trace file (.json, .json.gz, .json.zst), a folder of them, or - for\n"
	       "standard input.\n\nThe verdict:\n");
	list_commands(true);
	printf("\nReports and views:\n");
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		printf("  %-14s %s\n", offer.name, offer.summary);
	printf("\nOther commands:\n");
	list_commands(false);
	printf("\nRun 'stepscope help COMMAND' for the options of one.\n");
}

void help_command(const struct command *command)
{
	const struct option *option;
	const char *group;

	printf("stepscope %s: %s\n\nUsage: stepscope %s %s\n", command->name, command->summary,
	       command->name, command->usage);
	if (command_option(command, 0))
		printf("\nOptions:\n");
	for (size_t i = 0; (option = command_option(command, i)) != NULL; i++) {
		char left[64], letter[8] = "";

		if (option->letter)
			snprintf(letter, sizeof(letter), "-%c, ", option->letter);
		snprintf(left, sizeof(left), "%s%s %s", letter, option->name, option->argument);
		if (strlen(left) > 27)
			printf("  %s\n  %-27s %s\n", left, "", option->about);
		else
			printf("  %-27s %s\n", left, option->about);
	}
	for (size_t i = 0; (group = ss_group_at(command->name, i)) != NULL; i++)
		printf("%s%s", i ? ", " : "\nGroups: ", group);
	if (ss_group_at(command->name, 0))
		printf("\n");
	if (command->print_more)
		command->print_more();
}

static int help_run(const struct command *self, const void *values,
		    const struct arguments *arguments)
{
	struct command command;

	(void)values;
	if (!arguments->path_count) {
		help_all();
		return EXIT_FINE;
	}
	if (!command_find(arguments->paths[0], &command)) {
		const char *meant = command_suggest(arguments->paths[0]);

		fprintf(stderr, "stepscope %s: no command '%s'", self->name, arguments->paths[0]);
		if (meant)
			fprintf(stderr, "; did you mean '%s'?", meant);
		fprintf(stderr, "\n");
		return EXIT_USAGE;
	}
	help_command(&command);
	return EXIT_FINE;
}

const struct command command_help = {
	.name = "help",
	.summary = "What there is, and the options of a command",
	.usage = "[COMMAND]",
	.run = help_run,
};
