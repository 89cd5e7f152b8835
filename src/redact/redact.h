/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redact.h - replaces what identifies the owner of traces and snapshots.
 *
 * A redactor has a key and counts what it changes. Sources that it wraps return the bytes of a
 * file with other texts; numbers, structure and so all timings are unchanged. A private text
 * becomes a pseudonym: 'q' or 'Q' and 17 letters, which depend only on the text and the key, so
 * that all files of a run agree and nobody without the key can test guesses. The letters occur in
 * no pattern of ours: a pseudonym cannot be mistaken for a kind of kernel, and loses no digits
 * where numbers are cut off a name.
 *
 * Which texts are changed and how is decided by their key (keys.c):
 *   names, paths, modules, groups   word by word: public words (vocabulary.h), punctuation and
 *                                   short numbers stay, so that classes and groups stay
 *   hosts, users, ids, environment  as a whole
 *   concrete inputs                 as a whole; small integers and booleans stay: formulas of
 *                                   work need them
 *   values of keys we do not know   as a whole
 *   keys that we do not know        word by word
 */
#ifndef SS_REDACT_REDACT_H
#define SS_REDACT_REDACT_H

#include "base/intern.h"
#include "base/hash/siphash.h"
#include "base/text.h"
#include "read/source.h"
#include "redact/vocabulary.h"

enum ss_redact_class {
	SS_REDACT_NUMBER, /* stays where it is a number, else as a name */
	SS_REDACT_NAME,
	SS_REDACT_MODULE,
	SS_REDACT_GROUP,
	SS_REDACT_PATH,
	SS_REDACT_FILE, /* names of the files themselves */
	SS_REDACT_KEY,
	/* from here on as a whole */
	SS_REDACT_HOST,
	SS_REDACT_USER,
	SS_REDACT_ENVIRONMENT,
	SS_REDACT_ID,
	SS_REDACT_INPUT,
	SS_REDACT_OTHER,
	SS_REDACT_CLASSES
};

struct ss_redactor {
	unsigned char key[SS_SIPHASH_KEY_BYTES];
	bool keep[SS_REDACT_CLASSES]; /* classes that stay as they are */
	bool only_counts; /* files are read as they are; what would be replaced is counted */
	struct ss_memory memory;
	struct ss_vocabulary vocabulary;
	struct ss_gate *gate;                         /* for what follows */
	struct ss_strings changed[SS_REDACT_CLASSES]; /* each changed text once; [0] is empty */
	uint64_t texts[SS_REDACT_CLASSES];            /* changed, as often as they stand there */
	uint32_t file_count;
	bool is_incomplete; /* there was no memory for all of the changed texts */
};

/* Whether files are to be read with other texts; false for NULL. */
static inline bool ss_redactor_replaces(const struct ss_redactor *redactor)
{
	return redactor && !redactor->only_counts;
}

/* Close it also when it failed. A key of NULL: it only counts. */
SS_MUST_USE
enum ss_status ss_redactor_open(struct ss_redactor *redactor, const unsigned char *key,
				struct ss_error *err);
void ss_redactor_close(struct ss_redactor *redactor);

/* What a class is called, of one and of several; and the word of --keep for it, or NULL. */
const char *ss_redact_class_title(enum ss_redact_class class, uint32_t count);
const char *ss_redact_class_option(enum ss_redact_class class);

/* The distinct texts of a class that were changed. */
uint32_t ss_redactor_count(const struct ss_redactor *redactor, enum ss_redact_class class);

/* Keeps the text among those that were changed. */
void ss_redactor_note(struct ss_redactor *redactor, enum ss_redact_class class, const char *text,
		      size_t length);

/*
 * text.c: appends what stands for the text and returns true; false: it may stay as it is, and
 * nothing was appended. Changes nothing in the redactor.
 */
bool ss_redact_text(const struct ss_redactor *redactor, enum ss_redact_class class,
		    const char *text, size_t length, struct ss_text *out);

/* The class of a text by its own form: names can be those of modules, or paths. */
enum ss_redact_class ss_redact_class_of(enum ss_redact_class class, const char *text,
					size_t length);

/* keys.c: the class of the values of a key; SS_REDACT_OTHER: it is not known. */
enum ss_redact_class ss_redact_key_class(const char *key, size_t length);

/*
 * source.c: whether a redacted source that was read to its end stopped within an object, an array
 * or a pickle: the file is truncated, or damaged.
 */
bool ss_redact_ends_inside(const struct ss_source *source);

/*
 * source.c: decorates a source, which it then owns, also when it fails: JSON and pickles, by
 * their first bytes. Anything else is refused.
 */
SS_MUST_USE
enum ss_status ss_redact_source(struct ss_redactor *redactor, struct ss_source *inner,
				struct ss_source **out, struct ss_error *err);

#endif
