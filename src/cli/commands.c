/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.c - the list of all commands, made from src/cli/commands/meson.build, and the
 * views as commands.
 */
#include <string.h>

#include "api/request/find.h"
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

#define NAME_MAX_LENGTH 64

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
				.takers = ss_takers_of(offer.name),
				.run = run_view,
			};
			return true;
		}
	return false;
}

/* How many letters have to change, be added or dropped. */
static size_t distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_LENGTH + 1], length = strlen(b);

	if (length > NAME_MAX_LENGTH)
		return SIZE_MAX;
	for (size_t i = 0; i <= length; i++)
		row[i] = i;
	for (size_t k = 0; a[k]; k++) {
		size_t corner = row[0];

		row[0] = k + 1;
		for (size_t i = 0; i < length; i++) {
			size_t change = corner + (a[k] != b[i]);

			corner = row[i + 1];
			row[i + 1] = change < corner + 1 ? change : corner + 1;
			if (row[i] + 1 < row[i + 1])
				row[i + 1] = row[i] + 1;
		}
	}
	return row[length];
}

struct guess guess_begin(const char *typed, size_t most)
{
	return (struct guess){ .typed = typed, .least = most + 1 };
}

void guess_add(struct guess *guess, const char *name)
{
	size_t away = distance(guess->typed, name);

	if (away >= guess->least)
		return;
	guess->least = away;
	guess->best = name;
}

const char *command_suggest(const char *name)
{
	struct guess guess = guess_begin(name, TYPO_MAX);
	struct ss_offer offer = { .size = sizeof(offer) };

	for (size_t i = 0; i < command_count; i++)
		guess_add(&guess, commands[i]->name);
	for (size_t i = 0; ss_offer_at(i, &offer); i++)
		guess_add(&guess, offer.name);
	return guess.best;
}
