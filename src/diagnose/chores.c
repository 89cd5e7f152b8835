/*
 * chores.c - functions and ranges whose names say that they save or log.
 */
#include "diagnose/chores.h"

#include <ctype.h>
#include <string.h>

/* Words of names, in lower case; a word ends where no letter follows. */
static const struct {
	const char *word;
	uint8_t what;
	bool is_start; /* of a word: "serializ" is in serialization */
} words[] = {
	{ "save", SS_CHORE_SAVES, false },    { "checkpoint", SS_CHORE_SAVES, true },
	{ "ckpt", SS_CHORE_SAVES, false },    { "serializ", SS_CHORE_SAVES, true },
	{ "pickle", SS_CHORE_SAVES, false },  { "upload", SS_CHORE_SAVES, false },
	{ "log", SS_CHORE_LOGS, false },      { "logs", SS_CHORE_LOGS, false },
	{ "logging", SS_CHORE_LOGS, false },  { "logger", SS_CHORE_LOGS, false },
	{ "wandb", SS_CHORE_LOGS, false },    { "tensorboard", SS_CHORE_LOGS, false },
	{ "mlflow", SS_CHORE_LOGS, false },   { "summarywriter", SS_CHORE_LOGS, false },
	{ "comet", SS_CHORE_LOGS, false },    { "neptune", SS_CHORE_LOGS, false },
	{ "clearml", SS_CHORE_LOGS, false },  { "print", SS_CHORE_LOGS, false },
	{ "write", SS_CHORE_LOGS, false },    { "flush", SS_CHORE_LOGS, false },
	{ "fsync", SS_CHORE_LOGS, false },    { "dump", SS_CHORE_LOGS, true },
	{ "sleep", SS_CHORE_LOGS, false },    { "urllib", SS_CHORE_LOGS, true },
	{ "requests", SS_CHORE_LOGS, false }, { "subprocess", SS_CHORE_LOGS, false },
};

static bool is_letter(char letter)
{
	return isalpha((unsigned char)letter) != 0;
}

static uint8_t what_is(const char *name)
{
	for (const char *at = name; *at; at++) {
		if (at > name && is_letter(at[-1]))
			continue;
		for (size_t i = 0; i < SS_COUNT(words); i++) {
			size_t length = strlen(words[i].word), k = 0;

			while (k < length && tolower((unsigned char)at[k]) == words[i].word[k])
				k++;
			if (k == length && (words[i].is_start || !is_letter(at[length])))
				return words[i].what;
		}
	}
	return 0;
}

uint8_t *ss_chores(const struct ss_trace *trace, struct ss_arena *arena)
{
	uint8_t *chores = SS_ARENA_NEW(arena, uint8_t, (size_t)trace->names.count + 1);

	for (uint32_t i = 0; chores && i < trace->names.count; i++)
		chores[i] = what_is(ss_strings_text(&trace->names, i));
	return chores;
}
