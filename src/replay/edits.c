/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edits.c - keeps edits as stretches that differ in their tasks and times only.
 */
#include "replay/edits.h"

void ss_edits_init(struct ss_edits *edits, struct ss_memory *memory)
{
	*edits = (struct ss_edits){ .memory = memory };
}

void ss_edits_release(struct ss_edits *edits)
{
	if (edits->memory) {
		ss_memory_free(edits->memory, edits->items,
			       edits->capacity * sizeof(*edits->items));
		ss_memory_free(edits->memory, edits->stretches,
			       edits->stretch_capacity * sizeof(*edits->stretches));
	}
	*edits = (struct ss_edits){ 0 };
}

/* Whether an edit can be one more of the stretch. */
static bool fits(const struct ss_edit *stretch, const struct ss_edit *edit)
{
	return stretch->rank == edit->rank && stretch->releases == edit->releases &&
	       stretch->unlocks == edit->unlocks && stretch->merges == edit->merges &&
	       stretch->subtracts == edit->subtracts &&
	       !(stretch->scale < edit->scale || stretch->scale > edit->scale) &&
	       edit->own_ns >= stretch->own_ns &&
	       (uint64_t)edit->own_ns - (uint64_t)stretch->own_ns <= UINT32_MAX;
}

/* The first edit of a stretch need not be the shortest: short ones count from 0. */
static bool open_stretch(struct ss_edits *edits, const struct ss_edit *edit)
{
	struct ss_edit stretch = *edit;

	stretch.task = edits->count;
	if (edit->own_ns >= 0 && edit->own_ns <= UINT32_MAX)
		stretch.own_ns = 0;
	if (edits->stretch_count == edits->stretch_capacity &&
	    !ss_memory_reserve(edits->memory, (void **)&edits->stretches, &edits->stretch_capacity,
			       (size_t)edits->stretch_count + 1, sizeof(*edits->stretches)))
		return false;
	edits->stretches[edits->stretch_count++] = stretch;
	return true;
}

bool ss_edits_add(struct ss_edits *edits, struct ss_edit edit)
{
	if (edits->count == edits->capacity &&
	    !ss_memory_reserve(edits->memory, (void **)&edits->items, &edits->capacity,
			       (size_t)edits->count + 1, sizeof(*edits->items)))
		return false;
	if ((!edits->stretch_count || !fits(&edits->stretches[edits->stretch_count - 1], &edit)) &&
	    !open_stretch(edits, &edit))
		return false;
	edits->subtracts |= edit.subtracts;
	edits->scales |= edit.scale > 0;
	edits->items[edits->count++] = (struct ss_edits_item){
		.task = edit.task,
		.own_ns = (uint32_t)(edit.own_ns -
				     edits->stretches[edits->stretch_count - 1].own_ns)
	};
	return true;
}
