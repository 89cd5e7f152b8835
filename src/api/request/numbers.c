/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.c - writes numbers for a sentence: as a range, or the first few.
 */
#include "api/request/numbers.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"

/* Numbers that an error lists. */
#define LISTED 8

void ss_numbers_add(struct ss_numbers *numbers, int64_t number)
{
	char text[24];

	if (number < 0 || (numbers->count && number == numbers->last))
		return;
	numbers->has_gaps |= numbers->count && number != numbers->last + 1;
	if (!numbers->count++)
		numbers->first = number;
	numbers->last = number;
	snprintf(text, sizeof(text), "%" PRId64, number);
	if (numbers->count <= LISTED)
		ss_text_list(numbers->list, sizeof(numbers->list), text);
}

void ss_numbers_tell(const struct ss_numbers *numbers, const char *noun, const char *none,
		     char out[SS_NUMBERS_BYTES + 64])
{
	size_t capacity = SS_NUMBERS_BYTES + 64;

	if (!numbers->count)
		snprintf(out, capacity, "%s", none);
	else if (numbers->count == 1)
		snprintf(out, capacity, "there is %s %" PRId64, noun, numbers->first);
	else if (!numbers->has_gaps)
		snprintf(out, capacity, "there are %ss %" PRId64 " to %" PRId64, noun,
			 numbers->first, numbers->last);
	else
		snprintf(out, capacity, "there are %ss %s%s", noun, numbers->list,
			 numbers->count > LISTED ? ", ..." : "");
}
