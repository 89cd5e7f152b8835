/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h - lists the ranks, steps or devices that exist, for errors about one that does not.
 */
#ifndef SS_API_REQUEST_NUMBERS_H
#define SS_API_REQUEST_NUMBERS_H

#include "base/error.h"

#define SS_NUMBERS_BYTES 128

struct ss_numbers {
	int64_t first, last;
	uint32_t count;
	bool has_gaps;
	char list[SS_NUMBERS_BYTES]; /* the first of them */
};

/* Numbers come in ascending order; repeated and negative ones are ignored. */
void ss_numbers_add(struct ss_numbers *numbers, int64_t number);

/* "there are ranks 0 to 7", "there is rank 3"; `none` where there are none. */
void ss_numbers_tell(const struct ss_numbers *numbers, const char *noun, const char *none,
		     char out[SS_NUMBERS_BYTES + 64]);

#endif
