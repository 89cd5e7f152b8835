/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocabulary.c - looks words up in the lists of words.c.
 */
#include "redact/redact.h"

#include <string.h>

#include "base/text.h"

/* Longer ones are in no list. */
#define WORD_BYTES_MAX 48

static uint32_t hash_lower(const char *word, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)ss_char_lower(word[i])) * 16777619u;
	return hash ^ hash >> 15;
}

static bool word_is_listed(const char *word, size_t length, const char *listed)
{
	for (size_t i = 0; i < length; i++)
		if (ss_char_lower(word[i]) != listed[i])
			return false;
	return listed[length] == ' ';
}

static void vocabulary_add(struct ss_vocabulary *vocabulary, const char *word, size_t length)
{
	uint32_t slot = hash_lower(word, length);

	while (vocabulary->slots[slot % SS_VOCABULARY_SLOTS])
		slot++;
	vocabulary->slots[slot % SS_VOCABULARY_SLOTS] = word;
}

void ss_vocabulary_init(struct ss_vocabulary *vocabulary)
{
	memset(vocabulary, 0, sizeof(*vocabulary));
	for (const char *const *line = ss_words_public; *line; line++)
		for (const char *at = *line; *at; at += strcspn(at, " ") + 1)
			vocabulary_add(vocabulary, at, strcspn(at, " "));
}

bool ss_vocabulary_has(const struct ss_vocabulary *vocabulary, const char *word, size_t length)
{
	uint32_t slot;

	if (length > WORD_BYTES_MAX)
		return false;
	for (slot = hash_lower(word, length); vocabulary->slots[slot % SS_VOCABULARY_SLOTS]; slot++)
		if (word_is_listed(word, length, vocabulary->slots[slot % SS_VOCABULARY_SLOTS]))
			return true;
	return false;
}

bool ss_vocabulary_has_file(const char *word, size_t length)
{
	for (const char *const *line = ss_words_file; *line; line++)
		for (const char *at = *line; *at; at += strcspn(at, " ") + 1)
			if (strcspn(at, " ") == length && word_is_listed(word, length, at))
				return true;
	return false;
}

static bool word_begins_with(const char *word, size_t length, const char *listed,
			     size_t listed_length)
{
	if (length < listed_length)
		return false;
	for (size_t i = 0; i < listed_length; i++)
		if (ss_char_lower(word[i]) != listed[i])
			return false;
	return true;
}

static void vocabulary_mark_kept(const char *const *list, const char *word, size_t length,
				 unsigned char *kept)
{
	for (; *list; list++)
		for (const char *at = *list; *at; at += strcspn(at, " ") + 1) {
			size_t listed = strcspn(at, " ");

			if (word_begins_with(word, length, at, listed))
				memset(kept, 1, listed);
		}
}

void ss_vocabulary_keep_inside(const char *run, size_t length, unsigned char *kept)
{
	for (size_t i = 0; i < length; i++)
		vocabulary_mark_kept(ss_words_inside, run + i, length - i, kept + i);
}

void ss_vocabulary_keep_begin(const char *word, size_t length, unsigned char *kept)
{
	vocabulary_mark_kept(ss_words_begin, word, length, kept);
}
