/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.c - writes structs by their declaration.
 *
 * Both sides walk the same lists. A value is predicted from values that were read before it, so
 * writer and reader predict the same; arithmetic wraps around, so every value can be written.
 */
#include "trace/digest/fields.h"

#include "base/hash/hash.h"
#include "base/text.h"
#include "trace/digest/column.h"

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

struct ss_field_range_ends ss_field_range_ends(enum ss_field_range range)
{
	const int64_t most = INT64_C(1) << 60, half = INT64_MAX / 2;

	switch (range) {
	case SS_RANGE_SPAN:
		return (struct ss_field_range_ends){ 0, most };
	case SS_RANGE_KNOWN:
		return (struct ss_field_range_ends){ -1, most };
	case SS_RANGE_MAYBE:
	case SS_RANGE_MOMENT:
		return (struct ss_field_range_ends){ -half, half };
	case SS_RANGE_SHORT:
		return (struct ss_field_range_ends){ -most, most };
	default:
		return (struct ss_field_range_ends){ INT64_MIN, INT64_MAX };
	}
}

uint64_t ss_fields_hash(uint64_t hash, const struct ss_field_layout *layout)
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

static void write_number(struct ss_text *out, uint64_t value)
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
static void write_signed(struct ss_text *out, uint64_t value)
{
	write_number(out, (value << 1) ^ (value >> 63 ? UINT64_MAX : 0));
}

static void write_field_text(struct ss_text *out, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	write_number(out, length);
	ss_text_add(out, text, length);
}

static void write_field_value(const struct ss_field *field, size_t at, const char *item,
			      struct ss_field_history *column, struct ss_text *out)
{
	const char *from = item + field->offset + at * ss_type_bytes[field->type];

	if (field->type == SS_FIELD_TEXT || field->type == SS_FIELD_WORD) {
		const char *text;

		memcpy(&text, from, sizeof(text));
		write_field_text(out, text);
	} else if (ss_value_is_fixed(field->type)) {
		ss_text_add(out, from, ss_type_bytes[field->type]);
	} else {
		write_signed(out,
			     ss_value_load(from, field->type) - ss_value_seen(field, item, column));
		ss_value_note(field, item, ss_value_load(from, field->type), column);
	}
}

static void write_strings(const struct ss_strings *texts, struct ss_text *out)
{
	write_number(out, texts->count);
	for (uint32_t i = 1; i < texts->count; i++)
		write_number(out, texts->items[i].length);
	for (uint32_t i = 1; i < texts->count; i++)
		ss_text_add(out, texts->items[i].text, texts->items[i].length);
}

static void write_column(const struct ss_field_column *place, struct ss_text *out)
{
	struct ss_field_history column = { 0 };

	for (uint32_t i = 0; i < place->count; i++) {
		const char *item = ss_column_item(place, i);

		write_field_value(place->field, place->at, item, &column, out);
		column.before = item;
	}
}

static void write_field_list(const struct ss_field_list *list, const char *from,
			     struct ss_text *out)
{
	const char *items = from + list->items;
	uint32_t count = list->exact;

	if (!list->is_inside)
		memcpy(&items, from + list->items, sizeof(items));
	if (!list->exact)
		memcpy(&count, from + list->count, sizeof(count));
	write_number(out, count);
	for (size_t i = 0; i < list->field_count; i++)
		for (size_t at = 0; at < list->fields[i].count && count; at++) {
			struct ss_field_column place = { &list->fields[i], at,
							 (char *)(uintptr_t)items, list->item_bytes,
							 count };

			write_column(&place, out);
		}
}

void ss_fields_write(const struct ss_field_layout *layout, const void *from, struct ss_text *out)
{
	struct ss_field_history none = { 0 };

	for (size_t i = 0; i < layout->text_count; i++)
		write_strings((const struct ss_strings *)((const char *)from + layout->texts[i]),
			      out);
	for (size_t i = 0; i < layout->field_count; i++)
		for (size_t at = 0; at < layout->fields[i].count; at++)
			write_field_value(&layout->fields[i], at, from, &none, out);
	for (size_t i = 0; i < layout->list_count; i++)
		write_field_list(&layout->lists[i], from, out);
}
