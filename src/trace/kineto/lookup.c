/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - the reader's numbers for names, texts, categories and tracks.
 */
#include "trace/kineto/reader.h"

#include <string.h>

#include "base/hash/hash.h"
#include "base/text.h"

/* Makes the scratch buffer hold `length` bytes. */
static bool reader_reserve_scratch(struct ss_reader *reader, size_t length)
{
	char *moved;

	if (length <= reader->scratch_bytes)
		return true;
	moved = ss_memory_resize(reader->memory, reader->scratch, reader->scratch_bytes, length);
	if (!moved) {
		reader->batch.out_of_memory = true;
		return false;
	}
	reader->scratch = moved;
	reader->scratch_bytes = length;
	return true;
}

/* The text of a span without its escapes; NULL: no memory. */
static const char *lookup_plain_text(struct ss_reader *reader, const struct ss_json_span *span,
				     size_t *length)
{
	*length = span->length;
	if (!span->escaped)
		return span->text;
	if (!reader_reserve_scratch(reader, *length))
		return NULL;
	*length = ss_json_text(span, reader->scratch);
	return reader->scratch;
}

static uint32_t lookup_add_text(struct ss_reader *reader, struct ss_strings *strings,
				const struct ss_json_span *span)
{
	const char *text;
	size_t length;

	if (span->type == SS_JSON_NONE)
		return 0;
	text = lookup_plain_text(reader, span, &length);
	return text ? ss_batch_text(&reader->batch, strings, text, length) : 0;
}

static void lookup_count_odd_escapes(struct ss_reader *reader, const struct ss_json_span *span)
{
	if (span->escaped && ss_json_has_wild_escape(span))
		ss_quality_add(&reader->batch.quality, SS_ODD_SYNTAX, 1);
}

static uint32_t lookup_text(struct ss_reader *reader, struct ss_strings *strings,
			    const struct ss_json_span *span)
{
	lookup_count_odd_escapes(reader, span);
	return lookup_add_text(reader, strings, span);
}

uint32_t ss_lookup_arg_text(struct ss_reader *reader, enum ss_arg arg)
{
	if (!ss_args_have(&reader->args, arg))
		return 0;
	return lookup_text(reader, &reader->batch.texts, &reader->args.values[arg]);
}

uint32_t ss_lookup_name(struct ss_reader *reader)
{
	const struct ss_json_span name = ss_args_span(&reader->args, SS_FIELD_NAME);
	const char *text = "";
	size_t length = 0;

	lookup_count_odd_escapes(reader, &name);
	if (name.type != SS_JSON_NONE)
		text = lookup_plain_text(reader, &name, &length);
	return text ? ss_batch_name(&reader->batch, text, length) : 0;
}

uint32_t ss_lookup_category(struct ss_reader *reader, const struct ss_json_span *span)
{
	return ss_batch_category(&reader->batch, span->type == SS_JSON_NONE ? "" : span->text,
				 span->length);
}

void ss_lookup_id(struct ss_reader *reader, enum ss_arg arg, int64_t *number, uint32_t *text)
{
	static const char prefix[] = "stream ";
	const struct ss_json_span span = ss_args_span(&reader->args, arg);
	struct ss_json_span rest = span;

	*number = 0;
	*text = 0;
	if (span.type == SS_JSON_NONE || ss_json_i64(&span, number))
		return;
	if (span.type == SS_JSON_STRING && span.length > strlen(prefix) &&
	    memcmp(span.text, prefix, strlen(prefix)) == 0) {
		rest.text += strlen(prefix);
		rest.length -= (uint32_t)strlen(prefix);
		if (ss_json_i64(&rest, number))
			return;
	}
	*number = 0;
	*text = lookup_add_text(reader, &reader->batch.texts, &span);
}

/* The text of up to 16 bytes as two words; texts of one length are equal when their words are. */
static void span_to_words(const struct ss_json_span *span, uint64_t out[2])
{
	const char *text = span->text;
	uint32_t length = span->length, half;

	out[0] = out[1] = 0;
	if (length >= 8) {
		out[0] = ss_hash_word(text);
		out[1] = ss_hash_word(text + length - 8);
	} else if (length >= 4) {
		memcpy(&half, text, 4);
		out[0] = half;
		memcpy(&half, text + length - 4, 4);
		out[0] |= (uint64_t)half << 32;
	} else if (length) {
		out[0] = (unsigned char)text[0] | (uint64_t)(unsigned char)text[length / 2] << 8 |
			 (uint64_t)(unsigned char)text[length - 1] << 16;
	}
}

static void lookup_add_track(struct ss_reader *reader, enum ss_arg pid, enum ss_arg tid,
			     enum ss_track_class class, struct ss_track_cache *out)
{
	struct ss_track_key key = { .class = class };
	uint32_t id;

	ss_lookup_id(reader, pid, &key.pid, &key.pid_text);
	ss_lookup_id(reader, tid, &key.tid, &key.tid_text);
	id = ss_batch_record(&reader->batch, &reader->batch.tracks, &key);
	out->id = id == SS_NO_ID ? 0 : id;
	out->pid_is_text = key.pid_text != 0;
	out->tid_is_text = key.tid_text != 0;
}

/* Counts ids that are neither numbers nor quoted: no writer means them as names. */
static void lookup_count_odd_ids(struct ss_reader *reader, const struct ss_track_cache *track,
				 const struct ss_json_span *pid, const struct ss_json_span *tid)
{
	uint32_t odd = (uint32_t)(track->pid_is_text && pid->type == SS_JSON_BARE) +
		       (uint32_t)(track->tid_is_text && tid->type == SS_JSON_BARE);

	ss_quality_add(&reader->batch.quality, SS_ODD_NUMBER, odd);
}

uint32_t ss_lookup_track(struct ss_reader *reader, enum ss_track_class class)
{
	/* the arguments say on which stream a device event ran; pid and tid usually agree */
	bool device = class == SS_TRACK_DEVICE;
	enum ss_arg pid = device && ss_args_have(&reader->args, SS_ARG_DEVICE) ? SS_ARG_DEVICE
									       : SS_FIELD_PID;
	enum ss_arg tid = device && ss_args_have(&reader->args, SS_ARG_STREAM) ? SS_ARG_STREAM
									       : SS_FIELD_TID;
	const struct ss_json_span pid_span = ss_args_span(&reader->args, pid);
	const struct ss_json_span tid_span = ss_args_span(&reader->args, tid);
	uint32_t kind = (uint32_t) class | pid_span.length << 8 | tid_span.length << 16;
	struct ss_track_cache *cached, alone;
	uint64_t words[4];

	if (pid_span.length > 16 || tid_span.length > 16) {
		lookup_add_track(reader, pid, tid, class, &alone);
		lookup_count_odd_ids(reader, &alone, &pid_span, &tid_span);
		return alone.id;
	}
	span_to_words(&pid_span, words);
	span_to_words(&tid_span, words + 2);
	cached = &reader->track_cache[ss_hash_mix(words[0] + words[1] * 31 + kind,
						  words[2] + words[3] * 31) %
				      SS_TRACK_CACHE];
	if (cached->id == SS_NO_ID || cached->kind != kind ||
	    memcmp(cached->words, words, sizeof(words)) != 0) {
		lookup_add_track(reader, pid, tid, class, cached);
		cached->kind = kind;
		memcpy(cached->words, words, sizeof(words));
	}
	if (cached->pid_is_text || cached->tid_is_text)
		lookup_count_odd_ids(reader, cached, &pid_span, &tid_span);
	return cached->id;
}

uint32_t ss_lookup_series(struct ss_reader *reader, const struct ss_json_span *key)
{
	uint32_t series;
	int64_t pid;

	if (key->length)
		return lookup_text(reader, &reader->batch.texts, key);
	ss_lookup_id(reader, SS_FIELD_PID, &pid, &series);
	return series;
}
