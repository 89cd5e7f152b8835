/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glossary.c - finds terms of the glossary.
 */
#include "api/glossary.h"

#include <stdbool.h>

#include "base/error.h"
#include "glossary.inc"

/* Makes case irrelevant, and '-', '_' and ' ' the same. */
static char fold_letter(char c)
{
	if (c == '-' || c == '_')
		return ' ';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether both are the same term; either may be a plural. */
static bool terms_are_same(const char *a, const char *b)
{
	while (*a && fold_letter(*a) == fold_letter(*b)) {
		a++;
		b++;
	}
	if (fold_letter(*a) == 's' && !a[1])
		a++;
	if (fold_letter(*b) == 's' && !b[1])
		b++;
	return !*a && !*b;
}

const struct ss_term *ss_term_at(size_t index)
{
	return index < SS_COUNT(terms) ? &terms[index] : NULL;
}

const struct ss_term *ss_term_find(const char *name)
{
	for (size_t i = 0; i < SS_COUNT(terms); i++) {
		if (terms_are_same(name, terms[i].name))
			return &terms[i];
	}
	return NULL;
}
