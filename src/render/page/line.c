/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.c - styles within a line of Markdown, and lines that fit.
 */
#include <string.h>

#include "render/page/page.h"

/* --- words ------------------------------------------------------------------------------- */

static void page_switch_style(enum ss_page_style style, struct ss_text *out)
{
	char byte = (char)style;

	ss_text_add(out, &byte, 1);
}

/* The length of a link "[words](address)", and the end of its words; 0: it is no link. */
static size_t page_link_length(const char *text, const char *end, const char **words_end)
{
	const char *close = memchr(text, ']', (size_t)(end - text)), *last;

	if (!close || close + 1 >= end || close[1] != '(')
		return 0;
	last = memchr(close, ')', (size_t)(end - close));
	*words_end = close;
	return last ? (size_t)(last + 1 - text) : 0;
}

void ss_page_words(const char *text, size_t length, struct ss_text *out)
{
	const char *end = text + length, *words_end = NULL;
	bool is_bold = false, is_code = false;

	while (text < end) {
		size_t link = *text == '[' && !is_code ? page_link_length(text, end, &words_end)
						       : 0;

		if (*text == '`') {
			is_code = !is_code;
			page_switch_style(is_code   ? SS_PAGE_CODE
					  : is_bold ? SS_PAGE_BOLD
						    : SS_PAGE_PLAIN,
					  out);
			text++;
		} else if (!is_code && end - text >= 2 && memcmp(text, "**", 2) == 0) {
			is_bold = !is_bold;
			page_switch_style(is_bold ? SS_PAGE_BOLD : SS_PAGE_PLAIN, out);
			text += 2;
		} else if (link) {
			ss_page_words(text + 1, (size_t)(words_end - text - 1), out);
			text += link;
		} else if (!is_code && *text == '\\' && text + 1 < end &&
			   strchr("|*_`\\[]<>#", text[1])) {
			ss_text_add(out, text + 1, 1);
			text += 2;
		} else {
			/* a bar in the code of a table is escaped, too */
			text += is_code && *text == '\\' && text + 1 < end && text[1] == '|';
			ss_text_add(out, text++, 1);
		}
	}
	if (is_bold || is_code)
		page_switch_style(SS_PAGE_PLAIN, out);
}

/* --- lines ------------------------------------------------------------------------------- */

static bool page_is_style(char byte)
{
	return byte >= SS_PAGE_PLAIN && byte <= SS_PAGE_CODE;
}

size_t ss_page_columns(const char *text, size_t length)
{
	size_t columns = 0;

	for (size_t i = 0; i < length;) {
		size_t part = 0;

		while (i + part < length && !page_is_style(text[i + part]))
			part++;
		columns += ss_text_columns(text + i, part);
		i += part + (i + part < length);
	}
	return columns;
}

static void page_add_style(char style, bool color, struct ss_text *out)
{
	static const char *const codes[] = {
		[SS_PAGE_PLAIN] = "\033[0m", [SS_PAGE_BOLD] = "\033[1m", [SS_PAGE_CODE] = "\033[36m"
	};

	if (color)
		ss_text_add_string(out, codes[(int)style]);
}

/* Where the line ends: after the last word that fits, or within the first one. */
static const char *page_end_of_line(const char *at, const char *end, size_t columns, bool breaks)
{
	const char *fits = at;

	for (const char *word = at; word < end;) {
		while (word < end && *word == ' ')
			word++;
		while (word < end && *word != ' ')
			word++;
		if (ss_page_columns(at, (size_t)(word - at)) > columns)
			break;
		fits = word;
	}
	if (fits > at)
		return fits;
	if (!breaks)
		for (fits = at; fits < end && *fits != ' ';)
			fits++;
	while (breaks && fits < end && ss_page_columns(at, (size_t)(fits + 1 - at)) <= columns)
		fits++;
	/* not within a letter, and never nothing */
	while (breaks && fits > at && fits < end && ((unsigned char)*fits & 0xc0) == 0x80)
		fits--;
	return fits > at ? fits : end;
}

size_t ss_page_line(const char **at, const char *end, size_t columns, bool breaks, char *style,
		    bool color, struct ss_text *out)
{
	const char *text = *at, *line_end = page_end_of_line(text, end, columns, breaks);
	size_t used = ss_page_columns(text, (size_t)(line_end - text));

	if (*style != SS_PAGE_PLAIN)
		page_add_style(*style, color, out);
	for (; text < line_end; text++) {
		if (!page_is_style(*text)) {
			ss_text_add(out, text, 1);
			continue;
		}
		if (*style != SS_PAGE_PLAIN)
			page_add_style(SS_PAGE_PLAIN, color, out);
		*style = *text;
		if (*style != SS_PAGE_PLAIN)
			page_add_style(*style, color, out);
	}
	if (*style != SS_PAGE_PLAIN)
		page_add_style(SS_PAGE_PLAIN, color, out);
	while (text < end && *text == ' ')
		text++;
	*at = text;
	return used;
}
