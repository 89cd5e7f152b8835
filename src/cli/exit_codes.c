/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit_codes.c - what each exit code means.
 */
#include "cli/exit_codes.h"

const struct exit_meaning exit_meanings[] = {
	{ EXIT_FINE, "fine",
	  "The command did what it was asked for. Findings are no error; 'serve' that was "
	  "stopped with Ctrl-C ends like this, too." },
	{ EXIT_FAILED, "problem",
	  "An input is missing, cannot be read or is not a trace, an output could not be "
	  "written, or a limit was reached. One sentence on standard error says which." },
	{ EXIT_USAGE, "usage",
	  "The command line is wrong: an unknown command, option, value, view, rule, rank or "
	  "step. Nothing was written." },
	{ EXIT_FOUND, "found",
	  "Reserved: the traces were read, and a condition of --fail-if holds. No command of "
	  "this version has --fail-if." },
	{ EXIT_INTERRUPTED, "interrupted",
	  "Ctrl-C stopped the command before it was done. No incomplete file is left." },
};

const size_t exit_meaning_count = sizeof(exit_meanings) / sizeof(exit_meanings[0]);
