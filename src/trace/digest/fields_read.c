/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields_read.c - reads structs by their declaration, and checks what it says.
 */
#include <math.h>

#include "base/system/thread.h"
#include "base/utf8.h"
#include "trace/digest/column.h"

/* Doubles beyond this are neither counts nor times, and would not fit integers. */
#define NUMBER_MAX 9e18

/* What the values of one call share. */
struct fields_reading {
	struct ss_fields_reader *reader;
	const struct ss_field_layout *layout;
	char *to;
	struct ss_error *err;
};

static enum ss_status fields_fail(const struct fields_reading *reading, const char *name)
{
	return ss_fail(reading->err, SS_ERR_FORMAT, "'%s' is wrong", name);
}

static size_t fields_bytes_left(const struct fields_reading *reading)
{
	return (size_t)(reading->reader->end - reading->reader->at);
}

static bool fields_read_number(struct ss_fields_reader *reader, uint64_t *out)
{
	uint64_t value = 0;

	for (uint32_t shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		unsigned char byte = *reader->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*out = value;
			return shift < 63 || byte <= 1;
		}
	}
	return false;
}

/* Texts are repaired when a trace is read; words of rules have lines. */
static bool is_printable(const char *text, size_t length, bool has_lines)
{
	while (has_lines && length) {
		const char *end = memchr(text, '\n', length);
		size_t line = end ? (size_t)(end - text) : length;

		if (ss_utf8_check(text, line))
			return false;
		text += line + (end != NULL);
		length -= line + (end != NULL);
	}
	return !ss_utf8_check(text, length);
}

/* NULL: no memory. */
static char *fields_keep_word(const struct fields_reading *reading, const char *word, size_t length)
{
	struct ss_strings *words = reading->reader->pool;
	const char *kept;
	uint32_t id;

	if (words)
		ss_gate_lock(reading->reader->gate);
	else
		words = (struct ss_strings *)(reading->to + reading->layout->texts[0]);
	id = ss_strings_add(words, word, length);
	kept = id == SS_NO_ID ? NULL : ss_strings_text(words, id);
	if (words == reading->reader->pool)
		ss_gate_unlock(reading->reader->gate);
	return (char *)(uintptr_t)kept;
}

static enum ss_status fields_read_text(struct fields_reading *reading, const struct ss_field *field,
				       char *to)
{
	struct ss_fields_reader *reader = reading->reader;
	uint64_t length;
	char *text = NULL;

	if (!fields_read_number(reader, &length) || length > fields_bytes_left(reading) ||
	    !is_printable((const char *)reader->at, (size_t)length, field->type == SS_FIELD_WORD))
		return fields_fail(reading, field->name);
	if (length && field->type == SS_FIELD_TEXT) {
		text = ss_memory_resize(reader->memory, NULL, 0, (size_t)length + 1);
		if (!text)
			return ss_fail_memory(reading->err, "a digest");
		memcpy(text, reader->at, (size_t)length);
		text[length] = '\0';
	} else if (length) {
		text = fields_keep_word(reading, (const char *)reader->at, (size_t)length);
		if (!text)
			return ss_fail_memory(reading->err, "a digest");
	}
	reader->at += length;
	memcpy(to, &text, sizeof(text));
	return SS_OK;
}

/* Values that fit: `count` from `first` on, and perhaps one other. */
struct value_bounds {
	uint64_t first, count, other;
	bool has_other;
};

static bool bounds_include(const struct value_bounds *bounds, uint64_t value)
{
	return value - bounds->first < bounds->count ||
	       (bounds->has_other && value == bounds->other);
}

static struct value_bounds bounds_of_range(enum ss_field_range range)
{
	struct ss_field_range_ends ends = ss_field_range_ends(range);
	struct value_bounds bounds = { .first = (uint64_t)ends.first,
				       .count = (uint64_t)ends.last - (uint64_t)ends.first + 1 };

	if (range == SS_RANGE_ANY) { /* one too many to be counted */
		bounds.count = UINT64_MAX;
		bounds.other = (uint64_t)ends.last;
		bounds.has_other = true;
	} else if (range == SS_RANGE_MAYBE) {
		bounds.other = (uint64_t)INT64_MIN;
		bounds.has_other = true;
	}
	return bounds;
}

static struct value_bounds bounds_of(const struct fields_reading *reading,
				     const struct ss_field *field)
{
	uint64_t most = UINT64_MAX >> (64 - 8 * ss_type_bytes[field->type]);
	uint64_t end = field->type == SS_FIELD_BOOL ? 2 : most + 1;
	uint32_t below;

	if (field->type == SS_FIELD_I64)
		return bounds_of_range(field->range);
	if (field->limit && field->limit < end)
		end = field->limit;
	if (field->below) {
		memcpy(&below, reading->to + field->below, sizeof(below));
		end = below < end ? below : end;
	}
	return (struct value_bounds){ 0, end, most, field->or_none };
}

static bool float_is_valid(const char *at, enum ss_field_type type)
{
	float single;
	double number;

	if (type == SS_FIELD_U64)
		return true;
	memcpy(&single, at, sizeof(single));
	if (type == SS_FIELD_F32)
		return isfinite(single) && fabsf(single) < (float)NUMBER_MAX;
	memcpy(&number, at, sizeof(number));
	return isfinite(number) && fabs(number) < NUMBER_MAX;
}

static enum ss_status fields_read_value(struct fields_reading *reading,
					const struct ss_field *field, size_t at, char *item,
					struct ss_field_history *column)
{
	struct ss_fields_reader *reader = reading->reader;
	size_t bytes = ss_type_bytes[field->type];
	char *to = item + field->offset + at * bytes;
	struct value_bounds bounds;
	uint64_t value;

	if (field->type == SS_FIELD_TEXT || field->type == SS_FIELD_WORD)
		return fields_read_text(reading, field, to);
	if (ss_value_is_fixed(field->type)) {
		if (fields_bytes_left(reading) < bytes ||
		    !float_is_valid((const char *)reader->at, field->type))
			return fields_fail(reading, field->name);
		memcpy(to, reader->at, bytes);
		reader->at += bytes;
		return SS_OK;
	}
	if (!fields_read_number(reader, &value))
		return fields_fail(reading, field->name);
	value = (value >> 1) ^ (value & 1 ? UINT64_MAX : 0);
	value += ss_value_seen(field, item, column);
	bounds = bounds_of(reading, field);
	if (!bounds_include(&bounds, value))
		return fields_fail(reading, field->name);
	ss_value_store(to, field->type, value);
	ss_value_note(field, item, value, column);
	return SS_OK;
}

/* False: no memory. */
static bool fields_keep_strings(const struct ss_fields_reader *reader, struct ss_strings *texts)
{
	bool is_kept;

	if (!reader->pool)
		return ss_strings_fit(texts);
	ss_gate_lock(reader->gate);
	is_kept = ss_strings_share(texts, reader->pool);
	ss_gate_unlock(reader->gate);
	return is_kept;
}

static enum ss_status fields_read_strings(struct fields_reading *reading, struct ss_strings *texts)
{
	struct ss_fields_reader *reader = reading->reader;
	struct ss_fields_reader bytes = *reader;
	uint64_t count, length;

	if (!ss_strings_init(texts, reader->memory))
		return ss_fail_memory(reading->err, "a digest");
	if (!fields_read_number(reader, &count) || !count || count > fields_bytes_left(reading) + 1)
		return fields_fail(reading, "texts");
	bytes.at = reader->at;
	for (uint64_t i = 1; i < count; i++)
		if (!fields_read_number(&bytes, &length))
			return fields_fail(reading, "texts");
	for (uint64_t i = 1; i < count; i++) {
		uint32_t id;

		if (!fields_read_number(reader, &length) ||
		    length > (size_t)(bytes.end - bytes.at) ||
		    !is_printable((const char *)bytes.at, (size_t)length, false))
			return fields_fail(reading, "texts");
		id = ss_strings_add(texts, (const char *)bytes.at, (size_t)length);
		if (id == SS_NO_ID)
			return ss_fail_memory(reading->err, "a digest");
		if (id != i) /* two of them are the same */
			return fields_fail(reading, "texts");
		bytes.at += length;
	}
	reader->at = bytes.at;
	return fields_keep_strings(reader, texts) ? SS_OK
						  : ss_fail_memory(reading->err, "a digest");
}

/* Allocates the items, and notes the capacity that their release needs. */
static enum ss_status list_allocate_items(struct fields_reading *reading,
					  const struct ss_field_list *list, uint32_t count,
					  char **out)
{
	size_t bytes = ((size_t)count + list->spare) * list->item_bytes;
	uint32_t room = count + list->spare;

	if (list->is_inside) {
		*out = reading->to + list->items;
		return SS_OK;
	}
	*out = bytes ? ss_memory_resize(reading->reader->memory, NULL, 0, bytes) : NULL;
	if (bytes && !*out)
		return ss_fail_memory(reading->err, "a digest");
	if (*out)
		memset(*out, 0, bytes);
	memcpy(reading->to + list->items, out, sizeof(*out));
	if (!list->exact)
		memcpy(reading->to + list->count, &count, sizeof(count));
	if (list->capacity)
		memcpy(reading->to + list->capacity, &room, sizeof(room));
	return SS_OK;
}

/* A number of a column, as the difference from the one that it is expected to be like. */
static inline bool fields_read_next(struct ss_fields_reader *reader, uint64_t *value)
{
	if (reader->at < reader->end && *reader->at < 0x80)
		*value = *reader->at++;
	else if (!fields_read_number(reader, value))
		return false;
	*value = (*value >> 1) ^ (0 - (*value & 1));
	return true;
}

/* A column of numbers of `bytes` bytes that depend on nothing but earlier ones of their column. */
static inline enum ss_status fields_read_numbers(struct fields_reading *reading,
						 const struct ss_field_column *place, size_t bytes,
						 struct ss_field_history *column)
{
	const struct ss_field *field = place->field;
	struct ss_fields_reader reader = *reading->reader;
	struct value_bounds bounds = bounds_of(reading, field);
	char *item = place->items;
	size_t offset = field->offset + place->at * bytes;
	uint64_t keeps = field->from == SS_FROM_NOTHING ? 0 : UINT64_MAX, seen = 0, value;

	if (field->from == SS_FROM_ALIKE) {
		for (uint32_t i = 0; i < place->count; i++, item += place->item_bytes) {
			uint64_t *alike = &column->alike[(unsigned char)item[field->base]];

			if (!fields_read_next(&reader, &value) ||
			    !bounds_include(&bounds, value += *alike))
				return fields_fail(reading, field->name);
			memcpy(item + offset, &value, bytes);
			*alike = value;
		}
	} else {
		for (uint32_t i = 0; i < place->count; i++, item += place->item_bytes) {
			if (!fields_read_next(&reader, &value) ||
			    !bounds_include(&bounds, value += seen))
				return fields_fail(reading, field->name);
			memcpy(item + offset, &value, bytes);
			seen = value & keeps;
		}
	}
	reading->reader->at = reader.at;
	return SS_OK;
}

static bool field_is_alone(const struct ss_field *field)
{
	return field->type <= SS_FIELD_I64 && field->from != SS_FROM_ITEM &&
	       (field->from != SS_FROM_BEFORE || field->base == field->offset) && field->count == 1;
}

/* Plain numbers have loops of their own, one per width: they are most of a digest. */
static enum ss_status fields_read_column(struct fields_reading *reading,
					 const struct ss_field_column *place)
{
	struct ss_field_history column = { 0 };

	if (field_is_alone(place->field))
		switch (ss_type_bytes[place->field->type]) {
		case sizeof(uint8_t):
			return fields_read_numbers(reading, place, sizeof(uint8_t), &column);
		case sizeof(uint16_t):
			return fields_read_numbers(reading, place, sizeof(uint16_t), &column);
		case sizeof(uint32_t):
			return fields_read_numbers(reading, place, sizeof(uint32_t), &column);
		default:
			return fields_read_numbers(reading, place, sizeof(int64_t), &column);
		}
	for (uint32_t i = 0; i < place->count; i++) {
		char *item = ss_column_item(place, i);

		SS_TRY(fields_read_value(reading, place->field, place->at, item, &column));
		column.before = item;
	}
	return SS_OK;
}

static enum ss_status fields_read_list(struct fields_reading *reading,
				       const struct ss_field_list *list)
{
	uint64_t count;
	char *items;

	/* each item has a byte in each column at least */
	if (!fields_read_number(reading->reader, &count) ||
	    count > fields_bytes_left(reading) / list->field_count || count > UINT32_MAX / 2 ||
	    (list->exact && count != list->exact))
		return fields_fail(reading, list->name);
	SS_TRY(list_allocate_items(reading, list, (uint32_t)count, &items));
	for (size_t i = 0; i < list->field_count; i++)
		for (size_t at = 0; at < list->fields[i].count && count; at++) {
			struct ss_field_column place = { &list->fields[i], at, items,
							 list->item_bytes, (uint32_t)count };

			SS_TRY(fields_read_column(reading, &place));
		}
	return SS_OK;
}

static enum ss_status fields_read_all(struct fields_reading *reading)
{
	const struct ss_field_layout *layout = reading->layout;
	struct ss_field_history none = { 0 };

	for (size_t i = 0; i < layout->text_count; i++)
		SS_TRY(fields_read_strings(reading,
					   (struct ss_strings *)(reading->to + layout->texts[i])));
	for (size_t i = 0; i < layout->field_count; i++)
		for (size_t at = 0; at < layout->fields[i].count; at++)
			SS_TRY(fields_read_value(reading, &layout->fields[i], at, reading->to,
						 &none));
	for (size_t i = 0; i < layout->list_count; i++)
		SS_TRY(fields_read_list(reading, &layout->lists[i]));
	return SS_OK;
}

enum ss_status ss_fields_read(struct ss_fields_reader *reader, const struct ss_field_layout *layout,
			      void *to, struct ss_error *err)
{
	struct fields_reading reading = {
		.reader = reader, .layout = layout, .to = to, .err = err
	};

	SS_TRY(fields_read_all(&reading));
	return reader->at == reader->end ? SS_OK : fields_fail(&reading, "length");
}
