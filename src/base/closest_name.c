/* SPDX-License-Identifier: Apache-2.0 */
/*
 * closest_name.c - the distance between names, with swapped letters as one change.
 */
#include "base/closest_name.h"

#include <string.h>

#define LETTERS_MAX 64

/* A third of a short name may be wrong; nobody makes more mistakes than this in a long one. */
#define SHARE_WRONG 3
#define WRONG_MAX 3

static size_t smaller_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters to change, add, drop or swap with a neighbour to turn one into the other. */
static size_t name_distance(const char *a, const char *b)
{
	size_t rows[3][LETTERS_MAX + 1], length = strlen(b);

	if (length > LETTERS_MAX)
		return SIZE_MAX;
	for (size_t i = 0; i <= length; i++)
		rows[0][i] = i;
	for (size_t k = 1; k <= strlen(a); k++) {
		const size_t *last = rows[(k - 1) % 3], *before = rows[(k + 1) % 3];
		size_t *row = rows[k % 3];

		row[0] = k;
		for (size_t i = 1; i <= length; i++) {
			row[i] = smaller_size(last[i - 1] + (a[k - 1] != b[i - 1]),
					      smaller_size(last[i], row[i - 1]) + 1);
			if (k > 1 && i > 1 && a[k - 1] == b[i - 2] && a[k - 2] == b[i - 1])
				row[i] = smaller_size(row[i], before[i - 2] + 1);
		}
	}
	return rows[strlen(a) % 3][length];
}

struct ss_closest_name ss_closest_name_begin(const char *typed)
{
	size_t most = strlen(typed) / SHARE_WRONG;

	return (struct ss_closest_name){ .typed = typed,
					 .least = smaller_size(most, WRONG_MAX) + 1 };
}

void ss_closest_name_add(struct ss_closest_name *guess, const char *name)
{
	size_t away = name_distance(guess->typed, name);

	if (away >= guess->least)
		return;
	guess->least = away;
	guess->best = name;
}
