/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.h - the cells of one column: a typed array, as in Arrow, and the buffers they lie in.
 *
 * Values are int64_t, double, or for texts int32_t: ids of the column's dictionary. A
 * bitmap marks the known cells, the first cell in the lowest bit, 1 for a known cell.
 * There is no bitmap until a cell is unknown; bits after the last row are set, so that a
 * known cell costs no more than its value.
 */
#ifndef SS_TABLE_CELLS_H
#define SS_TABLE_CELLS_H

#include "base/intern.h"
#include "base/memory.h"

/*
 * An array that can outlive its table: aligned as Arrow requires, and with its
 * own owner.
 *
 * While a buffer belongs to an account, it is charged to it like everything else. After
 * ss_buffer_take(), the holder frees it, whether the account still exists or not.
 */

#define SS_BUFFER_ALIGN 64

struct ss_buffer {
	void *data;      /* aligned to SS_BUFFER_ALIGN; NULL: nothing is allocated */
	size_t capacity; /* bytes from `data` on, a multiple of SS_BUFFER_ALIGN */
	void *block;     /* what was allocated */
};

bool ss_buffer_grow(struct ss_memory *memory, struct ss_buffer *buffer, size_t bytes);

/* Makes room for `bytes`: keeps the content, does not clear the rest. False at the limit. */
SS_MUST_USE
static inline bool ss_buffer_reserve(struct ss_memory *memory, struct ss_buffer *buffer,
				     size_t bytes)
{
	return bytes <= buffer->capacity || ss_buffer_grow(memory, buffer, bytes);
}

void ss_buffer_release(struct ss_memory *memory, struct ss_buffer *buffer);

/* Takes the buffer out of the account: its new owner frees it. */
struct ss_buffer ss_buffer_take(struct ss_memory *memory, struct ss_buffer *buffer);

/* Frees a buffer that was taken. */
void ss_buffer_free(struct ss_buffer *buffer);

/*
 * The distinct texts of a column, stored back to back as in Arrow.
 *
 * Text `id` is the bytes from offsets[id] up to offsets[id + 1]; no zero byte ends it. Ids
 * count from 0 in the order of first appearance. A text may move when another one is
 * added.
 */
struct ss_dictionary_slot {
	uint32_t hash;
	uint32_t number; /* id + 1; 0: free */
};

struct ss_dictionary {
	struct ss_buffer offsets; /* int64_t, one more than there are texts */
	struct ss_buffer bytes;
	uint32_t count;
	uint32_t last; /* the id that was added or found last */
	struct ss_dictionary_slot *slots;
	uint32_t slot_count;
};

/* Returns the id of the text, stored now if it is new; SS_NO_ID at the limit. */
SS_MUST_USE
uint32_t ss_dictionary_add(struct ss_dictionary *dictionary, struct ss_memory *memory,
			   const char *text, size_t length);

void ss_dictionary_release(struct ss_dictionary *dictionary, struct ss_memory *memory);

static inline const int64_t *ss_dictionary_offsets(const struct ss_dictionary *dictionary)
{
	return dictionary->offsets.data;
}

static inline uint32_t ss_dictionary_length(const struct ss_dictionary *dictionary, uint32_t id)
{
	const int64_t *offsets = ss_dictionary_offsets(dictionary);

	assert(id < dictionary->count);
	return (uint32_t)(offsets[id + 1] - offsets[id]);
}

static inline const char *ss_dictionary_text(const struct ss_dictionary *dictionary, uint32_t id)
{
	assert(id < dictionary->count);
	return (const char *)dictionary->bytes.data + ss_dictionary_offsets(dictionary)[id];
}

struct ss_cells {
	struct ss_buffer values;
	struct ss_buffer known; /* bits */
	bool is_text;
	struct ss_dictionary texts;
};

static inline size_t ss_cells_width(const struct ss_cells *cells)
{
	return cells->is_text ? sizeof(int32_t) : sizeof(int64_t);
}

static inline bool ss_cells_is_null(const struct ss_cells *cells, uint32_t row)
{
	const uint8_t *known = cells->known.data;

	return known && !(known[row / 8] >> row % 8 & 1);
}

static inline int64_t *ss_cells_integers(const struct ss_cells *cells)
{
	return cells->values.data;
}

static inline double *ss_cells_numbers(const struct ss_cells *cells)
{
	return cells->values.data;
}

static inline int32_t *ss_cells_ids(const struct ss_cells *cells)
{
	return cells->values.data;
}

/* Makes room for `rows` rows; false at the limit. */
SS_MUST_USE
bool ss_cells_reserve(struct ss_cells *cells, struct ss_memory *memory, uint32_t rows);

/* Makes the cell null. `rows` is the capacity; false at the limit. */
SS_MUST_USE
bool ss_cells_clear(struct ss_cells *cells, struct ss_memory *memory, uint32_t row, uint32_t rows);

/* Copies one cell over another one. */
void ss_cells_copy(struct ss_cells *cells, uint32_t to, uint32_t from);

/* Rows from `rows` up to `count` are no longer used. */
void ss_cells_shorten(struct ss_cells *cells, uint32_t rows, uint32_t count);

/* Row i becomes what row order[i] was. `scratch` has 8 bytes for each row. */
void ss_cells_gather(struct ss_cells *cells, const uint32_t *order, uint32_t count, void *scratch);

/* How many of the first rows are null. */
uint32_t ss_cells_count_nulls(const struct ss_cells *cells, uint32_t count);

void ss_cells_release(struct ss_cells *cells, struct ss_memory *memory);

#endif
