/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - what writer and reader of fields share: values, what they are expected to be, columns.
 */
#ifndef SS_TRACE_DIGEST_COLUMN_H
#define SS_TRACE_DIGEST_COLUMN_H

#include <string.h>

#include "trace/digest/fields.h"
#include "base/memory.h"

static const size_t ss_type_bytes[] = {
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

/* Copies of constant length, so that none of millions is a call of memcpy(). */
static inline void ss_value_copy(void *to, const void *from, size_t bytes)
{
	switch (bytes) {
	case sizeof(uint8_t):
		memcpy(to, from, sizeof(uint8_t));
		return;
	case sizeof(uint16_t):
		memcpy(to, from, sizeof(uint16_t));
		return;
	case sizeof(uint32_t):
		memcpy(to, from, sizeof(uint32_t));
		return;
	default:
		memcpy(to, from, sizeof(uint64_t));
	}
}

static inline uint64_t ss_value_load(const char *at, enum ss_field_type type)
{
	uint64_t value = 0;

	/* the bytes of smaller types are the lower ones: see SS_PACK_FITS */
	ss_value_copy(&value, at, ss_type_bytes[type]);
	return value;
}

static inline void ss_value_store(char *at, enum ss_field_type type, uint64_t value)
{
	ss_value_copy(at, &value, ss_type_bytes[type]);
}

/* What is known of the items before while a column is written or read. */
struct ss_field_history {
	const char *before; /* NULL: there is none */
	uint64_t alike[256];
};

/* What a field of an item is expected to be. */
static inline uint64_t ss_value_seen(const struct ss_field *field, const char *item,
				     const struct ss_field_history *seen)
{
	const char *from = field->from == SS_FROM_ITEM ? item : seen->before;
	enum ss_field_type type = field->base == field->offset ? field->type : SS_FIELD_I64;

	if (field->from == SS_FROM_ALIKE)
		return seen->alike[(unsigned char)item[field->base]];
	return field->from == SS_FROM_NOTHING || !from ? 0
						       : ss_value_load(from + field->base, type);
}

static inline void ss_value_note(const struct ss_field *field, const char *item, uint64_t value,
				 struct ss_field_history *seen)
{
	if (field->from == SS_FROM_ALIKE)
		seen->alike[(unsigned char)item[field->base]] = value;
}

static inline bool ss_value_is_fixed(enum ss_field_type type)
{
	return type == SS_FIELD_U64 || type == SS_FIELD_F32 || type == SS_FIELD_F64;
}

/* A column of a list. */
struct ss_field_column {
	const struct ss_field *field;
	size_t at; /* in an array */
	char *items;
	size_t item_bytes;
	uint32_t count;
};

static inline char *ss_column_item(const struct ss_field_column *place, uint32_t index)
{
	return place->items + index * place->item_bytes;
}

#endif
