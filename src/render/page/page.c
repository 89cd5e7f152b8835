/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.c - the blocks of a page (headings, paragraphs, lists, code) and the styles within a line.
 */
#include "render/page/page.h"

#include <string.h>

/* Code is indented by this, if its longest line allows it. */
#define CODE_INDENT 4

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

struct markdown_page {
	const char *at, *end;
	const struct ss_render_options *options;
	struct ss_text *out;
	bool is_begun; /* a block was written: an empty line separates the next one from it */
};

static void page_next_line(struct markdown_page *page)
{
	const char *end = ss_page_line_end(page->at, page->end);

	page->at = end < page->end ? end + 1 : end;
}

static bool page_begins_with(const struct markdown_page *page, const char *with)
{
	size_t length = strlen(with);

	return (size_t)(page->end - page->at) >= length && memcmp(page->at, with, length) == 0;
}

static void page_begin_block(struct markdown_page *page)
{
	if (page->is_begun)
		ss_text_add_string(page->out, "\n");
	page->is_begun = true;
}

/* Wraps words from column `indent` on; the first line is already indented. */
static void page_add_words(struct markdown_page *page, const struct ss_text *words, size_t indent)
{
	const char *at = words->data ? words->data : "", *end = at + words->length;
	size_t width = page->options->width > indent + 20 ? page->options->width - indent : 20;
	char style = SS_PAGE_PLAIN;
	bool is_first = true;

	while (at < end) {
		if (!is_first)
			ss_text_fill(page->out, ' ', indent);
		is_first = false;
		(void)ss_page_line(&at, end, width, false, &style, page->options->color, page->out);
		ss_text_add_string(page->out, "\n");
	}
}

/* --- blocks ------------------------------------------------------------------------------ */

static void page_add_heading(struct markdown_page *page)
{
	const char *end = ss_page_line_end(page->at, page->end), *at = page->at;
	struct ss_text words = { 0 };

	while (at < end && (*at == '#' || *at == ' '))
		at++;
	page_begin_block(page);
	if (page->options->color)
		ss_text_add_string(page->out, BOLD);
	ss_page_words(at, (size_t)(end - at), &words);
	for (size_t i = 0; i < words.length; i++)
		if (words.data[i] > SS_PAGE_CODE)
			ss_text_add(page->out, words.data + i, 1);
	ss_text_add_string(page->out, page->options->color ? PLAIN "\n" : "\n");
	ss_text_end(&words, page->out);
	page_next_line(page);
}

/* Code between two fences, unchanged. */
static void page_add_code(struct markdown_page *page)
{
	const char *from, *end;
	size_t widest = 0, indent = CODE_INDENT;

	page_next_line(page);
	for (from = page->at; page->at < page->end && !page_begins_with(page, "```");
	     page_next_line(page)) {
		size_t width = ss_text_columns(page->at,
					       (size_t)(ss_page_line_end(page->at, page->end) -
							page->at));

		widest = width > widest ? width : widest;
	}
	end = page->at;
	if (page->at < page->end)
		page_next_line(page);
	if (widest + indent > page->options->width)
		indent = page->options->width > widest ? page->options->width - widest : 0;
	page_begin_block(page);
	while (from < end) {
		const char *last = ss_page_line_end(from, end);

		if (last > from)
			ss_text_fill(page->out, ' ', indent);
		ss_text_add(page->out, from, (size_t)(last - from));
		ss_text_add_string(page->out, "\n");
		from = last < end ? last + 1 : end;
	}
}

static void page_add_table(struct markdown_page *page)
{
	const char *from = page->at;
	size_t length;

	while (page->at < page->end && *page->at == '|')
		page_next_line(page);
	length = (size_t)(page->at - from);
	length -= length && from[length - 1] == '\n';
	page_begin_block(page);
	ss_page_table(from, length, page->options, page->out);
}

/* Where the words of an item begin: behind "- " or "12. "; 0: it is no item. */
static size_t page_item_length(const char *at, const char *end)
{
	const char *from = at;

	while (at < end && *at == ' ')
		at++;
	if (end - at >= 2 && (*at == '-' || *at == '*') && at[1] == ' ')
		return (size_t)(at + 2 - from);
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at > from && at[-1] >= '0' && at[-1] <= '9' && end - at >= 2 && *at == '.' &&
			       at[1] == ' '
		       ? (size_t)(at + 2 - from)
		       : 0;
}

/* What begins another block ends a paragraph without an empty line. */
static bool page_is_at_block(const struct markdown_page *page)
{
	return page->at == page->end || *page->at == '\n' || page_begins_with(page, "#") ||
	       page_begins_with(page, "```") || page_begins_with(page, "|") ||
	       page_begins_with(page, "<!--") ||
	       page_item_length(page->at, ss_page_line_end(page->at, page->end)) != 0;
}

/* Joins the lines up to the next block. */
static void page_read_lines(struct markdown_page *page, struct ss_text *words)
{
	struct ss_text joined = { 0 };

	do {
		const char *end = ss_page_line_end(page->at, page->end), *at = page->at;

		while (at < end && (*at == ' ' || *at == '>'))
			at++;
		if (joined.length)
			ss_text_add_string(&joined, " ");
		ss_text_add(&joined, at, (size_t)(end - at));
		page_next_line(page);
	} while (!page_is_at_block(page));
	if (joined.length)
		ss_page_words(joined.data, joined.length, words);
	ss_text_end(&joined, words);
}

/* One item; items of one list stand without empty lines between them. */
static void page_add_item(struct markdown_page *page, size_t length)
{
	struct ss_text words = { 0 };

	ss_text_add(page->out, page->at, length);
	page->at += length;
	page_read_lines(page, &words);
	page_add_words(page, &words, length);
	ss_text_end(&words, page->out);
}

static void page_add_list(struct markdown_page *page)
{
	size_t length;

	page_begin_block(page);
	while ((length = page_item_length(page->at, ss_page_line_end(page->at, page->end))) != 0)
		page_add_item(page, length);
}

static void page_add_paragraph(struct markdown_page *page)
{
	struct ss_text words = { 0 };

	page_begin_block(page);
	page_read_lines(page, &words);
	page_add_words(page, &words, 0);
	ss_text_end(&words, page->out);
}

void ss_render_page(const char *markdown, const struct ss_render_options *options,
		    struct ss_text *out)
{
	struct markdown_page page = { markdown, markdown + strlen(markdown), options, out, false };

	while (page.at < page.end) {
		if (*page.at == '\n' || page_begins_with(&page, "<!--"))
			page_next_line(&page);
		else if (page_begins_with(&page, "#"))
			page_add_heading(&page);
		else if (page_begins_with(&page, "```"))
			page_add_code(&page);
		else if (page_begins_with(&page, "|"))
			page_add_table(&page);
		else if (page_item_length(page.at, ss_page_line_end(page.at, page.end)))
			page_add_list(&page);
		else
			page_add_paragraph(&page);
	}
}

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

const char *ss_page_line_end(const char *at, const char *end)
{
	const char *found = memchr(at, '\n', (size_t)(end - at));

	return found ? found : end;
}

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
