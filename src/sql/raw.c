/* SPDX-License-Identifier: Apache-2.0 */
/*
 * raw.c - fills cells of raw columns: copies numbers, and maps ids to those of ENUM types.
 */
#include "sql/raw.h"

#include <string.h>

void ss_raw_null(struct ss_raw_out *out, uint32_t i)
{
	if (!out->known) {
		ss_engine()->vector_ensure_validity_writable(out->vector);
		out->known = ss_engine()->vector_get_validity(out->vector);
	}
	out->known[i / 64] &= ~(UINT64_C(1) << i % 64);
}

void ss_raw_text(struct ss_raw_out *out, uint32_t i, const char *text)
{
	ss_engine()->vector_assign_string_element_len(out->vector, i, text, strlen(text));
}

void ss_raw_copy(const struct ss_raw_part *part, const int64_t *column, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	if (!part->picked) {
		memcpy(cells, column + part->from, part->count * sizeof(*cells));
		return;
	}
	for (uint32_t i = 0; i < part->count; i++)
		cells[i] = column[part->picked[i]];
}

/* One loop per cell width and id type: these are the innermost loops of all queries. */
#define MAP(cell, id)                                                      \
	do {                                                               \
		cell *cells = out->cells;                                  \
		if (!part->picked)                                         \
			for (uint32_t i = 0; i < part->count; i++)         \
				cells[i] = (cell)map[id(part->from + i)];  \
		else                                                       \
			for (uint32_t i = 0; i < part->count; i++)         \
				cells[i] = (cell)map[id(part->picked[i])]; \
	} while (0)
#define MAP_ALL(id)                          \
	do {                                 \
		if (domain->width == 1)      \
			MAP(uint8_t, id);    \
		else if (domain->width == 2) \
			MAP(uint16_t, id);   \
		else                         \
			MAP(uint32_t, id);   \
	} while (0)
#define ID_OF(row) column[row]
#define ID_ITSELF(row) (row)

void ss_raw_map(const struct ss_raw_part *part, enum ss_domain_id id, const uint32_t *column,
		struct ss_raw_out *out)
{
	const struct ss_domain *domain = &part->domains->items[id];
	const uint32_t *map = domain->maps[part->file];

	if (column)
		MAP_ALL(ID_OF);
	else
		MAP_ALL(ID_ITSELF);
}

void ss_raw_map_bytes(const struct ss_raw_part *part, enum ss_domain_id id, const uint8_t *column,
		      struct ss_raw_out *out)
{
	const struct ss_domain *domain = &part->domains->items[id];
	const uint32_t *map = domain->maps[part->file];

	MAP_ALL(ID_OF);
}

void ss_raw_put(const struct ss_raw_part *part, enum ss_domain_id id, struct ss_raw_out *out,
		uint32_t i, uint32_t number)
{
	const struct ss_domain *domain = &part->domains->items[id];
	uint32_t place = domain->maps[part->file][number];

	if (domain->width == 1)
		((uint8_t *)out->cells)[i] = (uint8_t)place;
	else if (domain->width == 2)
		((uint16_t *)out->cells)[i] = (uint16_t)place;
	else
		((uint32_t *)out->cells)[i] = place;
}

void ss_raw_rows(const struct ss_raw_part *part, const uint32_t *column, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++) {
		uint32_t row = column[ss_raw_row(part, i)];

		cells[i] = row;
		if (row == SS_NO_ROW)
			ss_raw_null(out, i);
	}
}

void ss_raw_rank(const struct ss_raw_part *part, struct ss_raw_out *out)
{
	int64_t *cells = out->cells;

	for (uint32_t i = 0; i < part->count; i++) {
		cells[i] = part->rank;
		if (part->rank < 0)
			ss_raw_null(out, i);
	}
}

const int64_t *ss_raw_slice_starts(const struct ss_trace *trace)
{
	return trace->slices.start_ns;
}

uint32_t ss_raw_slice_after(const struct ss_trace *trace, uint32_t row)
{
	const struct ss_track *track = &trace->tracks[trace->slices.track[row]];

	return track->first_row + track->row_count;
}
