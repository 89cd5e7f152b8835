/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.c - open addressing over ids, at most two thirds full.
 */
#include "base/intern.h"

#include <string.h>

#include "base/hash/hash.h"

#define SLOTS_FIRST 256u

static uint32_t hash_high_half(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* Returns a table of twice the slots, cleared, in place of the old one. */
static bool slots_grow(struct ss_memory *memory, uint32_t **slots, uint32_t *slot_count)
{
	uint32_t wanted = *slot_count ? *slot_count * 2 : SLOTS_FIRST;
	uint32_t *fresh;

	if (wanted < *slot_count)
		return false;
	if (!SS_MEMORY_NEW(memory, fresh, wanted))
		return false;
	memset(fresh, 0, (size_t)wanted * sizeof(*fresh));
	ss_memory_free(memory, *slots, (size_t)*slot_count * sizeof(**slots));
	*slots = fresh;
	*slot_count = wanted;
	return true;
}

static bool slots_are_full(uint32_t count, uint32_t slot_count)
{
	return (uint64_t)count * 3 >= (uint64_t)slot_count * 2;
}

static void slots_put(uint32_t *slots, uint32_t slot_count, uint32_t hash, uint32_t id)
{
	uint32_t slot = hash & (slot_count - 1);

	while (slots[slot])
		slot = (slot + 1) & (slot_count - 1);
	slots[slot] = id + 1;
}

bool ss_strings_init(struct ss_strings *strings, struct ss_memory *memory)
{
	*strings = (struct ss_strings){ 0 };
	ss_arena_init(&strings->arena, memory);
	if (slots_grow(memory, &strings->slots, &strings->slot_count) &&
	    ss_strings_add(strings, "", 0) != SS_NO_ID)
		return true;
	ss_strings_release(strings);
	return false;
}

void ss_strings_release(struct ss_strings *strings)
{
	struct ss_memory *memory = strings->arena.memory;

	if (!memory)
		return;
	ss_memory_free(memory, strings->slots, (size_t)strings->slot_count * sizeof(uint32_t));
	ss_memory_free(memory, strings->items,
		       (size_t)strings->capacity * sizeof(struct ss_string));
	ss_arena_release(&strings->arena);
	*strings = (struct ss_strings){ 0 };
}

static uint32_t strings_find(const struct ss_strings *strings, const char *text, size_t length,
			     uint32_t hash)
{
	uint32_t mask = strings->slot_count - 1;

	for (uint32_t slot = hash & mask; strings->slots[slot]; slot = (slot + 1) & mask) {
		const struct ss_string *item = &strings->items[strings->slots[slot] - 1];

		if (item->hash == hash && item->length == length &&
		    memcmp(item->text, text, length) == 0)
			return strings->slots[slot] - 1;
	}
	return SS_NO_ID;
}

uint32_t ss_strings_find(const struct ss_strings *strings, const char *text, size_t length)
{
	return strings_find(strings, text, length, hash_high_half(ss_hash_bytes(text, length)));
}

static bool strings_grow(struct ss_strings *strings)
{
	if (!SS_GROW(strings->arena.memory, strings->items, strings->capacity, strings->count))
		return false;
	if (!slots_are_full(strings->count, strings->slot_count))
		return true;
	if (!slots_grow(strings->arena.memory, &strings->slots, &strings->slot_count))
		return false;
	for (uint32_t id = 0; id < strings->count; id++)
		slots_put(strings->slots, strings->slot_count, strings->items[id].hash, id);
	return true;
}

uint32_t ss_strings_add(struct ss_strings *strings, const char *text, size_t length)
{
	uint32_t hash = hash_high_half(ss_hash_bytes(text, length));
	uint32_t id = strings_find(strings, text, length, hash);
	char *copy;

	if (id != SS_NO_ID)
		return id;
	if (length >= UINT32_MAX || !strings_grow(strings))
		return SS_NO_ID;
	copy = strings->is_fitted ? ss_arena_alloc_alone(&strings->arena, length + 1)
				  : ss_arena_alloc(&strings->arena, length + 1, 1);
	if (!copy)
		return SS_NO_ID;
	memcpy(copy, text, length);
	id = strings->count++;
	strings->items[id] = (struct ss_string){ copy, (uint32_t)length, hash };
	slots_put(strings->slots, strings->slot_count, hash, id);
	return id;
}

/* What is left takes the room that it needs, and `fresh` has the texts. */
static void strings_shrink(struct ss_strings *strings, struct ss_arena fresh)
{
	uint32_t wanted = strings->slot_count;

	while (wanted > 1 && !slots_are_full(strings->count + 1, wanted / 2))
		wanted /= 2;
	ss_memory_fit(fresh.memory, (void **)&strings->items, &strings->capacity, strings->count,
		      sizeof(*strings->items));
	ss_memory_fit(fresh.memory, (void **)&strings->slots, &strings->slot_count, wanted,
		      sizeof(*strings->slots));
	memset(strings->slots, 0, (size_t)strings->slot_count * sizeof(*strings->slots));
	for (uint32_t id = 0; id < strings->count; id++)
		slots_put(strings->slots, strings->slot_count, strings->items[id].hash, id);
	ss_arena_release(&strings->arena);
	strings->arena = fresh;
	strings->is_fitted = true;
}

bool ss_strings_fit(struct ss_strings *strings)
{
	struct ss_arena fresh;
	size_t bytes = 0;
	char *copy;

	ss_arena_init(&fresh, strings->arena.memory);
	for (uint32_t id = 0; id < strings->count; id++)
		bytes += (size_t)strings->items[id].length + 1;
	copy = ss_arena_alloc_alone(&fresh, bytes);
	if (!copy)
		return false;
	for (uint32_t id = 0; id < strings->count; id++) {
		struct ss_string *item = &strings->items[id];

		memcpy(copy, item->text, (size_t)item->length + 1);
		item->text = copy;
		copy += (size_t)item->length + 1;
	}
	strings_shrink(strings, fresh);
	return true;
}

bool ss_strings_share(struct ss_strings *strings, struct ss_strings *pool)
{
	struct ss_arena none;

	/* first all are there, then they are taken */
	for (uint32_t id = 0; id < strings->count; id++)
		if (ss_strings_add(pool, strings->items[id].text, strings->items[id].length) ==
		    SS_NO_ID)
			return false;
	for (uint32_t id = 0; id < strings->count; id++) {
		struct ss_string *item = &strings->items[id];

		item->text = ss_strings_text(pool, strings_find(pool, item->text, item->length,
								item->hash));
	}
	ss_arena_init(&none, strings->arena.memory);
	strings_shrink(strings, none);
	return true;
}

bool ss_records_init(struct ss_records *records, struct ss_memory *memory, size_t record_bytes)
{
	*records = (struct ss_records){ .memory = memory, .record_bytes = record_bytes };
	return slots_grow(memory, &records->slots, &records->slot_count);
}

void ss_records_release(struct ss_records *records)
{
	if (!records->memory)
		return;
	ss_memory_free(records->memory, records->slots,
		       (size_t)records->slot_count * sizeof(uint32_t));
	ss_memory_free(records->memory, records->items,
		       (size_t)records->capacity * records->record_bytes);
	*records = (struct ss_records){ 0 };
}

static uint32_t record_hash(const struct ss_records *records, const void *record)
{
	return hash_high_half(ss_hash_bytes(record, records->record_bytes));
}

static bool records_grow(struct ss_records *records)
{
	if (!ss_memory_reserve(records->memory, (void **)&records->items, &records->capacity,
			       (size_t)records->count + 1, records->record_bytes))
		return false;
	if (!slots_are_full(records->count, records->slot_count))
		return true;
	if (!slots_grow(records->memory, &records->slots, &records->slot_count))
		return false;
	for (uint32_t id = 0; id < records->count; id++)
		slots_put(records->slots, records->slot_count,
			  record_hash(records, ss_records_at(records, id)), id);
	return true;
}

/* Records are a few words: a call of memcmp costs more than the comparison. */
static bool record_equals(const char *a, const char *b, size_t bytes)
{
	for (; bytes >= 8; a += 8, b += 8, bytes -= 8)
		if (ss_hash_word(a) != ss_hash_word(b))
			return false;
	return !bytes || memcmp(a, b, bytes) == 0;
}

static uint32_t records_find(const struct ss_records *records, const void *record, uint32_t hash)
{
	uint32_t mask = records->slot_count - 1;

	for (uint32_t slot = hash & mask; records->slots[slot]; slot = (slot + 1) & mask)
		if (record_equals(ss_records_at(records, records->slots[slot] - 1), record,
				  records->record_bytes))
			return records->slots[slot] - 1;
	return SS_NO_ID;
}

uint32_t ss_records_find(const struct ss_records *records, const void *record)
{
	return records_find(records, record, record_hash(records, record));
}

uint32_t ss_records_add(struct ss_records *records, const void *record)
{
	uint32_t hash = record_hash(records, record);
	uint32_t id = records_find(records, record, hash);

	if (id != SS_NO_ID)
		return id;
	if (!records_grow(records))
		return SS_NO_ID;
	id = records->count++;
	memcpy(records->items + (size_t)id * records->record_bytes, record, records->record_bytes);
	slots_put(records->slots, records->slot_count, hash, id);
	return id;
}
