/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c - values and bits of a column, and the dictionary of its texts: open addressing over ids,
 * at most two thirds full.
 */
#include "table/cells.h"

#include <string.h>

#include "base/hash/hash.h"

/*
 * Allocates blocks that contain an aligned address.
 *
 * A block that grows may move; a large one moves by whole pages (see memory.h), so that
 * its aligned address stays at the same place in it and nothing is copied.
 */

/* What a block has beyond its capacity, to align the address. */
#define SLACK_BYTES ((size_t)SS_BUFFER_ALIGN - 1)

static size_t buffer_block_bytes(const struct ss_buffer *buffer)
{
	return buffer->block ? buffer->capacity + SLACK_BYTES : 0;
}

/* How far in the block the aligned address is. */
static size_t align_shift(const void *block)
{
	return (SS_BUFFER_ALIGN - (uintptr_t)block % SS_BUFFER_ALIGN) % SS_BUFFER_ALIGN;
}

bool ss_buffer_grow(struct ss_memory *memory, struct ss_buffer *buffer, size_t bytes)
{
	size_t shift = buffer->block ? align_shift(buffer->block) : 0, room, moved_shift;
	char *moved;

	if (bytes > PTRDIFF_MAX - SLACK_BYTES - SS_BUFFER_ALIGN)
		return false;
	room = (bytes + SS_BUFFER_ALIGN - 1) / SS_BUFFER_ALIGN * SS_BUFFER_ALIGN;
	moved = ss_memory_resize(memory, buffer->block, buffer_block_bytes(buffer),
				 room + SLACK_BYTES);
	if (!moved)
		return false;
	moved_shift = align_shift(moved);
	if (buffer->capacity && moved_shift != shift)
		memmove(moved + moved_shift, moved + shift, buffer->capacity);
	*buffer = (struct ss_buffer){ moved + moved_shift, room, moved };
	return true;
}

void ss_buffer_release(struct ss_memory *memory, struct ss_buffer *buffer)
{
	ss_memory_free(memory, buffer->block, buffer_block_bytes(buffer));
	*buffer = (struct ss_buffer){ 0 };
}

struct ss_buffer ss_buffer_take(struct ss_memory *memory, struct ss_buffer *buffer)
{
	struct ss_buffer taken = *buffer;

	ss_memory_forget(memory, buffer_block_bytes(buffer));
	*buffer = (struct ss_buffer){ 0 };
	return taken;
}

void ss_buffer_free(struct ss_buffer *buffer)
{
	struct ss_memory outside;

	ss_memory_init(&outside, 0);
	ss_memory_free(&outside, buffer->block, 0);
	*buffer = (struct ss_buffer){ 0 };
}

/* --- texts ---------------------------------------------------------------------------- */

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
	SS_FREE(memory, before, before_count);
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
	SS_FREE(memory, dictionary->slots, dictionary->slot_count);
	*dictionary = (struct ss_dictionary){ 0 };
}

/* --- cells ---------------------------------------------------------------------------- */

static size_t bitmap_bytes(uint32_t rows)
{
	return ((size_t)rows + 7) / 8;
}

/* Makes room for the bits of this many rows and sets the new ones. */
static bool bitmap_reserve(struct ss_buffer *bits, struct ss_memory *memory, uint32_t rows)
{
	size_t before = bits->capacity;

	if (!ss_buffer_reserve(memory, bits, bitmap_bytes(rows)))
		return false;
	memset((char *)bits->data + before, 0xff, bits->capacity - before);
	return true;
}

static void bitmap_set(struct ss_buffer *bits, uint32_t row, bool is_set)
{
	uint8_t *byte = (uint8_t *)bits->data + row / 8, bit = (uint8_t)(1u << row % 8);

	*byte = is_set ? *byte | bit : *byte & (uint8_t)~bit;
}

bool ss_cells_reserve(struct ss_cells *cells, struct ss_memory *memory, uint32_t rows)
{
	return ss_buffer_reserve(memory, &cells->values, rows * ss_cells_width(cells)) &&
	       (!cells->known.data || bitmap_reserve(&cells->known, memory, rows));
}

static void cells_put_zero(struct ss_cells *cells, uint32_t row)
{
	size_t width = ss_cells_width(cells);

	memset((char *)cells->values.data + row * width, 0, width);
}

bool ss_cells_clear(struct ss_cells *cells, struct ss_memory *memory, uint32_t row, uint32_t rows)
{
	if (!cells->known.data && !bitmap_reserve(&cells->known, memory, rows))
		return false;
	bitmap_set(&cells->known, row, false);
	cells_put_zero(cells, row);
	return true;
}

void ss_cells_copy(struct ss_cells *cells, uint32_t to, uint32_t from)
{
	if (cells->is_text)
		ss_cells_ids(cells)[to] = ss_cells_ids(cells)[from];
	else
		ss_cells_integers(cells)[to] = ss_cells_integers(cells)[from];
	if (cells->known.data)
		bitmap_set(&cells->known, to, !ss_cells_is_null(cells, from));
}

void ss_cells_shorten(struct ss_cells *cells, uint32_t rows, uint32_t count)
{
	for (; cells->known.data && rows < count; rows++)
		bitmap_set(&cells->known, rows, true);
}

/* Reorders the bits; those after the last row are set. */
static void bitmap_gather(struct ss_cells *cells, const uint32_t *order, uint32_t count,
			  uint8_t *scratch)
{
	memset(scratch, 0xff, bitmap_bytes(count));
	for (uint32_t i = 0; i < count; i++)
		if (ss_cells_is_null(cells, order[i]))
			scratch[i / 8] &= (uint8_t) ~(1u << i % 8);
	memcpy(cells->known.data, scratch, bitmap_bytes(count));
}

void ss_cells_gather(struct ss_cells *cells, const uint32_t *order, uint32_t count, void *scratch)
{
	int32_t *ids = scratch;
	int64_t *words = scratch;

	for (uint32_t i = 0; cells->is_text && i < count; i++)
		ids[i] = ss_cells_ids(cells)[order[i]];
	for (uint32_t i = 0; !cells->is_text && i < count; i++)
		words[i] = ss_cells_integers(cells)[order[i]];
	memcpy(cells->values.data, scratch, count * ss_cells_width(cells));
	if (cells->known.data)
		bitmap_gather(cells, order, count, scratch);
}

uint32_t ss_cells_count_nulls(const struct ss_cells *cells, uint32_t count)
{
	const uint8_t *known = cells->known.data;
	uint32_t nulls = count;

	if (!known)
		return 0;
	for (uint32_t i = 0; i < count / 8; i++)
		nulls -= (uint32_t)__builtin_popcount(known[i]);
	if (count % 8)
		nulls -= (uint32_t)__builtin_popcount(known[count / 8] & ((1u << count % 8) - 1));
	return nulls;
}

void ss_cells_release(struct ss_cells *cells, struct ss_memory *memory)
{
	ss_buffer_release(memory, &cells->values);
	ss_buffer_release(memory, &cells->known);
	ss_dictionary_release(&cells->texts, memory);
}
