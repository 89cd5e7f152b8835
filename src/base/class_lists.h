/* SPDX-License-Identifier: Apache-2.0 */
/*
 * class_lists.h - which items are of a class, for items that know their class: the ranks of each host,
 * the meetings of each group. Without it, each class would look at all items.
 */
#ifndef SS_BASE_CLASS_LISTS_H
#define SS_BASE_CLASS_LISTS_H

#include "base/memory.h"

/* The items of class c are items[from[c]] .. items[from[c + 1] - 1], in their order. */
struct ss_classes {
	uint32_t *from;
	uint32_t *items;
};

/* `class_of` has the class of each item, below `class_count`. False: no memory. */
SS_MUST_USE
bool ss_classes_find(struct ss_classes *classes, const uint32_t *class_of, uint32_t count,
		     uint32_t class_count, struct ss_arena *arena);

#endif
