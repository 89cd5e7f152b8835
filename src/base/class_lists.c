/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_lists.c - counts the items of each class, then puts each behind those before it.
 */
#include "base/class_lists.h"

bool ss_classes_find(struct ss_classes *classes, const uint32_t *class_of, uint32_t count,
		     uint32_t class_count, struct ss_arena *arena)
{
	/* two more: while items are placed, from[c + 1] is where the next one of class c goes */
	classes->from = SS_ARENA_NEW(arena, uint32_t, (size_t)class_count + 2);
	classes->items = SS_ARENA_NEW(arena, uint32_t, (size_t)count + 1);
	if (!classes->from || !classes->items)
		return false;
	for (uint32_t i = 0; i < count; i++)
		classes->from[class_of[i] + 2]++;
	for (uint32_t c = 2; c < class_count + 2; c++)
		classes->from[c] += classes->from[c - 1];
	for (uint32_t i = 0; i < count; i++)
		classes->items[classes->from[class_of[i] + 1]++] = i;
	return true;
}
