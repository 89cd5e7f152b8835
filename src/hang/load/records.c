/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.c - the containers of a dump, recognized by their keys or by what is in them.
 *
 * A field that is missing or has the wrong type counts as not recorded. JSON has some numbers as
 * texts, and 0 where a pickle has None.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "hang/load/reader.h"
#include "read/number.h"

/* The order is that of the texts: key i is text i + 1, behind the empty one. */
enum flight_key {
	KEY_FRAMES,
	KEY_RECORD_ID,
	KEY_PG_ID,
	KEY_PROCESS_GROUP,
	KEY_PG_NAME,
	KEY_COLLECTIVE_SEQ_ID,
	KEY_P2P_SEQ_ID,
	KEY_SEQ_ID,
	KEY_PROFILING_NAME,
	KEY_TIME_CREATED_NS,
	KEY_TIME_STARTED_NS,
	KEY_TIME_COMPLETED_NS,
	KEY_INPUT_SIZES,
	KEY_INPUT_DTYPES,
	KEY_OUTPUT_SIZES,
	KEY_STATE,
	KEY_RETIRED,
	KEY_TIMEOUT_MS,
	KEY_IS_P2P,
	KEY_NAME,
	KEY_FILENAME,
	KEY_LINE,
	KEY_DESC,
	KEY_RANKS,
	KEY_ENQUEUED,
	KEY_STARTED,
	KEY_COMPLETED,
	KEY_ENTRIES,
	KEY_VERSION,
	KEY_LIBRARY,
	KEY_NCCL_VERSION,
	KEY_COUNT,
	/* texts that values are compared with */
	TEXT_STARTED = KEY_COUNT,
	TEXT_COMPLETED,
	TEXT_COUNT,
};

static const char *const key_names[] = {
	"frames",
	"record_id",
	"pg_id",
	"process_group",
	"pg_name",
	"collective_seq_id",
	"p2p_seq_id",
	"seq_id",
	"profiling_name",
	"time_created_ns",
	"time_discovered_started_ns",
	"time_discovered_completed_ns",
	"input_sizes",
	"input_dtypes",
	"output_sizes",
	"state",
	"retired",
	"timeout_ms",
	"is_p2p",
	"name",
	"filename",
	"line",
	"desc",
	"ranks",
	"last_enqueued_collective",
	"last_started_collective",
	"last_completed_collective",
	"entries",
	"version",
	"comm_lib_version",
	"nccl_version",
	"started",
	"completed",
};
static_assert(SS_COUNT(key_names) == TEXT_COUNT, "a name for every key");

/* A stack of Python is at most 1,000 deep unless the program asks for more. */
#define STACK_FRAMES_MAX 100000
/* Longer lists of shapes and types end in "...": a coalesced call can have hundreds. */
#define LIST_TEXT_MAX 96

bool ss_flight_intern_keys(struct ss_strings *texts)
{
	for (uint32_t i = 0; i < SS_COUNT(key_names); i++)
		if (ss_strings_add(texts, key_names[i], strlen(key_names[i])) != i + 1)
			return false;
	return true;
}

static enum ss_flight_part part_of(const struct ss_pickle_value *value)
{
	return value && value->kind >= SS_PICKLE_LIST ? (enum ss_flight_part)(value->content >> 32)
						      : SS_FLIGHT_PART_NONE;
}

static uint64_t part_content(enum ss_flight_part part, uint32_t index)
{
	return (uint64_t)part << 32 | index;
}

/* The values of the keys that are known; NULL: not there. */
struct flight_fields {
	const struct ss_pickle_value *values[KEY_COUNT];
};

static void fields_read(struct flight_fields *fields, const struct ss_pickle_value *items,
			uint32_t count)
{
	*fields = (struct flight_fields){ 0 };
	for (uint32_t i = 0; i + 1 < count; i += 2)
		if (items[i].kind == SS_PICKLE_TEXT && items[i].word >= 1 &&
		    items[i].word <= KEY_COUNT)
			fields->values[items[i].word - 1] = &items[i + 1];
}

/* A number, also one that is written as a text. */
static int64_t field_number(const struct ss_flight *flight, const struct flight_fields *fields,
			    enum flight_key key, int64_t none)
{
	const struct ss_pickle_value *value = fields->values[key];
	const struct ss_string *text;
	int64_t number;

	if (!value)
		return none;
	if (value->kind == SS_PICKLE_INT || value->kind == SS_PICKLE_BOOL)
		return value->word;
	if (value->kind != SS_PICKLE_TEXT)
		return none;
	text = &flight->texts.items[value->word];
	return ss_number_i64(text->text, text->length, &number) ? number : none;
}

static uint32_t field_text(const struct flight_fields *fields, enum flight_key key)
{
	const struct ss_pickle_value *value = fields->values[key];

	return value && value->kind == SS_PICKLE_TEXT ? (uint32_t)value->word : 0;
}

static bool field_is_true(const struct flight_fields *fields, enum flight_key key)
{
	const struct ss_pickle_value *value = fields->values[key];

	return value && (value->kind == SS_PICKLE_BOOL || value->kind == SS_PICKLE_INT) &&
	       value->word;
}

/* The index of a part; `none` if the field is something else. */
static uint32_t field_part(const struct flight_fields *fields, enum flight_key key,
			   enum ss_flight_part part, uint32_t none)
{
	return part_of(fields->values[key]) == part ? (uint32_t)fields->values[key]->content : none;
}

/* --- entries ----------------------------------------------------------------------------- */

static int64_t field_elements(const struct ss_flight_reader *reader,
			      const struct flight_fields *fields, enum flight_key key,
			      uint32_t *text)
{
	uint32_t index = field_part(fields, key, SS_FLIGHT_PART_SHAPE, SS_NO_ID);
	const struct ss_flight_shape *shape;

	*text = 0;
	if (index == SS_NO_ID)
		return fields->values[key] && fields->values[key]->kind == SS_PICKLE_LIST ? 0 : -1;
	shape = ss_records_at(&reader->shapes, index);
	*text = shape->text;
	return shape->elements;
}

static void entry_read_group(const struct ss_flight_reader *reader,
			     const struct flight_fields *fields, struct ss_flight_entry *entry)
{
	uint32_t index = field_part(fields, KEY_PROCESS_GROUP, SS_FLIGHT_PART_WORDS, SS_NO_ID);

	entry->group = field_text(fields, KEY_PG_NAME);
	if (index != SS_NO_ID) {
		const struct ss_flight_words *words = ss_records_at(&reader->words, index);

		entry->group = words->first;
		entry->group_about = words->second;
	}
}

static enum ss_flight_state entry_state(const struct flight_fields *fields)
{
	uint32_t state = field_text(fields, KEY_STATE);

	if (state == TEXT_COMPLETED + 1)
		return SS_FLIGHT_COMPLETED;
	return state == TEXT_STARTED + 1 ? SS_FLIGHT_STARTED : SS_FLIGHT_SCHEDULED;
}

static enum ss_status read_entry(struct ss_flight_reader *reader,
				 const struct flight_fields *fields, uint64_t *content,
				 struct ss_error *err)
{
	struct ss_flight *out = reader->out;
	int64_t group_id = field_number(out, fields, KEY_PG_ID, 0);
	struct ss_flight_entry entry = {
		.record_id = field_number(out, fields, KEY_RECORD_ID, out->entry_count),
		.created_ns = field_number(out, fields, KEY_TIME_CREATED_NS, 0),
		.started_ns = field_number(out, fields, KEY_TIME_STARTED_NS, 0),
		.completed_ns = field_number(out, fields, KEY_TIME_COMPLETED_NS, 0),
		.timeout_ms = field_number(out, fields, KEY_TIMEOUT_MS, -1),
		.name = field_text(fields, KEY_PROFILING_NAME),
		.stack = field_part(fields, KEY_FRAMES, SS_FLIGHT_PART_STACK, 0),
		.group_id = group_id >= 0 && group_id < SS_NO_ID ? (uint32_t)group_id : SS_NO_ID,
		.state = (uint8_t)entry_state(fields),
		.is_retired = field_is_true(fields, KEY_RETIRED),
		.is_pair = field_is_true(fields, KEY_IS_P2P),
	};
	uint32_t words = field_part(fields, KEY_INPUT_DTYPES, SS_FLIGHT_PART_WORDS, SS_NO_ID);
	uint32_t unused;

	entry.sequence = field_number(out, fields, KEY_SEQ_ID, 0);
	entry.sequence = field_number(out, fields,
				      entry.is_pair ? KEY_P2P_SEQ_ID : KEY_COLLECTIVE_SEQ_ID,
				      entry.sequence);
	entry.inputs = field_elements(reader, fields, KEY_INPUT_SIZES, &entry.shape);
	entry.outputs = field_elements(reader, fields, KEY_OUTPUT_SIZES, &unused);
	if (words != SS_NO_ID)
		entry.type =
			((const struct ss_flight_words *)ss_records_at(&reader->words, words))->all;
	entry_read_group(reader, fields, &entry);
	if (!SS_GROW(out->memory, out->entries, out->entry_capacity, out->entry_count))
		return ss_fail_memory(err, "the records");
	*content = part_content(SS_FLIGHT_PART_ENTRY, out->entry_count);
	out->entries[out->entry_count++] = entry;
	return SS_OK;
}

/* --- other dictionaries ------------------------------------------------------------------ */

static enum ss_status read_frame(struct ss_flight_reader *reader,
				 const struct flight_fields *fields, uint64_t *content,
				 struct ss_error *err)
{
	int64_t line = field_number(reader->out, fields, KEY_LINE, 0);
	struct ss_code_frame frame = {
		.file = field_text(fields, KEY_FILENAME),
		.name = field_text(fields, KEY_NAME),
		.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0,
	};
	uint32_t id = ss_records_add(&reader->out->frames, &frame);

	*content = part_content(SS_FLIGHT_PART_FRAME, id);
	return id == SS_NO_ID ? ss_fail_memory(err, "the frames") : SS_OK;
}

static enum ss_status read_group(struct ss_flight_reader *reader,
				 const struct flight_fields *fields, uint64_t *content,
				 struct ss_error *err)
{
	struct ss_flight *out = reader->out;

	if (!SS_GROW(out->memory, out->groups, out->group_capacity, out->group_count))
		return ss_fail_memory(err, "the groups");
	*content = part_content(SS_FLIGHT_PART_GROUP, out->group_count);
	out->groups[out->group_count++] = (struct ss_flight_group){
		.name = field_text(fields, KEY_NAME),
		.about = field_text(fields, KEY_DESC),
		.ranks = field_text(fields, KEY_RANKS),
	};
	return SS_OK;
}

static enum ss_status read_status(struct ss_flight_reader *reader,
				  const struct flight_fields *fields, uint64_t *content,
				  struct ss_error *err)
{
	struct ss_flight *out = reader->out;

	if (!SS_GROW(out->memory, out->statuses, out->status_capacity, out->status_count))
		return ss_fail_memory(err, "the groups");
	*content = part_content(SS_FLIGHT_PART_STATUS, out->status_count);
	out->statuses[out->status_count++] = (struct ss_flight_status){
		.enqueued = field_number(out, fields, KEY_ENQUEUED, -1),
		.started = field_number(out, fields, KEY_STARTED, -1),
		.completed = field_number(out, fields, KEY_COMPLETED, -1),
	};
	return SS_OK;
}

/* A dictionary of groups or of their states: what has no key of its own is called by this one. */
static void read_named(struct ss_flight *out, const struct ss_pickle_value *items, uint32_t count)
{
	for (uint32_t i = 0; i + 1 < count; i += 2) {
		uint32_t index = (uint32_t)items[i + 1].content;

		if (items[i].kind != SS_PICKLE_TEXT)
			continue;
		if (part_of(&items[i + 1]) == SS_FLIGHT_PART_STATUS)
			out->statuses[index].key = (uint32_t)items[i].word;
		else if (part_of(&items[i + 1]) == SS_FLIGHT_PART_GROUP)
			out->groups[index].name = (uint32_t)items[i].word;
	}
}

static void read_root(struct ss_flight_reader *reader, const struct flight_fields *fields)
{
	struct ss_flight *out = reader->out;

	reader->has_root = true;
	out->version = field_text(fields, KEY_VERSION);
	out->library = field_text(fields, KEY_LIBRARY);
	if (!out->library)
		out->library = field_text(fields, KEY_NCCL_VERSION);
}

static enum ss_status read_dict(struct ss_flight_reader *reader, uint64_t *content,
				const struct ss_pickle_value *items, uint32_t count,
				struct ss_error *err)
{
	struct flight_fields fields;

	fields_read(&fields, items, count);
	if (fields.values[KEY_PROFILING_NAME] || fields.values[KEY_RECORD_ID])
		return read_entry(reader, &fields, content, err);
	if (fields.values[KEY_FILENAME])
		return read_frame(reader, &fields, content, err);
	if (fields.values[KEY_RANKS])
		return read_group(reader, &fields, content, err);
	if (fields.values[KEY_ENQUEUED] || fields.values[KEY_COMPLETED])
		return read_status(reader, &fields, content, err);
	*content = part_content(SS_FLIGHT_PART_OTHER, 0);
	if (fields.values[KEY_ENTRIES] || fields.values[KEY_VERSION]) {
		read_root(reader, &fields);
		*content = part_content(SS_FLIGHT_PART_ROOT, 0);
	} else {
		read_named(reader->out, items, count);
	}
	return SS_OK;
}

/* --- lists ------------------------------------------------------------------------------- */

/* Stacks are short; one that comes in pieces is its first piece. */
static enum ss_status read_stack(struct ss_flight_reader *reader, uint64_t *content,
				 const struct ss_pickle_value *items, uint32_t count,
				 struct ss_error *err)
{
	uint32_t id;

	if (*content)
		return SS_OK;
	if (count > STACK_FRAMES_MAX)
		return ss_fail(err, SS_ERR_LIMIT,
			       "not a readable dump: a stack of more than %d frames",
			       STACK_FRAMES_MAX);
	if (!SS_RESERVE(reader->out->memory, reader->frames, reader->frame_capacity, count))
		return ss_fail_memory(err, "a stack");
	for (uint32_t i = 0; i < count; i++)
		reader->frames[i] = part_of(&items[i]) == SS_FLIGHT_PART_FRAME
					    ? (uint32_t)items[i].content
					    : (uint32_t)items[0].content;
	id = ss_stacks_add(&reader->out->stacks, reader->frames, count);
	*content = part_content(SS_FLIGHT_PART_STACK, id);
	return id == SS_NO_ID ? ss_fail_memory(err, "the stacks") : SS_OK;
}

/* Adds an item to "[a, b" unless the text is long already. */
static void list_add_text(struct ss_text *text, const char *item)
{
	if (text->length > LIST_TEXT_MAX) {
		if (!ss_string_ends_with(text->data, "..."))
			ss_text_add_string(text, ", ...");
		return;
	}
	if (text->length)
		ss_text_add_string(text, ", ");
	ss_text_add_string(text, item);
}

static enum ss_status add_shape(struct ss_flight_reader *reader, int64_t elements,
				struct ss_text *text, uint64_t *content, struct ss_error *err)
{
	struct ss_flight_shape shape = { .elements = elements };
	uint32_t id = SS_NO_ID;

	if (!ss_text_failed(text))
		shape.text = ss_strings_add(&reader->out->texts, text->data, text->length);
	if (!ss_text_failed(text) && shape.text != SS_NO_ID)
		id = ss_records_add(&reader->shapes, &shape);
	*content = part_content(SS_FLIGHT_PART_SHAPE, id);
	return id == SS_NO_ID ? ss_fail_memory(err, "the sizes") : SS_OK;
}

/* "[64, 4096]" of one tensor: its elements are the product. */
static enum ss_status read_sizes(struct ss_flight_reader *reader, uint64_t *content,
				 const struct ss_pickle_value *items, uint32_t count,
				 struct ss_error *err)
{
	struct ss_text list = { 0 }, text = { 0 };
	int64_t elements = 1;
	enum ss_status status;

	for (uint32_t i = 0; i < count; i++) {
		char number[24];
		int64_t size = items[i].kind == SS_PICKLE_INT ? items[i].word : -1;

		if (size < 0 || __builtin_mul_overflow(elements, size, &elements))
			elements = -1;
		snprintf(number, sizeof(number), "%" PRId64, size);
		list_add_text(&list, number);
		if (elements < 0)
			break;
	}
	ss_text_addf(&text, "[%s]", list.data ? list.data : "");
	ss_text_end(&list, &text);
	status = add_shape(reader, elements, &text, content, err);
	ss_text_release(&text);
	return status;
}

/* Shapes of several tensors: their elements are the sum. */
static enum ss_status read_shapes(struct ss_flight_reader *reader, uint64_t *content,
				  const struct ss_pickle_value *items, uint32_t count,
				  struct ss_error *err)
{
	SS_TEXT(text);
	int64_t elements = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct ss_flight_shape *shape;

		/* an empty list is the shape of a single number */
		if (part_of(&items[i]) != SS_FLIGHT_PART_SHAPE) {
			elements += elements >= 0;
			list_add_text(&text, "[]");
			continue;
		}
		shape = ss_records_at(&reader->shapes, (uint32_t)items[i].content);
		list_add_text(&text, ss_strings_text(&reader->out->texts, shape->text));
		if (elements < 0 || shape->elements < 0 ||
		    __builtin_add_overflow(elements, shape->elements, &elements))
			elements = -1;
	}
	return add_shape(reader, elements, &text, content, err);
}

/* Equal words are one: the types of all tensors of a call mostly are. */
static enum ss_status read_words(struct ss_flight_reader *reader, uint64_t *content,
				 const struct ss_pickle_value *items, uint32_t count,
				 struct ss_error *err)
{
	struct ss_strings *texts = &reader->out->texts;
	struct ss_flight_words words = { 0 };
	SS_TEXT(all);
	uint32_t last = 0, id = SS_NO_ID;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t word = items[i].kind == SS_PICKLE_TEXT ? (uint32_t)items[i].word : 0;

		if (i < 2)
			*(i ? &words.second : &words.first) = word;
		if (word && word != last)
			list_add_text(&all, ss_strings_text(texts, word));
		last = word;
	}
	if (!ss_text_failed(&all))
		words.all = ss_strings_add(texts, all.data ? all.data : "", all.length);
	if (!ss_text_failed(&all) && words.all != SS_NO_ID)
		id = ss_records_add(&reader->words, &words);
	*content = part_content(SS_FLIGHT_PART_WORDS, id);
	return id == SS_NO_ID ? ss_fail_memory(err, "the types") : SS_OK;
}

enum ss_status ss_flight_fill(void *context, enum ss_pickle_kind kind, uint64_t *content,
			      const struct ss_pickle_value *items, uint32_t count,
			      struct ss_error *err)
{
	struct ss_flight_reader *reader = context;
	enum ss_flight_part part = part_of(&items[0]);

	if (kind == SS_PICKLE_DICT)
		return read_dict(reader, content, items, count, err);
	if (*content) /* a long list: its beginning says what it is */
		return SS_OK;
	if (part == SS_FLIGHT_PART_FRAME)
		return read_stack(reader, content, items, count, err);
	if (part == SS_FLIGHT_PART_SHAPE ||
	    (part == SS_FLIGHT_PART_NONE && items[0].kind == SS_PICKLE_LIST))
		return read_shapes(reader, content, items, count, err);
	if (items[0].kind == SS_PICKLE_INT)
		return read_sizes(reader, content, items, count, err);
	if (items[0].kind == SS_PICKLE_TEXT)
		return read_words(reader, content, items, count, err);
	*content = part_content(SS_FLIGHT_PART_OTHER, 0);
	return SS_OK;
}
