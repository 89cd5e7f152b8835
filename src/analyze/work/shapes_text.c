/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shapes_text.c - reads a list of lists and writes it without brackets.
 */
#include "analyze/work/shapes_text.h"

#include <string.h>

/* Longer texts are lists of hundreds of tensors; they stay as recorded. */
#define SHAPES_MAX 400

const char *ss_work_sizes_text(struct ss_table *out, const char *text)
{
	char buffer[2 * SHAPES_MAX + 2];
	size_t length = 0;
	int depth = 0;
	bool in_list = false;
	char gap = 0; /* to write before the next number */

	if (strlen(text) > SHAPES_MAX)
		return text;
	for (const char *c = text; *c; c++) {
		if (*c >= '0' && *c <= '9') {
			if (gap && length && buffer[length - 1] != '(')
				buffer[length++] = gap;
			buffer[length++] = *c;
			gap = 0;
		} else if (*c == '[') {
			gap = ' ';
			if (++depth == 3 && !in_list) {
				if (length)
					buffer[length++] = ' ';
				buffer[length++] = '(';
				in_list = true;
			}
		} else if (*c == ']') {
			if (--depth == 1 && in_list) {
				buffer[length++] = ')';
				in_list = false;
			}
		} else if (*c == ',') {
			gap = gap == ' ' ? gap : 'x';
		} else if (*c != ' ') {
			return text;
		}
	}
	return ss_table_print(out, "%.*s", (int)length, buffer);
}
