/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completion_words.c - the words that commands and options accept.
 */
#include <string.h>

#include "api/simulator.h"
#include "api/views_list.h"
#include "cli/completion.h"
#include "cli/help.h"

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

void completion_words(const struct command *command, struct ss_text *out)
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

void completion_values(const struct command *command, const struct ss_option *option,
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

bool completion_is_file(const struct ss_option *option)
{
	return option->kind == SS_OPTION_OUTPUT ||
	       (option->argument &&
		(strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0));
}
