/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the binary search.
 *
 *     uint32_t low = 0, high = steps->count;
 *
 *     SS_SEARCH(low, high, at, steps->items[at].end_ns <= moment_ns);
 *
 * moves `low` to the first of low .. high - 1 for which the condition does not hold, or to the old
 * `high` where it holds for all. It has to hold for all before that one and for none after it. A
 * macro and not a function with a callback: most searches run once per event, and what they
 * compare is a field of another struct each.
 */
#ifndef SS_BASE_SEARCH_H
#define SS_BASE_SEARCH_H

#include <stdint.h>

#define SS_SEARCH(low, high, at, is_before)                         \
	do {                                                        \
		while ((low) < (high)) {                            \
			uint32_t at = (low) + ((high) - (low)) / 2; \
                                                                    \
			if (is_before)                              \
				(low) = at + 1;                     \
			else                                        \
				(high) = at;                        \
		}                                                   \
	} while (0)

/*
 * The same where the wanted one is probably near `low`: from there on, steps are doubled until one
 * is too long.
 */
#define SS_SEARCH_NEAR(low, high, at, is_before)                               \
	do {                                                                   \
		for (uint32_t step_ = 1; (high) - (low) > step_; step_ *= 2) { \
			uint32_t at = (low) + step_ - 1;                       \
                                                                               \
			if (!(is_before)) {                                    \
				(high) = at;                                   \
				break;                                         \
			}                                                      \
			(low) = at + 1;                                        \
		}                                                              \
		SS_SEARCH(low, high, at, is_before);                           \
	} while (0)

#endif
