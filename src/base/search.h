/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the binary search.
 *
 *     uint32_t low = 0, high = steps->count;
 *
 *     SS_SEARCH(low, high, at, steps->items[at].end_ns <= moment_ns);
 *
 * moves `low` to the first of low .. high - 1 for which the condition is false, or to the old
 * `high` if it is true for all. It must be true for all before that one and false for all after
 * it. A macro and not a function with a callback: most searches run once per event, and each
 * compares a field of another struct.
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
 * The same where the result is probably near `low`: steps from there double until one is too long.
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
