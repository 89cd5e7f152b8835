/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap.h - text of the command itself (help, messages) in lines of at most 80 columns.
 */
#ifndef SS_CLI_WRAP_H
#define SS_CLI_WRAP_H

#include <stdio.h>

/*
 * Prints the text and a newline. It begins in column `column`, where the cursor is; further lines
 * begin in column `indent`. A word that is longer than a line stays whole.
 */
void wrap_print(FILE *to, size_t column, size_t indent, const char *text);

#endif
