/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_json.c - reads the JSON form of a dump as a pickle of the same values: containers from the
 * inside out. A file that is cut gives the containers that are complete.
 */
#include <string.h>

#include "hang/load/reader.h"
#include "read/json.h"

/* A dump has five levels. */
#define DEPTH_MAX 16

struct json_reading {
	struct ss_json json;
	struct ss_flight_reader *reader;
	struct ss_pickle_value *items; /* of all containers that are open */
	uint32_t count, capacity;
	char *unescaped;
	size_t unescaped_bytes;
	bool is_cut;
	struct ss_error *err;
};

static enum ss_status json_read_value(struct json_reading *reading, uint32_t depth);

static enum ss_status json_push(struct json_reading *reading, struct ss_pickle_value value)
{
	if (!SS_GROW(reading->reader->out->memory, reading->items, reading->capacity,
		     reading->count))
		return ss_fail_memory(reading->err, "the records");
	reading->items[reading->count++] = value;
	return SS_OK;
}

/* The end of the text is where a cut file ends. */
static enum ss_status json_check(struct json_reading *reading, enum ss_json_result result)
{
	reading->is_cut |= result == SS_JSON_MORE;
	return result == SS_JSON_BAD
		       ? ss_fail(reading->err, SS_ERR_FORMAT,
				 "not a dump of the flight recorder: it is not valid JSON")
		       : SS_OK;
}

static enum ss_status json_push_text(struct json_reading *reading, const struct ss_json_span *span)
{
	struct ss_flight *out = reading->reader->out;
	const char *text = span->text;
	size_t length = span->length;
	uint32_t id;

	if (span->escaped) {
		if (length > reading->unescaped_bytes) {
			char *larger = ss_memory_resize(out->memory, reading->unescaped,
							reading->unescaped_bytes, length);

			if (!larger)
				return ss_fail_memory(reading->err, "a text");
			reading->unescaped = larger;
			reading->unescaped_bytes = length;
		}
		length = ss_json_unescape(span, reading->unescaped);
		text = reading->unescaped;
	}
	id = ss_strings_add(&out->texts, text, length);
	if (id == SS_NO_ID)
		return ss_fail_memory(reading->err, "the texts");
	return json_push(reading, (struct ss_pickle_value){ .kind = SS_PICKLE_TEXT, .word = id });
}

/* null stays NONE, and so does what is no number that can be kept. */
static enum ss_status json_push_bare(struct json_reading *reading, const struct ss_json_span *span)
{
	struct ss_pickle_value value = { .kind = SS_PICKLE_NONE };

	if (ss_json_is(span, "true") || ss_json_is(span, "false")) {
		value.kind = SS_PICKLE_BOOL;
		value.word = span->text[0] == 't';
	} else if (ss_json_i64(span, &value.word)) {
		value.kind = SS_PICKLE_INT;
	} else {
		value.word = 0;
	}
	return json_push(reading, value);
}

/* The items since `first` become one value. */
static enum ss_status json_close(struct json_reading *reading, enum ss_pickle_kind kind,
				 uint32_t first)
{
	struct ss_pickle_value value = { .kind = (uint8_t)kind };
	uint32_t count = reading->count - first;

	value.content = 0;
	if (count)
		SS_TRY(ss_flight_fill(reading->reader, kind, &value.content, reading->items + first,
				      count, reading->err));
	reading->count = first;
	return json_push(reading, value);
}

static enum ss_status json_read_object(struct json_reading *reading, uint32_t depth)
{
	uint32_t first = reading->count;

	for (bool is_first = true;; is_first = false) {
		struct ss_json_span key;

		SS_TRY(json_check(reading, ss_json_key(&reading->json, is_first, &key)));
		if (reading->is_cut)
			return SS_OK;
		if (key.type == SS_JSON_NONE)
			return json_close(reading, SS_PICKLE_DICT, first);
		SS_TRY(json_push_text(reading, &key));
		SS_TRY(json_read_value(reading, depth));
		if (reading->is_cut)
			return SS_OK;
	}
}

static enum ss_status json_read_array(struct json_reading *reading, uint32_t depth)
{
	uint32_t first = reading->count;

	for (bool is_first = true;; is_first = false) {
		bool more = false;

		SS_TRY(json_check(reading, ss_json_item(&reading->json, is_first, &more)));
		if (reading->is_cut)
			return SS_OK;
		if (!more)
			return json_close(reading, SS_PICKLE_LIST, first);
		SS_TRY(json_read_value(reading, depth));
		if (reading->is_cut)
			return SS_OK;
	}
}

static enum ss_status json_read_value(struct json_reading *reading, uint32_t depth)
{
	struct ss_json *json = &reading->json;
	struct ss_json_span span;
	bool in_array = json->in_array;
	enum ss_status status;

	ss_json_space(json);
	if (json->at < json->end && (*json->at == '{' || *json->at == '[')) {
		if (depth == DEPTH_MAX)
			return ss_fail(reading->err, SS_ERR_FORMAT,
				       "not a dump of the flight recorder: more than %d levels",
				       DEPTH_MAX);
		json->in_array = *json->at == '[';
		status = *json->at++ == '{' ? json_read_object(reading, depth + 1)
					    : json_read_array(reading, depth + 1);
		json->in_array = in_array;
		return status;
	}
	SS_TRY(json_check(reading, ss_json_value(json, &span)));
	if (reading->is_cut)
		return SS_OK;
	return span.type == SS_JSON_STRING ? json_push_text(reading, &span)
					   : json_push_bare(reading, &span);
}

enum ss_status ss_flight_read_json(struct ss_source *source, struct ss_flight_reader *reader,
				   struct ss_error *err)
{
	struct ss_memory *memory = reader->out->memory;
	struct json_reading reading = { .reader = reader, .err = err };
	struct ss_whole_file file = { .memory = memory };
	enum ss_status status = ss_source_read_whole(source, &file, err);

	if (status == SS_OK) {
		reading.json = (struct ss_json){ .at = file.text,
						 .end = file.text + file.length,
						 .whole = true };
		status = json_read_value(&reading, 0);
		reader->out->is_cut = reading.is_cut;
		reader->out->file_bytes = file.length;
	}
	ss_whole_file_release(&file);
	ss_memory_free(memory, reading.unescaped, reading.unescaped_bytes);
	SS_FREE(memory, reading.items, reading.capacity);
	return status;
}
