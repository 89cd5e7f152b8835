/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.c - writes and reads structs by their declaration.
 *
 * Both sides walk the same lists. A value is predicted from values that were read before it, so
 * writer and reader predict the same; arithmetic wraps around, so every value can be written.
 */
#include "trace/digest/fields.h"

#include <math.h>
#include <string.h>

#include "base/hash/hash.h"
#include "base/text.h"
#include "base/utf8.h"

/* Doubles beyond this are no counts and no times, and would not fit integers. */
#define NUMBER_MAX 9e18

static const size_t type_bytes[] = {
	[SS_FIELD_BOOL] = sizeof(bool),
	[SS_FIELD_U8] = 1,
	[SS_FIELD_U16] = 2,
	[SS_FIELD_U32] = 4,
	[SS_FIELD_I64] = 8,
	[SS_FIELD_U64] = 8,
	[SS_FIELD_F32] = 4,
	[SS_FIELD_F64] = 8,
	[SS_FIELD_TEXT] = sizeof(char *),
	[SS_FIELD_WORD] = sizeof(char *),
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return ss_hash_mix(hash, ss_hash_bytes(text, strlen(text)));
}

static uint64_t hash_fields(uint64_t hash, const struct ss_field *fields, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		hash = hash_text(hash, fields[i].name);
		hash = ss_hash_mix(hash, fields[i].count);
		hash = ss_hash_mix(hash, fields[i].type);
		hash = ss_hash_mix(hash, fields[i].from);
		hash = ss_hash_mix(hash, fields[i].limit);
	}
	return hash;
}

uint64_t ss_fields_hash(uint64_t hash, const struct ss_fields *layout)
{
	hash = hash_fields(hash, layout->fields, layout->field_count);
	hash = ss_hash_mix(hash, layout->text_count);
	for (size_t i = 0; i < layout->list_count; i++) {
		hash = hash_text(hash, layout->lists[i].name);
		hash = ss_hash_mix(hash, layout->lists[i].exact);
		hash = hash_fields(hash, layout->lists[i].fields, layout->lists[i].field_count);
	}
	return hash;
}

/* --- values -------------------------------------------------------------------------- */

static uint64_t load(const char *at, enum ss_field_type type)
{
	uint64_t value = 0;

	/* the bytes of smaller types are the lower ones: see SS_PACK_FITS */
	memcpy(&value, at, type_bytes[type]);
	return value;
}

static void store(char *at, enum ss_field_type type, uint64_t value)
{
	memcpy(at, &value, type_bytes[type]);
}

/* What is known of the items before while a column is written or read. */
struct column {
	const char *before; /* NULL: there is none */
	uint64_t alike[256];
};

/* What a field of an item is expected to be. */
static uint64_t expected(const struct ss_field *field, const char *item,
			 const struct column *column)
{
	const char *from = field->from == SS_FROM_ITEM ? item : column->before;
	enum ss_field_type type = field->base == field->offset ? field->type : SS_FIELD_I64;
	uint64_t value;

	if (field->from == SS_FROM_ALIKE)
		return column->alike[(unsigned char)item[field->base]];
	if (field->from == SS_FROM_NOTHING || !from)
		return 0;
	value = load(from + field->base, type);
	return field->more ? value + load(from + field->more, SS_FIELD_I64) : value;
}

static void note(const struct ss_field *field, const char *item, uint64_t value,
		 struct column *column)
{
	if (field->from == SS_FROM_ALIKE)
		column->alike[(unsigned char)item[field->base]] = value;
}

static bool is_fixed(enum ss_field_type type)
{
	return type == SS_FIELD_U64 || type == SS_FIELD_F32 || type == SS_FIELD_F64;
}

/* --- writing ------------------------------------------------------------------------- */

static void put_number(struct ss_text *out, uint64_t value)
{
	char bytes[10];
	size_t length = 0;

	do {
		bytes[length++] = (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
	ss_text_add(out, bytes, length);
}

/* Small numbers of both signs become small numbers. */
static void put_signed(struct ss_text *out, uint64_t value)
{
	put_number(out, (value << 1) ^ (value >> 63 ? UINT64_MAX : 0));
}

static void put_text(struct ss_text *out, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	put_number(out, length);
	ss_text_add(out, text, length);
}

static void put_value(const struct ss_field *field, size_t at, const char *item,
		      struct column *column, struct ss_text *out)
{
	const char *from = item + field->offset + at * type_bytes[field->type];

	if (field->type == SS_FIELD_TEXT || field->type == SS_FIELD_WORD) {
		const char *text;

		memcpy(&text, from, sizeof(text));
		put_text(out, text);
	} else if (is_fixed(field->type)) {
		ss_text_add(out, from, type_bytes[field->type]);
	} else {
		put_signed(out, load(from, field->type) - expected(field, item, column));
		note(field, item, load(from, field->type), column);
	}
}

static void put_texts(const struct ss_strings *texts, struct ss_text *out)
{
	put_number(out, texts->count);
	for (uint32_t i = 1; i < texts->count; i++)
		put_number(out, texts->items[i].length);
	for (uint32_t i = 1; i < texts->count; i++)
		ss_text_add(out, texts->items[i].text, texts->items[i].length);
}

static void put_list(const struct ss_field_list *list, const char *from, struct ss_text *out)
{
	const char *items = from + list->items;
	uint32_t count = list->exact;

	if (!list->is_inside)
		memcpy(&items, from + list->items, sizeof(items));
	if (!list->exact)
		memcpy(&count, from + list->count, sizeof(count));
	put_number(out, count);
	for (size_t i = 0; i < list->field_count; i++)
		for (size_t at = 0; at < list->fields[i].count; at++) {
			struct column column = { 0 };

			for (size_t k = 0; k < count; k++) {
				const char *item = items + k * list->item_bytes;

				put_value(&list->fields[i], at, item, &column, out);
				column.before = item;
			}
		}
}

void ss_fields_write(const struct ss_fields *layout, const void *from, struct ss_text *out)
{
	struct column none = { 0 };

	for (size_t i = 0; i < layout->text_count; i++)
		put_texts((const struct ss_strings *)((const char *)from + layout->texts[i]), out);
	for (size_t i = 0; i < layout->field_count; i++)
		for (size_t at = 0; at < layout->fields[i].count; at++)
			put_value(&layout->fields[i], at, from, &none, out);
	for (size_t i = 0; i < layout->list_count; i++)
		put_list(&layout->lists[i], from, out);
}

/* --- reading ------------------------------------------------------------------------- */

/* What the values of one call share. */
struct reading {
	struct ss_fields_reader *reader;
	const struct ss_fields *layout;
	char *to;
	struct ss_error *err;
};

static enum ss_status wrong(const struct reading *reading, const char *name)
{
	return ss_fail(reading->err, SS_ERR_FORMAT, "'%s' is wrong", name);
}

static size_t left(const struct reading *reading)
{
	return (size_t)(reading->reader->end - reading->reader->at);
}

static bool read_number(struct ss_fields_reader *reader, uint64_t *out)
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

static enum ss_status read_text(struct reading *reading, const struct ss_field *field, char *to)
{
	struct ss_fields_reader *reader = reading->reader;
	uint64_t length;
	char *text = NULL;

	if (!read_number(reader, &length) || length > left(reading) ||
	    !is_printable((const char *)reader->at, (size_t)length, field->type == SS_FIELD_WORD))
		return wrong(reading, field->name);
	if (length && field->type == SS_FIELD_TEXT) {
		text = ss_memory_resize(reader->memory, NULL, 0, (size_t)length + 1);
		if (!text)
			return ss_fail_memory(reading->err, "a digest");
		memcpy(text, reader->at, (size_t)length);
		text[length] = '\0';
	} else if (length) {
		struct ss_strings *words = (struct ss_strings *)(reading->to +
								 reading->layout->texts[0]);
		uint32_t id;

		id = ss_strings_add(words, (const char *)reader->at, (size_t)length);
		if (id == SS_NO_ID)
			return ss_fail_memory(reading->err, "a digest");
		text = (char *)(uintptr_t)ss_strings_text(words, id);
	}
	reader->at += length;
	memcpy(to, &text, sizeof(text));
	return SS_OK;
}

static bool is_in_range(enum ss_field_range range, int64_t value)
{
	switch (range) {
	case SS_RANGE_SPAN:
		return value >= 0 && value <= INT64_C(1) << 60;
	case SS_RANGE_KNOWN:
		return value >= -1 && value <= INT64_C(1) << 60;
	case SS_RANGE_MAYBE:
		return value == INT64_MIN || is_in_range(SS_RANGE_MOMENT, value);
	case SS_RANGE_MOMENT:
		return value >= -(INT64_MAX / 2) && value <= INT64_MAX / 2;
	case SS_RANGE_SHORT:
		return value >= -(INT64_C(1) << 60) && value <= INT64_C(1) << 60;
	default:
		return true;
	}
}

static bool fits(const struct reading *reading, const struct ss_field *field, uint64_t value)
{
	uint64_t most = UINT64_MAX >> (64 - 8 * type_bytes[field->type]);
	uint32_t below;

	if (field->type == SS_FIELD_I64)
		return is_in_range(field->range, (int64_t)value);
	if (field->or_none && value == most)
		return true;
	if (field->below) {
		memcpy(&below, reading->to + field->below, sizeof(below));
		if (value >= below)
			return false;
	}
	return value <= (field->type == SS_FIELD_BOOL ? 1 : most) &&
	       (!field->limit || value < field->limit);
}

static bool is_number(const char *at, enum ss_field_type type)
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

static enum ss_status read_value(struct reading *reading, const struct ss_field *field, size_t at,
				 char *item, struct column *column)
{
	struct ss_fields_reader *reader = reading->reader;
	size_t bytes = type_bytes[field->type];
	char *to = item + field->offset + at * bytes;
	uint64_t value;

	if (field->type == SS_FIELD_TEXT || field->type == SS_FIELD_WORD)
		return read_text(reading, field, to);
	if (is_fixed(field->type)) {
		if (left(reading) < bytes || !is_number((const char *)reader->at, field->type))
			return wrong(reading, field->name);
		memcpy(to, reader->at, bytes);
		reader->at += bytes;
		return SS_OK;
	}
	if (!read_number(reader, &value))
		return wrong(reading, field->name);
	value = (value >> 1) ^ (value & 1 ? UINT64_MAX : 0);
	value += expected(field, item, column);
	if (!fits(reading, field, value))
		return wrong(reading, field->name);
	store(to, field->type, value);
	note(field, item, value, column);
	return SS_OK;
}

static enum ss_status read_texts(struct reading *reading, struct ss_strings *texts)
{
	struct ss_fields_reader *reader = reading->reader;
	struct ss_fields_reader bytes = *reader;
	uint64_t count, length;

	if (!ss_strings_init(texts, reader->memory))
		return ss_fail_memory(reading->err, "a digest");
	if (!read_number(reader, &count) || !count || count > left(reading) + 1)
		return wrong(reading, "texts");
	bytes.at = reader->at;
	for (uint64_t i = 1; i < count; i++)
		if (!read_number(&bytes, &length))
			return wrong(reading, "texts");
	for (uint64_t i = 1; i < count; i++) {
		uint32_t id;

		if (!read_number(reader, &length) || length > (size_t)(bytes.end - bytes.at) ||
		    !is_printable((const char *)bytes.at, (size_t)length, false))
			return wrong(reading, "texts");
		id = ss_strings_add(texts, (const char *)bytes.at, (size_t)length);
		if (id == SS_NO_ID)
			return ss_fail_memory(reading->err, "a digest");
		if (id != i) /* two of them are the same */
			return wrong(reading, "texts");
		bytes.at += length;
	}
	reader->at = bytes.at;
	return ss_strings_fit(texts) ? SS_OK : ss_fail_memory(reading->err, "a digest");
}

/* Room for the items, with the numbers that its release needs. */
static enum ss_status make_room(struct reading *reading, const struct ss_field_list *list,
				uint32_t count, char **out)
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

static enum ss_status read_list(struct reading *reading, const struct ss_field_list *list)
{
	uint64_t count;
	char *items;

	/* each item has a byte in each column at least */
	if (!read_number(reading->reader, &count) || count > left(reading) / list->field_count ||
	    count > UINT32_MAX / 2 || (list->exact && count != list->exact))
		return wrong(reading, list->name);
	SS_TRY(make_room(reading, list, (uint32_t)count, &items));
	for (size_t i = 0; i < list->field_count; i++)
		for (size_t at = 0; at < list->fields[i].count; at++) {
			struct column column = { 0 };

			for (size_t k = 0; k < count; k++) {
				char *item = items + k * list->item_bytes;

				SS_TRY(read_value(reading, &list->fields[i], at, item, &column));
				column.before = item;
			}
		}
	return SS_OK;
}

enum ss_status ss_fields_read(struct ss_fields_reader *reader, const struct ss_fields *layout,
			      void *to, struct ss_error *err)
{
	struct reading reading = { reader, layout, to, err };
	struct column none = { 0 };

	for (size_t i = 0; i < layout->text_count; i++)
		SS_TRY(read_texts(&reading, (struct ss_strings *)((char *)to + layout->texts[i])));
	for (size_t i = 0; i < layout->field_count; i++)
		for (size_t at = 0; at < layout->fields[i].count; at++)
			SS_TRY(read_value(&reading, &layout->fields[i], at, to, &none));
	for (size_t i = 0; i < layout->list_count; i++)
		SS_TRY(read_list(&reading, &layout->lists[i]));
	return SS_OK;
}
