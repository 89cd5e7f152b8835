/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - wraps the command's own text (help, messages) at 80 columns.
 */
#ifndef SS_CLI_WRAP_H
#define SS_CLI_WRAP_H

#include <stdio.h>

/*
 * Prints the text and a newline. The cursor is in column `column`; further lines begin in column
 * `indent`. A word longer than a line is not split.
 */
void wrap_print(FILE *to, size_t column, size_t indent, const char *text);

#endif
