/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of Markdown as text for a terminal: blocks, styles, tables that fit, and any width.
 */
#include "support/support.h"

#include "render/page/page.h"

static const struct {
	const char *what;
	const char *markdown;
	uint32_t width;
	bool color;
	const char *text;
} cases[] = {
	{ "nothing", "", 80, false, "" },
	{ "a heading and a paragraph", "# sync-stall\n\nThe host\nwaits.\n", 80, false,
	  "sync-stall\n\nThe host waits.\n" },
	{ "headings are bold", "## A `b`\ntext\n", 80, true, "\033[1mA b\033[0m\n\ntext\n" },
	{ "words wrap", "one two three four five six seven", 24, false,
	  "one two three four five\nsix seven\n" },
	{ "a word longer than a line stays whole", "a bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb c", 20, false,
	  "a\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\nc\n" },
	{ "styles, without colour", "**bold** and `code` and [words](x.md#y)", 80, false,
	  "bold and code and words\n" },
	{ "styles, with colour", "**bold** `code`", 80, true,
	  "\033[1mbold\033[0m \033[36mcode\033[0m\n" },
	{ "a style over the end of a line", "**one two three four five six**", 20, true,
	  "\033[1mone two three four\033[0m\n\033[1mfive six\033[0m\n" },
	{ "stars and brackets in code stay", "`a ** b[0](c)`", 80, false, "a ** b[0](c)\n" },
	{ "escaped signs", "a \\* b \\| c", 80, false, "a * b | c\n" },
	{ "a bracket that is no link", "a [b] c", 80, false, "a [b] c\n" },
	{ "a quote that is not closed", "a `b", 80, true, "a \033[36mb\033[0m\n" },
	{ "a list", "- one two three four five\n- six\n  seven\n\n1. eight\n", 20, false,
	  "- one two three four\n  five\n- six seven\n\n1. eight\n" },
	{ "a list in a list", "- a\n  - b\n- c\n", 80, false, "- a\n  - b\n- c\n" },
	{ "code is not touched", "```python\nx = [1](2)  # **a**\n\n  y\n```\nend\n", 80, false,
	  "    x = [1](2)  # **a**\n\n      y\n\nend\n" },
	{ "wide code is not moved out of the window", "```\n12345678901234567890\n```\n", 22, false,
	  "  12345678901234567890\n" },
	{ "code without an end", "```\nx\n", 80, false, "    x\n" },
	{ "comments are left out", "a\n\n<!-- made by a tool -->\nb\n", 80, false, "a\n\nb\n" },
	{ "a table", "| a | number |\n|---|---:|\n| `x\\|y` | 7 |\n| z | |\n", 80, false,
	  "a    number\n---  ------\nx|y       7\nz\n" },
	{ "a table that has to fit", "| a | b |\n|---|---|\n| k | one two three four |\n", 20,
	  false, "a  b\n-  -----------------\nk  one two three\n   four\n" },
	{ "a word that is wider than its column", "| b |\n|---|\n| abcdefghij |\n", 6, false,
	  "b\n------\nabcdef\nghij\n" },
	{ "a table without an end", "| a | b", 80, false, "a  b\n" },
	{ "a bar alone", "|", 80, false, "\n" },
	{ "letters of several bytes", "\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4", 80, false,
	  "\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\n" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < SS_COUNT(cases); i++) {
		struct ss_render_options options = { .width = cases[i].width,
						     .color = cases[i].color };
		struct ss_text out = { 0 };

		ss_render_page(cases[i].markdown, &options, &out);
		support_check(strcmp(out.data ? out.data : "", cases[i].text) == 0, cases[i].what,
			      "'%s'", out.data ? out.data : "");
		ss_text_release(&out);
	}
}

/* Any end of any page, at any width: it ends, and every word is there. */
static void test_cut(void **state)
{
	static const char page[] = "# A\n\n- b **c\n\n| d | `e` |\n|---|--:|\n| f \\| | [g](h) |\n"
				   "```\ni\n```\n1. j \\\\ [k](l\n<!-- m -->\n\xc3\xa4 `n";

	(void)state;
	for (size_t length = 0; length < sizeof(page); length++)
		for (uint32_t width = 1; width < 30; width += 4) {
			struct ss_render_options options = { .width = width, .color = width % 8 };
			struct ss_text out = { 0 };
			char text[sizeof(page)];

			memcpy(text, page, length);
			text[length] = '\0';
			ss_render_page(text, &options, &out);
			assert_false(ss_text_failed(&out));
			assert_true(length < 3 || strchr(out.data, 'A'));
			assert_true(length < 13 || strchr(out.data, 'c'));
			ss_text_release(&out);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
