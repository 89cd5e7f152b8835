/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - command: lists all commands, or shows how to use one.
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

	printf("stepscope reads PyTorch profiler traces and says where the time of a step goes,\n"
	       "why, and what to change.\n\n"
	       "Usage: stepscope COMMAND [OPTIONS] PATH...\n"
	       "       stepscope PATH...             same as 'stepscope diagnose PATH...'\n\n"
	       "PATH is a trace file (.json, .json.gz, .json.zst), a folder of them, or - for\n"
	       "standard input.\n\nDiagnosis:\n");
	list_commands(true);
	printf("\nReports and views:\n");
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		printf("  %-14s %s\n", offer.name, offer.summary);
	printf("\nOther commands:\n");
	list_commands(false);
	printf("\nRun 'stepscope help COMMAND' for its options.\n");
}

#define COLUMNS 80
#define INDENT 30

/* Prints the text from a column on, in lines that fit a terminal. */
static void print_wrapped(const char *text)
{
	size_t room = COLUMNS - INDENT;

	while (strlen(text) > room) {
		size_t length = room;

		while (length && text[length] != ' ')
			length--;
		if (!length)
			break;
		printf("%.*s\n%-*s", (int)length, text, INDENT, "");
		text += length + 1;
	}
	printf("%s\n", text);
}

static void print_option(const struct ss_option *option)
{
	char argument[SS_ARGUMENT_BYTES], left[SS_ARGUMENT_BYTES + 64], letter[8] = "";
	char about[256];

	ss_option_argument(option, argument);
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, option->name, *argument ? " " : "",
		 argument);
	snprintf(about, sizeof(about), "%s%s%s%s", option->about,
		 option->otherwise ? " (default: " : "", option->otherwise ? option->otherwise : "",
		 option->otherwise ? ")" : "");
	if (strlen(left) > INDENT - 3)
		printf("  %s\n%-*s", left, INDENT, "");
	else
		printf("  %-*s ", INDENT - 3, left);
	print_wrapped(about);
}

void help_command(const struct command *command)
{
	const char *group, *begin = "\nOptions:\n";

	printf("stepscope %s: %s\n\nUsage: stepscope %s %s\n", command->name, command->summary,
	       command->name, command->usage);
	for (size_t i = 0; i < ss_option_count; i++) {
		if (!(ss_options[i].takers & command->takers))
			continue;
		printf("%s", begin);
		begin = "";
		print_option(&ss_options[i]);
	}
	for (size_t i = 0; (group = ss_group_at(command->name, i)) != NULL; i++)
		printf("%s%s", i ? ", " : "\nGroups: ", group);
	if (ss_group_at(command->name, 0))
		printf("\n");
	if (command->print_more)
		command->print_more();
}

static int help_run(const struct command *self, const struct arguments *arguments)
{
	struct command command;

	if (!arguments->path_count) {
		help_all();
		return EXIT_FINE;
	}
	if (!command_find(arguments->paths[0], &command)) {
		const char *meant = command_suggest(arguments->paths[0]);

		fprintf(stderr, "stepscope %s: no command called '%s'", self->name,
			arguments->paths[0]);
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
	.summary = "All commands, or the options of one",
	.usage = "[COMMAND]",
	.run = help_run,
};
