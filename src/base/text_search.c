/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_search.c - the two-way search of Crochemore and Perrin.
 *
 * Trying the part at every position costs the product of both lengths, and both can be long. This
 * search splits the part at a point where a mismatch after it tells how far to skip, so that no
 * byte is compared more than a few times. It needs no memory. For short parts the simple search is
 * faster.
 */
#include "base/text.h"

/* Up to this length a part is tried at every position. */
#define SHORT_MAX 32

static bool equals_nocase(const char *a, const char *b, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (ss_char_lower(a[i]) != ss_char_lower(b[i]))
			return false;
	return true;
}

static const char *search_naive(const char *text, size_t text_length, const char *part,
				size_t length)
{
	for (size_t i = 0; i + length <= text_length; i++)
		if (equals_nocase(text + i, part, length))
			return text + i;
	return NULL;
}

/* Where the greatest suffix of the part begins, by one order of letters or the other. */
static size_t greatest_suffix(const char *part, size_t length, bool turned, size_t *period)
{
	size_t suffix = 0, at = 1, ahead = 0; /* compared: suffix + ahead and at + ahead */

	*period = 1;
	while (at + ahead < length) {
		unsigned char a = (unsigned char)ss_char_lower(part[at + ahead]);
		unsigned char b = (unsigned char)ss_char_lower(part[suffix + ahead]);

		if (a == b) {
			ahead++;
			if (ahead == *period) {
				at += *period;
				ahead = 0;
			}
		} else if (turned ? a > b : a < b) {
			at += ahead + 1;
			ahead = 0;
			*period = at - suffix;
		} else {
			suffix = at;
			at++;
			ahead = 0;
			*period = 1;
		}
	}
	return suffix;
}

const char *ss_text_search(const char *text, size_t text_length, const char *part, size_t length)
{
	size_t cut, other, period, other_period, known = 0, at = 0;
	bool repeats;

	if (length > text_length)
		return NULL;
	if (length <= SHORT_MAX)
		return search_naive(text, text_length, part, length);
	cut = greatest_suffix(part, length, false, &period);
	other = greatest_suffix(part, length, true, &other_period);
	if (other > cut) {
		cut = other;
		period = other_period;
	}
	/* a periodic part need not be compared again after a shift by its period */
	repeats = equals_nocase(part, part + period, cut);
	if (!repeats)
		period = (cut > length - cut ? cut : length - cut) + 1;
	while (at + length <= text_length) {
		size_t i = cut > known ? cut : known;

		while (i < length && ss_char_lower(part[i]) == ss_char_lower(text[at + i]))
			i++;
		if (i < length) {
			at += i - cut + 1;
			known = 0;
			continue;
		}
		for (i = cut;
		     i > known && ss_char_lower(part[i - 1]) == ss_char_lower(text[at + i - 1]);)
			i--;
		if (i <= known)
			return text + at;
		at += period;
		known = repeats ? length - period : 0;
	}
	return NULL;
}
