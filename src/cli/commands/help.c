/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.c - command: lists all commands, or shows how to use one.
 */
#include <stdio.h>
#include <string.h>

#include "base/closest_name.h"
#include "cli/help.h"

static const struct help_topic *topic_of(const char *name)
{
	const struct help_topic *topic;
	size_t i = 0;

	while ((topic = help_topic_at(i)) != NULL && strcmp(topic->name, name) != 0)
		i++;
	return topic;
}

static int help_refuse_name(const struct command *self, const char *name)
{
	struct ss_closest_name guess = ss_closest_name_begin(name);
	const char *command = command_suggest(name);
	const struct help_topic *topic;

	if (command)
		ss_closest_name_add(&guess, command);
	for (size_t i = 0; (topic = help_topic_at(i)) != NULL; i++)
		ss_closest_name_add(&guess, topic->name);
	fprintf(stderr, "stepscope %s: no command or topic called '%s'", self->name, name);
	if (guess.best)
		fprintf(stderr, "; did you mean '%s'?", guess.best);
	fprintf(stderr, "\nRun 'stepscope help' for all commands.\n");
	return EXIT_USAGE;
}

static int help_run(const struct command *self, const struct arguments *arguments)
{
	const char *name = arguments->path_count ? arguments->paths[0] : NULL;
	const struct help_topic *topic = name ? topic_of(name) : NULL;
	struct command command;

	if (!name)
		help_all();
	else if (topic)
		topic->print();
	else if (command_find(name, &command))
		help_command(&command);
	else
		return help_refuse_name(self, name);
	return EXIT_FINE;
}

static void list_topics(void)
{
	const struct help_topic *topic;

	printf("\nTopics:\n");
	for (size_t i = 0; (topic = help_topic_at(i)) != NULL; i++)
		printf("  %-14s %s\n", topic->name, topic->summary);
}

const struct command command_help = {
	.name = "help",
	.summary = "All commands, or the options of one",
	.usage = "[COMMAND|TOPIC]",
	.print_more = list_topics,
	.run = help_run,
};
