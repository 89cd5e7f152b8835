/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - the list of all commands, made from src/cli/commands/meson.build, and the
 * views as commands.
 */
#include <string.h>

#include "api/request/find.h"
#include "base/closest_name.h"
#include "cli/command.h"

#define SS_COMMAND(name) extern const struct command command_##name;
#include "commands.inc"
#undef SS_COMMAND

#define SS_COMMAND(name) &command_##name,
const struct command *const commands[] = {
#include "commands.inc"
};
#undef SS_COMMAND

const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static int run_view(const struct command *command, const struct arguments *arguments)
{
	return show_run(command->name, arguments);
}

bool command_find(const char *name, struct command *out)
{
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; i < command_count; i++)
		if (strcmp(commands[i]->name, name) == 0) {
			*out = *commands[i];
			return true;
		}
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		if (strcmp(offer.name, name) == 0) {
			*out = (struct command){
				.name = offer.name,
				.summary = offer.summary,
				.usage = "[OPTIONS] PATH...",
				.takers = ss_request_takers(offer.name),
				.run = run_view,
			};
			return true;
		}
	return false;
}

const char *command_suggest(const char *name)
{
	struct ss_closest_name guess = ss_closest_name_begin(name);
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; i < command_count; i++)
		ss_closest_name_add(&guess, commands[i]->name);
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		ss_closest_name_add(&guess, offer.name);
	return guess.best;
}
