/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.h - stores equal values once and identifies each by a small number.
 *
 * ss_strings holds texts, ss_records holds structs of one fixed size. Ids count
 * from 0 in the order of first appearance, so the same input gives the same
 * ids. Id 0 of ss_strings is always the empty text. What is stored lives until
 * release; pointers to it stay valid.
 */
#ifndef SS_BASE_INTERN_H
#define SS_BASE_INTERN_H

#include "base/memory.h"

#define SS_NO_ID UINT32_MAX

struct ss_string {
	const char *text; /* NUL-terminated */
	uint32_t length;
	uint32_t hash;
};

struct ss_strings {
	struct ss_arena arena;
	struct ss_string *items;
	uint32_t count, capacity;
	uint32_t *slots; /* id + 1, 0 is free */
	uint32_t slot_count;
	bool is_fitted; /* after ss_strings_fit(): each further text gets a block of its own */
};

SS_MUST_USE bool ss_strings_init(struct ss_strings *strings, struct ss_memory *memory);
void ss_strings_release(struct ss_strings *strings);

/* Returns the id of the text, stored now if it is new; SS_NO_ID at the limit. */
SS_MUST_USE
uint32_t ss_strings_add(struct ss_strings *strings, const char *text, size_t length);

/* Returns the id of the text or SS_NO_ID. */
uint32_t ss_strings_find(const struct ss_strings *strings, const char *text, size_t length);

/*
 * Shrinks the storage to what the texts need, when few more are expected. Pointers to texts become
 * invalid. False: no memory, and nothing changes.
 */
SS_MUST_USE bool ss_strings_fit(struct ss_strings *strings);

/*
 * The same, but the texts are those of the pool, which outlives `strings` and is not fitted: what
 * many have takes memory once.
 */
SS_MUST_USE bool ss_strings_share(struct ss_strings *strings, struct ss_strings *pool);

static inline const char *ss_strings_text(const struct ss_strings *strings, uint32_t id)
{
	assert(id < strings->count);
	return strings->items[id].text;
}

/* Structs without padding (or cleared before they were filled), compared as bytes. */
struct ss_records {
	struct ss_memory *memory;
	size_t record_bytes;
	char *items;
	uint32_t count, capacity;
	uint32_t *slots;
	uint32_t slot_count;
};

SS_MUST_USE
bool ss_records_init(struct ss_records *records, struct ss_memory *memory, size_t record_bytes);
void ss_records_release(struct ss_records *records);

/* Returns the id of the record, stored now if it is new; SS_NO_ID at the limit. */
SS_MUST_USE
uint32_t ss_records_add(struct ss_records *records, const void *record);

/* Returns the id of the record or SS_NO_ID. */
uint32_t ss_records_find(const struct ss_records *records, const void *record);

static inline const void *ss_records_at(const struct ss_records *records, uint32_t id)
{
	assert(id < records->count);
	return records->items + (size_t)id * records->record_bytes;
}

#endif
