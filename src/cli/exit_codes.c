/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exit_codes.c - what each exit code means.
 */
#include "cli/help.h"

const struct exit_meaning exit_meanings[] = {
	{ EXIT_FINE, "fine",
	  "The command did its work; findings are not errors. 'stepscope serve' also ends with "
	  "0 when you stop it with Ctrl-C." },
	{ EXIT_FAILED, "problem",
	  "An input is missing, cannot be read or is not a trace, an output could not be "
	  "written, or a limit was reached. One sentence on standard error says which." },
	{ EXIT_USAGE, "usage",
	  "The command line is wrong: an unknown command, option, value, view, rule, rank or "
	  "step. No file was written." },
	{ EXIT_FOUND, "found",
	  "'stepscope check' found a regression, or a condition of --fail-if holds." },
	{ EXIT_INCONCLUSIVE, "inconclusive",
	  "'stepscope check' cannot decide: too few steps, too much noise, another job, or a "
	  "figure that the traces do not show. With --allow-inconclusive the code is 0." },
	{ EXIT_INTERRUPTED, "interrupted",
	  "Ctrl-C stopped the command before it was done. No incomplete file is left." },
};

const size_t exit_meaning_count = sizeof(exit_meanings) / sizeof(exit_meanings[0]);
