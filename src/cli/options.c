/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - parses the options of a command.
 */
#include <stdio.h>
#include <string.h>

#include "base/closest_name.h"
#include "cli/command.h"

/* --- values ------------------------------------------------------------------------------ */

/* NULL: other commands have it, this one does not. */
static const struct ss_option *declared(const struct arguments *arguments, const char *name)
{
	assert(ss_option_find(name, strlen(name), UINT32_MAX));
	return ss_option_find(name, strlen(name), arguments->takers);
}

const char *cli_option_text(const struct arguments *arguments, const char *name)
{
	const struct ss_option *option = declared(arguments, name);
	const char *text = option ? arguments->values[option - ss_options] : NULL;

	return text || !option ? text : option->otherwise;
}

uint64_t cli_option_number(const struct arguments *arguments, const char *name, uint64_t otherwise)
{
	const struct ss_option *option = declared(arguments, name);
	const char *text = cli_option_text(arguments, name);
	uint64_t number;

	if (!text || !(option->kind == SS_OPTION_BYTES ? ss_option_read_bytes(text, &number)
						       : ss_option_read_count(text, &number)))
		return otherwise;
	return number;
}

uint32_t cli_option_count(const struct arguments *arguments, const char *name)
{
	uint64_t number = cli_option_number(arguments, name, 0);

	return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

bool cli_option_given(const struct arguments *arguments, const char *name)
{
	const struct ss_option *option = declared(arguments, name);

	return option && arguments->values[option - ss_options];
}

/* --- reading ----------------------------------------------------------------------------- */

/* "a" and "b" with something between them. */
static char *join_values(struct ss_arena *arena, const char *a, char between, const char *b)
{
	size_t length = strlen(a), more = strlen(b);
	char *text = SS_ARENA_NEW(arena, char, length + more + 2);

	if (!text)
		return NULL;
	memcpy(text, a, length);
	text[length] = between;
	memcpy(text + length + 1, b, more + 1);
	return text;
}

/* Several values of a list are joined; of others the last one counts. False: no memory. */
static bool store_option_value(struct arguments *out, const struct ss_option *option,
			       const char *text)
{
	const char **value = &out->values[option - ss_options];

	if (option->kind == SS_OPTION_LIST && *value)
		text = join_values(&out->arena, *value, ',', text);
	if (option->kind == SS_OPTION_PAIRS && *value)
		text = join_values(&out->arena, *value, SS_PAIR_END, text);
	*value = text;
	return text;
}

static const struct ss_option *find_command_option(const struct command *command, const char *word,
						   size_t length)
{
	if (length > 2 && word[1] == '-')
		return ss_option_find(word + 2, length - 2, command->takers);
	for (size_t i = 0; i < ss_option_count && length == 2; i++)
		if (ss_options[i].takers & command->takers && ss_options[i].letter == word[1])
			return &ss_options[i];
	return NULL;
}

bool cli_option_is(const char *word, const char *name)
{
	const struct ss_option *option = ss_option_find(name, strlen(name), SS_TAKER_PROGRAM);

	assert(option);
	return (word[0] == '-' && word[1] == option->letter && !word[2]) ||
	       (strncmp(word, "--", 2) == 0 && strcmp(word + 2, name) == 0);
}

static bool refuse_argument(const struct command *command, const char *what, const char *word)
{
	fprintf(stderr, "stepscope %s: %s '%s'\nRun 'stepscope %s --help' for its options.\n",
		command->name, what, word, command->name);
	return false;
}

/* One that other commands have, or none at all: then the one that was probably meant. */
static bool refuse_option(const struct command *command, const char *word, size_t length)
{
	struct ss_closest_name guess;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)length, word);
	if (length > 2 && length < sizeof(name) &&
	    ss_option_find(word + 2, length - 2, UINT32_MAX)) {
		fprintf(stderr,
			"stepscope %s: %s does not apply to '%s'; 'stepscope help %s' lists its "
			"options\n",
			command->name, name, command->name, command->name);
		return false;
	}
	guess = ss_closest_name_begin(length > 2 ? name + 2 : "");
	for (size_t i = 0; i < ss_option_count && length > 3; i++)
		if (ss_options[i].takers & command->takers)
			ss_closest_name_add(&guess, ss_options[i].name);
	if (!guess.best)
		return refuse_argument(command, "no option called", word);
	fprintf(stderr,
		"stepscope %s: no option called '%s'; did you mean '--%s'?\n"
		"Run 'stepscope %s --help' for its options.\n",
		command->name, name, guess.best, command->name);
	return false;
}

/* A flag, or what it is short for. */
static bool store_flag(const struct command *command, const struct ss_option *option,
		       struct arguments *out)
{
	size_t length = option->means ? strcspn(option->means, "=") : 0;

	if (!length)
		return store_option_value(out, option, "");
	return store_option_value(out, ss_option_find(option->means, length, command->takers),
				  option->means + length + 1);
}

/* Reads one option, in the form --name value or --name=value; *at moves on. */
static bool read_option(const struct command *command, int count, char **words, int *at,
			struct arguments *out)
{
	const char *word = words[*at];
	size_t length = strcspn(word, "=");
	const struct ss_option *option = find_command_option(command, word, length);
	const char *text = word[length] ? word + length + 1 : NULL;
	struct ss_error err = { 0 };

	if (!option)
		return refuse_option(command, word, length);
	if (option->kind == SS_OPTION_FLAG)
		return text ? refuse_argument(command, "unexpected value in", word)
			    : store_flag(command, option, out);
	if (!text && ++*at < count)
		text = words[*at];
	if (!text)
		return refuse_argument(command, "missing value after", word);
	if (!ss_option_accepts(option, text)) {
		(void)ss_option_refuse(option, text, &err);
		show_fail(command->name, &err);
		return false;
	}
	if (store_option_value(out, option, text))
		return true;
	out->paths = NULL;
	return false;
}

/* Those of requests, as the library takes them; false: no memory. */
static bool list_options(struct arguments *out)
{
	size_t count = 0;

	for (size_t i = 0; i < ss_option_count; i++) {
		if (ss_options[i].owner != SS_OPTION_OF_REQUEST || !out->values[i])
			continue;
		out->options[count] = join_values(&out->arena, ss_options[i].name, '=',
						  out->values[i]);
		if (!out->options[count++])
			return false;
	}
	return true;
}

static bool read_command_words(const struct command *command, int count, char **words,
			       struct arguments *out)
{
	bool only_paths = false;

	for (int i = 0; i < count; i++) {
		const char *word = words[i];

		if (only_paths || word[0] != '-' || !word[1]) {
			out->paths[out->path_count++] = word;
		} else if (strcmp(word, "--") == 0) {
			only_paths = true;
		} else if (cli_option_is(word, "help")) {
			out->help = true;
			return true;
		} else if (!read_option(command, count, words, &i, out)) {
			return false;
		}
	}
	return true;
}

bool options_read(const struct command *command, int count, char **words, struct arguments *out)
{
	*out = (struct arguments){ .takers = command->takers };
	ss_memory_init(&out->memory, 0);
	ss_arena_init(&out->arena, &out->memory);
	out->values = SS_ARENA_NEW(&out->arena, const char *, ss_option_count);
	out->options = SS_ARENA_NEW(&out->arena, const char *, ss_option_count + 1);
	if (out->values && out->options)
		out->paths = SS_ARENA_NEW(&out->arena, const char *, (size_t)count + 1);
	if (!out->paths || !read_command_words(command, count, words, out))
		return false;
	if (!list_options(out))
		out->paths = NULL;
	return out->paths;
}

void options_release(struct arguments *arguments)
{
	ss_arena_release(&arguments->arena);
}
