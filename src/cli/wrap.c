/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.c - wraps text between words.
 */
#include "cli/wrap.h"

#include <string.h>

#include "base/text.h"

#define COLUMNS 80

void wrap_print(FILE *to, size_t column, size_t indent, const char *text)
{
	bool is_first = true;

	for (;;) {
		size_t length = strcspn(text, " "), width = ss_text_columns(text, length);

		if (!is_first && column + 1 + width > COLUMNS) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!is_first) {
			fputc(' ', to);
			column++;
		}
		fwrite(text, 1, length, to);
		column += width;
		is_first = false;
		text += length;
		if (!*text)
			break;
		text++;
	}
	fputc('\n', to);
}
