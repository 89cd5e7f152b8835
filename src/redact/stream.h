/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - what the files of a redacting source share: a window of the file, the output, and
 * a cache of earlier results.
 */
#ifndef SS_REDACT_STREAM_H
#define SS_REDACT_STREAM_H

#include "read/bytes.h"
#include "redact/redact.h"

/* Texts and their replacements: most texts of a trace occur many times. */
struct ss_redact_cache {
	struct ss_strings asked;
	struct ss_redact_answer *answers; /* by id */
	uint32_t capacity;
};

struct ss_redact_answer {
	uint32_t from, length; /* in `answered`; length UINT32_MAX: the text stays */
	uint8_t class;         /* of the text itself; of a key: that of its values */
};

/* The last texts that were asked for, in front of the caches: keys above all. */
#define SS_REDACT_RECENT 1024u

struct ss_redact_recent {
	const char *text; /* in the cache; NULL: free */
	uint32_t length;
	uint32_t class;
	struct ss_redact_answer answer;
};

/* Deeper levels count as objects of unknown values. */
#define SS_REDACT_DEPTH_MAX 256

struct ss_redact_level {
	bool is_array;
	bool is_strange; /* within a value that is replaced as a whole */
	uint8_t class;   /* of the texts in it; of an object: of keys that are not known */
};

struct ss_redact_json {
	struct ss_redact_level levels[SS_REDACT_DEPTH_MAX];
	uint32_t depth;   /* 0: outside of all brackets */
	bool expects_key; /* in an object */
	bool has_value;   /* after a value: a text that follows without a comma is a key too */
	uint8_t class;    /* of the value of the last key */
	bool has_begun;
};

struct ss_redact_stream {
	struct ss_source source; /* first: a pointer to it is a pointer to us */
	struct ss_redactor *redactor;
	struct ss_source *inner;

	/* the window: followed by SS_PAD_BYTES zeros */
	char *window;
	size_t window_bytes;
	const char *at, *end;
	bool is_over; /* nothing follows `end` */

	struct ss_text out;
	size_t out_at;

	struct ss_redact_cache caches[SS_REDACT_CLASSES];
	struct ss_redact_recent recent[SS_REDACT_RECENT];
	struct ss_text answered, plain, made;
	uint64_t texts[SS_REDACT_CLASSES];

	/*
	 * Rewrites what it can of the window and moves `at` past it; if `at` stays, the step needs
	 * more of the file.
	 */
	enum ss_status (*step)(struct ss_redact_stream *stream, struct ss_error *err);
	struct ss_redact_json json;
	bool is_done; /* pickles: behind the end */
};

/*
 * source.c: finds the replacement of a text; out->length SS_REDACT_STAYS: the text stays.
 * `is_json`: the text comes as it is between quotes, with escapes. For a key, out->class is the
 * class of its value. False: no memory.
 */
SS_MUST_USE
bool ss_redact_ask(struct ss_redact_stream *stream, enum ss_redact_class class, bool is_json,
		   const char *text, size_t length, struct ss_redact_answer *out);

static inline const char *ss_redact_answered(const struct ss_redact_stream *stream,
					     const struct ss_redact_answer *answer)
{
	return stream->answered.data + answer->from;
}

#define SS_REDACT_STAYS UINT32_MAX

/* json.c, pickle.c */
enum ss_status ss_redact_json_step(struct ss_redact_stream *stream, struct ss_error *err);
enum ss_status ss_redact_pickle_step(struct ss_redact_stream *stream, struct ss_error *err);

#endif
