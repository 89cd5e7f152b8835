/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_plain.c - reads lines as the terminal delivers them.
 */
#include "cli/sql/line.h"

#include <errno.h>
#include <stdio.h>

bool cli_line_begin(line_complete *complete, void *context)
{
	(void)complete;
	(void)context;
	return true;
}

void cli_line_end(void)
{
}

/* The signal interrupts the read. */
void cli_line_clear(void)
{
}

void cli_line_remember(const char *line)
{
	(void)line;
}

enum line_state cli_line_read(const char *prompt, struct ss_text *out)
{
	char part[1024];

	fputs(prompt, stdout);
	fflush(stdout);
	out->length = 0;
	ss_text_add(out, "", 0);
	for (errno = 0; fgets(part, sizeof(part), stdin); errno = 0) {
		size_t length = strcspn(part, "\n");

		ss_text_add(out, part, length);
		if (part[length] == '\n')
			return LINE_READ;
	}
	if (errno != EINTR)
		return out->length ? LINE_READ : LINE_ENDED;
	clearerr(stdin);
	return LINE_CLEARED;
}
