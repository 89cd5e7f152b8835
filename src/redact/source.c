/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c - the redactor, and the source that replaces the texts of another source.
 */
#include <string.h>

#include "base/hash/hash.h"
#include "base/system/thread.h"
#include "read/json.h"
#include "read/pickle.h"
#include "redact/redact.h"
#include "redact/stream.h"

#define WINDOW_BYTES ((size_t)256 * 1024)
/* A window that needs more has a text that no reader accepts. */
#define WINDOW_BYTES_MAX ((size_t)256 << 20)

/* Beyond these the cache is emptied: it saves no more than this is worth. */
#define ASKED_MAX 100000u
#define ANSWERED_BYTES_MAX ((size_t)32 << 20)
/* Longer texts do not repeat. */
#define ASKED_BYTES_MAX 16384u

/* --- the cache ---------------------------------------------------------------------- */

static void caches_release(struct ss_redact_stream *stream)
{
	for (int i = 0; i < SS_REDACT_CLASSES; i++) {
		struct ss_redact_cache *cache = &stream->caches[i];

		ss_strings_release(&cache->asked);
		SS_FREE(stream->source.memory, cache->answers, cache->capacity);
		*cache = (struct ss_redact_cache){ 0 };
	}
	memset(stream->recent, 0, sizeof(stream->recent));
	stream->answered.length = 0;
}

/* The slot of a text among the recent ones, by length, beginning and end. The window is padded. */
static struct ss_redact_recent *recent_slot(struct ss_redact_stream *stream,
					    enum ss_redact_class class, const char *text,
					    size_t length)
{
	uint64_t head = ss_hash_word(text), tail = 0;

	if (length < 8)
		head &= UINT64_MAX >> (64 - 8 * length);
	else
		tail = ss_hash_word(text + length - 8);
	tail = tail * SS_HASH_FACTOR ^ (uint64_t)length << 32 ^ (uint32_t) class;
	head = (head ^ tail) * SS_HASH_SEED;
	return &stream->recent[head >> 54];
}

static void add_json_escaped(struct ss_text *out, const char *text, size_t length)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];
		char escape[6] = { '\\', text[i], '0', '0', hex[byte >> 4], hex[byte & 15] };

		if (byte == '"' || byte == '\\') {
			ss_text_add(out, escape, 2);
		} else if (byte < ' ') {
			escape[1] = 'u';
			ss_text_add(out, escape, 6);
		} else {
			ss_text_add(out, text + i, 1);
		}
	}
}

static bool answer_is_known_key(enum ss_redact_class class, const struct ss_redact_answer *answer)
{
	return class == SS_REDACT_KEY && answer->class != SS_REDACT_OTHER;
}

/* Finds the replacement of the text and appends it to `answered`. */
static bool answer_make(struct ss_redact_stream *stream, enum ss_redact_class class, bool is_json,
			const char *text, size_t length, struct ss_redact_answer *out)
{
	bool escaped = is_json && memchr(text, '\\', length);
	size_t from = stream->answered.length;

	if (escaped) {
		struct ss_json_span span = { text, (uint32_t)length, SS_JSON_STRING, 1 };

		stream->plain.length = 0;
		if (!ss_text_reserve(&stream->plain, length + 4))
			return false;
		length = ss_json_unescape(&span, stream->plain.data);
		text = stream->plain.data;
	}
	*out = (struct ss_redact_answer){ (uint32_t)from, SS_REDACT_STAYS, (uint8_t) class };
	out->class = (uint8_t)(class == SS_REDACT_KEY ? ss_redact_key_class(text, length)
						      : ss_redact_class_of(class, text, length));
	stream->made.length = 0;
	if (answer_is_known_key(class, out) ||
	    !ss_redact_text(stream->redactor,
			    class == SS_REDACT_KEY ? class : (enum ss_redact_class)out->class, text,
			    length, &stream->made))
		return !ss_text_failed(&stream->made);
	ss_redact_note(stream->redactor,
		       class == SS_REDACT_KEY ? class : (enum ss_redact_class)out->class, text,
		       length);
	if (escaped)
		add_json_escaped(&stream->answered, stream->made.data, stream->made.length);
	else
		ss_text_add(&stream->answered, stream->made.data, stream->made.length);
	out->length = (uint32_t)(stream->answered.length - from);
	return !ss_text_failed(&stream->made) && !ss_text_failed(&stream->answered);
}

static bool cache_add(struct ss_redact_stream *stream, enum ss_redact_class class, const char *text,
		      size_t length, uint32_t *id, bool *is_new)
{
	struct ss_redact_cache *cache = &stream->caches[class];
	uint32_t had;

	if (cache->asked.count > ASKED_MAX || stream->answered.length > ANSWERED_BYTES_MAX)
		caches_release(stream);
	if (!cache->asked.items && !ss_strings_init(&cache->asked, stream->source.memory))
		return false;
	had = cache->asked.count;
	*id = ss_strings_add(&cache->asked, text, length);
	*is_new = *id == had;
	return *id != SS_NO_ID &&
	       SS_GROW(stream->source.memory, cache->answers, cache->capacity, cache->asked.count);
}

static inline void stream_count_change(struct ss_redact_stream *stream, enum ss_redact_class class,
				       const struct ss_redact_answer *answer)
{
	stream->texts[class == SS_REDACT_KEY ? SS_REDACT_KEY : answer->class] += answer->length !=
										 SS_REDACT_STAYS;
}

bool ss_redact_ask(struct ss_redact_stream *stream, enum ss_redact_class class, bool is_json,
		   const char *text, size_t length, struct ss_redact_answer *out)
{
	struct ss_redact_cache *cache = &stream->caches[class];
	struct ss_redact_recent *recent;
	bool is_new = true;
	uint32_t id = 0;

	if (!length) {
		*out = (struct ss_redact_answer){ 0, SS_REDACT_STAYS, SS_REDACT_OTHER };
		return true;
	}
	recent = recent_slot(stream, class, text, length);
	if (recent->text && recent->length == length && recent->class == (uint32_t) class &&
	    memcmp(recent->text, text, length) == 0) {
		*out = recent->answer;
		stream_count_change(stream, class, out);
		return true;
	}
	if (length > ASKED_BYTES_MAX) {
		if (stream->answered.length > ANSWERED_BYTES_MAX)
			caches_release(stream);
		if (!answer_make(stream, class, is_json, text, length, out))
			return false;
	} else {
		if (!cache_add(stream, class, text, length, &id, &is_new))
			return false;
		if (is_new && !answer_make(stream, class, is_json, text, length, out))
			return false;
		if (is_new)
			cache->answers[id] = *out;
		else
			*out = cache->answers[id];
		*recent = (struct ss_redact_recent){ cache->asked.items[id].text, (uint32_t)length,
						     (uint32_t) class, *out };
	}
	stream_count_change(stream, class, out);
	return true;
}

/* --- the source ----------------------------------------------------------------------- */

static void stream_close(struct ss_source *source)
{
	struct ss_redact_stream *stream = (struct ss_redact_stream *)source;
	struct ss_memory *memory = source->memory;

	ss_gate_lock(stream->redactor->gate);
	for (int i = 0; i < SS_REDACT_CLASSES; i++)
		stream->redactor->texts[i] += stream->texts[i];
	ss_gate_unlock(stream->redactor->gate);
	caches_release(stream);
	ss_text_release(&stream->answered);
	ss_text_release(&stream->plain);
	ss_text_release(&stream->made);
	ss_text_release(&stream->out);
	ss_memory_free(memory, stream->window, stream->window_bytes + SS_PAD_BYTES);
	ss_source_close(stream->inner);
	ss_memory_free(memory, stream, sizeof(*stream));
}

/* Reads more of the file after what is left of the window, which grows if a text needs it. */
static enum ss_status stream_fill_window(struct ss_redact_stream *stream, struct ss_error *err)
{
	size_t left = (size_t)(stream->end - stream->at), wanted = stream->window_bytes, got;

	if (left)
		memmove(stream->window, stream->at, left);
	if (left > wanted / 2)
		wanted *= 2;
	if (!wanted)
		wanted = WINDOW_BYTES;
	if (wanted > WINDOW_BYTES_MAX)
		return ss_fail(err, SS_ERR_LIMIT, "a text is longer than %zu MB",
			       WINDOW_BYTES_MAX >> 21);
	if (wanted > stream->window_bytes) {
		size_t had = stream->window ? stream->window_bytes + SS_PAD_BYTES : 0;
		char *window = ss_memory_resize(stream->source.memory, stream->window, had,
						wanted + SS_PAD_BYTES);

		if (!window)
			return ss_fail_memory(err, "the file that is redacted");
		stream->window = window;
		stream->window_bytes = wanted;
	}
	stream->at = stream->window;
	stream->end = stream->window + left;
	SS_TRY(ss_source_fill(stream->inner, stream->window + left, stream->window_bytes - left,
			      &got, err));
	stream->end += got;
	stream->is_over = left + got < stream->window_bytes;
	memset(stream->window + left + got, 0, SS_PAD_BYTES);
	stream->source.done_bytes = stream->inner->done_bytes;
	stream->source.flaw = stream->inner->flaw;
	return SS_OK;
}

static enum ss_status stream_read(struct ss_source *source, char *buffer, size_t room, size_t *got,
				  struct ss_error *err)
{
	struct ss_redact_stream *stream = (struct ss_redact_stream *)source;

	*got = 0;
	while (stream->out_at == stream->out.length) {
		const char *before = stream->at;

		stream->out.length = stream->out_at = 0;
		if (stream->at < stream->end)
			SS_TRY(stream->step(stream, err));
		if (ss_text_failed(&stream->out))
			return ss_fail_memory(err, "the file that is redacted");
		if (stream->out.length || stream->at != before)
			continue;
		if (stream->is_over)
			return SS_OK;
		SS_TRY(stream_fill_window(stream, err));
	}
	*got = stream->out.length - stream->out_at;
	*got = *got < room ? *got : room;
	memcpy(buffer, stream->out.data + stream->out_at, *got);
	stream->out_at += *got;
	return SS_OK;
}

/* Whether brackets are open. A trace that is one array need not be closed: Chrome's format. */
static bool json_is_open(const struct ss_redact_json *json)
{
	return json->depth > 1 || (json->depth == 1 && !json->levels[0].is_array);
}

bool ss_redact_ends_inside(const struct ss_source *source)
{
	const struct ss_redact_stream *stream = (const struct ss_redact_stream *)source;

	if (source->read != stream_read)
		return false;
	return stream->step == ss_redact_json_step ? json_is_open(&stream->json) : !stream->is_done;
}

static bool begins_as_json(const char *bytes, size_t length)
{
	size_t at = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (at < length && (unsigned char)bytes[at] <= ' ' && bytes[at])
		at++;
	return at == length || bytes[at] == '{' || bytes[at] == '[';
}

enum ss_status ss_redact_source(struct ss_redactor *redactor, struct ss_source *inner,
				struct ss_source **out, struct ss_error *err)
{
	struct ss_redact_stream *stream = NULL;
	const char *next = NULL;
	size_t length = 0;
	enum ss_status status = ss_source_peek(inner, &next, &length, err);

	*out = NULL;
	if (status == SS_OK && !begins_as_json(next, length) && !ss_pickle_is_start(next, length))
		status = ss_fail(err, SS_ERR_FORMAT,
				 "it is neither a JSON trace nor a memory snapshot");
	if (status == SS_OK) {
		stream = ss_memory_resize(inner->memory, NULL, 0, sizeof(*stream));
		if (!stream)
			status = ss_fail_memory(err, "a file");
	}
	if (status != SS_OK) {
		ss_source_close(inner);
		return status;
	}
	memset(stream, 0, sizeof(*stream));
	stream->source = (struct ss_source){ .memory = inner->memory,
					     .read = stream_read,
					     .close = stream_close,
					     .stamp = inner->stamp,
					     .done_bytes = inner->done_bytes,
					     .total_bytes = inner->total_bytes };
	stream->redactor = redactor;
	stream->inner = inner;
	stream->step = begins_as_json(next, length) ? ss_redact_json_step : ss_redact_pickle_step;
	stream->json.class = SS_REDACT_NAME;
	ss_gate_lock(redactor->gate);
	redactor->file_count++;
	ss_gate_unlock(redactor->gate);
	*out = &stream->source;
	return SS_OK;
}

/* --- the redactor -------------------------------------------------------------------- */

static const struct {
	const char *title, *titles;
	const char *option; /* of --keep; NULL: it cannot be kept */
} class_words[SS_REDACT_CLASSES] = {
	[SS_REDACT_NUMBER] = { "number", "numbers", NULL },
	[SS_REDACT_NAME] = { "name", "names", NULL },
	[SS_REDACT_MODULE] = { "module name", "module names", "modules" },
	[SS_REDACT_GROUP] = { "group name", "group names", "groups" },
	[SS_REDACT_PATH] = { "path", "paths", "paths" },
	[SS_REDACT_FILE] = { "file name", "file names", NULL },
	[SS_REDACT_KEY] = { "key", "keys", NULL },
	[SS_REDACT_HOST] = { "host name", "host names", NULL },
	[SS_REDACT_USER] = { "user", "users", NULL },
	[SS_REDACT_ENVIRONMENT] = { "environment value", "environment values", NULL },
	[SS_REDACT_ID] = { "id", "ids", NULL },
	[SS_REDACT_INPUT] = { "concrete input", "concrete inputs", NULL },
	[SS_REDACT_OTHER] = { "other value", "other values", NULL },
};

enum ss_status ss_redact_open(struct ss_redactor *redactor, const unsigned char *key,
			      struct ss_error *err)
{
	memset(redactor, 0, sizeof(*redactor));
	if (key)
		memcpy(redactor->key, key, sizeof(redactor->key));
	redactor->only_counts = !key;
	ss_memory_init(&redactor->memory, 0);
	ss_vocabulary_init(&redactor->vocabulary);
	redactor->gate = ss_gate_open();
	if (!redactor->gate)
		return ss_fail_memory(err, "the list of changes");
	for (int i = 0; i < SS_REDACT_CLASSES; i++)
		if (!ss_strings_init(&redactor->changed[i], &redactor->memory))
			return ss_fail_memory(err, "the list of changes");
	return SS_OK;
}

void ss_redact_close(struct ss_redactor *redactor)
{
	for (int i = 0; i < SS_REDACT_CLASSES; i++)
		ss_strings_release(&redactor->changed[i]);
	if (redactor->gate)
		ss_gate_close(redactor->gate);
	/* whoever knows the key can test guesses */
	memset(redactor->key, 0, sizeof(redactor->key));
	redactor->gate = NULL;
}

const char *ss_redact_class_title(enum ss_redact_class class, uint32_t count)
{
	return count == 1 ? class_words[class].title : class_words[class].titles;
}

const char *ss_redact_class_option(enum ss_redact_class class)
{
	return class_words[class].option;
}

uint32_t ss_redact_count(const struct ss_redactor *redactor, enum ss_redact_class class)
{
	/* the first text of a list is the empty one */
	return redactor->changed[class].count ? redactor->changed[class].count - 1 : 0;
}

void ss_redact_note(struct ss_redactor *redactor, enum ss_redact_class class, const char *text,
		    size_t length)
{
	ss_gate_lock(redactor->gate);
	/* without memory the list lacks it; the text itself is changed all the same */
	if (ss_strings_add(&redactor->changed[class], text, length) == SS_NO_ID)
		redactor->is_incomplete = true;
	ss_gate_unlock(redactor->gate);
}
