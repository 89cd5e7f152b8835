/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit_codes.h - how the command ends. Help, the manual and docs/exit-codes.md are generated
 * from the table in exit_codes.c.
 */
#ifndef SS_CLI_EXIT_CODES_H
#define SS_CLI_EXIT_CODES_H

#include <stddef.h>

enum exit_code {
	EXIT_FINE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_FOUND = 3,
	EXIT_INCONCLUSIVE = 4,
	EXIT_INTERRUPTED = 130, /* as in shells: 128 plus the number of SIGINT */
};

struct exit_meaning {
	enum exit_code code;
	const char *name, *about;
};

extern const struct exit_meaning exit_meanings[];
extern const size_t exit_meaning_count;

#endif
