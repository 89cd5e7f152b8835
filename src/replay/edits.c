/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.c - stores edits as stretches that differ only in their tasks and times.
 */
#include "replay/edits.h"

void ss_edits_init(struct ss_edits *edits, struct ss_memory *memory)
{
	*edits = (struct ss_edits){ .memory = memory };
}

void ss_edits_release(struct ss_edits *edits)
{
	for (struct ss_edits_chunk *chunk = edits->first, *next; chunk; chunk = next) {
		next = chunk->next;
		ss_memory_free(edits->memory, chunk, sizeof(*chunk) + chunk->room);
	}
	if (edits->memory) {
		SS_FREE(edits->memory, edits->stretches, edits->stretch_capacity);
	}
	*edits = (struct ss_edits){ 0 };
}

/* Whether an edit can be one more of the stretch. */
static bool edit_fits_stretch(const struct ss_edit *stretch, const struct ss_edit *edit)
{
	return stretch->rank == edit->rank && stretch->releases == edit->releases &&
	       stretch->unlocks == edit->unlocks && stretch->merges == edit->merges &&
	       stretch->subtracts == edit->subtracts &&
	       !(stretch->scale < edit->scale || stretch->scale > edit->scale) &&
	       edit->own_ns >= stretch->own_ns &&
	       (uint64_t)edit->own_ns - (uint64_t)stretch->own_ns <= UINT32_MAX;
}

/* The first edit of a stretch need not be the shortest: short ones count from 0. */
static bool open_edit_stretch(struct ss_edits *edits, const struct ss_edit *edit)
{
	struct ss_edit stretch = *edit;

	stretch.task = edits->count;
	if (edit->own_ns >= 0 && edit->own_ns <= UINT32_MAX)
		stretch.own_ns = 0;
	if (edits->stretch_count == edits->stretch_capacity &&
	    !SS_GROW(edits->memory, edits->stretches, edits->stretch_capacity,
		     edits->stretch_count))
		return false;
	edits->stretches[edits->stretch_count++] = stretch;
	return true;
}

/* The most that two numbers take. */
#define BYTES_MAX 10

static void put_edit_number(struct ss_edits_chunk *chunk, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		chunk->bytes[chunk->used++] = (uint8_t)(value | 0x80);
	chunk->bytes[chunk->used++] = (uint8_t)value;
}

/* Most fixes edit little: each chunk is half as large again as the previous one, up to this. */
#define ROOM_MIN 128
#define ROOM_MAX 65536

static bool open_edit_chunk(struct ss_edits *edits)
{
	uint32_t room = edits->last ? edits->last->room + edits->last->room / 2 : ROOM_MIN;
	struct ss_edits_chunk *chunk;

	room = room < ROOM_MAX ? room : ROOM_MAX;
	chunk = ss_memory_resize(edits->memory, NULL, 0, sizeof(*chunk) + room);
	if (!chunk)
		return false;
	*chunk = (struct ss_edits_chunk){ .room = room };
	if (edits->last)
		edits->last->next = chunk;
	else
		edits->first = chunk;
	edits->last = chunk;
	return true;
}

bool ss_edits_add(struct ss_edits *edits, struct ss_edit edit)
{
	uint32_t behind = edit.task - edits->last_task;
	uint64_t longer_ns;

	assert(edit.scale <= SS_EDIT_SCALE_MAX);
	if ((!edits->last || edits->last->room - edits->last->used < BYTES_MAX) &&
	    !open_edit_chunk(edits))
		return false;
	if ((!edits->stretch_count ||
	     !edit_fits_stretch(&edits->stretches[edits->stretch_count - 1], &edit)) &&
	    !open_edit_stretch(edits, &edit))
		return false;
	edits->subtracts |= edit.subtracts;
	edits->scales |= edit.scale > 0;
	behind = behind << 1 ^ (behind >> 31 ? UINT32_MAX : 0);
	longer_ns = (uint64_t)(edit.own_ns - edits->stretches[edits->stretch_count - 1].own_ns);
	put_edit_number(edits->last, (uint64_t)behind << 1 | (longer_ns ? 1 : 0));
	if (longer_ns)
		put_edit_number(edits->last, longer_ns);
	edits->last_task = edit.task;
	edits->count++;
	return true;
}
