/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - structs as bytes, by a declaration that writer and reader share.
 *
 * A layout lists the fields of a struct, its texts and its lists of items; the order of the list
 * is that of the bytes. Items lie column by column, each value as the difference from what the
 * declaration expects, in as few bytes as it needs: equal and regular columns become runs of the
 * same byte, which a compressor removes.
 *
 * Bytes can come from anyone. The reader checks what the declaration says: ranges, numbers of
 * other items, finite numbers, printable texts, and that there are as many bytes as items.
 */
#ifndef SS_TRACE_DIGEST_FIELDS_H
#define SS_TRACE_DIGEST_FIELDS_H

#include "base/intern.h"

enum ss_field_type {
	SS_FIELD_BOOL,
	SS_FIELD_U8,
	SS_FIELD_U16,
	SS_FIELD_U32, /* enums, too */
	SS_FIELD_I64,
	SS_FIELD_U64,  /* a hash: all of its bytes count */
	SS_FIELD_F32,  /* finite */
	SS_FIELD_F64,  /* finite */
	SS_FIELD_TEXT, /* char *, of the account; NULL and empty are the same */
	SS_FIELD_WORD, /* const char *, stored with the first texts of the layout; NULL: none */
};

/* What a value is written as the difference from. */
enum ss_field_from {
	SS_FROM_NOTHING,
	/* columns are read one by one: both are this field, or declared before it */
	SS_FROM_BEFORE, /* `base` of the item before */
	SS_FROM_ITEM,   /* `base` of this item */
	SS_FROM_ALIKE,  /* itself of the last item with the same `base`, an SS_FIELD_U8 */
};

/* What an SS_FIELD_I64 can be. */
enum ss_field_range {
	SS_RANGE_ANY,
	SS_RANGE_SPAN,   /* from 0 to 2^60: sums of several fit */
	SS_RANGE_KNOWN,  /* the same, or -1: not known */
	SS_RANGE_MOMENT, /* within half of what fits */
	SS_RANGE_MAYBE,  /* the same, or INT64_MIN: none */
	SS_RANGE_SHORT,  /* within 2^60 */
};

/* The first and the last value of a range; SS_RANGE_MAYBE has INT64_MIN besides. */
struct ss_field_range_ends {
	int64_t first, last;
};
struct ss_field_range_ends ss_field_range_ends(enum ss_field_range range);

struct ss_field {
	const char *name;
	size_t offset;
	uint32_t count; /* of an array; 1 */
	enum ss_field_type type;
	enum ss_field_from from;
	size_t base; /* offset of an SS_FIELD_I64, or of the field itself */
	enum ss_field_range range;
	uint64_t limit; /* of unsigned types: below it; 0: none */
	size_t below;   /* of unsigned types: below this uint32_t of the struct; 0: none */
	bool or_none;   /* or the largest of its type */
};

struct ss_field_list {
	const char *name;
	size_t items, count, capacity; /* where the struct has them; capacity 0: as many as items */
	size_t item_bytes;
	uint32_t spare; /* cleared items after the last one */
	uint32_t exact; /* number of items; 0: any */
	bool is_inside; /* the struct has the items themselves, and not their address */
	const struct ss_field *fields;
	size_t field_count;
};

struct ss_gate; /* base/system/thread.h */

struct ss_field_layout {
	const struct ss_field *fields;
	size_t field_count;
	const size_t *texts; /* offsets of struct ss_strings; before the lists */
	size_t text_count;
	const struct ss_field_list *lists;
	size_t list_count;
};

/* A field: its type, and what else there is to say. */
#define SS_FIELD(owner, member, ...)                                            \
	{                                                                       \
		.name = #member, .offset = offsetof(owner, member), .count = 1, \
		.type = __VA_ARGS__                                             \
	}
#define SS_FIELD_ARRAY(owner, member, number, ...)                                     \
	{                                                                              \
		.name = #member, .offset = offsetof(owner, member), .count = (number), \
		.type = __VA_ARGS__                                                    \
	}
#define SS_BEFORE(owner, member) .from = SS_FROM_BEFORE, .base = offsetof(owner, member)
#define SS_ALIKE(owner, member) .from = SS_FROM_ALIKE, .base = offsetof(owner, member)
#define SS_ITEM(owner, member) .from = SS_FROM_ITEM, .base = offsetof(owner, member)

/* A hash that changes with any part of the declaration. */
uint64_t ss_fields_hash(uint64_t hash, const struct ss_field_layout *layout);

/* Adds the bytes of a struct; the text tells if memory ran out. */
void ss_fields_write(const struct ss_field_layout *layout, const void *from, struct ss_text *out);

struct ss_fields_reader {
	const unsigned char *at, *end;
	struct ss_memory *memory;
	/* where texts and words are kept for all that are read; NULL: each has its own */
	struct ss_strings *pool;
	struct ss_gate *gate; /* of the pool */
};

/*
 * Fills a cleared struct. Release its contents even after a failure; SS_ERR_FORMAT names the wrong
 * field.
 */
SS_MUST_USE
enum ss_status ss_fields_read(struct ss_fields_reader *reader, const struct ss_field_layout *layout,
			      void *to, struct ss_error *err);

#endif
