/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glossary.c - finds terms of the glossary.
 */
#include "api/glossary.h"

#include <stdbool.h>

#include "base/error.h"
#include "glossary.inc"

/* Letters without regard to case; '-', '_' and ' ' are the same. */
static char folded(char c)
{
	if (c == '-' || c == '_')
		return ' ';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether both are the same term; either may be a plural. */
static bool is_same(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b)) {
		a++;
		b++;
	}
	if (folded(*a) == 's' && !a[1])
		a++;
	if (folded(*b) == 's' && !b[1])
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
		if (is_same(name, terms[i].name))
			return &terms[i];
	}
	return NULL;
}
