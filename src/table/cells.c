/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cells.c - values and bits of a column.
 */
#include "table/cells.h"

#include <string.h>

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
