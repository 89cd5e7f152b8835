/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion.c - completion scripts for bash, zsh and fish, and the words that they offer.
 */

#include <stdio.h>
#include <string.h>

#include "api/simulator.h"
#include "api/views_list.h"
#include "cli/help.h"

/* --- possible words, for all shells -------------------------------------------------------- */

bool completion_command(size_t index, struct command *out)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	if (index < command_count) {
		*out = *commands[index];
		return true;
	}
	return ss_offer_at(index - command_count, &offer) && command_find(offer.name, out);
}

static void add_completion_word(struct ss_text *out, const char *word)
{
	ss_text_addf(out, "%s%s", out->length ? " " : "", word);
}

static void add_completion_commands(struct ss_text *out)
{
	struct command command;

	for (size_t i = 0; completion_command(i, &command); i++)
		add_completion_word(out, command.name);
}

static void add_rules(struct ss_text *out)
{
	for (size_t i = 0; i < ss_rule_count; i++)
		add_completion_word(out, ss_rules[i]->name);
}

static void add_topics(struct ss_text *out)
{
	const struct help_topic *topic;

	for (size_t i = 0; (topic = help_topic_at(i)) != NULL; i++)
		add_completion_word(out, topic->name);
}

/* Words that can follow the command instead of a path, separated by spaces; empty: only paths. */
static void completion_words(const struct command *command, struct ss_text *out)
{
	struct ss_offer offer = { .size = sizeof(offer) };
	const struct completion_shell *shell;

	if (strcmp(command->name, "help") == 0) {
		add_completion_commands(out);
		add_topics(out);
	} else if (strcmp(command->name, "explain") == 0) {
		add_rules(out);
		add_completion_commands(out);
	} else if (strcmp(command->name, "completion") == 0) {
		for (size_t i = 0; (shell = completion_shell_at(i)) != NULL; i++)
			add_completion_word(out, shell->name);
	} else if (strcmp(command->name, "snapshot") == 0) {
		for (size_t i = 0; ss_snapshots_offer_at(i, &offer); i++)
			add_completion_word(out, offer.name);
	}
}

/* "a|b|c" as separate words. */
static void add_choices(const struct ss_option *option, struct ss_text *out)
{
	char words[SS_ARGUMENT_BYTES];

	ss_option_argument(option, words);
	for (char *at = words; *at; at++)
		*at = *at == '|' ? ' ' : *at;
	add_completion_word(out, words);
}

static bool option_is_called(const struct ss_option *option, const char *name)
{
	return strcmp(option->name, name) == 0;
}

/* Values of an option of the command, separated by spaces; empty: not known. */
static void completion_values(const struct command *command, const struct ss_option *option,
			      struct ss_text *out)
{
	struct ss_offer offer = { .size = sizeof(offer) };
	struct ss_sim_preset preset;
	const char *group;

	if (option->kind == SS_OPTION_CHOICE || option_is_called(option, "keep"))
		add_choices(option, out);
	else if (option->kind == SS_OPTION_RANK && strstr(option->argument, "all"))
		add_completion_word(out, "all");
	else if (option_is_called(option, "fix"))
		add_rules(out);
	else if (option_is_called(option, "view"))
		for (size_t i = 0; ss_offer_at(i, &offer); i++)
			add_completion_word(out, offer.name);
	else if (option_is_called(option, "preset"))
		for (size_t i = 0; ss_sim_preset_at(i, &preset); i++)
			add_completion_word(out, preset.name);
	else if (option_is_called(option, "group"))
		for (size_t i = 0; (group = ss_group_at(command->name, i)) != NULL; i++)
			add_completion_word(out, group);
}

/* Whether the value is a file or folder. */
static bool completion_is_file(const struct ss_option *option)
{
	return option->kind == SS_OPTION_OUTPUT ||
	       (option->argument &&
		(strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0));
}

/* A word that is not a command is a path: 'diagnose' runs on it, so its options apply. */
#define OTHERWISE "diagnose"

static const char head[] = "# Completion of stepscope for %s, made by 'stepscope completion %s'.\n";

/* --- bash -------------------------------------------------------------------------------- */

static const char bash_begin[] =
	"_stepscope()\n"
	"{\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tlocal command=${COMP_WORDS[1]} options words values\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\t# --option=value comes as three words\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\tfi\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W '%s' -- \"$cur\"; compgen -f -- \"$cur\")\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tcase $command in\n";

static const char bash_end[] =
	"\tesac\n"
	"\tif [[ $values == @files ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"\telif [[ $values ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$cur\")\n"
	"\telif [[ $cur == -* ]]; then\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
	"\telse\n"
	"\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\"; compgen -f -- \"$cur\")\n"
	"\tfi\n"
	"}\n"
	"complete -o filenames -F _stepscope stepscope\n";

/* A branch of the shell's `case`: the values that the option accepts. */
static void add_bash_value(const struct command *command, const struct ss_option *option,
			   struct ss_text *out)
{
	struct ss_text values = { 0 };
	char letter[8] = "";

	completion_values(command, option, &values);
	if (completion_is_file(option))
		ss_text_add_string(&values, "@files");
	else if (!values.length && option->kind != SS_OPTION_FLAG)
		ss_text_add_string(&values, " "); /* any value */
	if (option->letter)
		snprintf(letter, sizeof(letter), "-%c|", option->letter);
	if (values.length)
		ss_text_addf(out, "\t\t%s--%s) values='%s' ;;\n", letter, option->name,
			     values.data);
	ss_text_end(&values, out);
}

static void add_bash_command(const struct command *command, struct ss_text *out)
{
	struct ss_text words = { 0 };

	completion_words(command, &words);
	ss_text_addf(out, "\t%s)\n\t\twords='%s'\n\t\toptions='--help",
		     strcmp(command->name, OTHERWISE) == 0 ? "*" : command->name,
		     words.data ? words.data : "");
	for (size_t i = 0; i < ss_option_count; i++)
		if (ss_options[i].takers & command->takers)
			ss_text_addf(out, " --%s", ss_options[i].name);
	ss_text_add_string(out, "'\n\t\tcase $prev in\n");
	for (size_t i = 0; i < ss_option_count; i++)
		if (ss_options[i].takers & command->takers)
			add_bash_value(command, &ss_options[i], out);
	ss_text_add_string(out, "\t\tesac\n\t\t;;\n");
	ss_text_end(&words, out);
}

static void write_bash(struct ss_text *out)
{
	struct command command, otherwise = { 0 };
	struct ss_text names = { 0 };

	for (size_t i = 0; completion_command(i, &command); i++)
		ss_text_addf(&names, "%s ", command.name);
	ss_text_add_string(&names, "--help --version");
	ss_text_addf(out, head, "bash", "bash");
	ss_text_addf(out, bash_begin, names.data ? names.data : "");
	for (size_t i = 0; completion_command(i, &command); i++) {
		if (strcmp(command.name, OTHERWISE) == 0)
			otherwise = command;
		else
			add_bash_command(&command, out);
	}
	add_bash_command(&otherwise, out);
	ss_text_add_string(out, bash_end);
	ss_text_end(&names, out);
}

/* --- zsh --------------------------------------------------------------------------------- */

/* Escapes text for single quotes; brackets and colons have a meaning for _arguments. */
static void add_zsh(struct ss_text *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			ss_text_add_string(out, "'\\'");
		else if (strchr("[]:\\", *text))
			ss_text_add_string(out, "\\");
		ss_text_add(out, text, 1);
	}
}

static bool may_repeat(const struct ss_option *option)
{
	return option->kind == SS_OPTION_LIST || option->kind == SS_OPTION_PAIRS;
}

static void add_zsh_option(const struct command *command, const struct ss_option *option,
			   struct ss_text *out)
{
	bool has_value = option->kind != SS_OPTION_FLAG;
	struct ss_text values = { 0 };

	completion_values(command, option, &values);
	ss_text_add_string(out, " \\\n\t\t\t");
	if (option->letter)
		ss_text_addf(out, "'(-%c --%s)'{-%c,--%s%s}'[", option->letter, option->name,
			     option->letter, option->name, has_value ? "=" : "");
	else
		ss_text_addf(out, "'%s--%s%s[", may_repeat(option) ? "*" : "", option->name,
			     has_value ? "=" : "");
	add_zsh(out, option->about);
	ss_text_add_string(out, "]");
	if (has_value && completion_is_file(option))
		ss_text_add_string(out, ":file:_files");
	else if (has_value)
		ss_text_addf(out, ":value:(%s)", values.data ? values.data : "");
	ss_text_add_string(out, "'");
	ss_text_end(&values, out);
}

static void add_zsh_command(const struct command *command, struct ss_text *out)
{
	struct ss_text words = { 0 };

	completion_words(command, &words);
	ss_text_addf(out, "\t%s)\n\t\t_arguments -S '(- *)'{-h,--help}'[show help]'",
		     strcmp(command->name, OTHERWISE) == 0 ? "*" : command->name);
	for (size_t i = 0; i < ss_option_count; i++)
		if (ss_options[i].takers & command->takers)
			add_zsh_option(command, &ss_options[i], out);
	if (words.length)
		ss_text_addf(out, " \\\n\t\t\t'*:word:{ compadd -- %s; _files }'", words.data);
	else
		ss_text_add_string(out, " \\\n\t\t\t'*:trace:_files'");
	ss_text_add_string(out, "\n\t\t;;\n");
	ss_text_end(&words, out);
}

static void write_zsh(struct ss_text *out)
{
	struct command command, otherwise = { 0 };

	ss_text_add_string(out, "#compdef stepscope\n");
	ss_text_addf(out, head, "zsh", "zsh");
	ss_text_add_string(out, "_stepscope()\n{\n\tlocal -a commands=(\n");
	for (size_t i = 0; completion_command(i, &command); i++) {
		ss_text_addf(out, "\t\t'%s:", command.name);
		add_zsh(out, command.summary);
		ss_text_add_string(out, "'\n");
	}
	ss_text_add_string(out, "\t)\n\tif (( CURRENT == 2 )); then\n"
				"\t\t_describe -t commands command commands\n\t\t_files\n"
				"\t\treturn\n\tfi\n"
				"\tlocal command=$words[2]\n"
				"\tshift words\n\t(( CURRENT-- ))\n\tcase $command in\n");
	for (size_t i = 0; completion_command(i, &command); i++) {
		if (strcmp(command.name, OTHERWISE) == 0)
			otherwise = command;
		else
			add_zsh_command(&command, out);
	}
	add_zsh_command(&otherwise, out);
	ss_text_add_string(out, "\tesac\n}\n"
				"if [[ $funcstack[1] == _stepscope ]]; then\n"
				"\t_stepscope \"$@\"\nelse\n\tcompdef _stepscope stepscope\nfi\n");
}

/* --- fish -------------------------------------------------------------------------------- */

static void add_fish(struct ss_text *out, const char *text)
{
	ss_text_add_string(out, "'");
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			ss_text_add_string(out, "\\");
		ss_text_add(out, text, 1);
	}
	ss_text_add_string(out, "'");
}

static void add_fish_option(const struct command *command, const struct ss_option *option,
			    struct ss_text *out)
{
	struct ss_text values = { 0 };

	completion_values(command, option, &values);
	ss_text_addf(out, "complete -c stepscope -n '__fish_seen_subcommand_from %s' -l %s",
		     command->name, option->name);
	if (option->letter)
		ss_text_addf(out, " -s %c", option->letter);
	if (option->kind != SS_OPTION_FLAG && completion_is_file(option))
		ss_text_add_string(out, " -r -F");
	else if (option->kind != SS_OPTION_FLAG)
		ss_text_add_string(out, " -x");
	if (values.length)
		ss_text_addf(out, " -a '%s'", values.data);
	ss_text_add_string(out, " -d ");
	add_fish(out, option->about);
	ss_text_add_string(out, "\n");
	ss_text_end(&values, out);
}

static void write_fish(struct ss_text *out)
{
	struct command command;

	ss_text_addf(out, head, "fish", "fish");
	for (size_t i = 0; completion_command(i, &command); i++) {
		struct ss_text words = { 0 };

		ss_text_addf(out, "complete -c stepscope -n __fish_use_subcommand -a %s -d ",
			     command.name);
		add_fish(out, command.summary);
		ss_text_add_string(out, "\n");
		completion_words(&command, &words);
		if (words.length)
			ss_text_addf(out,
				     "complete -c stepscope -n '__fish_seen_subcommand_from %s' "
				     "-a '%s'\n",
				     command.name, words.data);
		ss_text_end(&words, out);
		for (size_t k = 0; k < ss_option_count; k++)
			if (ss_options[k].takers & command.takers)
				add_fish_option(&command, &ss_options[k], out);
	}
	ss_text_add_string(out, "complete -c stepscope -s h -l help -d 'show help'\n");
	ss_text_add_string(out, "complete -c stepscope -n __fish_use_subcommand -s V -l version "
				"-d 'print the version'\n");
}

/* --- all --------------------------------------------------------------------------------- */

static const struct completion_shell shells[] = {
	{ "bash", write_bash },
	{ "zsh", write_zsh },
	{ "fish", write_fish },
};

const struct completion_shell *completion_shell_at(size_t index)
{
	return index < SS_COUNT(shells) ? &shells[index] : NULL;
}
