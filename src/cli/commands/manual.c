/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manual.c - command: prints the manual page, made from the declared commands and options.
 *
 * One page has all commands and all options, each option with the commands that accept it. It uses
 * the macros of man(7), which every man program supports.
 */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"

/* Longest line of the source. */
#define LINE_BYTES 64

/* Escapes text, so that roff sees no requests in it. */
static void manual_add_text(const char *text, struct ss_text *out)
{
	size_t column = 0;

	if (*text == '.' || *text == '\'')
		ss_text_add_string(out, "\\&");
	for (; *text; text++, column++) {
		if (*text == ' ' && column > LINE_BYTES && !strchr(".' ", text[1])) {
			ss_text_add_string(out, "\n");
			column = 0;
		} else if (*text == '\\') {
			ss_text_add_string(out, "\\e");
		} else if (*text == '-') {
			ss_text_add_string(out, "\\-");
		} else if (*text == '\'') {
			ss_text_add_string(out, "\\(aq");
		} else {
			ss_text_add(out, text, 1);
		}
	}
}

/* An entry: its name in bold, then its description. */
static void manual_add_entry(const char *name, const char *more, const char *about,
			     struct ss_text *out)
{
	ss_text_add_string(out, ".TP\n\\fB");
	manual_add_text(name, out);
	ss_text_add_string(out, "\\fR");
	if (*more) {
		ss_text_add_string(out, " ");
		manual_add_text(more, out);
	}
	ss_text_add_string(out, "\n");
	manual_add_text(about, out);
	ss_text_add_string(out, "\n");
}

static void manual_add_head(struct ss_text *out)
{
	ss_text_addf(out, ".TH STEPSCOPE 1 \"\" \"stepscope %s\" \"User Commands\"\n",
		     ss_version());
	ss_text_add_string(out,
			   ".SH NAME\nstepscope \\- say where the time of a PyTorch training "
			   "step goes, why, and what to change\n"
			   ".SH SYNOPSIS\n"
			   ".B stepscope\n.I COMMAND\n[\\fIOPTIONS\\fR] \\fIPATH\\fR...\n.br\n"
			   ".B stepscope\n\\fIPATH\\fR...\n"
			   ".SH DESCRIPTION\n"
			   "stepscope reads traces of the PyTorch profiler. A\n.I PATH\n"
			   "is a trace file (.json, .json.gz, .sqlite, .db), a folder of them, "
			   "or \\- for standard input. Without a command it runs\n"
			   ".BR diagnose .\n");
}

static bool manual_is_view(size_t index)
{
	return index >= command_count;
}

static void manual_add_commands(const char *title, bool views, bool verdicts, struct ss_text *out)
{
	struct command command;

	ss_text_addf(out, ".SS %s\n", title);
	for (size_t i = 0; completion_command(i, &command); i++)
		if (manual_is_view(i) == views && (views || command.is_verdict == verdicts))
			manual_add_entry(command.name, command.usage, command.summary, out);
}

static void list_name(const char *name, struct ss_text *list)
{
	ss_text_addf(list, "%s%s", list->length ? ", " : "", name);
}

/* Lists who accepts an option: "diff, all views but tracks" instead of naming every view. */
static void add_takers(const struct ss_option *option, struct ss_text *out)
{
	struct ss_text taking = { 0 }, without = { 0 };
	struct command command;
	size_t views = 0, lacking = 0;

	for (size_t i = command_count; completion_command(i, &command); i++, views++)
		lacking += !(option->takers & command.takers);
	for (size_t i = 0; completion_command(i, &command); i++) {
		bool takes = option->takers & command.takers;

		if (!manual_is_view(i) || lacking > views / 2) {
			if (takes)
				list_name(command.name, &taking);
		} else if (!takes) {
			list_name(command.name, &without);
		}
	}
	if (lacking <= views / 2)
		list_name(lacking ? "all views but " : "all views", &taking);
	ss_text_add_string(&taking, without.data ? without.data : "");
	ss_text_add_string(&taking, ".");
	ss_text_add_string(out, "Taken by: ");
	manual_add_text(taking.data ? taking.data : "", out);
	ss_text_add_string(out, "\n");
	ss_text_end(&taking, out);
	ss_text_end(&without, out);
}

static void add_options(struct ss_text *out)
{
	ss_text_add_string(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < ss_option_count; i++) {
		struct help_option words;

		help_option(&ss_options[i], &words);
		manual_add_entry(words.form, "", words.about, out);
		if (!(ss_options[i].takers & SS_TAKER_PROGRAM)) {
			ss_text_add_string(out, ".br\n");
			add_takers(&ss_options[i], out);
		}
	}
}

static void manual_add_sections(struct ss_text *out)
{
	const struct help_variable *variable;
	char code[16];

	ss_text_add_string(out, ".SH EXIT STATUS\n");
	for (size_t i = 0; i < exit_meaning_count; i++) {
		snprintf(code, sizeof(code), "%d", exit_meanings[i].code);
		manual_add_entry(code, exit_meanings[i].name, exit_meanings[i].about, out);
	}
	ss_text_add_string(out, ".SH ENVIRONMENT\n");
	for (size_t i = 0; (variable = help_variable_at(i)) != NULL; i++)
		manual_add_entry(variable->name, "", variable->about, out);
}

static int manual_run(const struct command *command, const struct arguments *arguments)
{
	SS_TEXT(out);

	if (arguments->path_count)
		return cli_fail(EXIT_USAGE, command->name, "takes no paths");
	manual_add_head(&out);
	ss_text_add_string(&out, ".SH COMMANDS\n");
	manual_add_commands("Diagnosis", false, true, &out);
	manual_add_commands("Reports and views", true, false, &out);
	manual_add_commands("Other commands", false, false, &out);
	add_options(&out);
	manual_add_sections(&out);
	ss_text_add_string(&out, ".SH SEE ALSO\n\\fBstepscope help\\fR \\fICOMMAND\\fR lists the "
				 "options of one command, \\fBstepscope explain\\fR \\fINAME\\fR "
				 "prints the page of a rule, a view or a command.\n");
	return cli_print(command->name, &out);
}

const struct command command_manual = {
	.name = "manual",
	.summary = "Print the manual page: stepscope manual | man -l -",
	.usage = "",
	.run = manual_run,
};
