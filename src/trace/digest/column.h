/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - what writer and reader of fields share: values, what they are expected to be, columns.
 */
#ifndef SS_TRACE_DIGEST_COLUMN_H
#define SS_TRACE_DIGEST_COLUMN_H

#include <string.h>

#include "base/hash/hash.h"
#include "trace/digest/fields.h"
#include "base/memory.h"
#include "trace/digest/bits.h"

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

/* What a field of an item is expected to be; `before` is the item before, NULL: none. */
static inline uint64_t ss_value_expected(const struct ss_field *field, const char *item,
					 const char *before)
{
	const char *from = field->from == SS_FROM_ITEM ? item : before;
	enum ss_field_type type = field->base == field->offset ? field->type : SS_FIELD_I64;

	return field->from == SS_FROM_NOTHING || !from ? 0
						       : ss_value_load(from + field->base, type);
}

/* The same, also for fields that are predicted from similar items. */
static inline uint64_t ss_value_seen(const struct ss_field *field, const char *item,
				     const struct ss_field_history *seen)
{
	return field->from == SS_FROM_ALIKE ? seen->alike[(unsigned char)item[field->base]]
					    : ss_value_expected(field, item, seen->before);
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

static inline uint64_t ss_item_signature(const struct ss_field *field, const char *item)
{
	uint64_t hash = SS_HASH_SEED;

	for (size_t i = 0; i < field->sign_count; i++)
		hash = ss_hash_mix(hash, ss_value_load(item + field->signs[i].offset,
						       field->signs[i].type));
	return hash;
}

/* What the columns of one part learn from each other. */
struct ss_guessing {
	struct ss_noisy *guess; /* NULL: the layout has none, or there is no memory */
	struct ss_bits bits;
};

static inline bool ss_has_guesses(const struct ss_field_layout *layout)
{
	for (size_t i = 0; i < layout->list_count; i++)
		for (size_t k = 0; k < layout->lists[i].field_count; k++)
			if (layout->lists[i].fields[k].signs)
				return true;
	return false;
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

static inline uint64_t ss_column_next(const struct ss_field_column *place, uint32_t index)
{
	return index + 1 < place->count
		       ? ss_item_signature(place->field, ss_column_item(place, index + 1))
		       : 0;
}

/*
 * noisy.c: numbers that are noisy, but much the same wherever the same things stand around them.
 *
 * A step repeats the one before, and a layer the one before: the duration of a kernel is near that
 * of the last one with the same neighbours. A value is guessed by three surroundings of different
 * length; the one whose guesses were best counts, and the difference is written in as many bits as
 * its size needs. What is left is noise.
 */

struct ss_noisy; /* what was learned: sizes of differences from all columns, values from this one */

struct ss_noisy *ss_noisy_new(struct ss_memory *memory);
void ss_noisy_free(struct ss_noisy *guess);

/* Begins a column of `count` values; `first` is the signature of the first item. */
SS_MUST_USE bool ss_noisy_begin(struct ss_noisy *guess, uint32_t count, uint64_t first);

/* The next value of the column; `next` is the signature of the item after it, 0: none. */
int64_t ss_noisy_value(struct ss_noisy *guess, struct ss_bits *bits, uint64_t next, int64_t value);

#endif
