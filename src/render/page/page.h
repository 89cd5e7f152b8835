/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h - a page of our documentation, written in Markdown, as text for a terminal.
 *
 * It reads what our own pages have: headings, paragraphs, lists, tables, code, and within a line
 * **bold**, `code` and [links](x.md), of which only the words stay. Comments are left out. Nothing
 * is an error: what it does not know stays as it is.
 */
#ifndef SS_RENDER_PAGE_PAGE_H
#define SS_RENDER_PAGE_PAGE_H

#include "render/render.h"

/* Uses the width and the colour of the options. */
void ss_render_page(const char *markdown, const struct ss_render_options *options,
		    struct ss_text *out);

/* --- text with styles ------------------------------------------------------------ */

/* One byte in a text switches the style of what follows; it takes no column. */
enum ss_page_style { SS_PAGE_PLAIN = 1, SS_PAGE_BOLD, SS_PAGE_CODE };

/* Adds a line of Markdown as words with such bytes. */
void ss_page_words(const char *text, size_t length, struct ss_text *out);

/* The end of the line of Markdown at `at`: its line break, or the end of the text. */
const char *ss_page_line_end(const char *at, const char *end);

/* The columns of a text with styles. */
size_t ss_page_columns(const char *text, size_t length);

/*
 * Adds the next line of a text, at most that many columns, and moves *at behind it; *style is that
 * of its end, SS_PAGE_PLAIN at first. Returns the columns that it took. `breaks`: also within a
 * word that is longer than a line.
 */
size_t ss_page_line(const char **at, const char *end, size_t columns, bool breaks, char *style,
		    bool color, struct ss_text *out);

/* --- table.c ----------------------------------------------------------------------------- */

/* Adds a table, whose lines all begin with '|', in columns that fit the width. */
void ss_page_table(const char *text, size_t length, const struct ss_render_options *options,
		   struct ss_text *out);

#endif
