/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closest_name.h - the known name that a user probably meant by an unknown one.
 *
 * A typo changes, adds, drops or swaps letters: one in a short name, up to three in a long one.
 * Add all known names; `best` is the closest of them, if any is close enough.
 */
#ifndef SS_BASE_CLOSEST_NAME_H
#define SS_BASE_CLOSEST_NAME_H

#include "base/error.h"

struct ss_closest_name {
	const char *typed, *best; /* best NULL: none is close enough */
	size_t least;             /* letters that differ from the best, or one more than allowed */
};

struct ss_closest_name ss_closest_name_begin(const char *typed);
void ss_closest_name_add(struct ss_closest_name *guess, const char *name);

#endif
