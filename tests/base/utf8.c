/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8: what is well-formed stays, what is not becomes U+FFFD, byte by byte.
 */
#include "support/support.h"

#include "base/utf8.h"

#define R "\xef\xbf\xbd"

static const struct {
	const char *what;
	const char *text, *mended;
	unsigned flaws;
} cases[] = {
	{ "plain", "abc", "abc", 0 },
	{ "nothing", "", "", 0 },
	{ "two, three and four bytes", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0 },
	{ "the last code point", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", 0 },
	{ "the ends of the surrogates", "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80", 0 },
	{ "beyond the last code point", "\xf4\x90\x80\x80", R R R R, SS_UTF8_BAD_BYTES },
	{ "overlong slash in two bytes", "\xc0\xaf", R R, SS_UTF8_BAD_BYTES },
	{ "overlong in two bytes", "\xc1\xbf", R R, SS_UTF8_BAD_BYTES },
	{ "overlong in three bytes", "\xe0\x80\xaf", R R R, SS_UTF8_BAD_BYTES },
	{ "overlong in four bytes", "\xf0\x80\x80\xaf", R R R R, SS_UTF8_BAD_BYTES },
	{ "a surrogate", "\xed\xa0\x80", R R R, SS_UTF8_BAD_BYTES },
	{ "a continuation alone", "a\x80z", "a" R "z", SS_UTF8_BAD_BYTES },
	{ "a byte that never occurs", "\xff", R, SS_UTF8_BAD_BYTES },
	{ "two bytes, cut", "\xc3", R, SS_UTF8_BAD_BYTES },
	{ "three bytes, cut", "\xe2\x82", R R, SS_UTF8_BAD_BYTES },
	{ "four bytes, cut", "\xf0\x9f\x98", R R R, SS_UTF8_BAD_BYTES },
	{ "a cut sequence before a letter", "\xe2\x82z", R R "z", SS_UTF8_BAD_BYTES },
	{ "a cut sequence before a good one", "\xe2\xc3\xa9", R "\xc3\xa9", SS_UTF8_BAD_BYTES },
	{ "control characters", "a\x1b[31m\n\x7f", "a [31m  ", SS_UTF8_CONTROL },
	{ "control characters of two bytes",
	  "a\xc2\x9b"
	  "31m\xc2\xa0",
	  "a 31m\xc2\xa0", SS_UTF8_CONTROL },
	{ "what turns the direction of writing",
	  "a\xe2\x80\xae"
	  "b\xe2\x81\xa6"
	  "c",
	  "a" R "b" R "c", SS_UTF8_CONTROL },
	{ "its neighbours", "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa",
	  "\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa", 0 },
	{ "both", "\x01\xff", " " R, SS_UTF8_CONTROL | SS_UTF8_BAD_BYTES },
};

static void test_mend(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		size_t length = strlen(cases[i].text), used;
		char *text = malloc(length ? length : 1), *out = malloc(3 * length + 1);

		/* exact blocks: a cut sequence must not be read beyond its end */
		memcpy(text, cases[i].text, length);
		support_check(ss_utf8_check(text, length) == cases[i].flaws, cases[i].what,
			      "flaws %u", ss_utf8_check(text, length));
		used = ss_utf8_repair(text, length, out);
		support_check(used == strlen(cases[i].mended) &&
				      !memcmp(out, cases[i].mended, used),
			      cases[i].what, "'%.*s'", (int)used, out);
		support_check(ss_utf8_check(out, used) == 0, cases[i].what, "mended twice");
		free(text);
		free(out);
	}
}

/* What is encoded is well-formed, for every code point; what cannot be is replaced. */
static void test_encode(void **state)
{
	char out[4];

	(void)state;
	for (uint32_t point = 0x20; point <= 0x10ffff; point += point < 0x3000 ? 1 : 97) {
		size_t length = ss_utf8_encode(point, out);

		bool control = (point >= 0x7f && point < 0xa0) ||
			       (point >= 0x202a && point <= 0x202e) ||
			       (point >= 0x2066 && point <= 0x2069);

		support_check(ss_utf8_check(out, length) == (control ? SS_UTF8_CONTROL : 0),
			      "an encoded code point", "U+%04X", point);
	}
	assert_int_equal(ss_utf8_encode(0xd800, out), 3);
	assert_memory_equal(out, R, 3);
	assert_int_equal(ss_utf8_encode(0x110000, out), 3);
	assert_memory_equal(out, R, 3);
	assert_int_equal(ss_utf8_encode('A', out), 1);
	assert_int_equal(out[0], 'A');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mend),
		cmocka_unit_test(test_encode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
