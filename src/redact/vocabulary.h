/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocabulary.h - which words are public and need no pseudonym.
 */
#ifndef SS_REDACT_VOCABULARY_H
#define SS_REDACT_VOCABULARY_H

#include "base/memory.h"

/* words.c: lines of words, a space behind each; NULL ends the list. */
extern const char *const ss_words_public[];
extern const char *const ss_words_inside[];
extern const char *const ss_words_begin[];
extern const char *const ss_words_file[];

#define SS_VOCABULARY_SLOTS 8192u

struct ss_vocabulary {
	const char *slots[SS_VOCABULARY_SLOTS]; /* words, with the space behind them; NULL: free */
};

void ss_vocabulary_init(struct ss_vocabulary *vocabulary);

/* Whether the word is in the list, in upper or lower case. */
bool ss_vocabulary_has(const struct ss_vocabulary *vocabulary, const char *word, size_t length);

/* The same of names of files, of which only what tells kind and rank is to stay. */
bool ss_vocabulary_has_file(const char *word, size_t length);

/* Sets `kept` for the letters that patterns look for: anywhere, and at the beginning of a word. */
void ss_vocabulary_keep_inside(const char *run, size_t length, unsigned char *kept);
void ss_vocabulary_keep_begin(const char *word, size_t length, unsigned char *kept);

#endif
