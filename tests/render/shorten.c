/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that are too wide: ends stay, and of places in a program file and line.
 */
#include "support/support.h"

#include "render/layout.h"

#define DOTS "\xe2\x80\xa6"

static const struct {
	const char *text;
	size_t width;
	const char *expected;
	size_t least;
} cases[] = {
	/* no place: the beginning where there is room for it, and the end */
	{ "aten::convolution_backward", 12, DOTS "on_backward", 0 },
	{ "abcdefghijklmnopqrstuvwxyz0123", 26, "abcde" DOTS "klmnopqrstuvwxyz0123", 0 },
	{ "short", 5, "short", 0 },
	{ "longer", 1, DOTS, 0 },
	/* the function goes first */
	{ "model.py:14 (forward)", 21, "model.py:14 (forward)", 12 },
	{ "model.py:14 (forward)", 20, "model.py:14 (forwar" DOTS, 12 },
	{ "model.py:14 (forward)", 12, "model.py:14" DOTS, 12 },
	{ "model.py(14): forward", 15, "model.py(14): " DOTS, 13 },
	/* then there is only the end of the name, and the line */
	{ "model.py:14 (forward)", 11, DOTS "odel.py:14", 12 },
	{ "model.py:14 (forward)", 4, DOTS ":14", 12 },
	{ "model.py:14 (forward)", 1, DOTS, 12 },
	/* folders go before anything else */
	{ "/home/me/model.py:14", 20, "/home/me/model.py:14", 12 },
	{ "/home/me/model.py:14", 19, DOTS "ome/me/model.py:14", 12 },
	{ "/home/me/model.py:14", 12, DOTS "model.py:14", 12 },
	{ "/home/me/model.py:14", 11, DOTS "odel.py:14", 12 },
	{ "/home/me/model.py(14): forward", 16, DOTS "model.py(14): " DOTS, 14 },
	{ "C:\\me\\model.py:14 (forward)", 14, DOTS "model.py:14 " DOTS, 13 },
	{ "/home/someone/projects/model.py:14 (f)", 30, "/home" DOTS "projects/model.py:14 (f)",
	  13 },
	/* wide letters count twice */
	{ "\xe6\xa8\xa1\xe5\x9e\x8b.py:14 (forward)", 11, "\xe6\xa8\xa1\xe5\x9e\x8b.py:14" DOTS,
	  11 },
	/* several places are a stack, and what is no line is no place */
	{ "a.py:1;b.py:2;c.py:3", 12, DOTS "py:2;c.py:3", 0 },
	{ "one.two.three:four", 10, DOTS "hree:four", 0 },
	{ "one.two(three)", 10, DOTS "wo(three)", 0 },
	{ "one.two(3", 6, DOTS "two(3", 0 },
	{ "one.longest:3", 6, DOTS "est:3", 0 },
	{ "host:80.", 4, DOTS "80.", 0 },
	{ "ends with.", 4, DOTS "th.", 0 },
	{ "", 0, "", 0 },
};

static void test_cases(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		const char *text = cases[i].text;

		out.length = 0;
		ss_text_add_string(&out, "");
		ss_shorten(text, strlen(text), cases[i].width, &out);
		support_check(strcmp(out.data, cases[i].expected) == 0, text, "width %zu: %s",
			      cases[i].width, out.data);
		support_check(ss_shorten_least(text, strlen(text)) == cases[i].least, text,
			      "needs %zu", ss_shorten_least(text, strlen(text)));
	}
	ss_text_release(&out);
}

/* Whatever the width, a text that is cut is as wide as its column at most. */
static void test_widths(void **state)
{
	struct ss_text out = { 0 };

	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++)
		for (size_t width = 1; width < 40; width++) {
			out.length = 0;
			ss_shorten(cases[i].text, strlen(cases[i].text), width, &out);
			support_check(ss_text_columns(out.data, out.length) <= width, cases[i].text,
				      "width %zu: %s", width, out.data);
		}
	ss_text_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_widths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
