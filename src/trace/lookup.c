/*
 * lookup.c - the reader's numbers for names, texts, categories and tracks.
 */
#include "trace/lookup.h"

#include <string.h>

#include "base/hash.h"

/* Room for a text of `length` bytes that is made from another. */
static bool reserve_scratch(struct ss_reader *reader, size_t length)
{
	char *moved;

	if (length <= reader->scratch_bytes)
		return true;
	moved = ss_memory_resize(reader->memory, reader->scratch, reader->scratch_bytes, length);
	if (!moved) {
		reader->out_of_memory = true;
		return false;
	}
	reader->scratch = moved;
	reader->scratch_bytes = length;
	return true;
}

uint32_t ss_lookup_text(struct ss_reader *reader, struct ss_strings *strings,
			const struct ss_json_span *span)
{
	const char *text = span->text;
	size_t length = span->length;
	uint32_t id;

	if (span->type == SS_JSON_NONE)
		return 0;
	if (span->escaped) {
		if (!reserve_scratch(reader, length))
			return 0;
		length = ss_json_text(span, reader->scratch);
		text = reader->scratch;
	}
	id = ss_strings_add(strings, text, length);
	reader->out_of_memory |= id == SS_NO_ID;
	return id == SS_NO_ID ? 0 : id;
}

uint32_t ss_lookup_arg_text(struct ss_reader *reader, enum ss_arg arg)
{
	if (!ss_args_have(&reader->args, arg))
		return 0;
	return ss_lookup_text(reader, &reader->texts, &reader->args.values[arg]);
}

uint32_t ss_lookup_name(struct ss_reader *reader)
{
	const struct ss_json_span name = ss_args_span(&reader->args, SS_FIELD_NAME);
	uint32_t known = reader->names.count;
	uint32_t id = ss_lookup_text(reader, &reader->names, &name);

	if (reader->names.count == known && id < reader->name_flag_capacity)
		return id;
	if (!ss_memory_reserve(reader->memory, (void **)&reader->name_flags,
			       &reader->name_flag_capacity, reader->names.count,
			       sizeof(*reader->name_flags))) {
		reader->out_of_memory = true;
		return 0;
	}
	if (known == 1)
		reader->name_flags[0] = 0;
	reader->name_flags[id] = ss_name_flags(ss_strings_text(&reader->names, id),
					       reader->names.items[id].length);
	return id;
}

uint32_t ss_lookup_record(struct ss_reader *reader, struct ss_records *records, const void *record)
{
	uint32_t id = ss_records_add(records, record);

	reader->out_of_memory |= id == SS_NO_ID;
	return id;
}

static uint8_t category_add(struct ss_reader *reader, const struct ss_json_span *span)
{
	struct ss_reader_category *category = &reader->categories[reader->category_count];
	struct ss_json_span lower = *span;
	char name[sizeof(category->name)];
	size_t length = span->length < sizeof(name) ? span->length : sizeof(name);

	/* the last slot is for all that do not fit */
	if (reader->category_count == SS_CATEGORIES_MAX - 1 && category->length)
		return SS_CATEGORIES_MAX - 1;
	for (size_t i = 0; i < length; i++) {
		char byte = span->text[i];

		name[i] = (char)(byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte);
	}
	memcpy(category->name, span->text, length);
	category->length = (uint32_t)length;
	category->meaning = ss_kind_of_category(name, length);
	category->is_arrow = (length == 6 && memcmp(name, "fwdbwd", 6) == 0) ||
			     (length == 16 && memcmp(name, "forward-backward", 16) == 0);
	lower.text = name;
	lower.length = (uint32_t)length;
	lower.type = SS_JSON_STRING;
	lower.escaped = 0;
	category->text = ss_lookup_text(reader, &reader->texts, &lower);
	if (reader->category_count < SS_CATEGORIES_MAX - 1)
		return (uint8_t)reader->category_count++;
	return SS_CATEGORIES_MAX - 1;
}

uint8_t ss_lookup_category(struct ss_reader *reader, const struct ss_json_span *span)
{
	struct ss_json_span cut = *span;
	uint32_t last = reader->category_last;

	if (cut.length > sizeof(reader->categories[0].name))
		cut.length = sizeof(reader->categories[0].name);
	if (last < reader->category_count && reader->categories[last].length == cut.length &&
	    memcmp(reader->categories[last].name, cut.text, cut.length) == 0)
		return (uint8_t)last;
	if (cut.type == SS_JSON_NONE)
		cut.text = "";
	for (uint32_t i = 0; i < reader->category_count; i++)
		if (reader->categories[i].length == cut.length &&
		    memcmp(reader->categories[i].name, cut.text, cut.length) == 0) {
			reader->category_last = i;
			return (uint8_t)i;
		}
	return category_add(reader, &cut);
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
	*text = ss_lookup_text(reader, &reader->texts, &span);
}

/* The text of up to 16 bytes as two words; texts of one length are equal when their words are. */
static void words_of(const struct ss_json_span *span, uint64_t out[2])
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

static uint32_t track_add(struct ss_reader *reader, enum ss_arg pid, enum ss_arg tid,
			  enum ss_track_class class)
{
	struct ss_track_key key = { .class = class };
	uint32_t id;

	ss_lookup_id(reader, pid, &key.pid, &key.pid_text);
	ss_lookup_id(reader, tid, &key.tid, &key.tid_text);
	id = ss_lookup_record(reader, &reader->tracks, &key);
	return id == SS_NO_ID ? 0 : id;
}

uint32_t ss_lookup_track(struct ss_reader *reader, enum ss_track_class class)
{
	/* a device event lies where its arguments say; its pid and tid usually agree */
	bool device = class == SS_TRACK_DEVICE;
	enum ss_arg pid = device && ss_args_have(&reader->args, SS_ARG_DEVICE) ? SS_ARG_DEVICE
									       : SS_FIELD_PID;
	enum ss_arg tid = device && ss_args_have(&reader->args, SS_ARG_STREAM) ? SS_ARG_STREAM
									       : SS_FIELD_TID;
	const struct ss_json_span pid_span = ss_args_span(&reader->args, pid);
	const struct ss_json_span tid_span = ss_args_span(&reader->args, tid);
	uint32_t kind = (uint32_t) class | pid_span.length << 8 | tid_span.length << 16;
	struct ss_track_cache *cached;
	uint64_t words[4];

	if (pid_span.length > 16 || tid_span.length > 16)
		return track_add(reader, pid, tid, class);
	words_of(&pid_span, words);
	words_of(&tid_span, words + 2);
	cached = &reader->track_cache[ss_hash_mix(words[0] + words[1] * 31 + kind,
						  words[2] + words[3] * 31) %
				      SS_TRACK_CACHE];
	if (cached->id == SS_NO_ID || cached->kind != kind ||
	    memcmp(cached->words, words, sizeof(words)) != 0) {
		cached->id = track_add(reader, pid, tid, class);
		cached->kind = kind;
		memcpy(cached->words, words, sizeof(words));
	}
	return cached->id;
}
