/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - help for the program, for a command and for a topic, in 80 columns; what exit codes
 * mean.
 */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* --- text in 80 columns -------------------------------------------------------------------- */

#define COLUMNS 80

void wrap_print(FILE *to, size_t column, size_t indent, const char *text)
{
	bool is_first = true;

	for (;;) {
		size_t length = strcspn(text, " "), width = ss_text_columns(text, length);

		if (!is_first && column + 1 + width > COLUMNS) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!is_first) {
			fputc(' ', to);
			column++;
		}
		fwrite(text, 1, length, to);
		column += width;
		is_first = false;
		text += length;
		if (!*text)
			break;
		text++;
	}
	fputc('\n', to);
}

#define NAME_COLUMNS 17 /* two spaces, the command's name and a space */
#define OPTION_COLUMNS 30

static void print_row(const char *name, const char *about)
{
	printf("  %-*s ", NAME_COLUMNS - 3, name);
	wrap_print(stdout, NAME_COLUMNS, NAME_COLUMNS, about);
}

static void list_commands(bool verdicts)
{
	for (size_t i = 0; i < command_count; i++)
		if (commands[i]->is_verdict == verdicts)
			print_row(commands[i]->name, commands[i]->summary);
}

void help_option(const struct ss_option *option, struct help_option *out)
{
	char argument[SS_ARGUMENT_BYTES], letter[8] = "";

	ss_option_argument(option, argument);
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c, ", option->letter);
	snprintf(out->form, sizeof(out->form), "%s--%s%s%s", letter, option->name,
		 *argument ? " " : "", argument);
	snprintf(out->about, sizeof(out->about), "%s%s%s%s", option->about,
		 option->otherwise ? " (default: " : "", option->otherwise ? option->otherwise : "",
		 option->otherwise ? ")" : "");
}

static void print_option(const struct ss_option *option)
{
	struct help_option words;

	help_option(option, &words);
	if (strlen(words.form) > OPTION_COLUMNS - 3)
		printf("  %s\n%*s", words.form, OPTION_COLUMNS, "");
	else
		printf("  %-*s ", OPTION_COLUMNS - 3, words.form);
	wrap_print(stdout, OPTION_COLUMNS, OPTION_COLUMNS, words.about);
}

static void print_options(uint32_t takers)
{
	const char *begin = "\nOptions:\n";

	for (size_t i = 0; i < ss_option_count; i++) {
		if (!(ss_options[i].takers & takers))
			continue;
		printf("%s", begin);
		begin = "";
		print_option(&ss_options[i]);
	}
}

/* Options that stand before a command, shown as usage forms. */
static void print_forms(void)
{
	for (size_t i = 0; i < ss_option_count; i++) {
		struct help_option words;

		if (!(ss_options[i].takers & SS_TAKER_PROGRAM))
			continue;
		help_option(&ss_options[i], &words);
		printf("       stepscope %-19s ", words.form);
		wrap_print(stdout, 37, 37, words.about);
	}
}

void help_all(void)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	printf("stepscope reads PyTorch profiler traces and says where the time of a step goes,\n"
	       "why, and what to change.\n\n"
	       "Usage: stepscope COMMAND [OPTIONS] PATH...\n"
	       "       stepscope PATH...             same as 'stepscope diagnose PATH...'\n");
	print_forms();
	printf("\nPATH is a trace file (.json, .json.gz, .sqlite, .db), a folder of them, or -\n"
	       "for standard input.\n\nDiagnosis:\n");
	list_commands(true);
	printf("\nReports and views:\n");
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		print_row(offer.name, offer.summary);
	printf("\nOther commands:\n");
	list_commands(false);
	printf("\nRun 'stepscope help COMMAND' for its options, 'stepscope help exit-codes' for\n"
	       "the exit codes.\n");
}

/* The groups of a view on one line: "Groups: step, device". */
static void print_groups(const char *name)
{
	SS_TEXT(list);
	const char *group;

	for (size_t i = 0; (group = ss_group_at(name, i)) != NULL; i++)
		ss_text_addf(&list, "%s%s", i ? ", " : "Groups: ", group);
	if (list.length) {
		printf("\n");
		wrap_print(stdout, 0, strlen("Groups: "), list.data);
	}
}

void help_command(const struct command *command)
{
	size_t head = strlen("stepscope : ") + strlen(command->name);

	printf("stepscope %s: ", command->name);
	wrap_print(stdout, head, 4, command->summary);
	printf("\nUsage: stepscope %s ", command->name);
	wrap_print(stdout, strlen("Usage: stepscope  ") + strlen(command->name), 7, command->usage);
	print_options(command->takers);
	print_groups(command->name);
	if (command->print_more)
		command->print_more();
}

/* --- topics ------------------------------------------------------------------------------ */

static void print_exit_codes(void)
{
	printf("Exit codes of stepscope:\n\n");
	for (size_t i = 0; i < exit_meaning_count; i++) {
		printf("  %3d  %-12s ", exit_meanings[i].code, exit_meanings[i].name);
		wrap_print(stdout, 20, 20, exit_meanings[i].about);
	}
}

static const struct help_variable variables[] = {
	{ "COLUMNS", "Width of text, where --width is not given. Without it the width is that of "
		     "the terminal, or 80." },
	{ "NO_COLOR", "If set and not empty, text has no colours; --color always is stronger." },
	{ "TERM", "If it is 'dumb', text has no colours." },
	{ "DISPLAY, WAYLAND_DISPLAY",
	  "'stepscope serve' opens a browser only if one of them is set and SSH_CONNECTION is "
	  "not." },
};

const struct help_variable *help_variable_at(size_t index)
{
	return index < SS_COUNT(variables) ? &variables[index] : NULL;
}

static void print_environment(void)
{
	printf("Environment variables of stepscope:\n\n");
	for (size_t i = 0; i < SS_COUNT(variables); i++) {
		printf("  %s\n      ", variables[i].name);
		wrap_print(stdout, 6, 6, variables[i].about);
	}
}

static const struct help_topic topics[] = {
	{ "exit-codes", "How the command ends, for scripts", print_exit_codes },
	{ "environment", "Environment variables that the command uses", print_environment },
};

const struct help_topic *help_topic_at(size_t index)
{
	return index < SS_COUNT(topics) ? &topics[index] : NULL;
}

/* What each exit code means. */

const struct exit_meaning exit_meanings[] = {
	{ EXIT_FINE, "fine",
	  "The command did its work; findings are not errors. 'stepscope serve' also ends with "
	  "0 when you stop it with Ctrl-C." },
	{ EXIT_FAILED, "problem",
	  "An input is missing, cannot be read or is not a trace, an output could not be "
	  "written, or a limit was reached. One sentence on standard error says which." },
	{ EXIT_USAGE, "usage",
	  "The command line is wrong: an unknown command, option, value, view, rule, rank or "
	  "step. No file was written." },
	{ EXIT_FOUND, "found",
	  "'stepscope check' found a regression, or a condition of --fail-if holds." },
	{ EXIT_INCONCLUSIVE, "inconclusive",
	  "'stepscope check' cannot decide: too few steps, too much noise, another job, or a "
	  "figure that the traces do not show. With --allow-inconclusive the code is 0." },
	{ EXIT_INTERRUPTED, "interrupted",
	  "Ctrl-C stopped the command before it was done. No incomplete file is left." },
};

const size_t exit_meaning_count = sizeof(exit_meanings) / sizeof(exit_meanings[0]);
