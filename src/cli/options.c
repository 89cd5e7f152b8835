/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c - reads options by their declarations.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

static bool read_count(const char *text, uint64_t *out)
{
	*out = 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || *out > UINT64_MAX / 10 - 1)
			return false;
		*out = *out * 10 + (uint64_t)(*text - '0');
	}
	return true;
}

/* "512", "512M", "2G", "1.5GB" is not: whole numbers and one letter, powers of 1024. */
static bool read_bytes(const char *text, uint64_t *out)
{
	static const char letters[] = "kmgt";
	char digits[24];
	size_t length = strspn(text, "0123456789");
	const char *letter;
	uint64_t scale = 1;

	if (!length || length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	if (!read_count(digits, out))
		return false;
	if (!text[length])
		return true;
	letter = strchr(letters, text[length] | 0x20);
	if (!letter || (text[length + 1] && strcmp(text + length + 1, "B") != 0 &&
			strcmp(text + length + 1, "iB") != 0))
		return false;
	for (; letter >= letters; letter--)
		scale *= 1024;
	if (*out > UINT64_MAX / scale)
		return false;
	*out *= scale;
	return true;
}

static bool read_rank(const char *text, int64_t *out)
{
	uint64_t rank;

	if (strcmp(text, "all") == 0) {
		*out = SS_COMPARED_RANKS;
		return true;
	}
	if (!read_count(text, &rank) || rank > INT32_MAX)
		return false;
	*out = (int64_t)rank;
	return true;
}

static bool add_to_list(struct option_list *list, const char *text)
{
	size_t used = strlen(list->text);

	if (used + strlen(text) + 2 > sizeof(list->text))
		return false;
	if (used)
		list->text[used++] = ',';
	memcpy(list->text + used, text, strlen(text) + 1);
	return true;
}

static bool store(const struct option *option, const char *text, void *values)
{
	char *at = (char *)values + option->offset;

	switch (option->kind) {
	case OPTION_LIST:
		return add_to_list((struct option_list *)(void *)at, text);
	case OPTION_TEXT:
	case OPTION_OUTPUT:
		*(const char **)(void *)at = text;
		return true;
	case OPTION_COUNT:
		return read_count(text, (uint64_t *)(void *)at);
	case OPTION_BYTES:
		return read_bytes(text, (uint64_t *)(void *)at);
	case OPTION_RANK:
		return read_rank(text, (int64_t *)(void *)at);
	case OPTION_FLAG:
		*(bool *)(void *)at = true;
		return true;
	}
	return false;
}

const struct option *command_option(const struct command *command, size_t index)
{
	if (index < command->option_count)
		return &command->options[index];
	index -= command->option_count;
	if (command->loads)
		index += load_option_first;
	return (command->shows || command->loads) && index < show_option_count
		       ? &show_option_list[index]
		       : NULL;
}

static const struct option *find(const struct command *command, const char *word, size_t length)
{
	const struct option *option;

	for (size_t i = 0; (option = command_option(command, i)) != NULL; i++) {
		if (strlen(option->name) == length && memcmp(option->name, word, length) == 0)
			return option;
		if (length == 2 && option->letter && word[1] == option->letter)
			return option;
	}
	return NULL;
}

static bool complain(const struct command *command, const char *what, const char *word)
{
	fprintf(stderr, "stepscope %s: %s '%s'\nRun 'stepscope %s --help' for its options.\n",
		command->name, what, word, command->name);
	return false;
}

/* Reads one option, in the form --name value or --name=value; *at moves on. */
static bool read_option(const struct command *command, int count, char **words, int *at,
			void *values)
{
	const char *word = words[*at];
	const char *equals = strchr(word, '=');
	const struct option *option = find(command, word,
					   equals ? (size_t)(equals - word) : strlen(word));
	const char *text = equals ? equals + 1 : NULL;

	if (!option)
		return complain(command, "no option", word);
	if (option->kind == OPTION_FLAG && text)
		return complain(command, "no value is wanted in", word);
	if (option->kind == OPTION_FLAG)
		return store(option, NULL, values);
	if (!text && ++*at < count)
		text = words[*at];
	if (!text)
		return complain(command, "a value is missing after", word);
	if (store(option, text, values))
		return true;
	fprintf(stderr, "stepscope %s: %s takes %s, not '%s'\n", command->name, option->name,
		option->argument, text);
	return false;
}

bool options_read(const struct command *command, int count, char **words, void *values,
		  struct arguments *out)
{
	bool only_paths = false;

	out->paths = calloc((size_t)count + 1, sizeof(*out->paths));
	if (!out->paths)
		return false;
	for (int i = 0; i < count; i++) {
		const char *word = words[i];

		if (only_paths || word[0] != '-' || !word[1]) {
			out->paths[out->path_count++] = word;
		} else if (strcmp(word, "--") == 0) {
			only_paths = true;
		} else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
			out->help = true;
			return true;
		} else if (!read_option(command, count, words, &i, values)) {
			return false;
		}
	}
	return true;
}
