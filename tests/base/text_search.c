/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of texts, found as a search that tries every place finds them.
 */

#include <string.h>

#include "base/text.h"
#include "support/support.h"

#define TEXT_MAX 400
#define PART_MAX 100

static uint64_t seed = 1;

static const char *try_everywhere(const char *text, size_t text_length, const char *part,
				  size_t length)
{
	for (size_t i = 0; i + length <= text_length; i++) {
		size_t k = 0;

		while (k < length && ss_char_lower(text[i + k]) == ss_char_lower(part[k]))
			k++;
		if (k == length)
			return text + i;
	}
	return NULL;
}

/* Letters that repeat after `period`, with a few that do not. */
static void fill(char *text, size_t length, size_t period)
{
	for (size_t i = 0; i < length; i++) {
		text[i] = (char)((support_random(&seed, 2) ? 'a' : 'A') +
				 (char)support_random(&seed, 2));
		if (i >= period && support_random(&seed, 60))
			text[i] = text[i - period];
	}
}

static void test_as_everywhere(void **state)
{
	uint32_t found_count = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[TEXT_MAX], part[PART_MAX];
		size_t text_length = support_random(&seed, TEXT_MAX),
		       length = support_random(&seed, PART_MAX);
		size_t period = 1 + support_random(&seed, 40);
		const char *found;

		fill(text, text_length, period);
		fill(part, length, period);
		if (length < text_length && support_random(&seed, 2))
			memcpy(text + support_random(&seed, (uint32_t)(text_length - length)), part,
			       length);
		found = ss_text_search(text, text_length, part, length);
		assert_ptr_equal(found, try_everywhere(text, text_length, part, length));
		found_count += found != NULL;
	}
	assert_true(found_count >= 5000 && found_count <= 19000);
}

static void test_ends(void **state)
{
	(void)state;
	assert_non_null(ss_text_search("", 0, "", 0));
	assert_non_null(ss_text_search("abc", 3, "BC", 2));
	assert_null(ss_text_search("abc", 3, "abcd", 4));
	assert_null(ss_text_search("abcd", 3, "d", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_everywhere),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
