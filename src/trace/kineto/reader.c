/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reader.c - the life of a reader, and its loop over the elements of traceEvents.
 *
 * An event that cannot be read gets a second, careful try (json.h) and is then
 * skipped: reading continues at the next place that looks like an event. Nothing
 * here depends on how the text is cut into pieces: if a result would need bytes
 * that have not arrived yet, the answer is "more".
 */
#include "trace/kineto/reader.h"

/*
 * An element longer than this is suspected of having swallowed its successors
 * after damage in the file. Real events stay far below: the longest in our
 * traces has 60 kB.
 */
#define SUSPECT_BYTES ((ptrdiff_t)1 << 20)

/* A bracket is a stray one when an event begins within this many bytes after it. */
#define STRAY_BYTES ((ptrdiff_t)4096)

/* Bytes that are needed to know a first key. */
#define FIRST_KEY_BYTES 8

bool ss_reader_init(struct ss_reader *reader, struct ss_memory *memory)
{
	memset(reader, 0, sizeof(*reader));
	reader->memory = memory;
	for (int i = 0; i < SS_TRACK_CACHE; i++)
		reader->track_cache[i].id = SS_NO_ID;
	ss_arg_index_init(&reader->index);
	ss_shapes_init(&reader->shapes);
	return ss_batch_init(&reader->batch, memory) &&
	       ss_strings_init(&reader->kernel_texts, memory);
}

void ss_reader_release(struct ss_reader *reader)
{
	if (!reader->memory)
		return;
	ss_batch_release(&reader->batch);
	ss_strings_release(&reader->kernel_texts);
	SS_FREE(reader->memory, reader->kernel_records, reader->kernel_capacity);
	ss_memory_free(reader->memory, reader->scratch, reader->scratch_bytes);
	memset(reader, 0, sizeof(*reader));
}

/* Reads the object at the cursor key by key. */
static enum ss_json_result reader_read_by_cursor(struct ss_reader *reader, struct ss_json *json,
						 struct ss_event_fields *fields)
{
	struct ss_json_span category = { 0 }, phase = { 0 }, args = { 0 }, other;
	struct ss_arg_values *values = &reader->args;
	const struct {
		const char *key;
		struct ss_json_span *value;
		enum ss_arg field;
	} known[] = {
		{ "ph", &phase, SS_ARG_NONE },
		{ "cat", &category, SS_ARG_NONE },
		{ "args", &args, SS_ARG_NONE },
		{ "name", &values->values[SS_FIELD_NAME], SS_FIELD_NAME },
		{ "pid", &values->values[SS_FIELD_PID], SS_FIELD_PID },
		{ "tid", &values->values[SS_FIELD_TID], SS_FIELD_TID },
		{ "ts", &values->values[SS_FIELD_TS], SS_FIELD_TS },
		{ "dur", &values->values[SS_FIELD_DUR], SS_FIELD_DUR },
		{ "id", &values->values[SS_FIELD_ID], SS_FIELD_ID },
	};
	struct ss_json inner = *json;
	enum ss_json_result result;

	*fields = (struct ss_event_fields){ 0 };
	values->seen = 0;
	inner.at++;
	for (bool first = true;; first = false) {
		struct ss_json_span key, *value = &other;

		result = ss_json_key(&inner, first, &key);
		if (result != SS_JSON_OK || key.type == SS_JSON_NONE)
			break;
		for (size_t i = 0; i < SS_COUNT(known); i++)
			if (ss_json_is(&key, known[i].key)) {
				value = known[i].value;
				values->seen |= (uint64_t)1 << known[i].field;
			}
		result = ss_json_value(&inner, value);
		if (result != SS_JSON_OK)
			break;
	}
	json->odd_quotes = inner.odd_quotes;
	json->odd_commas = inner.odd_commas;
	if (result != SS_JSON_OK)
		return result;
	fields->start = json->at;
	json->at = fields->end = inner.at;
	if (phase.type == SS_JSON_STRING && phase.length == 1)
		fields->phase = phase.text[0];
	fields->category = ss_lookup_category(reader, &category);
	fields->args = args.type == SS_JSON_OBJECT ? args.text : NULL;
	if (fields->args) {
		inner.at = fields->args;
		inner.end = args.text + args.length;
		inner.odd_commas = 0;
		/* what was skipped as a whole may be invalid when it is read */
		fields->has_args = ss_args_read(&reader->index, &inner, values) == SS_JSON_OK;
		if (!fields->has_args && !json->careful)
			return SS_JSON_BAD;
		json->odd_commas += inner.odd_commas;
	}
	return SS_JSON_OK;
}

/* Reads the event at the cursor by a known shape; false: none fits. */
static bool reader_read_by_shape(struct ss_reader *reader, struct ss_json *json,
				 struct ss_event_fields *fields)
{
	const char *start = json->at;
	const struct ss_shape_node *shape = ss_shapes_read(&reader->shapes, json, &reader->args);

	if (!shape)
		return false;
	if (json->at - start >= SUSPECT_BYTES) {
		json->at = start;
		return false;
	}
	*fields = (struct ss_event_fields){
		.start = start,
		.end = json->at,
		.has_args = shape->has_args,
		.phase = (char)shape->phase,
		.category = shape->category,
	};
	return true;
}

static enum ss_json_result reader_read_event(struct ss_reader *reader, struct ss_json *json,
					     struct ss_event_fields *fields)
{
	const char *start = json->at;
	enum ss_json_result result;

	if (reader_read_by_shape(reader, json, fields))
		return SS_JSON_OK;
	result = reader_read_by_cursor(reader, json, fields);
	/* counters have free keys, and damaged events are bad examples */
	if (result == SS_JSON_OK && fields->phase && fields->phase != 'C' && !json->odd_quotes &&
	    !json->odd_commas && fields->category <= UINT16_MAX)
		ss_shapes_learn(&reader->shapes, &reader->index, start, json->at, fields->phase,
				(uint16_t)fields->category);
	return result;
}

/* A brace that follows a closed object and a comma. */
static bool follows_event(const char *brace, const char *start)
{
	const char *at = brace - 1;

	while (at > start && (unsigned char)*at <= ' ')
		at--;
	if (at <= start || *at != ',')
		return false;
	for (at--; at > start && (unsigned char)*at <= ' ';)
		at--;
	return *at == '}';
}

/* Does the brace open an object whose first key is an event's? MORE: not enough text. */
static enum ss_json_result opens_event(const char *brace, const char *end)
{
	static const char *const first_keys[] = { "\"ph\"", "\"name\"", "\"cat\"", "\"pid\"",
						  "\"ts\"", "\"tid\"",  "\"args\"" };
	const char *key = ss_bytes_skip_space(brace + 1);

	if (end - key < FIRST_KEY_BYTES)
		return SS_JSON_MORE;
	for (size_t i = 0; i < SS_COUNT(first_keys); i++) {
		size_t length = strlen(first_keys[i]);
		const char *colon;

		if (memcmp(key, first_keys[i], length) != 0)
			continue;
		colon = ss_bytes_skip_space(key + length);
		if (colon >= end)
			return SS_JSON_MORE;
		return *colon == ':' ? SS_JSON_OK : SS_JSON_BAD;
	}
	return SS_JSON_BAD;
}

const char *ss_reader_find_event(const char *at, const char *end, bool strict,
				 const char **undecided)
{
	const char *start = at;

	for (*undecided = end; at < end; at++) {
		enum ss_json_result result;

		at = memchr(at, '{', (size_t)(end - at));
		if (!at)
			return NULL;
		if (strict && !follows_event(at, start))
			continue;
		result = opens_event(at, end);
		if (result == SS_JSON_OK)
			return at;
		if (result == SS_JSON_MORE) {
			*undecided = at;
			return NULL;
		}
	}
	return NULL;
}

/*
 * The next event after `at`. Where many elements are bad, each asks for the same
 * one: the answer is kept as long as the text stays.
 */
static const char *reader_next_event(struct ss_reader *reader, const struct ss_json *json,
				     const char *at, bool strict, const char **undecided)
{
	struct ss_next_event *known = &reader->next_events[strict];

	if (!known->end || known->end != json->end || at < known->from ||
	    at > (known->found ? known->found : known->undecided)) {
		known->from = at;
		known->end = json->end;
		known->found = ss_reader_find_event(at, json->end, strict, &known->undecided);
	}
	*undecided = known->undecided;
	return known->found;
}

/*
 * After an element that could not be read: moves to the next event or to the
 * bracket that closes the array. An inner object can look like an event: when
 * the bad element closes properly first, that is taken.
 */
static enum ss_json_result reader_skip_bad(struct ss_reader *reader, struct ss_json *json,
					   const char *bad, bool strict)
{
	const char *undecided;
	const char *next = reader_next_event(reader, json, bad + 1, strict, &undecided);
	struct ss_json balanced = *json;
	enum ss_json_result result;

	balanced.at = bad;
	/* up to the next event: a file of bad events must not be read twice for each */
	balanced.end = next ? next : json->end;
	balanced.whole = json->whole && !next;
	result = *bad == '{' ? ss_json_skip_nested(&balanced) : SS_JSON_BAD;
	if (result == SS_JSON_OK && balanced.at <= (next ? next : undecided)) {
		json->at = balanced.at;
		return SS_JSON_OK;
	}
	json->at = next ? next : bad;
	return next ? SS_JSON_OK : SS_JSON_MORE;
}

/* Does another event seem to begin inside of the element? Then it swallowed it. */
static bool element_swallows_event(const char *start, const char *end)
{
	const char *undecided;

	if (end - start < SUSPECT_BYTES)
		return false;
	return ss_reader_find_event(start + 1, start + SUSPECT_BYTES, true, &undecided) != NULL;
}

/* An element that is not an event; garbage after damage does not count as one. */
static enum ss_json_result reader_read_non_event(struct ss_reader *reader, struct ss_json *json)
{
	struct ss_json_span span;
	enum ss_json_result result;
	const char *inner;

	/* a stray bracket must not swallow the events after it */
	if (*json->at == '[') {
		inner = ss_bytes_skip_space(json->at + 1);
		if (inner >= json->end && !json->whole)
			return SS_JSON_MORE;
		result = *inner == '{' ? opens_event(inner, json->end) : SS_JSON_BAD;
		if (result == SS_JSON_OK || (result == SS_JSON_MORE && !json->whole))
			return result == SS_JSON_OK ? SS_JSON_BAD : SS_JSON_MORE;
	}
	result = ss_json_value(json, &span);
	if (result != SS_JSON_OK)
		return result;
	ss_json_space(json);
	if (json->at >= json->end)
		return json->whole ? SS_JSON_OK : SS_JSON_MORE;
	if (*json->at != ',' && *json->at != ']')
		return SS_JSON_BAD;
	ss_quality_add(&reader->batch.quality, SS_ODD_NOT_AN_EVENT, 1);
	return SS_JSON_OK;
}

/* Does another event begin inside one with unbalanced quotes? Then the first was cut off. */
static bool holds_event(const char *start, const char *end)
{
	const char *undecided;
	const char *inner = ss_reader_find_event(start + 1, end, false, &undecided);

	return inner && memcmp(ss_bytes_skip_space(inner + 1), "\"ph\"", 4) == 0;
}

/*
 * The second try at an event that is not JSON. It stops where the next event seems to begin:
 * guesses about quotes must not swallow that one.
 */
static enum ss_json_result reader_read_carefully(struct ss_reader *reader, struct ss_json *json,
						 struct ss_event_fields *fields)
{
	const char *start = json->at, *undecided;
	const char *next = reader_next_event(reader, json, start + 1, true, &undecided);
	struct ss_json again = *json;
	enum ss_json_result result;

	/* what may be the next event decides how far this one may go */
	if (!next && undecided < json->end && !json->whole)
		return SS_JSON_MORE;
	again.careful = true;
	again.odd_quotes = again.odd_commas = 0;
	again.end = next ? next : json->end;
	again.whole = json->whole && !next;
	result = reader_read_by_cursor(reader, &again, fields);
	if (result == SS_JSON_OK && again.odd_quotes && holds_event(start, again.at))
		result = SS_JSON_BAD;
	if (result == SS_JSON_MORE && next)
		result = SS_JSON_BAD;
	if (result == SS_JSON_OK) {
		json->at = again.at;
		json->odd_quotes = again.odd_quotes;
		json->odd_commas = again.odd_commas;
	}
	return result;
}

/* Reads the element at the cursor: fast, then carefully. */
static enum ss_json_result reader_read_element(struct ss_reader *reader, struct ss_json *json,
					       struct ss_event_fields *fields)
{
	const char *start = json->at;
	enum ss_json_result result;

	if (*start != '{')
		return reader_read_non_event(reader, json);
	json->odd_quotes = json->odd_commas = 0;
	result = reader_read_event(reader, json, fields);
	if (result == SS_JSON_BAD)
		result = reader_read_carefully(reader, json, fields);
	if (result != SS_JSON_BAD &&
	    element_swallows_event(start, result == SS_JSON_OK ? json->at : json->end))
		result = SS_JSON_BAD;
	if (result == SS_JSON_OK && json->odd_quotes)
		ss_quality_add(&reader->batch.quality, SS_ODD_QUOTES, json->odd_quotes);
	if (result == SS_JSON_OK && json->odd_commas)
		ss_quality_add(&reader->batch.quality, SS_ODD_SYNTAX, json->odd_commas);
	return result;
}

/* Does the bracket at the cursor close the array? BAD: a stray one, events follow. */
static enum ss_json_result closes_events(const struct ss_json *json)
{
	const char *at = ss_bytes_skip_space(json->at + 1);
	enum ss_json_result opens;

	if (at - json->at > STRAY_BYTES)
		return SS_JSON_OK;
	if (at >= json->end)
		return json->whole ? SS_JSON_OK : SS_JSON_MORE;
	if (*at != ',' && *at != '{')
		return SS_JSON_OK;
	if (*at == ',')
		at = ss_bytes_skip_space(at + 1);
	if (at - json->at > STRAY_BYTES)
		return SS_JSON_OK;
	if (at >= json->end)
		return json->whole ? SS_JSON_OK : SS_JSON_MORE;
	opens = *at == '{' ? opens_event(at, json->end) : SS_JSON_BAD;
	if (opens == SS_JSON_MORE && !json->whole)
		return SS_JSON_MORE;
	return opens == SS_JSON_OK ? SS_JSON_BAD : SS_JSON_OK;
}

enum ss_read_end ss_reader_events(struct ss_reader *reader, struct ss_json *json, const char *limit,
				  const char *text, int64_t offset)
{
	struct ss_event_fields fields;

	memset(reader->next_events, 0, sizeof(reader->next_events));
	for (;;) {
		enum ss_json_result result;
		const char *start;

		ss_json_space(json);
		while (*json->at == ',') {
			json->at++;
			ss_json_space(json);
		}
		start = json->at;
		if (start >= limit && start < json->end)
			return SS_READ_LIMIT;
		if (start >= json->end)
			return SS_READ_MORE;
		if (*start == ']') {
			result = closes_events(json);
			if (result == SS_JSON_MORE)
				return SS_READ_MORE;
			json->at++;
			if (result == SS_JSON_OK)
				return SS_READ_CLOSED;
			ss_quality_add_at(&reader->batch.quality, SS_ODD_BAD_EVENT,
					  offset + (start - text));
			continue;
		}
		result = reader_read_element(reader, json, &fields);
		if (result == SS_JSON_BAD || (result == SS_JSON_MORE && json->whole)) {
			/* the last event of a cut file holds objects that look like events */
			result = reader_skip_bad(reader, json, start, result == SS_JSON_MORE);
			if (result == SS_JSON_OK)
				ss_quality_add_at(&reader->batch.quality, SS_ODD_BAD_EVENT,
						  offset + (start - text));
		} else if (result == SS_JSON_OK && *start == '{') {
			ss_reader_emit(reader, &fields, offset + (start - text));
		}
		if (result == SS_JSON_MORE) {
			json->at = start;
			return SS_READ_MORE;
		}
		reader->batch.entries++;
		if (reader->batch.out_of_memory)
			return SS_READ_FAILED;
	}
}
