/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dictionary.c - open addressing over ids, at most two thirds full.
 */
#include "table/dictionary.h"

#include <string.h>

#include "base/hash/hash.h"

#define SLOTS_FIRST 32u
#define TEXTS_FIRST 16u
#define BYTES_FIRST 256u

/* Arrow numbers them with signed 32-bit integers. */
#define TEXTS_MAX ((uint32_t)INT32_MAX)

static bool dictionary_is_text(const struct ss_dictionary *dictionary, uint32_t id,
			       const char *text, size_t length)
{
	return ss_dictionary_length(dictionary, id) == length &&
	       memcmp(ss_dictionary_text(dictionary, id), text, length) == 0;
}

static void dictionary_put_slot(struct ss_dictionary *dictionary, struct ss_dictionary_slot slot)
{
	uint32_t mask = dictionary->slot_count - 1, at = slot.hash & mask;

	while (dictionary->slots[at].number)
		at = (at + 1) & mask;
	dictionary->slots[at] = slot;
}

/* Doubles the slots when two thirds are used, and puts all texts in anew. */
static bool dictionary_grow_slots(struct ss_dictionary *dictionary, struct ss_memory *memory)
{
	struct ss_dictionary_slot *before = dictionary->slots, *slots;
	uint32_t before_count = dictionary->slot_count;
	uint32_t count = before_count ? before_count * 2 : SLOTS_FIRST;

	if ((uint64_t)dictionary->count * 3 < (uint64_t)before_count * 2)
		return true;
	slots = count > before_count ? ss_memory_resize(memory, NULL, 0, count * sizeof(*slots))
				     : NULL;
	if (!slots)
		return false;
	memset(slots, 0, count * sizeof(*slots));
	dictionary->slots = slots;
	dictionary->slot_count = count;
	for (uint32_t i = 0; i < before_count; i++)
		if (before[i].number)
			dictionary_put_slot(dictionary, before[i]);
	ss_memory_free(memory, before, before_count * sizeof(*before));
	return true;
}

/* Grows by half, and at least to `bytes` and `first`. */
static bool dictionary_grow_buffer(struct ss_memory *memory, struct ss_buffer *buffer, size_t bytes,
				   size_t first)
{
	size_t more = buffer->capacity + buffer->capacity / 2;

	if (bytes <= buffer->capacity)
		return true;
	if (more < first)
		more = first;
	return ss_buffer_reserve(memory, buffer, bytes > more ? bytes : more);
}

/* Appends the bytes of a new text and its end. */
static bool dictionary_store(struct ss_dictionary *dictionary, struct ss_memory *memory,
			     const char *text, size_t length)
{
	uint32_t count = dictionary->count;
	int64_t end = count ? ss_dictionary_offsets(dictionary)[count] : 0, *offsets;

	if (count == TEXTS_MAX ||
	    !dictionary_grow_buffer(memory, &dictionary->offsets,
				    ((size_t)count + 2) * sizeof(*offsets),
				    TEXTS_FIRST * sizeof(*offsets)) ||
	    !dictionary_grow_buffer(memory, &dictionary->bytes, (size_t)end + length, BYTES_FIRST))
		return false;
	memcpy((char *)dictionary->bytes.data + end, text, length);
	offsets = dictionary->offsets.data;
	offsets[count] = end;
	offsets[count + 1] = end + (int64_t)length;
	dictionary->count++;
	return true;
}

uint32_t ss_dictionary_add(struct ss_dictionary *dictionary, struct ss_memory *memory,
			   const char *text, size_t length)
{
	uint32_t hash;

	/* rows often have the text of the one before */
	if (dictionary->count && dictionary_is_text(dictionary, dictionary->last, text, length))
		return dictionary->last;
	if (!dictionary_grow_slots(dictionary, memory))
		return SS_NO_ID;
	hash = (uint32_t)(ss_hash_bytes(text, length) >> 32);
	for (uint32_t mask = dictionary->slot_count - 1, at = hash & mask;
	     dictionary->slots[at].number; at = (at + 1) & mask) {
		uint32_t id = dictionary->slots[at].number - 1;

		if (dictionary->slots[at].hash == hash &&
		    dictionary_is_text(dictionary, id, text, length))
			return dictionary->last = id;
	}
	if (!dictionary_store(dictionary, memory, text, length))
		return SS_NO_ID;
	dictionary_put_slot(dictionary, (struct ss_dictionary_slot){ hash, dictionary->count });
	return dictionary->last = dictionary->count - 1;
}

void ss_dictionary_release(struct ss_dictionary *dictionary, struct ss_memory *memory)
{
	ss_buffer_release(memory, &dictionary->offsets);
	ss_buffer_release(memory, &dictionary->bytes);
	ss_memory_free(memory, dictionary->slots,
		       dictionary->slot_count * sizeof(*dictionary->slots));
	*dictionary = (struct ss_dictionary){ 0 };
}
