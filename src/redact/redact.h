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
 *   names, paths, modules, groups   word by word: public words (words.c), punctuation and
 *                                   short numbers stay, so that classes and groups stay
 *   hosts, users, ids, environment  as a whole
 *   concrete inputs                 as a whole; small integers and booleans stay: formulas of
 *                                   work need them
 *   values of keys we do not know   as a whole
 *   keys that we do not know        word by word
 */
#ifndef SS_REDACT_REDACT_H
#define SS_REDACT_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash/hash.h"
#include "base/intern.h"
#include "base/text.h"
#include "read/source.h"

/*
 * Metadata keys under which a recording says which run it is of.
 *
 * PyTorch writes some of them; the others come from programs that call prof.add_metadata(). Case
 * and separators do not matter: "git_commit", "GIT COMMIT" and "gitCommit" are one key.
 */

enum ss_run_fact {
	SS_RUN_ID,
	SS_RUN_HOST,
	SS_RUN_COMMAND,
	SS_RUN_COMMIT, /* of the training code */
	SS_RUN_FACTS
};

struct ss_redact_run_key {
	enum ss_run_fact fact;
	uint32_t place; /* of several keys of one fact the first in the list counts; from 1 on */
};

/* False: the key says nothing about the run. */
bool ss_redact_run_key_find(const char *key, size_t length, struct ss_redact_run_key *out);

/* --- the vocabulary: which words are public and need no pseudonym --------------------------- */

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

/* The same for file names, of which only the words for kind and rank stay. */
bool ss_vocabulary_has_file(const char *word, size_t length);

/* Sets `kept` for the letters that our patterns look for: anywhere, or at the start of a word. */
void ss_vocabulary_keep_inside(const char *run, size_t length, unsigned char *kept);
void ss_vocabulary_keep_begin(const char *word, size_t length, unsigned char *kept);

/* --- the redactor ---------------------------------------------------------------------- */

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
	bool only_counts; /* files stay as they are; what would be replaced is counted */
	struct ss_memory memory;
	struct ss_vocabulary vocabulary;
	struct ss_gate *gate;                         /* for what follows */
	struct ss_strings changed[SS_REDACT_CLASSES]; /* each changed text once; [0] is empty */
	uint64_t texts[SS_REDACT_CLASSES];            /* changed, each occurrence counted */
	uint32_t file_count;
	bool is_incomplete; /* there was no memory for all of the changed texts */
};

/* Whether files are to be read with other texts; false for NULL. */
static inline bool ss_redact_replaces(const struct ss_redactor *redactor)
{
	return redactor && !redactor->only_counts;
}

/* Close it also when it failed. A key of NULL: it only counts. */
SS_MUST_USE
enum ss_status ss_redact_open(struct ss_redactor *redactor, const unsigned char *key,
			      struct ss_error *err);
void ss_redact_close(struct ss_redactor *redactor);

/* The name of a class for a count (singular or plural), and its word for --keep, or NULL. */
const char *ss_redact_class_title(enum ss_redact_class class, uint32_t count);
const char *ss_redact_class_option(enum ss_redact_class class);

/* The distinct texts of a class that were changed. */
uint32_t ss_redact_count(const struct ss_redactor *redactor, enum ss_redact_class class);

/* Adds the text to the list of changed ones. */
void ss_redact_note(struct ss_redactor *redactor, enum ss_redact_class class, const char *text,
		    size_t length);

/*
 * text.c: appends the replacement of the text and returns true; false: the text may stay as it is,
 * and nothing was appended. Does not change the redactor.
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

/*
 * --- addresses.c: what is replaced as a whole anywhere in a text, even if all of its words are
 * public: host names, users, and text encoded as numbers ---
 */

/* The state of a scan through a text; zeroed at its beginning. */
struct ss_redact_address_scan {
	const char *mail_end; /* of the letters and signs that names of mail have */
	const char *host_end; /* the same of names of hosts */
	const char *label; /* the last part of the name of a host; NULL: it is none of a domain */
};

/*
 * The length of what begins at `at`, which is not within a word: a network or mail address, a host,
 * the name of a home folder, a word with letters written as "%61" or "\u0061". 0: none of these.
 * Call it with rising `at`.
 */
size_t ss_redact_address_length(struct ss_redact_address_scan *scan, const char *text,
				const char *at, const char *end);

/* shapes.c: the same of keys, phone numbers, and machines with numbers. */
size_t ss_redact_shape_length(const char *text, const char *at, const char *end);

/* Whether the digits of a network address begin here, also right after letters. */
bool ss_redact_is_network(const char *text, const char *at, const char *end);

#endif
